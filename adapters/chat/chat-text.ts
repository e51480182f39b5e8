// A chat message as text: a headline, sentences and a small table, cut visibly to the service's length. Nothing that stands in a message can mention
// anybody, make a link, or leave its place: it may come from a broker, a feed or a stranger.
import { clean } from "../../contracts/src/text/clean.ts";
import type { ChatMessage } from "../../ports/chat.ts";

const chatCharactersMax = 2_000;
const titleCharactersMax = 200;
const tableCharactersMax = 600;
const cutMark = "… (cut)";

const marks = { info: "INFO", warning: "WARNING", critical: "CRITICAL" } as const;
const formatting = /[\\`*_~|<>#[\]()-]/g;
/** An at sign that mentions nobody. */
const inertAt = "@\u200c";

/** Whatever the service would take for formatting stands as itself, and an at sign mentions nobody. */
function harmless(text: string): string {
  return clean(text)
    .replaceAll(formatting, (mark) => `\\${mark}`)
    .replaceAll("@", inertAt);
}

/** Never within a character that has two units, never after a lone backslash. */
function cut(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  let end = lengthMax - cutMark.length;
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code <= 0xdbff) end -= 1;
  const kept = text.slice(0, end).replace(/(?<!\\)\\+$/, "");
  return `${kept}${cutMark}`;
}

export function chatText({ level, title, text, facts = {} }: ChatMessage): string {
  const headline = `**${marks[level]}: ${cut(harmless(title), titleCharactersMax)}**`;
  const rows = Object.entries(facts).map(([name, value]) => inTable(`${name}: ${value}`));
  const table = rows.length === 0 ? "" : `\n\`\`\`\n${cut(rows.join("\n"), tableCharactersMax)}\n\`\`\``;
  const room = chatCharactersMax - headline.length - table.length - 1;
  return `${headline}\n${cut(harmless(text), room)}${table}`;
}

/** Inside a table only its own end is formatting. */
function inTable(row: string): string {
  return clean(row).replaceAll("`", "'").replaceAll("@", inertAt);
}

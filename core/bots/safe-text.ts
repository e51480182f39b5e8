// Text of a plan as it may stand on a page of GitHub: plain text, whatever it looked like. No HTML, image, mention, code or structure of a page comes
// out of it, no reference that closes an issue or shows up elsewhere, and a link only where it leads into the repository itself.
import { withoutHidden } from "./hidden.ts";

const address = /(?:\b[a-z][a-z0-9+.-]{1,15}:\/\/|\bmailto:|\bjavascript:|\bdata:|\bwww\.)\S*/gi;
const removed = "(link removed)";
const lookalikes: Readonly<Record<string, string>> = { "[": "(", "]": ")", "<": "‹", ">": "›" };

/** Where the repository's own pages are: `https://github.com/org/name`. */
export function safeText(text: string, repositoryUrl: string): string {
  const lines = withoutHidden(text)
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return mapAddresses(lines, repositoryUrl, escaped);
}

/** One line that GitHub shows as it is written, a title or the first line of a commit; where another page renders it, it is no image, link or HTML either. */
export function safeLine(text: string, lengthMax: number): string {
  const line = withoutHidden(text).replace(/\s+/g, " ").trim();
  const plain = line.replace(/[[\]<>]/g, (character) => lookalikes[character] ?? "");
  return mapAddresses(plain, undefined, harmless).slice(0, lengthMax).trim();
}

function mapAddresses(text: string, repositoryUrl: string | undefined, rest: (text: string) => string): string {
  let out = "";
  let from = 0;
  for (const found of text.matchAll(address)) {
    out += rest(text.slice(from, found.index));
    out += repositoryUrl !== undefined && isInside(found[0], repositoryUrl) ? found[0] : removed;
    from = found.index + found[0].length;
  }
  return out + rest(text.slice(from));
}

function isInside(url: string, repositoryUrl: string): boolean {
  if (!url.startsWith(`${repositoryUrl}/`)) return false;
  const path = url.slice(repositoryUrl.length + 1);
  return /^[A-Za-z0-9/_-][A-Za-z0-9/._-]{0,200}$/.test(path) && !/\.\.|\/\/|\.$/.test(path);
}

/** Mentions, references and what would become a link by itself. */
function harmless(text: string): string {
  return text
    .replaceAll("@", "＠")
    .replace(/#(?=\d)/g, "no. ")
    .replace(/\bGH-(?=\d)/gi, "GH ")
    .replaceAll("://", ":/ /")
    .replace(/www\./gi, "www ");
}

/** Every character that Markdown gives a meaning is escaped. An ampersand first, because an entity is a character too. */
function escaped(text: string): string {
  return harmless(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[\\`*_[\]#!|~$]/g, "\\$&");
}

/** Text of a program in a line: no backtick ends it, and nothing in it is a mention. */
export function codeSpan(text: string): string {
  const line = withoutHidden(text).replace(/\s+/g, " ").replaceAll("`", "'").trim();
  return line === "" ? "" : `\`${line}\``;
}

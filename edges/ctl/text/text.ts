// Text for a terminal: whatever came from elsewhere is cleaned of what could move the cursor, colour the screen or turn the reading
// direction, because a name or an error message is data and never an instruction to the terminal.
import { format, fromUnixMs, type Instant, millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";

/** Control characters (C0, DEL, C1), direction overrides and line separators. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a whole escape sequence goes, not only its first character
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;

export function clean(text: string): string {
  return text.replace(escapes, "").replace(unsafe, " ");
}

/** One JSON document; characters that a terminal might obey are written as escapes, which JSON allows inside strings. */
export function jsonText(value: unknown): string {
  const spelt = JSON.stringify(value, null, 2) ?? "null";
  return spelt.replace(unsafe, (found) =>
    found === "\n" ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Labels on the left, cleaned values on the right. */
export function pairs(rows: readonly (readonly [string, string | undefined])[]): string {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== undefined);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${clean(value)}`).join("\n");
}

/** A table without borders, so that it can be cut and pasted. Nothing is truncated: a column that is given a width wraps its text. */
export async function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly boolean[] = [],
  widths: readonly (number | undefined)[] = [],
): Promise<string> {
  const { default: Table } = await import("cli-table3");
  const none = ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"];
  const inside = ["left", "left-mid", "mid", "mid-mid", "right", "right-mid"];
  const chars = Object.fromEntries([...none, ...inside].map((name) => [name, ""]));
  const style = { head: [], border: [], "padding-left": 0, "padding-right": 0 };
  const colAligns = head.map((_name, at) => (right[at] === true ? "right" : "left"));
  const wrapped = widths.some((width) => width !== undefined)
    ? { colWidths: head.map((_name, at) => widths[at] ?? null), wordWrap: true }
    : {};
  const drawn = new Table({ head: [...head], chars: { ...chars, middle: "  " }, style, colAligns, ...wrapped });
  for (const row of rows) drawn.push(row.map(clean));
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** "2 h 5 min"; the two largest units, because nobody plans by the second two hours ahead. */
export function span(ms: number): string {
  const totalS = Math.max(0, Math.floor(ms / 1_000));
  const units: readonly (readonly [number, string])[] = [
    [Math.floor(totalS / 86_400), "d"],
    [Math.floor(totalS / 3_600) % 24, "h"],
    [Math.floor(totalS / 60) % 60, "min"],
    [totalS % 60, "s"],
  ];
  const first = units.findIndex(([count]) => count > 0);
  if (first === -1) return "0 s";
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

/** "2026-11-15T13:30:00Z (in 4 min 10 s)", "(12 s ago)" or "(now)". What is not a time is shown as it came. */
export function moment(text: string, now: Instant): string {
  const at = tryParse(text);
  if (at === undefined) return text;
  const leftMs = millisecondsBetween(now, at);
  // Two clocks agree to no less than a second.
  if (Math.abs(leftMs) < 1_000) return `${shortTime(at)} (now)`;
  return `${shortTime(at)} (${leftMs >= 0 ? `in ${span(leftMs)}` : `${span(-leftMs)} ago`})`;
}

/** "3 s ago", "in 4 min" or "now". What is not a time is shown as it came. */
export function age(text: string, now: Instant): string {
  const at = tryParse(text);
  if (at === undefined) return text;
  const leftMs = millisecondsBetween(now, at);
  if (Math.abs(leftMs) < 1_000) return "now";
  return leftMs >= 0 ? `in ${span(leftMs)}` : `${span(-leftMs)} ago`;
}

/** To the second: the rest is noise to a person. */
export function shortTime(at: Instant): string {
  return format(at).replace(/\.\d+Z$/, "Z");
}

/** Milliseconds until then; none for what is past or is no time. */
export function leftMs(text: string, now: Instant): number {
  const at = tryParse(text);
  return at === undefined ? 0 : Math.max(0, millisecondsBetween(now, at));
}

export function instantOfUnixSeconds(seconds: number): Instant {
  return fromUnixMs(Math.floor(seconds) * 1_000);
}

const secondsPer: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** "90d", "12h", "30m", "45s" in seconds; undefined for anything else. */
export function secondsOf(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(text);
  const per = secondsPer[match?.[2] ?? ""];
  return per === undefined ? undefined : Number(match?.[1]) * per;
}

// Text for a terminal: whatever came from elsewhere is cleaned, because a name or an error message is data and never an instruction to the terminal.

import { fromUnixMs, type Instant } from "../../../contracts/src/instant.ts";
import { clean, replaceUnseen } from "../../../contracts/src/text/clean.ts";

// biome-ignore lint/performance/noBarrelFile: verbs take all words of the terminal from here, those of every face too.
export { clean } from "../../../contracts/src/text/clean.ts";
export { pairs } from "../../words/pairs.ts";
export { fromNow as age, leftMs, moment, shortTime, span } from "../../words/times.ts";

/** One JSON document; characters that a terminal might obey are written as escapes, which JSON allows inside strings. */
export function jsonText(value: unknown): string {
  const spelt = JSON.stringify(value, null, 2) ?? "null";
  return replaceUnseen(spelt, (found) => (found === "\n" ? found : found.split("").map(escaped).join("")));
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

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

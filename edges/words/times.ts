// Times as every face writes them: how long ago, how long still, to the unit that a person plans by.
import { format, type Instant, millisecondsBetween, tryParse } from "../../contracts/src/instant.ts";

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
  return at === undefined ? text : `${shortTime(at)} (${fromNow(text, now)})`;
}

/** "3 s ago", "in 4 min" or "now". What is not a time is shown as it came. */
export function fromNow(text: string, now: Instant): string {
  const at = tryParse(text);
  if (at === undefined) return text;
  const left = millisecondsBetween(now, at);
  // Two clocks agree to no less than a second.
  if (Math.abs(left) < 1_000) return "now";
  return left >= 0 ? `in ${span(left)}` : `${span(-left)} ago`;
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

const units: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** "3 s", "5 min": the largest unit, because it stands in a column. */
export function duration(ms: number): string {
  for (const [size, unit] of units) if (ms >= size) return `${Math.floor(ms / size)} ${unit}`;
  return "0 s";
}

export function ageMs(text: string | null | undefined, now: Instant): number | undefined {
  const at = text === undefined || text === null ? undefined : tryParse(text);
  return at === undefined ? undefined : Math.max(0, millisecondsBetween(at, now));
}

/** How old it is, for a column; empty when that is not known. */
export function age(text: string | null | undefined, now: Instant): string {
  const ms = ageMs(text, now);
  return ms === undefined ? "" : duration(ms);
}

/** ", 0.4 s old"; nothing for what cannot age. */
export function oldText(ms: number | undefined): string {
  if (ms === undefined) return "";
  return ms < 10_000 ? `, ${Number((ms / 1_000).toFixed(3))} s old` : `, ${span(ms)} old`;
}

/** "12.3 ms"; what did not happen says so. */
export function tookText(ms: number | undefined): string {
  return ms === undefined ? "did not happen in time" : `${ms.toFixed(1)} ms`;
}

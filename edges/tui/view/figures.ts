// Figures as they stand in columns: signs carry what colour carries, and sizes line up. Amounts are exact decimals until they are written.
import * as decimal from "../../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";
import { money } from "../../ctl/text/money.ts";
import { type Span, span, type Tone } from "./text.ts";

/** "201,820.85"; what is no decimal as it is. */
export function amount(text: string | undefined): string {
  if (text === undefined) return "";
  const [whole = "", rest] = money(text).split(".");
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")}${rest === undefined ? "" : `.${rest}`}`;
}

/** "+105.82" or "-45.25". */
export function profit(text: string | undefined): Span {
  if (text === undefined) return span("");
  const sign = signOf(text);
  return span(`${sign > 0 ? "+" : ""}${amount(text)}`, sign < 0 ? "bad" : sign > 0 ? "good" : "plain");
}

function signOf(text: string): -1 | 0 | 1 {
  const value = decimal.tryParse(text);
  return value === undefined ? 0 : decimal.sign(value);
}

export function percent(fraction: number | undefined, digits = 1): string {
  return fraction === undefined ? "" : `${(fraction * 100).toFixed(digits)} %`;
}

/** For sorting only. */
export function sizeOf(text: string | undefined): number {
  const value = Number(text ?? "");
  return Number.isFinite(value) ? value : 0;
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

export function age(text: string | null | undefined, now: Instant): string {
  const ms = ageMs(text, now);
  return ms === undefined ? "" : duration(ms);
}

/** From this part of a limit on, worth a word. */
export function toneOfBand(band: number): Tone {
  return band >= 90 ? "bad" : band >= 75 ? "warn" : "plain";
}

// Figures as they stand in columns: signs carry what colour carries, and sizes line up. Amounts are exact decimals until they are written.
import * as decimal from "../../../contracts/src/decimal.ts";
import { amount } from "../../words/figures.ts";
import { type Span, span, type Tone } from "./text.ts";

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

/** For sorting only. */
export function sizeOf(text: string | undefined): number {
  const value = Number(text ?? "");
  return Number.isFinite(value) ? value : 0;
}

/** From this part of a limit on, worth a word. */
export function toneOfBand(band: number): Tone {
  return band >= 90 ? "bad" : band >= 75 ? "warn" : "plain";
}

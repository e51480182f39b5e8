// Decimals as a person reads and sums them. Sums are exact; only what a table shows is rounded, and CSV and JSON never are.
import {
  abs,
  add,
  compare,
  type Decimal,
  format,
  formatFixed,
  one,
  parse,
  tryParse,
  zero,
} from "../../contracts/src/decimal.ts";

/** Two places, as money is read; what is no decimal is shown as it is. */
export function money(text: string | undefined): string {
  return places(text, 2);
}

/** As many places as tell prices apart: four, or eight below one; never fewer than two. */
export function price(text: string | undefined): string {
  const value = tryParse(text ?? "");
  const isSmall = value !== undefined && compare(abs(value), one) < 0;
  return places(text, isSmall ? 8 : 4).replace(/(\.\d{2}\d*?)0+$/, "$1");
}

function places(text: string | undefined, count: number): string {
  const value = tryParse(text ?? "");
  return value === undefined ? (text ?? "") : formatFixed(value, count, "half-even");
}

export function sum(texts: readonly (string | undefined)[]): string {
  const total = texts.reduce<Decimal>((so, text) => (text === undefined ? so : add(so, parse(text))), zero);
  return format(total);
}

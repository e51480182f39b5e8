// How figures read in the sentence of a denial. Only denials are worded, so nothing here has to be fast.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Amount, toDecimal } from "../money/amount.ts";
import { type Notional, toExact } from "../money/exact.ts";

const exactUnit = decimal.one * decimal.one;
const textLengthShown = 64;

/** An amount rounded up to the cent: "250,000.01 USD". */
export function money(value: Notional, currency: string): string {
  const cents = ceiling(toExact(value) * 100n, exactUnit);
  const sign = cents < 0n ? "-" : "";
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${sign}${whole}.${digits.slice(-2)} ${currency}`.trimEnd();
}

/** What part of a whole a value is, rounded up to a hundredth of a percent: "7.01 %". */
export function percentOf(value: Notional, whole: Amount): string {
  const hundredths = ceiling(toExact(value) * 10_000n, toDecimal(whole) * decimal.one);
  return `${decimal.format((hundredths * (decimal.one / 100n)) as Decimal)} %`;
}

/** A fraction as a percentage: "7 %". */
export function percent(fraction: Amount): string {
  return `${decimal.format((toDecimal(fraction) * 100n) as Decimal)} %`;
}

export function amount(value: Amount): string {
  return decimal.format(toDecimal(value));
}

export function seconds(ageMs: number): string {
  return Number.isNaN(ageMs) ? "an unknown time" : `${(ageMs / 1_000).toFixed(1)} s`;
}

/** What a caller wrote, cut short and in quotes; nothing in it can break a line or a terminal. */
export function quoted(text: unknown, lengthMax = textLengthShown): string {
  const shown = typeof text === "object" || typeof text === "function" ? typeof text : String(text);
  const cut = shown.length > lengthMax ? `${shown.slice(0, lengthMax)}…` : shown;
  return JSON.stringify(cut).replace(/[\p{Cc}\u2028\u2029]/gu, "\u{fffd}");
}

function ceiling(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return quotient * divisor < dividend ? quotient + 1n : quotient;
}

// Numbers in paths and queries, which come as text. Only the plain decimal form is taken: another one (" 5", "+5", "05", "1e1", "0x10") is mostly a
// mistake, and two addresses that differ must not quietly ask for the same.
import { z } from "zod";

const wholeText = /^(?:0|[1-9][0-9]{0,15})$/;
const decimalText = /^(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,9})?$/;

/** What is not of that form stays text, which the number after it refuses. */
function numberOf(form: RegExp): (text: unknown) => unknown {
  return (text) => (typeof text === "string" && form.test(text) ? Number(text) : text);
}

/** A whole number of zero or more in decimal digits, no sign and no leading zero. */
export function wholeAsked(min: number, max?: number) {
  const whole = z
    .int("expected a whole number in plain decimal digits, such as 12")
    .min(min, `expected at least ${min}`);
  return z.preprocess(numberOf(wholeText), max === undefined ? whole : whole.max(max, `expected at most ${max}`));
}

/** A number above zero, with a point and at most nine decimals where it needs them. */
export function decimalAsked(max: number) {
  const above = z
    .number("expected a number in plain decimal digits, such as 12 or 0.5")
    .gt(0, "expected more than 0")
    .max(max, `expected at most ${max}`);
  return z.preprocess(numberOf(decimalText), above);
}

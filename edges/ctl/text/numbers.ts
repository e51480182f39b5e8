// Numbers that a person types: exact or refused, with a sentence that says what to type instead. A number that the wire could not carry as it
// was typed is refused too, because a limit must be the one that was meant.
import { DecimalError, fromNumber, tryParse } from "../../../contracts/src/decimal.ts";
import { type Refusal, usageRefusal } from "../failure.ts";

function wrong(option: string, typed: string, expected: string): Refusal {
  return usageRefusal(`--${option} is ${expected}; "${typed}" is not.`, "Add --help to see what it takes.");
}

/** A share as a fraction; a percentage is the usual slip. */
export function fractionOf(option: string, typed: string): number {
  const percent = /^([0-9]+(?:\.[0-9]+)?) ?%$/.exec(typed);
  if (percent !== null) {
    throw usageRefusal(`--${option} is a fraction, not a percentage: 7 % is 0.07.`, `You typed "${typed}".`);
  }
  return exactly(typed) ?? refuse(option, typed, "a fraction such as 0.07, which is 7 %");
}

export function amountOf(option: string, typed: string): number {
  return exactly(typed) ?? refuse(option, typed, "an amount such as 250000, digits and a point only");
}

export function countOf(option: string, typed: string, min = 0): number {
  const count = /^[0-9]{1,15}$/.test(typed) ? Number(typed) : undefined;
  return count !== undefined && count >= min ? count : refuse(option, typed, `a whole number from ${min} on`);
}

/** Hours of the past: 24, or 0.5 for half an hour. */
export function hoursOf(option: string, typed: string): number {
  const hours = exactly(typed);
  return hours !== undefined && hours > 0
    ? hours
    : refuse(option, typed, "a number of hours above 0, such as 24 or 0.5");
}

function exactly(typed: string): number | undefined {
  const meant = tryParse(typed);
  if (meant === undefined) return undefined;
  try {
    const carried = Number(typed);
    return fromNumber(carried) === meant ? carried : undefined;
  } catch (thrown) {
    if (thrown instanceof DecimalError) return undefined;
    throw thrown;
  }
}

function refuse(option: string, typed: string, expected: string): never {
  throw wrong(option, typed, expected);
}

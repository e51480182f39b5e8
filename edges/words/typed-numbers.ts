// Numbers that a person types: exact or refused, with what to type instead. A number that the wire could not carry as it was typed is refused too, because a
// limit must be the one that was meant. Which field it was typed into is each face's own to say.
import { DecimalError, fromNumber, tryParse } from "../../contracts/src/decimal.ts";

/** What a typed number is not, as the rest of a sentence: "a fraction such as 0.07, which is 7 %". */
export class NotThat extends Error {
  override readonly name = "NotThat";
  /** A slip that has a sentence of its own. */
  readonly slip: string | undefined;

  constructor(expected: string, slip?: string) {
    super(expected);
    this.slip = slip;
  }
}

/** A share as a fraction; a percentage is the usual slip. */
export function typedFraction(typed: string): number {
  if (/^([0-9]+(?:\.[0-9]+)?) ?%$/.test(typed)) {
    throw new NotThat("a fraction", "a fraction, not a percentage: 7 % is 0.07");
  }
  return exactly(typed) ?? not("a fraction such as 0.07, which is 7 %");
}

export function typedAmount(typed: string): number {
  return exactly(typed) ?? not("an amount such as 250000, digits and a point only");
}

export function typedCount(typed: string, min = 0): number {
  const count = /^[0-9]{1,15}$/.test(typed) ? Number(typed) : undefined;
  return count !== undefined && count >= min ? count : not(`a whole number from ${min} on`);
}

/** Hours of the past: 24, or 0.5 for half an hour. */
export function typedHours(typed: string): number {
  const hours = exactly(typed);
  return hours !== undefined && hours > 0 ? hours : not("a number of hours above 0, such as 24 or 0.5");
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

function not(expected: string): never {
  throw new NotThat(expected);
}

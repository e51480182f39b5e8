// Numbers that a person types behind a flag: exact or refused, with a sentence that names the flag and says what to type instead.
import { NotThat, typedCount, typedFraction, typedHours } from "../../words/typed-numbers.ts";
import { type Refusal, usageRefusal } from "../failure.ts";

export function fractionOf(option: string, typed: string): number {
  return read(option, typed, typedFraction);
}

export function countOf(option: string, typed: string, min = 0): number {
  return read(option, typed, (text) => typedCount(text, min));
}

/** Hours of the past: 24, or 0.5 for half an hour. */
export function hoursOf(option: string, typed: string): number {
  return read(option, typed, typedHours);
}

function read(option: string, typed: string, parse: (typed: string) => number): number {
  try {
    return parse(typed);
  } catch (thrown) {
    throw thrown instanceof NotThat ? numberRefusal(option, typed, thrown) : thrown;
  }
}

export function numberRefusal(option: string, typed: string, { message, slip }: NotThat): Refusal {
  return slip === undefined
    ? usageRefusal(`--${option} is ${message}; "${typed}" is not.`, "Add --help to see what it takes.")
    : usageRefusal(`--${option} is ${slip}.`, `You typed "${typed}".`);
}

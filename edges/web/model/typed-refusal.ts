// What is wrong with a number that somebody typed into a field of a desk, in one sentence that names the field.
import { NotThat, typedFraction } from "../../words/typed-numbers.ts";

export function typedRefusal(field: string, typed: string, { message, slip }: NotThat): Error {
  return new Error(slip === undefined ? `${field} is ${message}; "${typed}" is not.` : `${field} is ${slip}.`);
}

/** Undefined when it can be read. */
export function complaintOf(field: string, typed: string, read: (typed: string) => unknown): string | undefined {
  try {
    read(typed.trim());
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof NotThat)) throw thrown;
    return typedRefusal(field, typed.trim(), thrown).message;
  }
}

/** More than the whole is refused before it is asked for: whoever types 10 means percent. */
export function typedShare(typed: string): number {
  const share = typedFraction(typed);
  if (share < 0 || share > 1) throw new NotThat("a fraction from 0 to 1, where 0.1 is 10 %");
  return share;
}

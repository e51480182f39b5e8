// What is wrong with a number that somebody typed into a field of a desk, in one sentence that names the field.
import { NotThat } from "../../words/typed-numbers.ts";

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

// What the anchors say when they say no.
import { Fault, messageOf } from "../../contracts/src/fault.ts";

/** Two notes of one size: whoever wrote the first one did not write the second. */
export function otherNote(name: string, size: number): Fault {
  return new Fault("STORE_CONFLICT", `The anchor ${name} has another checkpoint of size ${size}.`, { retry: "never" });
}

export function unusable(name: string, cause: unknown): Fault {
  return new Fault("STORE_UNAVAILABLE", `The anchor ${name} does not answer: ${messageOf(cause)}.`, {
    retry: "later",
    cause,
  });
}

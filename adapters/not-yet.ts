// Whether a handler failed with a Fault that may be tried again: a store that is away, a queue that is full, a service that is going down.
// That is no fault of the event, so it does not count towards putting the event aside. Every transport asks here.
import { Fault } from "../contracts/src/fault.ts";

export function isNotYet(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.retry !== "never";
}

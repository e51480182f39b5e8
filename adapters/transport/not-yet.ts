// Whether a handler failed because the platform cannot work right now: the store is away, a queue is full, a service is going down. That is no
// fault of the event, so it does not count towards putting the event aside. Anything else does, also what might be better later: an event about
// a fund that nobody knows must not hold up everybody else's. Every transport asks here.
import type { FaultCode } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";

const troubles: ReadonlySet<FaultCode> = new Set([
  "STORE_UNAVAILABLE",
  "STORE_CONFLICT",
  "SERVICE_UNAVAILABLE",
  "SERVICE_STOPPING",
  "RESOURCE_EXHAUSTED",
]);

export function isNotYet(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.retry !== "never" && troubles.has(thrown.code);
}

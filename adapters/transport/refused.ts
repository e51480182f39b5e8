// Whether a handler refused an event for good: it is put aside at once, without another try, and nothing waits behind it, money or not. Every transport
// asks here.
import { Fault } from "../../contracts/src/fault.ts";

export function isRefused(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.code === "FOREIGN_EVENT_REFUSED";
}

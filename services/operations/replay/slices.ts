// Long work in slices: this process latches halts, so whoever works on the past gives others their turn after 20 ms at the latest.
import { Fault } from "../../../contracts/src/fault.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { nextTurn } from "../../shared/waiting.ts";

export interface Slices {
  /** Between two pieces of work, each much shorter than a slice. Ends the work of which nobody waits for the outcome. */
  next(): Promise<void>;
}

/** Half of it, because a slice ends with the piece of work in which its time was over. */
const sliceMicroseconds = 10_000;

export function createSlices(
  { timers, stopwatch }: Pick<ServicePorts, "timers" | "stopwatch">,
  signal: AbortSignal,
): Slices {
  let began = stopwatch();
  return {
    async next() {
      if (signal.aborted) throw new Fault("CANCELLED", "Nobody waits for this answer any more.", { retry: "later" });
      if (stopwatch() - began < sliceMicroseconds) return;
      await nextTurn(timers);
      began = stopwatch();
    },
  };
}

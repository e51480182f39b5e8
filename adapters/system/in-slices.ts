// Long work on a loop that others wait for: they have their turn wherever it yields.
import type { Timers } from "../../ports/timers.ts";

export async function inSlices<Made>(work: Generator<void, Made>, timers: Pick<Timers, "soon">): Promise<Made> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await new Promise<void>((resolve) => timers.soon(resolve));
  }
}

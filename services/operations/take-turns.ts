// One after the other, and a few that wait: work that costs more to do than to ask for must not be able to crowd out what else its process does.
// One more than may wait is refused at once, and whoever hung up meanwhile loses its turn.
import { Fault } from "../../contracts/src/fault.ts";

type InTurn = <Answer>(signal: AbortSignal, work: () => Promise<Answer>) => Promise<Answer>;

/** `what` completes the sentence "As many questions about the past as may wait do." */
export function takeTurns(waitingMax: number, what: string): InTurn {
  let taken = 0;
  let last: Promise<void> = Promise.resolve();
  return async (signal, work) => {
    if (taken > waitingMax) {
      throw new Fault("RESOURCE_EXHAUSTED", `As many ${what} as may wait do: ask again in a moment.`, {
        retry: "later",
      });
    }
    taken += 1;
    const before = last;
    let end: () => void = () => undefined;
    last = new Promise((resolve) => {
      end = resolve;
    });
    try {
      await before;
      if (signal.aborted) throw hungUp();
      const answer = await work();
      if (signal.aborted) throw hungUp();
      return answer;
    } finally {
      taken -= 1;
      end();
    }
  };
}

function hungUp(): Fault {
  return new Fault("CANCELLED", "Nobody waits for this answer any more.", { retry: "later" });
}

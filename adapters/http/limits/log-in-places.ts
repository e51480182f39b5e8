// How many log-ins without a token are in hand at once: each asks the store and perhaps for the hash of a password, and an honest one must not stand behind all
// that others began. Whoever asked least lately goes first. A place is given back with the answer, or after `heldMsMax`, so that who sends slowly keeps nobody out.
import type { Timers } from "../../../ports/timers.ts";

interface LogInPlaces {
  /** Undefined: at once. Give it back when the answer is out; more than once is once. */
  take(urgency: number): { readonly ready: Promise<void> | undefined; readonly giveBack: () => void };
}

interface Waiting {
  readonly urgency: number;
  begin(): void;
}

const inHandMax = 8;
const heldMsMax = 2_000;

export function logInPlaces(timers: Pick<Timers, "after">, placesMax = inHandMax): LogInPlaces {
  const waiting: Waiting[] = [];
  let inHand = 0;

  function next(): void {
    let found = 0;
    for (let at = 1; at < waiting.length; at += 1) {
      if ((waiting[at]?.urgency ?? 0) > (waiting[found]?.urgency ?? 0)) found = at;
    }
    const [first] = waiting.splice(found, 1);
    if (first === undefined) inHand -= 1;
    else first.begin();
  }

  return {
    take: (urgency) => {
      let state: "waiting" | "held" | "over" = "waiting";
      let cancel = (): void => undefined;
      const end = (): void => {
        if (state === "held") next();
        state = "over";
        cancel();
      };
      const begin = (): void => {
        // Whoever has gone meanwhile hands it on.
        if (state === "over") {
          next();
          return;
        }
        state = "held";
        cancel = timers.after(heldMsMax, end);
      };
      if (inHand < placesMax) {
        inHand += 1;
        begin();
        return { ready: undefined, giveBack: end };
      }
      const ready = new Promise<void>((resolve) => {
        waiting.push({
          urgency,
          begin: () => {
            begin();
            resolve();
          },
        });
      });
      return { ready, giveBack: end };
    },
  };
}

// How a durable subscription stands in the database, as the pulse of its bus reads it: whether its name is still its own, and when what was put aside
// is to be read again.
import type { Aside } from "../../transport/put-aside.ts";
import type { BusPulse, Standing } from "./bus-pulse.ts";
import type { CursorKeeper } from "./subscription-cursor.ts";
import type { Chore } from "./subscription-pace.ts";

interface StandingWatch {
  /** Its name was forgotten, or entered again by somebody else. */
  isForgotten(): boolean;
  /** Milliseconds until what was put aside is read; infinite when there is nothing. */
  asideMs(): number;
  stop(): void;
}

/** `onDue` runs when there is something to be done. */
export function watchStanding(
  name: string,
  { pulse, entry }: { readonly pulse: BusPulse; readonly entry: bigint },
  aside: Pick<Aside, "isHolding" | "dueMs">,
  onDue: () => void,
): StandingWatch {
  let standing: Standing = { entry, hasAside: false };
  const isForgotten = (): boolean => standing.entry !== entry;
  const asideMs = (): number => (standing.hasAside || aside.isHolding() ? aside.dueMs() : Number.POSITIVE_INFINITY);
  const stop = pulse.watch(name, (found) => {
    standing = found;
    if (isForgotten() || asideMs() <= 0) onDue();
  });
  return { isForgotten, asideMs, stop };
}

/** What a subscription at rest has to do beside reading: write down its cursor, and see to what was put aside. */
export function choreOf(cursor: CursorKeeper, standing: StandingWatch): Chore {
  return {
    dueMs: () => (standing.isForgotten() ? 0 : Math.min(cursor.dueMs(), standing.asideMs())),
    async run() {
      await cursor.keepUp();
      return standing.isForgotten() || standing.asideMs() <= 0;
    },
  };
}

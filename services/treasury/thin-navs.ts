// Keeps the history of values small: every second for an hour, every minute for a week, every hour for ninety days, every day for good. A bounded
// piece of work at a time, so that what has piled up never holds up the next value.
import { minusMilliseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { NavEvery } from "../../ports/ledger-records.ts";
import type { ServicePorts } from "../shared/service.ts";

const hourMs = 3_600_000;
export const keptMs: readonly (readonly [NavEvery, number])[] = [
  ["second", hourMs],
  ["minute", 7 * 24 * hourMs],
  ["hour", 90 * 24 * hourMs],
];
const thinEveryMs = 60_000;
const rowsMax = 2_000;

interface Thinner {
  /** Removes what is old, when it is time to. */
  thin(): Promise<void>;
}

export function createThinner({ clock, store }: Pick<ServicePorts, "clock" | "store">): Thinner {
  let nextAt = clock.now();
  return {
    async thin() {
      const at = clock.now();
      if (at < nextAt) return;
      let removed = 0;
      for (const [every, ageMs] of keptMs) {
        const before = minusMilliseconds(at, ageMs);
        const count = await store.transact("treasury.thin", (unit) => unit.ledger.thinNavs(every, before, rowsMax));
        removed = Math.max(removed, count);
      }
      // When there was more than a piece, the next one follows with the next value.
      if (removed < rowsMax) nextAt = plusMilliseconds(at, thinEveryMs);
    },
  };
}

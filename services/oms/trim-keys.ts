// Forgets idempotency keys that count no more and alerts that ended long ago, every minute and in bounded portions: without this there would be a row for
// every order ever handed in, and for every request that ever came to the webhook.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { keyWindowMs, type OmsPorts } from "./oms-parts.ts";

const everyMs = 60_000;
/** Keys of one transaction, and transactions of one round. */
const portionMax = 1_000;
const portionsMax = 50;
/** Clocks disagree, and nothing hurries. */
const slackMs = 60_000;
/** How long people can look an alert up; its events stay in the audit log. Far beyond the five minutes of its key. */
export const signalsKeptDays = 90;
const signalsKeptMs = signalsKeptDays * 86_400_000;

/** Gives the function that ends it. */
export function trimKeys(ports: Pick<OmsPorts, "store" | "clock" | "timers" | "log" | "crash">): () => Promise<void> {
  const ending = new AbortController();

  async function round(): Promise<void> {
    const now = ports.clock.now();
    const keysBefore = minusMilliseconds(now, keyWindowMs + slackMs);
    await byPortions((unit) => unit.oms.trimKeys(keysBefore, portionMax));
    const signalsBefore = minusMilliseconds(now, signalsKeptMs);
    await byPortions((unit) => unit.signals.trimSignals(signalsBefore, portionMax));
  }

  async function byPortions(remove: (unit: UnitOfWork) => Promise<number>): Promise<void> {
    for (let portion = 0; portion < portionsMax && !ending.signal.aborted; portion += 1) {
      if ((await ports.store.transact("oms.trim", remove)) < portionMax) return;
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await ports.timers.sleep(everyMs, ending.signal);
      if (ending.signal.aborted) return;
      try {
        await round();
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.debug("old keys and alerts cannot be forgotten yet", { error: messageOf(thrown) });
      }
    }
  }

  const running = run();
  return async () => {
    ending.abort();
    await running;
  };
}

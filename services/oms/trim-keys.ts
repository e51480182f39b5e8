// Forgets idempotency keys that count no more and alerts that ended long ago, every minute and in bounded portions: without this there would be a row for
// every order ever handed in, and for every request that ever came to the webhook.
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import { keyWindowMs, type OmsPorts } from "./oms-parts.ts";

const everyMs = 60_000;
/** Keys of one transaction, and transactions of one round. */
const portionMax = 1_000;
const portionsMax = 50;
/** Clocks disagree, and nothing hurries. */
const slackMs = 60_000;
/** How long people can look an alert up; its events stay in the audit log. Far beyond the five minutes of its key. */
const signalsKeptDays = 90;
const signalsKeptMs = signalsKeptDays * 86_400_000;

export function trimKeys(ports: Pick<OmsPorts, "store" | "clock" | "timers" | "log" | "crash">): Loop {
  async function run(ending: AbortSignal): Promise<number> {
    const now = ports.clock.now();
    const keysBefore = minusMilliseconds(now, keyWindowMs + slackMs);
    await byPortions(ending, (unit) => unit.oms.trimKeys(keysBefore, portionMax));
    const signalsBefore = minusMilliseconds(now, signalsKeptMs);
    await byPortions(ending, (unit) => unit.signals.trimSignals(signalsBefore, portionMax));
    return everyMs;
  }

  async function byPortions(ending: AbortSignal, remove: (unit: UnitOfWork) => Promise<number>): Promise<void> {
    for (let portion = 0; portion < portionsMax && !ending.aborted; portion += 1) {
      if ((await ports.store.transact("oms.trim", remove)) < portionMax) return;
    }
  }

  const what = {
    failing: "old keys and alerts cannot be forgotten yet",
    working: "old keys and alerts can be forgotten again",
  };
  return startLoop({ ports, what, firstAfterMs: everyMs, run });
}

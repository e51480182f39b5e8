// Forgets idempotency keys that count no more, every minute and in bounded portions: without this there would be a row for every order ever handed in.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import { keyWindowMs, type OmsPorts } from "./oms-parts.ts";

const everyMs = 60_000;
/** Keys of one transaction, and transactions of one round. */
const portionMax = 1_000;
const portionsMax = 50;
/** Clocks disagree, and nothing hurries. */
const slackMs = 60_000;

/** Gives the function that ends it. */
export function trimKeys(ports: Pick<OmsPorts, "store" | "clock" | "timers" | "log" | "crash">): () => Promise<void> {
  const ending = new AbortController();

  async function round(): Promise<void> {
    const before = minusMilliseconds(ports.clock.now(), keyWindowMs + slackMs);
    for (let portion = 0; portion < portionsMax && !ending.signal.aborted; portion += 1) {
      const removed = await ports.store.transact("oms.trim", (unit) => unit.oms.trimKeys(before, portionMax));
      if (removed < portionMax) return;
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
        ports.log.debug("old keys cannot be forgotten yet", { error: messageOf(thrown) });
      }
    }
  }

  const running = run();
  return async () => {
    ending.abort();
    await running;
  };
}

// While a fund's losses cannot be judged in full no new risk is approved, but what rests with a broker goes on trading. After a minute of that it is
// reported, once for each such time, and order management cancels what rests and adds risk; exits stay.
//
// A start is no reason: prices come in one by one after it. So a time that begins with a start counts only after five minutes.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { OldSpell } from "./loss-watch.ts";

const afterMs = 60_000;
const afterStartMs = 300_000;

interface UnjudgedLosses {
  /** Tells of what is due; never throws. */
  look(spells: ReadonlyMap<string, OldSpell>): Promise<void>;
}

export function createUnjudgedLosses(ports: Pick<ServicePorts, "store" | "clock" | "log" | "crash">): UnjudgedLosses {
  /** By fund: the beginning of the time that was reported. Bounded by the funds that there are. */
  const reported = new Map<string, Instant>();

  async function tell(fundId: string, { since, why }: OldSpell): Promise<void> {
    const reason = line(`The losses of ${fundId} could not be judged in full for too long: ${why}.`, 2_000);
    const record = { fund_id: fundId, since: format(since), reason, at: format(ports.clock.now()) };
    try {
      await ports.store.transact("risk.unjudged", (unit) => unit.events.publish(subjects.lossesUnjudged, record));
      reported.set(fundId, since);
      ports.log.warn("orders that rest and add risk are to be cancelled", { fund_id: fundId, reason });
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      // Reported with the next look.
      ports.log.warn("losses that are not judged cannot be reported", { fund_id: fundId, error: messageOf(thrown) });
    }
  }

  return {
    async look(spells) {
      for (const fundId of reported.keys()) if (!spells.has(fundId)) reported.delete(fundId);
      const at = ports.clock.now();
      for (const [fundId, spell] of [...spells]) {
        const isDue = millisecondsBetween(spell.since, at) >= (spell.isFromStart ? afterStartMs : afterMs);
        if (isDue && reported.get(fundId) !== spell.since) await tell(fundId, spell);
      }
    },
  };
}

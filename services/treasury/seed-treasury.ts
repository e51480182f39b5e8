// Puts the paper platform's reference data and capital in, once: only when there is no reference data at all, so that nobody's own
// is ever mixed with ours.
import * as decimal from "../../contracts/src/decimal.ts";
import { format } from "../../contracts/src/instant.ts";
import { referenceKind } from "../../contracts/src/records/reference.ts";
import { capitalEntry } from "../../core/ledger.ts";
import { drillCapital, drillFund } from "../drill-seeds.ts";
import { paperActor, paperCapital, paperReason, paperReference } from "../paper-seeds.ts";
import type { ServicePorts } from "../service.ts";
import { bookEntry, entryIdOf } from "./book-entry.ts";
import { lockReference, putReference } from "./reference-records.ts";

export type SeedPorts = Pick<ServicePorts, "clock" | "log" | "store" | "sha256" | "settings">;

export async function seedTreasury(ports: SeedPorts): Promise<void> {
  if (!ports.settings.seedPaperPlatform) return;
  const seeded = await ports.store.transact("treasury.seed", async (unit) => {
    const locked = await lockReference(unit);
    if (referenceKind.options.some((kind) => locked[kind] !== undefined)) return false;
    const at = ports.clock.now();
    const paper = paperReference(format(at));
    const contents = { ...paper, funds: [...paper.funds, { ...drillFund, strategies: [...drillFund.strategies] }] };
    for (const kind of referenceKind.options) {
      const change = { kind, version: 1, content: contents[kind], setBy: paperActor, reason: paperReason };
      await putReference(unit, change, at, ports.sha256);
    }
    for (const { fundId, currency, amount } of [...paperCapital, drillCapital]) {
      const entry = capitalEntry({
        entryId: entryIdOf(ports.sha256, "capital", fundId, currency),
        fundId,
        currency,
        amount: decimal.parse(amount),
        reason: paperReason,
        bookedBy: paperActor,
        at,
      });
      await bookEntry(unit, entry);
    }
    return true;
  });
  if (seeded) ports.log.info("the paper platform's funds and reference data were put in");
}

// Puts the paper platform's reference data and capital in, once: only when there is no reference data at all, so that nobody's own
// is ever mixed with ours. A paper platform that was begun before there were drills, and whose funds are still as we put them in, gets their fund.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { type FundReference, referenceKind } from "../../contracts/src/records/reference.ts";
import { capitalEntry } from "../../core/ledger/ledger.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { type LockedReference, lockReference, putReference } from "../reference/reference-records.ts";
import { drillCapital, drillFund } from "../shared/drill-seeds.ts";
import { paperActor, paperCapital, paperReason, paperReference } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";
import { bookEntry, entryIdOf } from "./book-entry.ts";

type SeedPorts = Pick<ServicePorts, "clock" | "log" | "store" | "sha256" | "settings">;

export async function seedTreasury(ports: SeedPorts): Promise<void> {
  if (!ports.settings.seedPaperPlatform) return;
  const seeded = await ports.store.transact("treasury.seed", async (unit) => {
    const locked = await lockReference(unit);
    if (referenceKind.options.some((kind) => locked[kind] !== undefined)) return addDrillFund(unit, locked, ports);
    const at = ports.clock.now();
    const paper = paperReference(format(at));
    const contents = { ...paper, funds: [...paper.funds, { ...drillFund, strategies: [...drillFund.strategies] }] };
    for (const kind of referenceKind.options) {
      const change = { kind, version: 1, content: contents[kind], setBy: paperActor, reason: paperReason };
      await putReference(unit, change, at, ports.sha256);
    }
    for (const capital of [...paperCapital, drillCapital]) await putIn(unit, capital, at, ports);
    return "funds and reference data";
  });
  if (seeded !== undefined) ports.log.info(`the paper platform's ${seeded} were put in`);
}

/** Undefined when it is there, or when the funds are somebody else's. */
async function addDrillFund(
  unit: UnitOfWork,
  { funds }: LockedReference,
  ports: SeedPorts,
): Promise<string | undefined> {
  if (funds === undefined || funds.setBy !== paperActor) return undefined;
  const known = funds.content as readonly FundReference[];
  if (known.some(({ fund_id: id }) => id === drillFund.fund_id)) return undefined;
  const at = ports.clock.now();
  const content = [...known, { ...drillFund, strategies: [...drillFund.strategies] }];
  const reason = "The fund of the halt drills was not there yet.";
  const change = { kind: "funds", version: funds.version + 1, content, setBy: paperActor, reason } as const;
  await putReference(unit, change, at, ports.sha256);
  await putIn(unit, drillCapital, at, ports);
  return "fund for drills and its capital";
}

type Capital = { readonly fundId: string; readonly currency: string; readonly amount: string };

async function putIn(
  unit: UnitOfWork,
  { fundId, currency, amount }: Capital,
  at: Instant,
  ports: SeedPorts,
): Promise<void> {
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

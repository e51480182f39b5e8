// Records what of an order's life has no record yet, from the steps that were kept of it; and judges again what waited for its order.
//
//  1. An order that began while its fund was not enabled is left out whole, unless its beginning has a record: then it goes on.
//  2. An order that was first reported by call goes on by what is heard; its beginning is not recorded a second time.
//  3. What was put aside because it named an order that nobody knew is judged again when that order's beginning is written.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { FundFilings } from "../../../contracts/src/records/filing.ts";
import { beginningOf, eventsOfLife } from "../../../core/filings/life.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import { beginnings } from "../../../core/filings/regulatory-event.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { FilingSwitch } from "../../../ports/filing-steps.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { FilingParts } from "./filing-parts.ts";
import { judgeWaiting } from "./judge-again.ts";
import { recordEvent } from "./record-event.ts";

export interface LifeToRecord {
  readonly regime: FilingRegime;
  readonly fund: FundFilings;
  readonly mode: FilingRecord["mode"];
  /** When the fund was enabled and when it was not, the oldest first; undefined for what is repaired, which leaves nothing out. */
  readonly switches: readonly FilingSwitch[] | undefined;
  readonly now: Instant;
  readonly sha256: FilingParts["sha256"];
}

/** An order has some steps; one with more is amended by a machine that does nothing else. */
const stepsMax = 10_000;

export function isEnabledAt(switches: readonly FilingSwitch[], at: Instant): boolean {
  return switches.findLast((one) => one.at <= at)?.isEnabled === true;
}

export async function recordLife(
  unit: UnitOfWork,
  fundId: string,
  orderId: string,
  { regime, switches, ...given }: LifeToRecord,
): Promise<readonly FilingRecord[]> {
  const kept = await unit.filingSteps.ofOrder(fundId, orderId, stepsMax);
  const steps = kept.map(({ step }) => step);
  const created = beginningOf(steps);
  const source = kept.find(({ step }) => step === created)?.source;
  if (created === undefined || source === undefined) return [];
  const hasBegun = async (id: string): Promise<boolean> =>
    (await unit.filings.beginning(regime.name, fundId, id, beginnings)) !== undefined;
  if (switches !== undefined && !isEnabledAt(switches, created.at) && !(await hasBegun(orderId))) return [];
  const made: FilingRecord[] = [];
  for (const event of eventsOfLife(steps)) {
    if ((await unit.filings.ofEvent(regime.name, fundId, event.key)) !== undefined) continue;
    if (beginnings.includes(event.type) && (await hasBegun(orderId))) continue;
    const parent = event.details.parent_order_id;
    // The whole is heard later: then this is read again.
    if (regime.hearsBeginnings && parent !== undefined && !(await hasBegun(parent))) break;
    const contentHash = given.sha256(JSON.stringify(event));
    const toRecord = { ...given, event, contentHash, source, strategies: [], isRepair: switches === undefined };
    const recorded = await recordEvent(unit, regime, toRecord, given.sha256);
    if (!("record" in recorded)) continue;
    made.push(recorded.record, ...(await judgeWaiting(unit, regime, recorded.record, given)));
  }
  return made;
}

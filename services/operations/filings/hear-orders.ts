// Records what a regulator wants of the orders of enabled funds by itself, from what order management publishes, ours or a foreign system's.
//
//  1. It is on no order's path: it hears of an order when its step is durable, and waits for no file.
//  2. What was heard is kept with the records that come of it in one transaction; a step that comes again changes nothing.
//  3. An order that began before its fund was enabled is left out whole.
//  4. Of a foreign system only what is about an order of its own counts.
//  5. An order that was first reported by call goes on by what is heard; its beginning is not recorded a second time.
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { FundFilings } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { enabledRegimes } from "../../../core/filings/index.ts";
import { eventsOfLife } from "../../../core/filings/life.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import { beginnings } from "../../../core/filings/regulatory-event.ts";
import type { Bus, BusEvent, Subscription } from "../../../ports/bus.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { KeptStep } from "../../../ports/filing-steps.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ReferenceReader, ReferenceView } from "../../reference/reference-view.ts";
import { foreignSourceOf, isForeign, refusedSpeaker } from "../../shared/foreign-intake.ts";
import { ownersOf } from "../../shared/order-owners.ts";
import { tellQuarantined } from "./bring-file.ts";
import type { FilingParts } from "./filing-parts.ts";
import { acceptedBy, recordTrades, withStanding } from "./hear-trades.ts";
import { recordEvent } from "./record-event.ts";
import { lifeSubjects, stepsOfEvent } from "./steps-of-event.ts";

/** The cursor's name. */
export const ordersSubscription = "operations.filings";

/** An order has some steps; one with more is amended by a machine that does nothing else. */
const stepsMax = 10_000;
const partsMax = 10_000;
const behindMsMax = 60_000;

interface HearingOrders {
  readonly bus: Bus;
  readonly reader: ReferenceReader;
  /** A file has lines that are not in it yet. */
  touched(record: FilingRecord): void;
}

export function hearOrders(parts: FilingParts, { bus, reader, touched }: HearingOrders): Promise<Subscription> {
  const { ports } = parts;
  const options = { name: ordersSubscription, subjects: [...lifeSubjects, subjects.blockEnded.name], proved: true };
  return bus.subscribe(options, async (event) => {
    const foreign = isForeign(event);
    const isBlock = event.subject === subjects.blockEnded.name;
    const heard = isBlock ? await acceptedBy(parts, event) : stepsOfEvent(event, foreign);
    const kept = isBlock ? heard : await withStanding(parts, heard);
    const fundId = kept[0]?.fundId ?? "";
    const settings = ports.settings.filings?.funds[fundId];
    if (settings === undefined || (foreign && !(await isTheirOwn(parts, event, kept)))) return;
    const reference = await reader.refresh();
    const fund = reference.funds.get(fundId);
    if (fund === undefined) return;
    const made = await parts.inTurn(() => hear(parts, kept, { fund: settings, mode: fund.mode, reference }));
    for (const record of made) touched(record);
    const aside = made.filter(({ status }) => status === "QUARANTINED");
    const oneOfEach = new Map(aside.map((record) => [record.regime, record]));
    for (const record of oneOfEach.values()) await tellQuarantined(parts, record);
  });
}

async function isTheirOwn({ ports }: FilingParts, event: BusEvent, kept: readonly KeptStep[]): Promise<boolean> {
  if (refusedSpeaker(event) !== undefined) return false;
  const ids = kept.map(({ orderId }) => orderId);
  const owners = await ownersOf(ports, ids);
  const source = foreignSourceOf(event);
  return ids.every((id) => owners(id).isUnclaimed || owners(id).owners.includes(source));
}

interface Enabled {
  readonly fund: FundFilings;
  readonly mode: FilingRecord["mode"];
  readonly reference: Pick<ReferenceView, "funds" | "instruments">;
}

function hear(
  { ports, sha256 }: FilingParts,
  kept: readonly KeptStep[],
  enabled: Enabled,
): Promise<readonly FilingRecord[]> {
  const now = ports.clock.now();
  return ports.store.transact("filings.hear", async (unit) => {
    const [first] = kept;
    if (first === undefined) return [];
    const switches = await unit.filingSteps.switches();
    const on = enabledRegimes(enabled.fund).flatMap((regime) => {
      const since = switches.find((one) => one.fundId === first.fundId && one.regime === regime.name && one.isEnabled);
      return since === undefined ? [] : [{ regime, since: since.at }];
    });
    if (on.length === 0) return [];
    for (const step of kept) await unit.filingSteps.keep(step);
    const made: FilingRecord[] = [];
    for (const { fundId, orderId } of kept) {
      // A part that was heard before its whole waited for it.
      const parts = await unit.filingSteps.partsOf(fundId, orderId, partsMax);
      for (const id of [orderId, ...parts]) {
        for (const one of on) {
          const life = { ...enabled, ...one, now, sha256 };
          made.push(...(await recordLife(unit, fundId, id, life)), ...(await recordTrades(unit, fundId, id, life)));
        }
      }
    }
    return made;
  });
}

export interface LifeToRecord extends Enabled {
  readonly regime: FilingRegime;
  readonly since: Instant;
  readonly now: Instant;
  readonly sha256: FilingParts["sha256"];
}

/** What of an order's life is not recorded yet. */
async function recordLife(
  unit: UnitOfWork,
  fundId: string,
  orderId: string,
  { regime, fund, mode, since, now, sha256 }: LifeToRecord,
): Promise<readonly FilingRecord[]> {
  const steps = await unit.filingSteps.ofOrder(fundId, orderId, stepsMax);
  const created = steps.find(({ step }) => step.kind === "created");
  if (created === undefined || created.step.at < since) return [];
  const hasBegun = async (id: string): Promise<boolean> =>
    (await unit.filings.beginning(regime.name, fundId, id, beginnings)) !== undefined;
  const made: FilingRecord[] = [];
  for (const event of eventsOfLife(steps.map(({ step }) => step))) {
    if ((await unit.filings.ofEvent(regime.name, fundId, event.key)) !== undefined) continue;
    if (beginnings.includes(event.type) && (await hasBegun(orderId))) continue;
    const parent = event.details.parent_order_id;
    // The whole is heard later: then this is read again.
    if (regime.hearsBeginnings && parent !== undefined && !(await hasBegun(parent))) break;
    const contentHash = sha256(JSON.stringify(event));
    const given = { event, contentHash, fund, source: created.source, mode, now, strategies: [] };
    const recorded = await recordEvent(unit, regime, given, sha256);
    if ("record" in recorded) made.push(recorded.record);
  }
  return made;
}

/** Whether it stands still, told while it does. */
export async function tellBacklog({ ports, alarms }: FilingParts, subscription: Subscription): Promise<void> {
  const now = ports.clock.now();
  const heardUntil = subscription.caughtUpAt();
  if (heardUntil === undefined || millisecondsBetween(heardUntil, now) <= behindMsMax) {
    alarms.clear("FILING_BACKLOG", ordersSubscription);
    return;
  }
  const seconds = Math.round(millisecondsBetween(heardUntil, now) / 1_000);
  const sentence = `Orders of the last ${seconds} s are not recorded for regulators yet; those until ${format(heardUntil)} are.`;
  await alarms.raise("FILING_BACKLOG", ordersSubscription, sentence, { seconds });
}

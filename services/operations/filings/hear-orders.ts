// Records what a regulator wants of the orders of enabled funds by itself, from what order management publishes, ours or a foreign system's.
//
//  1. It is on no order's path: it hears of an order when its step is durable, and waits for no file.
//  2. What was heard is kept with the records that come of it in one transaction; a step that comes again changes nothing.
//  3. Of a foreign system only what is about an order of its own counts; where it published no order, the approval says what was ordered.
import { format, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { FundFilings } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { enabledRegimes } from "../../../core/filings/index.ts";
import { beginningOf } from "../../../core/filings/life.ts";
import { decisionMadeOf } from "../../../core/state/rejection.ts";
import type { Bus, BusEvent, Subscription } from "../../../ports/bus.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { KeptStep } from "../../../ports/filing-steps.ts";
import type { ReferenceReader, ReferenceView } from "../../reference/reference-view.ts";
import { foreignSourceOf, isForeign, refusedSpeaker } from "../../shared/foreign-intake.ts";
import { ownersOf } from "../../shared/order-owners.ts";
import { fromRecord } from "../risk-queries-records.ts";
import type { FilingParts } from "./filing-parts.ts";
import { acceptedBy, recordTrades, withStanding } from "./hear-trades.ts";
import { type LifeToRecord, recordLife } from "./record-life.ts";
import { decidedStep, lifeSubjects, stepsOfEvent } from "./steps-of-event.ts";

/** The cursor's name. */
export const ordersSubscription = "operations.filings";

/** Decisions about one order: the first approval counts. */
const decisionsMax = 100;
const stepsMax = 10_000;
const partsMax = 10_000;
/** A fund is switched on and off by restarts. */
const switchesMax = 1_000;
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
    const fundId = heard[0]?.fundId ?? "";
    const settings = ports.settings.filings?.funds[fundId];
    // Before anything is waited for: a fill of somebody else's order is never booked.
    if (settings === undefined || (foreign && !(await isTheirOwn(parts, event, heard)))) return;
    const kept = isBlock ? heard : await withStanding(parts, heard);
    const reference = await reader.refresh();
    const fund = reference.funds.get(fundId);
    if (fund === undefined) return;
    const whole = foreign ? await withDecisions(parts, kept) : kept;
    const made = await parts.inTurn(() => hear(parts, whole, { fund: settings, mode: fund.mode, reference }));
    for (const record of made) touched(record);
    const aside = made.filter(({ status }) => status === "QUARANTINED");
    const oneOfEach = new Map(aside.map((record) => [record.regime, record]));
    for (const record of oneOfEach.values()) await parts.quarantined(record);
  });
}

async function isTheirOwn({ ports }: FilingParts, event: BusEvent, kept: readonly KeptStep[]): Promise<boolean> {
  if (refusedSpeaker(event) !== undefined) return false;
  const ids = kept.map(({ orderId }) => orderId);
  const owners = await ownersOf(ports, ids);
  const source = foreignSourceOf(event);
  return ids.every((id) => owners(id).isUnclaimed || owners(id).owners.includes(source));
}

/** A foreign system need not publish its orders: then their terms are those that were approved. */
async function withDecisions({ ports }: FilingParts, kept: readonly KeptStep[]): Promise<readonly KeptStep[]> {
  const found: KeptStep[] = [];
  for (const { fundId, orderId, source, step } of kept) {
    if (step.kind === "created" || found.some((one) => one.orderId === orderId)) continue;
    const before = await ports.store.transact(
      "filings.look",
      (unit) => unit.filingSteps.ofOrder(fundId, orderId, stepsMax),
      { isOneStatement: true },
    );
    if (beginningOf(before.map((one) => one.step)) !== undefined) continue;
    const decisions = await ports.riskQueries.decisionsOf(orderId, decisionsMax);
    const approved = decisions
      .map((stored) => fromRecord(stored, (record) => decidedStep(decisionMadeOf(record))))
      .find((one) => one?.order.fund_id === fundId);
    if (approved !== undefined) found.push({ fundId, orderId, source, step: approved });
  }
  return [...found, ...kept];
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
    const on: Pick<LifeToRecord, "regime" | "switches">[] = [];
    for (const regime of enabledRegimes(enabled.fund)) {
      const switches = await unit.filingSteps.switchesOf(regime.name, first.fundId, switchesMax);
      if (switches.at(-1)?.isEnabled === true) on.push({ regime, switches });
    }
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

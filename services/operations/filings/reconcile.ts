// Holds a day's records of a fund against what the audit log says that they must be: nothing may be missing, nothing more may be there, and each record must be
// what its event becomes today, byte for byte.
//
//  1. What must be there is derived from the audit log alone (logged-day.ts); what the subscription kept is not asked.
//  2. What need not be heard yet is pending, and no fault. Of what the log does not have yet nothing is said.
//  3. An order that began before the fund was first enabled is left out whole; one of an hour in which it was switched off is missing.
//  4. Records of calls are counted; those of an order that order management published itself are named, because nobody can tell whether both are true.
//  5. A record is made again from the settings that were in force when it was recorded. Corrections are not compared.
import type { Instant } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { FundFilings } from "../../../contracts/src/records/filing.ts";
import { beganAt, expectedLife, isBeforeEnabled, knownBy, knownOf } from "../../../core/filings/expected.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import {
  beginnings,
  type KnownOrder,
  type RegimeRecord,
  type RegulatoryEvent,
} from "../../../core/filings/regulatory-event.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { KeptSettings } from "../../../ports/filing-steps.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { breathe } from "../../shared/waiting.ts";
import type { FilingParts } from "./filing-parts.ts";
import { type LoggedDay, type LoggedOrder, readLoggedDay } from "./logged-day.ts";

export interface DayToReconcile {
  readonly regime: FilingRegime;
  readonly fundId: string;
  readonly date: string;
  /** Until when the subscription has heard everything; what entered the log later is pending. */
  readonly heardUntil: Instant | undefined;
  readonly signal: AbortSignal;
}

/** What stands in the list, of which at most so many are named. */
interface Named<One> {
  count: number;
  readonly first: One[];
}

export interface Reconciliation {
  /** Events of the day that must have a record. */
  expected: number;
  /** Of them those that have one. */
  recorded: number;
  byCall: number;
  quarantined: number;
  notReportable: number;
  beforeEnabled: number;
  pending: number;
  readonly missing: Named<RegulatoryEvent>;
  readonly unexpected: Named<FilingRecord>;
  readonly different: Named<{ readonly record: FilingRecord; readonly made: RegimeRecord }>;
  /** The newest entry of the audit log that was read. */
  readonly until: string;
  readonly orders: ReadonlyMap<string, LoggedOrder>;
  /** Orders of which something is missing. */
  readonly incomplete: Set<string>;
}

export type ReconcilePorts = Pick<FilingParts, "sha256"> & {
  readonly ports: Pick<
    ServicePorts,
    "store" | "auditLog" | "timers" | "sha256OfBytes" | "riskStore" | "settings" | "clock"
  >;
};

const namedMax = 1_000;
const rowsPage = 500;
const switchesMax = 10_000;
const ordersBetweenBreaths = 200;

export async function reconcileDay(parts: ReconcilePorts, of: DayToReconcile): Promise<Reconciliation> {
  const { ports } = parts;
  const { regime, fundId, date } = of;
  const { switches, settings } = await ports.store.transact("filings.look", async (unit) => ({
    switches: await unit.filingSteps.switchesOf(regime.name, fundId, switchesMax),
    settings: await unit.filingSteps.settingsOf(fundId, switchesMax),
  }));
  const day = await readLoggedDay(ports, { ...of, regime: regime.name });
  const look: Look = {
    ...of,
    day,
    parts,
    settings,
    firstEnabledAt: switches.find(({ isEnabled }) => isEnabled)?.at,
    result: emptyResult(day),
    seen: new Set(),
  };
  for await (const row of rowsOf(ports, look)) await judgeRow(look, row);
  let count = 0;
  for (const order of day.orders.values()) {
    await judgeOrder(look, order, date);
    count += 1;
    if (count % ordersBetweenBreaths === 0) await breathe(ports.timers);
  }
  return look.result;
}

export const isComplete = ({ missing, unexpected, different }: Reconciliation): boolean =>
  missing.count + unexpected.count + different.count === 0;

/** The order that it is a part of. */
export function parentOf(order: LoggedOrder | undefined): string | undefined {
  for (const step of order?.steps ?? []) {
    if (step.kind === "moved" && step.parentOrderId !== undefined) return step.parentOrderId;
  }
  return undefined;
}

interface Look extends DayToReconcile {
  readonly day: LoggedDay;
  readonly parts: ReconcilePorts;
  readonly settings: readonly KeptSettings[];
  readonly firstEnabledAt: Instant | undefined;
  readonly result: Reconciliation;
  /** Names of events that have a record. */
  readonly seen: Set<string>;
}

function emptyResult(day: LoggedDay): Reconciliation {
  const nothing = {
    expected: 0,
    recorded: 0,
    byCall: 0,
    quarantined: 0,
    notReportable: 0,
    beforeEnabled: 0,
    pending: 0,
  };
  const lists = { missing: none<RegulatoryEvent>(), unexpected: none<FilingRecord>(), different: none<never>() };
  return { ...nothing, ...lists, until: day.until, orders: day.orders, incomplete: new Set() };
}

const none = <One>(): Named<One> => ({ count: 0, first: [] });

function name<One>(list: Named<One>, one: One): void {
  list.count += 1;
  if (list.first.length < namedMax) list.first.push(one);
}

export async function* rowsOf(
  { store, timers }: Pick<ServicePorts, "store" | "timers">,
  { regime, fundId, date, signal }: DayToReconcile,
): AsyncGenerator<FilingRecord> {
  for (let afterRecordId: string | undefined; !signal.aborted; ) {
    const after = afterRecordId === undefined ? {} : { afterRecordId };
    const query = { regime: regime.name, fundId, date, countMax: rowsPage, ...after };
    const rows = await store.transact("filings.look", (unit) => unit.filings.list(query), { isOneStatement: true });
    yield* rows;
    afterRecordId = rows.at(-1)?.recordId;
    if (rows.length < rowsPage) return;
    await breathe(timers);
  }
}

async function judgeRow(look: Look, row: FilingRecord): Promise<void> {
  const { result, day, seen } = look;
  const kind = kindOf(row);
  if (row.status === "QUARANTINED") result.quarantined += 1;
  // What was put aside is settled by a record that was made of it later.
  if (row.corrects !== undefined && row.action === "NEW") result.quarantined -= 1;
  if (kind === "other") return;
  const order = day.orders.get(row.orderId);
  if (kind === "call") {
    if (order === undefined) result.byCall += 1;
    else name(result.unexpected, row);
    return;
  }
  seen.add(row.eventKey);
  const { events } = order === undefined ? { events: [] } : expectedLife(order);
  const event = events.find(({ key }) => key === row.eventKey);
  if (event !== undefined) return compareRecord(look, row, events, event);
  // A beginning that was read from the decision, before order management published it.
  const begun = beginnings.includes(row.eventType) ? events[0] : undefined;
  if (begun !== undefined) return compareRecord(look, row, events, begun);
  // What the log does not tell of yet it need not explain yet.
  if (day.records.has(row.recordId)) name(result.unexpected, row);
}

function kindOf({ eventKey }: FilingRecord): "bus" | "call" | "other" {
  const [kind] = parseJson(eventKey) as readonly unknown[];
  return kind === "bus" || kind === "call" ? kind : "other";
}

async function compareRecord(
  look: Look,
  row: FilingRecord,
  events: readonly RegulatoryEvent[],
  event: RegulatoryEvent,
): Promise<void> {
  const named = { ...event, key: row.eventKey };
  const parent = event.details.parent_order_id;
  const parents = parent === undefined ? undefined : look.day.orders.get(parent);
  const [parentBegun] = parents === undefined ? [] : expectedLife(parents).events;
  const derived = { order: knownBy(events, event), parent: parentBegun && knownOf(parentBegun) };
  if (isSame(row, recordOf(look, row, named, derived))) return;
  // The order began otherwise than the log tells: by call.
  const made = recordOf(look, row, named, await recordedBeginnings(look, event));
  if (!isSame(row, made)) name(look.result.different, { record: row, made });
}

interface Known {
  readonly order: KnownOrder | undefined;
  readonly parent: KnownOrder | undefined;
}

function recordOf(
  { regime, settings, parts, fundId }: Look,
  { recordedAt }: Pick<FilingRecord, "recordedAt">,
  event: RegulatoryEvent,
  known: Known,
): RegimeRecord {
  const then = settings.findLast(({ at }) => at <= recordedAt)?.settings;
  const fund: FundFilings = then ?? parts.ports.settings.filings?.funds[fundId] ?? {};
  return regime.record(event, { fund, known, sha256: parts.sha256, strategies: [] });
}

async function recordedBeginnings(
  { regime, fundId, parts }: Look,
  { type, order, details }: RegulatoryEvent,
): Promise<Known> {
  const find = async (orderId: string | undefined): Promise<KnownOrder | undefined> => {
    if (orderId === undefined) return undefined;
    const looking = parts.ports.store.transact("filings.look", (unit) =>
      unit.filings.beginning(regime.name, fundId, orderId, beginnings),
    );
    const found = await looking;
    if (found === undefined) return undefined;
    return { orderId, symbol: found.symbol, beganAt: found.eventAt, isChild: found.eventType === "child_order" };
  };
  const own = beginnings.includes(type) ? undefined : await find(order.order_id);
  return { order: own, parent: await find(details.parent_order_id) };
}

function isSame(row: FilingRecord, made: RegimeRecord): boolean {
  if (made.status === "NOT_REPORTABLE" || made.status !== row.status || made.type !== row.type) return false;
  if (made.status === "WRITTEN") return made.line === row.text;
  return JSON.stringify(made.mistakes) === JSON.stringify(row.mistakes);
}

/** What of an order's life has no record on that day. */
async function judgeOrder(look: Look, order: LoggedOrder, date: string): Promise<void> {
  const { regime, result, seen, firstEnabledAt } = look;
  const { events, settled } = expectedLife(order);
  const ofDay = events.filter(({ at }) => regime.submissionDate(at) === date);
  if (ofDay.length === 0) return;
  const isLeftOut = isBeforeEnabled(beganAt(order.steps), firstEnabledAt);
  const known = { order: events[0] && knownOf(events[0]), parent: undefined };
  for (const event of ofDay) {
    if (isLeftOut) {
      result.beforeEnabled += 1;
      continue;
    }
    if (seen.has(event.key)) {
      result.expected += 1;
      result.recorded += 1;
      continue;
    }
    const now = { recordedAt: look.parts.ports.clock.now() };
    if (recordOf(look, now, event, known).status === "NOT_REPORTABLE") result.notReportable += 1;
    else if (!settled.some(({ key }) => key === event.key)) result.pending += 1;
    else if (await beganElsewhere(look, event)) continue;
    else {
      result.expected += 1;
      name(result.missing, event);
      result.incomplete.add(order.orderId);
    }
  }
}

/** A beginning that a call reported first is not recorded a second time. */
async function beganElsewhere({ regime, fundId, parts }: Look, { type, order }: RegulatoryEvent): Promise<boolean> {
  if (!beginnings.includes(type)) return false;
  const found = await parts.ports.store.transact("filings.look", (unit) =>
    unit.filings.beginning(regime.name, fundId, order.order_id, beginnings),
  );
  return found !== undefined;
}

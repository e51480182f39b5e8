// Makes the record of an event, in a unit of work: a row, and the event that tells of it, or nothing where the regime takes no such event.
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { FundFilings } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type Place, placeOf } from "../../../core/filings/file-name.ts";
import { firstNumber, recordId } from "../../../core/filings/names.ts";
import { referenceOf } from "../../../core/filings/reference.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import {
  beginnings,
  type HexSha256,
  type KnownInstrument,
  type KnownOrder,
  type KnownOrders,
  type RegimeRecord,
  type RegulatoryEvent,
} from "../../../core/filings/regulatory-event.ts";
import type { FilingFile, FilingRecord } from "../../../ports/filing-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";

/** Of an order, read at once. */
const recordsPage = 500;

export interface EventToRecord {
  readonly event: RegulatoryEvent;
  /** Of what was said, to tell the same event from another under its name. */
  readonly contentHash: string;
  /** What the reference data say of its symbol, and every strategy's id. */
  readonly instrument?: KnownInstrument | undefined;
  readonly strategies: readonly string[];
  /** Whether its trade may be recorded under another event: one that was heard has a fill_id of order management's own. */
  readonly isByCall?: boolean;
  /** What the configuration says of its fund. */
  readonly fund: FundFilings;
  readonly source: string;
  readonly mode: FilingRecord["mode"];
  readonly now: Instant;
  /** What was missing is late, whenever that is. */
  readonly isRepair?: boolean | undefined;
  /** What was put aside and is judged again. */
  readonly again?: FilingRecord | undefined;
}

/** The code of what is put aside until its order's beginning has a record. */
const waitsForItsOrder = "FILING_ORDER_UNKNOWN";

/** The name of the event for the record that is made of it then. */
export const againKey = (eventKey: string): string => JSON.stringify(["again", eventKey]);

/** What is new, or why nothing is kept. */
export async function recordEvent(
  unit: UnitOfWork,
  regime: FilingRegime,
  given: EventToRecord,
  sha256: HexSha256,
): Promise<{ readonly record: FilingRecord } | { readonly notReportable: string }> {
  const { event, fund, instrument, strategies } = given;
  const orders = regime.hearsBeginnings ? await knownOrders(unit, regime, event) : {};
  const mark = given.isByCall === true || event.type === "fill_busted" ? regime.tradeMark?.(event, sha256) : undefined;
  const hasTrade = mark === undefined ? undefined : await isRecorded(unit, regime, event, mark);
  const known = { ...orders, hasTrade };
  const made = regime.record(event, { fund, known, sha256, instrument, strategies });
  if (made.status === "NOT_REPORTABLE") return { notReportable: made.reason };
  const next = await rowOf(unit, regime, made, given);
  await unit.filings.insert(next);
  await unit.events.publish(subjects.filingRecorded, {
    record_id: next.recordId,
    regime: next.regime,
    fund_id: next.fundId,
    mode: next.mode,
    submission_date: next.date,
    line: next.line,
    status: next.status,
    type: next.type,
    order_id: next.orderId,
    source: next.source,
    event_at: format(next.eventAt),
    deadline: format(next.deadline),
    late: next.late,
    sha256: sha256(next.text),
    ...(next.mistakes[0] !== undefined && { code: next.mistakes[0].code }),
    at: format(next.recordedAt),
  });
  return { record: next };
}

async function rowOf(
  unit: UnitOfWork,
  regime: FilingRegime,
  made: Exclude<RegimeRecord, { readonly status: "NOT_REPORTABLE" }>,
  { event, contentHash, source, mode, now, isRepair = false, again }: EventToRecord,
): Promise<FilingRecord> {
  const { order } = event;
  const date = regime.submissionDate(event.at);
  const file: FilingFile = { regime: regime.name, fundId: order.fund_id, date, status: made.status };
  const deadline = regime.deadline(event.at);
  const mistakes = made.status === "QUARANTINED" ? made.mistakes : [];
  const text = made.status === "WRITTEN" ? made.line : undefined;
  const place = await placeIn(unit, file, { mode, text });
  const id = recordId({ ...file, line: place.line });
  const reference = text === undefined ? undefined : referenceOf(text);
  return {
    ...file,
    recordId: id,
    ...place,
    ...(reference !== undefined && { reference }),
    eventKey: again === undefined ? event.key : againKey(event.key),
    contentHash,
    orderId: order.order_id,
    symbol: order.symbol,
    eventType: event.type,
    eventAt: event.at,
    recordedAt: now,
    source,
    mode,
    type: made.type,
    deadline,
    late: isRepair || now > deadline,
    text: text ?? asideLine(id, event, made.type, mistakes),
    mistakes,
    ...(again !== undefined && { corrects: again.recordId, action: "NEW" }),
    ...waitingFor(event, mistakes),
  };
}

/** What is put aside has no number: its lines are one file. */
export async function placeIn(
  unit: UnitOfWork,
  file: FilingFile,
  { mode, text }: { readonly mode: FilingRecord["mode"]; readonly text: string | undefined },
): Promise<Place> {
  if (text === undefined) return { line: await unit.filings.lineCount(file), number: firstNumber, endsAt: 0 };
  const sealedNumber = await unit.filingSubmissions.lastNumber(file);
  return placeOf(await unit.filings.last(file), sealedNumber, { mode, bytes: text.length + 1 });
}

/** An order may be reported after what happens to it: then that is judged again. */
function waitingFor(
  { type, order, details }: RegulatoryEvent,
  mistakes: FilingRecord["mistakes"],
): Pick<FilingRecord, "waitsFor"> {
  if (mistakes[0]?.code !== waitsForItsOrder) return {};
  const waitsFor = type === "child_order" ? details.parent_order_id : order.order_id;
  return waitsFor === undefined ? {} : { waitsFor };
}

/** A line of the file of what was put aside: for people, not for the regulator. */
function asideLine(id: string, event: RegulatoryEvent, type: string, mistakes: FilingRecord["mistakes"]): string {
  const { type: eventType, at, order, details } = event;
  return JSON.stringify({
    record_id: id,
    event_type: eventType,
    type,
    at: format(at),
    errors: mistakes,
    order,
    details,
  });
}

export async function knownOrders(
  unit: UnitOfWork,
  regime: FilingRegime,
  { order, details }: RegulatoryEvent,
): Promise<KnownOrders> {
  const find = async (orderId: string | undefined): Promise<KnownOrder | undefined> => {
    if (orderId === undefined) return undefined;
    const found = await unit.filings.beginning(regime.name, order.fund_id, orderId, beginnings);
    if (found === undefined) return undefined;
    const { symbol, eventAt: beganAt, eventType } = found;
    return { orderId, symbol, beganAt, isChild: eventType === "child_order" };
  };
  return { order: await find(order.order_id), parent: await find(details.parent_order_id) };
}

/** Whether a record of the order holds the mark of this trade. */
async function isRecorded(
  unit: UnitOfWork,
  { name: regime }: FilingRegime,
  { order: { fund_id: fundId, order_id: orderId } }: RegulatoryEvent,
  mark: string,
): Promise<boolean> {
  const query = { regime, fundId, orderId, status: "WRITTEN" as const, countMax: recordsPage };
  for (let afterRecordId: string | undefined; ; ) {
    const records = await unit.filings.list({ ...query, ...(afterRecordId !== undefined && { afterRecordId }) });
    if (records.some(({ eventType, text }) => eventType === "fill" && text.includes(mark))) return true;
    afterRecordId = records.at(-1)?.recordId;
    if (records.length < recordsPage) return false;
  }
}

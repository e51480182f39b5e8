// ReportRegulatoryEvent: an event of an order's life becomes a record of every regime that its fund is enabled for.
//
//  1. A record and the event that tells of it are written in one transaction, and its line is in the day's file before the answer leaves.
//  2. The same event again is the same line and answer; other content under its name is refused. What is not reportable leaves nothing.
//  3. An order that the platform was asked about is its asker's to report on, any other is the source's that first reported on it.
//  4. A fund for which nothing is enabled is answered with an empty list, and not a byte is written for it.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  RegulatoryReceipt,
  RegulatorySubmission,
  RegulatoryEvent as Wire,
} from "../../../contracts/src/generated/svc/v1/operations.ts";
import { format } from "../../../contracts/src/instant.ts";
import { enabledRegimes } from "../../../core/filings/index.ts";
import { filingId } from "../../../core/filings/names.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import type { RegulatoryEvent } from "../../../core/filings/regulatory-event.ts";
import { makerOf } from "../../../core/filings/trades.ts";
import type { FilingFile, FilingRecord } from "../../../ports/filing-records.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { noSuchFund } from "../../shared/must-know-fund.ts";
import { ownersOf } from "../../shared/order-owners.ts";
import { bringFile } from "./bring-file.ts";
import type { FilingParts } from "./filing-parts.ts";
import { judgeWaiting } from "./judge-again.ts";
import { readRegulatoryEvent } from "./read-regulatory-event.ts";
import { type EventToRecord, recordEvent } from "./record-event.ts";

/** `behind` hears of a file that could not be written, and brings it on. */
export function reportEvent(
  parts: FilingParts,
  behind: (file: FilingFile) => void,
): (wire: Wire, call: RpcCall) => Promise<RegulatoryReceipt | DeniedAnswer> {
  const { ports, sha256 } = parts;
  const counted = ports.metrics.counter(
    "portcullis_filing_records_total",
    "Records for regulators, by what became of them.",
    ["regime", "status"],
  );
  return async (wire, { identity }) => {
    const now = ports.clock.now();
    const source = identity.name;
    const read = readRegulatoryEvent(wire, source, now, sha256);
    const { fund_id: fundId, order_id: orderId } = read.event.order;
    const reference = await ports.referenceData.read();
    const { funds } = reference;
    const fund = funds.find((one) => one.fund_id === fundId);
    if (fund === undefined) throw new Fault("INVALID_ARGUMENT", noSuchFund(fundId), { retry: "never" });
    const { owners } = (await ownersOf(ports, [orderId]))(orderId);
    if (owners.length > 0 && !owners.includes(source)) return notYours(orderId);
    const settings = ports.settings.filings?.funds[fundId];
    const enabled = enabledRegimes(settings);
    if (settings === undefined || enabled.length === 0) return { submissions: [] };
    const { strategy_id: strategyId, actor } = wire.order ?? {};
    const maker = makerOf(strategyId, wire.actor === "" ? actor : wire.actor, true);
    const given: EventToRecord = {
      ...read,
      event: { ...read.event, maker },
      instrument: reference.instruments.find(({ symbol }) => symbol === read.event.order.symbol),
      strategies: funds.flatMap(({ strategies }) => strategies),
      isByCall: true,
      fund: settings,
      source,
      mode: fund.mode,
      now,
    };
    const taken = await parts.inTurn(() => take(parts, enabled, given));
    if ("denial" in taken) return taken;
    for (const one of taken) {
      if ("record" in one && one.isNew) counted.add(1, { regime: one.regime.name, status: one.record.status });
    }
    for (const one of taken) {
      if ("notReportable" in one) continue;
      for (const record of one.again) behind(record);
      await mustBeInFile(parts, one.record, behind);
      if (one.record.status === "QUARANTINED") await parts.quarantined(one.record);
    }
    return { submissions: taken.map((one) => submissionOf(one, read.event)) };
  };
}

/** What a regime made of the event. */
type Taken =
  | {
      readonly regime: FilingRegime;
      readonly record: FilingRecord;
      readonly isNew: boolean;
      /** What waited for this order and was judged again. */
      readonly again: readonly FilingRecord[];
    }
  | { readonly regime: FilingRegime; readonly notReportable: string };

/** In one transaction, for every regime or for none. */
function take(
  { ports, sha256 }: FilingParts,
  enabled: readonly FilingRegime[],
  given: EventToRecord,
): Promise<readonly Taken[] | DeniedAnswer> {
  const { event, contentHash, source } = given;
  const { fund_id: fundId, order_id: orderId } = event.order;
  return ports.store.transact("filings.record", async (unit): Promise<readonly Taken[] | DeniedAnswer> => {
    const before = new Map<string, FilingRecord>();
    for (const { name } of enabled) {
      const record = await unit.filings.ofEvent(name, fundId, event.key);
      if (record !== undefined && record.contentHash !== contentHash) return changed(event);
      if (record !== undefined) before.set(name, record);
    }
    if (before.size < enabled.length) {
      const first = await unit.filings.firstSource(fundId, orderId);
      if (first !== undefined && first !== source) return notYours(orderId);
      const isHeard = (await unit.filingSteps.ofOrder(fundId, orderId, 1)).length > 0;
      if (isHeard && before.size === 0) return elsewhere(orderId);
    }
    const taken: Taken[] = [];
    for (const regime of enabled) {
      const record = before.get(regime.name);
      if (record !== undefined) taken.push({ regime, record, isNew: false, again: [] });
      else taken.push(await made(unit, regime, given, sha256));
    }
    return taken;
  });
}

async function made(
  unit: UnitOfWork,
  regime: FilingRegime,
  given: EventToRecord,
  sha256: FilingParts["sha256"],
): Promise<Taken> {
  const recorded = await recordEvent(unit, regime, given, sha256);
  if ("notReportable" in recorded) return { regime, notReportable: recorded.notReportable };
  const again = await judgeWaiting(unit, regime, recorded.record, { ...given, sha256 });
  return { regime, record: recorded.record, isNew: true, again };
}

async function mustBeInFile(
  parts: FilingParts,
  record: FilingRecord,
  behind: (file: FilingFile) => void,
): Promise<void> {
  if ((await bringFile(parts, record)) === "IMAGE") return;
  behind(record);
  const sentence = `${record.recordId} is durable, and its line is not in the submission file yet.`;
  throw new Fault("FILING_NOT_IN_FILE", sentence, { retry: "later" });
}

function submissionOf(taken: Taken, event: RegulatoryEvent): RegulatorySubmission {
  const { regime } = taken;
  if ("notReportable" in taken) return notReportable(regime, event, taken.notReportable);
  const of = taken.record;
  const [first] = of.mistakes;
  return {
    regime: of.regime,
    submission_date: of.date,
    line: of.line,
    status: of.status,
    record_id: of.recordId,
    filing_id: filingId(of.regime, of.fundId, of.date, of.number),
    deadline: format(of.deadline),
    late: of.late,
    code: regime.answersWith ?? first?.code ?? "",
    reason: of.mistakes.map(({ sentence }) => sentence).join(" "),
  };
}

function notReportable(regime: FilingRegime, { at }: RegulatoryEvent, reason: string): RegulatorySubmission {
  return {
    regime: regime.name,
    submission_date: regime.submissionDate(at),
    line: 0,
    status: "NOT_REPORTABLE",
    record_id: "",
    filing_id: "",
    late: false,
    code: regime.answersWith ?? "FILING_NOT_REPORTABLE",
    reason,
  };
}

function notYours(orderId: string): DeniedAnswer {
  const reason = `Order ${orderId} is another source's, which alone reports on it.`;
  return { denial: { code: "ORDER_NOT_YOURS", reason } };
}

function elsewhere(orderId: string): DeniedAnswer {
  const reason = `Order ${orderId} is recorded by itself, from what order management publishes.`;
  return { denial: { code: "FILING_ORDER_ELSEWHERE", reason } };
}

function changed({ order, details }: RegulatoryEvent): DeniedAnswer {
  const named = details.event_id === undefined ? "an event" : `event ${details.event_id}`;
  const reason = `Of order ${order.order_id} ${named} was recorded before with other content.`;
  return { denial: { code: "FILING_EVENT_CHANGED", reason } };
}

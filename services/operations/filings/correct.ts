// What a risk officer does about a record: it is repaired after a rejection, corrected, withdrawn, or, where it was put aside, judged again or dismissed.
//
//  1. A correction is a record of its own, in the day's next file; the one that it corrects stays as it is.
//  2. A record is corrected once: what is wrong with a correction is corrected there.
//  3. What CAT would refuse is refused here, with its number.
import type { Denial } from "../../../contracts/src/codes.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format, parse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { type CorrectionAction, filedDetails, filedOrder } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { correctCatRecord } from "../../../core/filings/correction.ts";
import { catRepairBy } from "../../../core/filings/deadlines.ts";
import { regimeOf } from "../../../core/filings/index.ts";
import { recordId as recordIdOf } from "../../../core/filings/names.ts";
import { referenceOf } from "../../../core/filings/reference.ts";
import type { RegulatoryEvent } from "../../../core/filings/regulatory-event.ts";
import { filingStateOf } from "../../../core/filings/standing.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { FilingRejection } from "../../../ports/filing-submissions.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { FilingParts } from "./filing-parts.ts";
import { againKey, knownOrders, placeIn } from "./record-event.ts";

interface CorrectionAsked {
  readonly recordId: string;
  readonly action: CorrectionAction;
  readonly set: Readonly<Record<string, string>>;
  readonly by: string;
  readonly reason: string;
}

type CorrectedOrNot =
  | { readonly corrected: FilingRecord; readonly correction?: FilingRecord | undefined }
  | { readonly denial: Denial };

export function correctRecord(parts: FilingParts, asked: CorrectionAsked): Promise<CorrectedOrNot> {
  return parts.inTurn(() =>
    parts.ports.store.transact("filings.correct", async (unit): Promise<CorrectedOrNot> => {
      const record = await unit.filings.find(asked.recordId);
      if (record === undefined) {
        const sentence = `There is no record ${JSON.stringify(asked.recordId.slice(0, 200))}.`;
        throw new Fault("NOT_FOUND", sentence, { retry: "never" });
      }
      const made = await lineOf(parts, unit, record, asked);
      if ("denial" in made) return made;
      const correction = "line" in made ? await insert(parts, unit, record, asked, made) : undefined;
      await tell(parts, unit, record, { asked, correction });
      return { corrected: record, correction };
    }),
  );
}

type Made =
  | { readonly line: string; readonly type: string }
  | { readonly dismissed: true }
  | { readonly denial: Denial };

async function lineOf(
  parts: FilingParts,
  unit: UnitOfWork,
  record: FilingRecord,
  { action, set }: CorrectionAsked,
): Promise<Made> {
  const [before] = await unit.filingSubmissions.corrections([record.recordId]);
  if (record.regime !== "CAT") return not(`Records of ${record.regime} are not corrected here.`);
  if (before !== undefined)
    return not(`${record.recordId} was corrected before, by ${before.correctionId ?? "being dismissed"}.`);
  if (action !== "COR" && action !== "RPR" && Object.keys(set).length > 0) return not(`${action} sets nothing.`);
  if (record.status === "QUARANTINED") {
    if (action === "DEL") return { dismissed: true };
    if (action === "NEW") return judgedAgain(parts, unit, record);
    return not(`${record.recordId} was put aside: it is judged again (NEW) or dismissed (DEL).`);
  }
  if (action === "NEW")
    return not(`${record.recordId} is in a file: what CAT has is repaired, corrected or withdrawn.`);
  const day = { regime: record.regime, fundId: record.fundId, date: record.date, number: record.number };
  const [standing] = await unit.filingSubmissions.between(day, day);
  if (standing === undefined) return not(`${record.recordId} is in a file that is not sealed yet.`);
  const rejection = (await unit.filingSubmissions.rejections([record.recordId])).at(-1);
  const state = filingStateOf({ isSent: standing.sending !== undefined, feedback: standing.feedback });
  return corrected(record, { action, set, rejection, isFileRejected: state === "REJECTED" });
}

interface Correcting {
  readonly action: Exclude<CorrectionAction, "NEW">;
  readonly set: Readonly<Record<string, string>>;
  readonly rejection: FilingRejection | undefined;
  readonly isFileRejected: boolean;
}

function corrected(record: FilingRecord, { action, set, rejection, isFileRejected }: Correcting): Made {
  if (action === "RPR" && rejection === undefined)
    return not(`${record.recordId} was not rejected: nothing is to repair.`);
  if (action === "COR" && (rejection !== undefined || isFileRejected)) {
    return not(`${record.recordId} was rejected: it is repaired (RPR), or withdrawn (DEL).`);
  }
  if (isDeletion(record)) return not(`${record.recordId} withdraws a record: it has nothing to correct.`);
  const errorRoeId = rejection?.errorRoeId;
  const made = correctCatRecord({ line: record.text, date: record.date, action, errorRoeId, set });
  return "line" in made ? { line: made.line, type: record.type } : stillWrong(made.mistakes);
}

function isDeletion({ text }: FilingRecord): boolean {
  return text.startsWith('{"actionType":"DEL"');
}

/** With the configuration and the orders as they are now. */
async function judgedAgain({ ports, sha256 }: FilingParts, unit: UnitOfWork, record: FilingRecord): Promise<Made> {
  const fund = ports.settings.filings?.funds[record.fundId];
  const regime = regimeOf(record.regime);
  if (fund === undefined || !regime.isEnabled(fund)) {
    return not(`${record.fundId} is not enabled for ${record.regime}.`);
  }
  const again = await unit.filings.ofEvent(record.regime, record.fundId, againKey(record.eventKey));
  if (again !== undefined) return not(`${record.recordId} was judged again before, as ${again.recordId}.`);
  const event = eventOf(record);
  const known = await knownOrders(unit, regime, event);
  const made = regime.record(event, { fund, known, strategies: [], sha256 });
  if (made.status === "WRITTEN") return { line: made.line, type: made.type };
  return made.status === "QUARANTINED" ? stillWrong(made.mistakes) : not(made.reason);
}

/** What was put aside keeps the event that it was made of. */
function eventOf(record: FilingRecord): RegulatoryEvent {
  const aside = parseJson(record.text) as { readonly at: string; readonly order: unknown; readonly details: unknown };
  return {
    type: record.eventType,
    at: parse(aside.at),
    order: filedOrder.parse(aside.order),
    details: filedDetails.parse(aside.details),
    key: record.eventKey,
  };
}

async function insert(
  { ports, sha256 }: FilingParts,
  unit: UnitOfWork,
  record: FilingRecord,
  { action, by }: CorrectionAsked,
  { line: text, type }: { readonly line: string; readonly type: string },
): Promise<FilingRecord> {
  const now = ports.clock.now();
  const { regime, fundId, date, mode } = record;
  const file = { regime, fundId, date, status: "WRITTEN" } as const;
  const place = await placeIn(unit, file, { mode, text });
  const deadline = action === "NEW" ? record.deadline : catRepairBy(record.eventAt);
  const reference = referenceOf(text);
  const { reference: _was, waitsFor: _waits, ...same } = record;
  const next: FilingRecord = {
    ...same,
    ...file,
    ...place,
    ...(reference !== undefined && { reference }),
    recordId: recordIdOf({ ...file, line: place.line }),
    eventKey: action === "NEW" ? againKey(record.eventKey) : JSON.stringify(["correction", record.recordId]),
    contentHash: sha256(text),
    recordedAt: now,
    type,
    deadline,
    late: now > deadline,
    text,
    mistakes: [],
    corrects: record.recordId,
    action,
  };
  await unit.filings.insert(next);
  await unit.events.publish(subjects.filingRecorded, {
    record_id: next.recordId,
    regime,
    fund_id: fundId,
    mode,
    submission_date: date,
    line: next.line,
    status: next.status,
    type,
    order_id: next.orderId,
    source: by,
    event_at: format(next.eventAt),
    deadline: format(deadline),
    late: next.late,
    sha256: sha256(text),
    at: format(now),
  });
  return next;
}

async function tell(
  { ports }: FilingParts,
  unit: UnitOfWork,
  record: FilingRecord,
  { asked, correction }: { readonly asked: CorrectionAsked; readonly correction: FilingRecord | undefined },
): Promise<void> {
  const at = ports.clock.now();
  const { action, by, reason, set } = asked;
  const correctionId = correction?.recordId;
  const named = correctionId === undefined ? {} : { correctionId };
  await unit.filingSubmissions.correct({ recordId: record.recordId, action, ...named, correctedBy: by, reason, at });
  await unit.events.publish(subjects.filingCorrected, {
    record_id: record.recordId,
    ...(correctionId !== undefined && { correction_id: correctionId }),
    regime: record.regime,
    fund_id: record.fundId,
    order_id: record.orderId,
    action,
    changed: Object.keys(set),
    corrected_by: by,
    reason,
    at: format(at),
  });
}

function not(reason: string): { readonly denial: Denial } {
  return { denial: { code: "FILING_NOT_CORRECTABLE", reason } };
}

function stillWrong(mistakes: readonly { readonly code: string; readonly sentence: string }[]): {
  readonly denial: Denial;
} {
  const reason = mistakes.map(({ code, sentence }) => `${code} ${sentence}`).join(" ");
  return { denial: { code: "FILING_STILL_WRONG", reason } };
}

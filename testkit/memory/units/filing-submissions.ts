// Sealed submission files and what became of them, in a transaction of the memory store.
import { Fault } from "../../../contracts/src/fault.ts";
import { earlier } from "../../../contracts/src/instant.ts";
import type { FilingDay, FilingRecord } from "../../../ports/filing-records.ts";
import type {
  FilingCorrection,
  FilingFeedbackRow,
  FilingKey,
  FilingRejection,
  FilingSending,
  FilingStanding,
  FilingSubmissions,
  SealedFile,
  UnsentDay,
} from "../../../ports/filing-submissions.ts";
import type { RecordTools } from "../layered-map.ts";
import type { FilingTables } from "./filings.ts";

interface KeptFile {
  readonly file: SealedFile;
  readonly content: Uint8Array;
}

export interface FilingSubmissionTables {
  readonly files: Map<string, KeptFile>;
  readonly closings: Map<string, FilingKey>;
  readonly sendings: Map<string, FilingSending>;
  readonly feedback: Map<string, FilingFeedbackRow>;
  readonly rejections: Map<string, FilingRejection>;
  readonly corrections: Map<string, FilingCorrection>;
}

export function filingSubmissionTables(): FilingSubmissionTables {
  return {
    files: new Map(),
    closings: new Map(),
    sendings: new Map(),
    feedback: new Map(),
    rejections: new Map(),
    corrections: new Map(),
  };
}

const compareText = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
const isOfDay = (day: FilingDay, one: FilingDay): boolean =>
  day.regime === one.regime && day.fundId === one.fundId && day.date === one.date;
const isOfKey = (key: FilingKey, one: FilingKey): boolean => isOfDay(key, one) && key.number === one.number;
const nameOf = ({ regime, fundId, date, number }: FilingKey): string => JSON.stringify([regime, fundId, date, number]);
const compareKeys = (one: FilingKey, other: FilingKey): number =>
  compareText(one.regime, other.regime) ||
  compareText(one.fundId, other.fundId) ||
  compareText(one.date, other.date) ||
  one.number - other.number;

export function filingSubmissionChanges(
  tables: FilingSubmissionTables,
  filings: FilingTables,
  { inTurn, table }: RecordTools,
): FilingSubmissions {
  const files = table("filing_file", tables.files);
  const closings = table("filing_closing", tables.closings);
  const sendings = table("filing_sending", tables.sendings);
  const feedback = table("filing_feedback", tables.feedback);
  const rejections = table("filing_rejection", tables.rejections);
  const corrections = table("filing_correction", tables.corrections);
  const records = table("filing_record", filings);
  const arrived = (key: FilingKey): FilingSending | undefined =>
    sendings.filter((one) => isOfKey(key, one)).sort((one, other) => one.at - other.at)[0];

  function standingOf({ file }: KeptFile): FilingStanding {
    const own = records.filter((one) => isOfDay(file, one) && one.status === "WRITTEN" && one.number === file.number);
    const isOpen = ({ recordId }: FilingRecord): boolean =>
      rejections.filter((one) => one.recordId === recordId).length > 0 && !corrections.has(recordId);
    const sending = arrived(file);
    return {
      file,
      ...(sending !== undefined && { sending }),
      feedback: feedback
        .filter((one) => one.file !== undefined && isOfKey(file, one.file))
        .sort((one, other) => one.at - other.at || compareText(one.name, other.name)),
      rejected: own.filter(isOpen).length,
    };
  }

  function unsentOf(day: FilingDay): UnsentDay | undefined {
    const own = files.filter(({ file }) => isOfDay(day, file)).map(({ file }) => file);
    const waiting = own.filter((file) => arrived(file) === undefined).map(({ fromLine }) => fromLine);
    const line = waiting.length > 0 ? Math.min(...waiting) : Math.max(0, ...own.map(({ toLine }) => toLine));
    const open = records.filter((one) => isOfDay(day, one) && one.status === "WRITTEN" && one.line >= line);
    const [first] = open;
    if (first === undefined) return undefined;
    return {
      regime: day.regime,
      fundId: day.fundId,
      date: day.date,
      mode: open.some(({ mode }) => mode === "PAPER") ? "PAPER" : "LIVE",
      firstAt: open.reduce((least, { eventAt }) => earlier(least, eventAt), first.eventAt),
      records: open.length,
    };
  }

  return {
    seal: (file, content) =>
      inTurn(async () => {
        const isTaken = files.filter(({ file: one }) => isOfKey(file, one) || one.base === file.base).length > 0;
        if (isTaken) throw taken(`the submission file ${file.name} exists already`);
        files.set(nameOf(file), { file, content: content.slice() });
      }),
    content: (key) => inTurn(async () => files.get(nameOf(key))?.content.slice()),
    between: (from, to) =>
      inTurn(async () =>
        files
          .filter(({ file }) => compareKeys(from, file) <= 0 && compareKeys(file, to) <= 0)
          .sort((one, other) => compareKeys(one.file, other.file))
          .map(standingOf),
      ),
    named: (regime, base) =>
      inTurn(async () => files.filter(({ file }) => file.regime === regime && file.base === base)[0]?.file),
    close: (key) => inTurn(async () => closings.set(nameOf(key), key)),
    lastNumber: (day) =>
      inTurn(async () => {
        const sealed = files.filter(({ file }) => isOfDay(day, file)).map(({ file }) => file.number);
        const closed = closings.filter((key) => isOfDay(day, key)).map(({ number }) => number);
        return Math.max(0, ...sealed, ...closed);
      }),
    bytesBefore: (key) =>
      inTurn(async () =>
        records
          .filter((one) => isOfDay(key, one) && one.status === "WRITTEN" && one.number < key.number)
          .reduce((sum, { text }) => sum + text.length + 1, 0),
      ),
    sent: (sending) => inTurn(async () => addNew(sendings, JSON.stringify([nameOf(sending), sending.at]), sending)),
    hasSentSince: (regime, since) =>
      inTurn(async () => sendings.filter((one) => one.regime === regime && one.at >= since).length > 0),
    unsent: (regime, countMax) =>
      inTurn(async () => {
        const days = new Map(
          records.filter((one) => one.regime === regime).map((one) => [nameOf({ ...one, number: 0 }), one]),
        );
        const open = [...days.values()].flatMap((day) => unsentOf(day) ?? []);
        const byDay = (one: UnsentDay, other: UnsentDay): number =>
          compareText(one.date, other.date) || compareText(one.fundId, other.fundId);
        return open.sort(byDay).slice(0, countMax);
      }),
    takeFeedback: (row) =>
      inTurn(async () => addNew(feedback, JSON.stringify([row.regime, row.name, row.sha256]), row)),
    readFeedback: (regime, names) =>
      inTurn(async () =>
        feedback
          .filter((one) => one.regime === regime && names.includes(one.name))
          .map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
      ),
    reject: (rejection) =>
      inTurn(async () => addNew(rejections, JSON.stringify([rejection.recordId, rejection.errorRoeId]), rejection)),
    rejections: (recordIds) =>
      inTurn(async () =>
        rejections
          .filter(({ recordId }) => recordIds.includes(recordId))
          .sort(
            (one, other) =>
              compareText(one.recordId, other.recordId) ||
              one.at - other.at ||
              compareText(one.errorRoeId, other.errorRoeId),
          ),
      ),
    correct: (correction) =>
      inTurn(async () => {
        if (!addNew(corrections, correction.recordId, correction)) {
          throw taken(`the record ${correction.recordId} was corrected before`);
        }
      }),
    corrections: (recordIds) =>
      inTurn(async () =>
        corrections
          .filter(({ recordId }) => recordIds.includes(recordId))
          .sort((one, other) => compareText(one.recordId, other.recordId)),
      ),
  };
}

function addNew<Row>(
  rows: { has(key: string): boolean; set(key: string, row: Row): unknown },
  key: string,
  row: Row,
): boolean {
  if (rows.has(key)) return false;
  rows.set(key, row);
  return true;
}

function taken(what: string): Fault {
  return new Fault("STORE_CONFLICT", what, { retry: "now" });
}

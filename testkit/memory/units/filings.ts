// The records that are reported to regulators, in a transaction of the memory store.
import { Fault } from "../../../contracts/src/fault.ts";
import { earlier } from "../../../contracts/src/instant.ts";
import type {
  FilingDay,
  FilingDaySum,
  FilingFile,
  FilingRecord,
  FilingRecords,
} from "../../../ports/filing-records.ts";
import type { FilingCorrection } from "../../../ports/filing-submissions.ts";
import type { RecordTools } from "../layered-map.ts";

export type FilingTables = Map<string, FilingRecord>;

const dayKey = ({ regime, fundId, date }: FilingDay): string => JSON.stringify([regime, fundId, date]);
const isOf = (file: FilingFile, record: FilingRecord): boolean =>
  dayKey(file) === dayKey(record) && file.status === record.status;
const compareText = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
type Numbered = FilingDay & { readonly number: number };
const byDay = (one: Numbered, other: Numbered): number =>
  compareText(one.regime, other.regime) ||
  compareText(one.fundId, other.fundId) ||
  compareText(one.date, other.date) ||
  one.number - other.number;
const oldestFirst = (one: FilingRecord, other: FilingRecord): number =>
  one.recordedAt - other.recordedAt || compareText(one.recordId, other.recordId);
const fits = <Value>(asked: Value | undefined, value: Value): boolean => asked === undefined || asked === value;

export function filingChanges(
  tables: FilingTables,
  corrected: Map<string, FilingCorrection>,
  { inTurn, table }: RecordTools,
): FilingRecords {
  const records = table("filing_record", tables);
  const corrections = table("filing_correction", corrected);
  const numbered = (day: FilingDay & { readonly number: number }): FilingRecord[] =>
    inFile({ ...day, status: "WRITTEN" }).filter(({ number }) => number === day.number);
  const inFile = (file: FilingFile): FilingRecord[] =>
    records.filter((record) => isOf(file, record)).sort((one, other) => one.line - other.line);
  return {
    insert: (record) =>
      inTurn(async () => {
        const taken = records.filter(
          (one) =>
            one.recordId === record.recordId ||
            (one.regime === record.regime && one.fundId === record.fundId && one.eventKey === record.eventKey) ||
            (isOf(record, one) && one.line === record.line),
        );
        if (taken.length > 0) {
          const sentence = `the record ${record.recordId}, its line or its event exists already`;
          throw new Fault("STORE_CONFLICT", sentence, { retry: "now" });
        }
        records.set(record.recordId, record);
      }),
    ofEvent: (regime, fundId, eventKey) =>
      inTurn(
        async () =>
          records.filter((one) => one.regime === regime && one.fundId === fundId && one.eventKey === eventKey)[0],
      ),
    beginning: (regime, fundId, orderId, types) =>
      inTurn(async () => {
        const begins = (one: FilingRecord): boolean => one.status === "WRITTEN" && types.includes(one.eventType);
        const isOrders = (one: FilingRecord): boolean =>
          one.regime === regime && one.fundId === fundId && one.orderId === orderId;
        return records.filter((one) => isOrders(one) && begins(one)).sort(oldestFirst)[0];
      }),
    waitingFor: (regime, fundId, orderId, countMax) =>
      inTurn(async () => {
        const waiting = records.filter(
          (one) => one.regime === regime && one.fundId === fundId && one.waitsFor === orderId,
        );
        return waiting.sort(oldestFirst).slice(0, countMax);
      }),
    firstSource: (fundId, orderId) =>
      inTurn(async () => {
        const of = records.filter((one) => one.fundId === fundId && one.orderId === orderId);
        return of.sort(oldestFirst)[0]?.source;
      }),
    lineCount: (file) => inTurn(async () => inFile(file).length),
    lines: (file, from, countMax) =>
      inTurn(async () =>
        inFile(file)
          .slice(from, from + countMax)
          .map(({ text }) => text),
      ),
    last: (day) => inTurn(async () => inFile({ ...day, status: "WRITTEN" }).at(-1)),
    linesOfNumber: (day, from, countMax) =>
      inTurn(async () =>
        numbered(day)
          .slice(from, from + countMax)
          .map(({ text }) => text),
      ),
    range: (day) =>
      inTurn(async () => {
        const own = numbered(day);
        const [first] = own;
        return first && { fromLine: first.line, count: own.length, mode: first.mode };
      }),
    called: (regime, reference) =>
      inTurn(async () =>
        records
          .filter((one) => one.regime === regime && one.reference === reference)
          .sort((one, other) => compareText(one.date, other.date) || one.line - other.line),
      ),
    find: (recordId) => inTurn(async () => records.get(recordId)),
    list: (query) =>
      inTurn(async () =>
        records
          .filter(
            (one) =>
              fits(query.regime, one.regime) &&
              fits(query.fundId, one.fundId) &&
              fits(query.date, one.date) &&
              fits(query.orderId, one.orderId) &&
              fits(query.status, one.status) &&
              (query.afterRecordId === undefined || one.recordId > query.afterRecordId),
          )
          .sort((one, other) => compareText(one.recordId, other.recordId))
          .slice(0, query.countMax),
      ),
    days: ({ regime, fundId, date, after, countMax }) =>
      inTurn(async () => {
        const asked = records.filter(
          (one) => fits(regime, one.regime) && fits(fundId, one.fundId) && fits(date, one.date),
        );
        const days = new Map<string, FilingRecord[]>();
        const keyOf = (one: FilingRecord): string => `${dayKey(one)} ${one.number}`;
        for (const one of asked) days.set(keyOf(one), [...(days.get(keyOf(one)) ?? []), one]);
        return [...days.values()]
          .map((own) => sumOf(own, ({ recordId }) => !corrections.has(recordId)))
          .filter((one) => after === undefined || byDay(after, one) < 0)
          .sort(byDay)
          .slice(0, countMax);
      }),
  };
}

function sumOf(records: readonly FilingRecord[], isOpen: (record: FilingRecord) => boolean): FilingDaySum {
  const [first] = records;
  if (first === undefined) throw new Error("a day without records is none");
  const { regime, fundId, date, number } = first;
  const count = (is: (record: FilingRecord) => boolean): number => records.filter(is).length;
  return {
    regime,
    fundId,
    date,
    number,
    mode: records.some(({ mode }) => mode === "PAPER") ? "PAPER" : "LIVE",
    written: count(({ status }) => status === "WRITTEN"),
    quarantined: count((one) => one.status === "QUARANTINED" && isOpen(one)),
    late: count(({ late }) => late),
    firstAt: records.reduce((least, { eventAt }) => earlier(least, eventAt), first.eventAt),
  };
}

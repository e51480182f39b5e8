// The records that are reported to regulators, in a transaction. `content` has the whole record; the columns beside it are what it is found and counted by.
import { Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { RegimeName } from "../../../contracts/src/records/filing.ts";
import type {
  FilingDay,
  FilingDayQuery,
  FilingDaySum,
  FilingFile,
  FilingQuery,
  FilingRecord,
  FilingRecords,
} from "../../../ports/filing-records.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface Row {
  readonly content: Omit<FilingRecord, "text">;
  readonly line_text: string;
}

interface DayRow {
  readonly regime: RegimeName;
  readonly fund_id: string;
  readonly submission_date: string;
  readonly number: number;
  readonly mode: FilingDaySum["mode"];
  readonly written: string;
  readonly quarantined: string;
  readonly late: string;
  readonly first_us: string;
}

const select = "select content, line_text from filing_record";

export function filingRecords(sql: Sql): FilingRecords {
  const one = async (name: string, where: string, values: readonly unknown[]): Promise<FilingRecord | undefined> => {
    const found = await sql.read({ name, text: `${select} where ${where}`, values: [...values] });
    return recordsOf(found.rows)[0];
  };
  return {
    insert: (record) => insert(sql, record),
    ofEvent: (regime, fundId, eventKey) =>
      one("filing_of_event", "regime = $1 and fund_id = $2 and event_key = $3", [
        regime,
        columnOfText(fundId),
        columnOfText(eventKey),
      ]),
    beginning: (regime, fundId, orderId, types) =>
      one(
        "filing_beginning",
        `regime = $1 and fund_id = $2 and order_id = $3 and event_type = any($4::text[]) and status = 'WRITTEN'
         order by recorded_us, record_id limit 1`,
        [regime, columnOfText(fundId), columnOfText(orderId), types],
      ),
    async firstSource(fundId, orderId) {
      const found = await sql.read({
        name: "filing_first_source",
        text: "select source from filing_record where fund_id = $1 and order_id = $2 order by recorded_us, record_id limit 1",
        values: [columnOfText(fundId), columnOfText(orderId)],
      });
      const [row] = found.rows as readonly { readonly source: string }[];
      return row && textOfColumn(row.source);
    },
    async waitingFor(regime, fundId, orderId, countMax) {
      const found = await sql.read({
        name: "filing_waiting",
        text: `${select} where regime = $1 and fund_id = $2 and (content ->> 'waitsFor') = $3 order by recorded_us, record_id limit $4`,
        values: [regime, columnOfText(fundId), columnOfText(orderId), countMax],
      });
      return recordsOf(found.rows);
    },
    find: (recordId) => one("filing_find", "record_id = $1", [columnOfText(recordId)]),
    ...linesOf(sql),
    list: (query) => list(sql, query),
    days: (query) => days(sql, query),
  };
}

async function insert(sql: Sql, { text, ...record }: FilingRecord): Promise<void> {
  const texts = [record.fundId, record.date, record.status, record.eventKey, record.orderId, record.source];
  const [fundId, date, status, eventKey, orderId, source] = texts.map(columnOfText);
  const times = [record.eventAt, record.recordedAt];
  const done = await sql.write({
    name: "filing_insert",
    text: `insert into filing_record (record_id, regime, fund_id, submission_date, status, event_key, order_id, source, line, event_type, late,
             event_us, recorded_us, mode, number, ends_at, reference, line_text, content)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) on conflict do nothing`,
    values: [
      columnOfText(record.recordId),
      record.regime,
      ...[fundId, date, status, eventKey, orderId, source],
      ...[record.line, record.eventType, record.late, ...times, record.mode, record.number, record.endsAt],
      record.reference === undefined ? null : columnOfText(record.reference),
      columnOfText(text),
      JSON.stringify(record),
    ],
  });
  if (done.rowCount === 0) {
    const sentence = `the record ${record.recordId}, its line or its event exists already`;
    throw new Fault("STORE_CONFLICT", sentence, { retry: "now" });
  }
}

type OfLines = "lineCount" | "lines" | "last" | "linesOfNumber" | "range" | "called";

function linesOf(sql: Sql): Pick<FilingRecords, OfLines> {
  const isWritten = "regime = $1 and fund_id = $2 and submission_date = $3 and status = 'WRITTEN'";
  const dayValues = ({ regime, fundId, date }: FilingDay) => [regime, columnOfText(fundId), date];
  const values = ({ regime, fundId, date, status }: FilingFile) => [regime, columnOfText(fundId), date, status];
  const ofFile = "regime = $1 and fund_id = $2 and submission_date = $3 and status = $4";
  return {
    async lineCount(file) {
      const text = `select coalesce(max(line) + 1, 0) as count from filing_record where ${ofFile}`;
      const found = await sql.read({ name: "filing_line_count", text, values: values(file) });
      return Number((found.rows as readonly { readonly count: string }[])[0]?.count ?? 0);
    },
    async lines(file, from, countMax) {
      const text = `select line_text from filing_record where ${ofFile} and line >= $5 order by line limit $6`;
      const found = await sql.read({ name: "filing_lines", text, values: [...values(file), from, countMax] });
      return (found.rows as readonly Row[]).map(({ line_text }) => textOfColumn(line_text));
    },
    async last(day) {
      const text = `${select} where ${isWritten} order by line desc limit 1`;
      return recordsOf((await sql.read({ name: "filing_last", text, values: dayValues(day) })).rows)[0];
    },
    async linesOfNumber({ number, ...day }, from, countMax) {
      const found = await sql.read({
        name: "filing_lines_of_number",
        text: `select line_text from filing_record where ${isWritten} and number = $4
               and line >= $5 + (select min(line) from filing_record where ${isWritten} and number = $4) order by line limit $6`,
        values: [...dayValues(day), number, from, countMax],
      });
      return (found.rows as readonly Row[]).map(({ line_text }) => textOfColumn(line_text));
    },
    async range({ number, ...day }) {
      const found = await sql.read({
        name: "filing_range",
        text: `select min(line) as from_line, count(*) as count, max(mode) as mode from filing_record where ${isWritten} and number = $4`,
        values: [...dayValues(day), number],
      });
      const [row] = found.rows as readonly RangeRow[];
      if (row === undefined || row.from_line === null || row.mode === null) return undefined;
      return { fromLine: Number(row.from_line), count: Number(row.count), mode: row.mode };
    },
    async called(regime, reference) {
      const text = `${select} where regime = $1 and reference = $2 order by submission_date, line limit 1000`;
      const found = await sql.read({ name: "filing_called", text, values: [regime, columnOfText(reference)] });
      return recordsOf(found.rows);
    },
  };
}

interface RangeRow {
  readonly from_line: string | null;
  readonly count: string;
  readonly mode: FilingDaySum["mode"] | null;
}

async function list(sql: Sql, query: FilingQuery): Promise<readonly FilingRecord[]> {
  const { regime, fundId, date, orderId, status, afterRecordId, countMax } = query;
  const text = (value: string | undefined): string | null => (value === undefined ? null : columnOfText(value));
  const found = await sql.read({
    name: "filing_list",
    text: `${select} where ($1::text is null or regime = $1) and ($2::text is null or fund_id = $2) and ($3::text is null or submission_date = $3)
             and ($4::text is null or order_id = $4) and ($5::text is null or status = $5) and ($6::text is null or record_id > $6)
           order by record_id limit $7`,
    values: [regime ?? null, text(fundId), text(date), text(orderId), status ?? null, text(afterRecordId), countMax],
  });
  return recordsOf(found.rows);
}

async function days(
  sql: Sql,
  { regime, fundId, date, after, countMax }: FilingDayQuery,
): Promise<readonly FilingDaySum[]> {
  const text = (value: string | undefined): string | null => (value === undefined ? null : columnOfText(value));
  const found = await sql.read({
    name: "filing_days",
    text: `select regime, fund_id, submission_date, number, max(mode) as mode, count(*) filter (where status = 'WRITTEN') as written,
             count(*) filter (where status = 'QUARANTINED' and not exists (select from filing_correction c where c.record_id = r.record_id)) as quarantined, count(*) filter (where late) as late, min(event_us) as first_us
           from filing_record r
           where ($1::text is null or regime = $1) and ($2::text is null or fund_id = $2) and ($3::text is null or submission_date = $3)
             and ($4::text is null or (regime, fund_id, submission_date, number) > ($4, $5, $6, $7))
           group by regime, fund_id, submission_date, number order by regime, fund_id, submission_date, number limit $8`,
    values: [
      ...[regime ?? null, text(fundId), text(date)],
      ...[after?.regime ?? null, text(after?.fundId), text(after?.date), after?.number ?? null],
      countMax,
    ],
  });
  return (found.rows as readonly DayRow[]).map((row) => ({
    regime: row.regime,
    fundId: textOfColumn(row.fund_id),
    date: row.submission_date,
    number: row.number,
    mode: row.mode,
    written: Number(row.written),
    quarantined: Number(row.quarantined),
    late: Number(row.late),
    firstAt: fromMicroseconds(Number(row.first_us)),
  }));
}

function recordsOf(rows: readonly unknown[]): readonly FilingRecord[] {
  return (rows as readonly Row[]).map(({ content, line_text }) => ({ ...content, text: textOfColumn(line_text) }));
}

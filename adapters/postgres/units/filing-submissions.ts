// Sealed submission files and what became of them, in a transaction.
import { Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { RegimeName } from "../../../contracts/src/records/filing.ts";
import type { FilingDay } from "../../../ports/filing-records.ts";
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
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface FileRow {
  readonly regime: RegimeName;
  readonly fund_id: string;
  readonly submission_date: string;
  readonly number: number;
  readonly mode: SealedFile["mode"];
  readonly from_line: string;
  readonly to_line: string;
  readonly base: string;
  readonly name: string;
  readonly meta_name: string | null;
  readonly meta_text: string | null;
  readonly bytes: string;
  readonly sha256: string;
  readonly sealed_by: string;
  readonly at_us: string;
}

interface StandingRow extends FileRow {
  readonly sending: { readonly at_us: number; readonly how: FilingSending["how"]; readonly sent_by: string } | null;
  readonly feedback: readonly FilingFeedbackRow[] | null;
  readonly rejected: string;
}

const fileColumns =
  "f.regime, f.fund_id, f.submission_date, f.number, f.mode, f.from_line, f.to_line, f.base, f.name, f.meta_name, f.meta_text, f.bytes, f.sha256, f.sealed_by, f.at_us";
const dayValues = ({ regime, fundId, date }: FilingDay): readonly string[] => [regime, columnOfText(fundId), date];
const keyValues = (key: FilingKey): readonly unknown[] => [...dayValues(key), key.number];
const isOfDay = "regime = $1 and fund_id = $2 and submission_date = $3";
const isOfKey = `${isOfDay} and number = $4`;

export function filingSubmissions(sql: Sql): FilingSubmissions {
  return {
    seal: (file, content) => seal(sql, file, content),
    async content(key) {
      const text = `select content from filing_file where ${isOfKey}`;
      const found = await sql.read({ name: "filing_file_content", text, values: [...keyValues(key)] });
      const [row] = found.rows as readonly { readonly content: Uint8Array }[];
      return row && new Uint8Array(row.content);
    },
    between: (from, to) => between(sql, from, to),
    async named(regime, base) {
      const text = `select ${fileColumns} from filing_file f where regime = $1 and base = $2`;
      const found = await sql.read({ name: "filing_file_named", text, values: [regime, columnOfText(base)] });
      const [row] = found.rows as readonly FileRow[];
      return row && fileOf(row);
    },
    async lastNumber(day) {
      const text = `select greatest((select max(number) from filing_file where ${isOfDay}), (select max(number) from filing_closing where ${isOfDay}), 0) as number`;
      const found = await sql.read({ name: "filing_file_last", text, values: [...dayValues(day)] });
      return Number((found.rows as readonly { readonly number: number }[])[0]?.number ?? 0);
    },
    async close(key, at) {
      const text = `insert into filing_closing (regime, fund_id, submission_date, number, at_us) values ($1, $2, $3, $4, $5) on conflict do nothing`;
      await sql.write({ name: "filing_close", text, values: [...keyValues(key), at] });
    },
    async bytesBefore(key) {
      const text = `select coalesce(sum(octet_length(line_text) + 1), 0) as bytes from filing_record where ${isOfDay} and status = 'WRITTEN' and number < $4`;
      const found = await sql.read({ name: "filing_bytes_before", text, values: [...keyValues(key)] });
      return Number((found.rows as readonly { readonly bytes: string }[])[0]?.bytes ?? 0);
    },
    ...sendings(sql),
    ...feedbacks(sql),
    ...corrections(sql),
  };
}

async function seal(sql: Sql, file: SealedFile, content: Uint8Array): Promise<void> {
  const done = await sql.write({
    name: "filing_file_seal",
    text: `insert into filing_file (regime, fund_id, submission_date, number, mode, from_line, to_line, base, name, meta_name, meta_text, bytes, sha256,
             sealed_by, at_us, content)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) on conflict do nothing`,
    values: [
      ...keyValues(file),
      ...[file.mode, file.fromLine, file.toLine, columnOfText(file.base), columnOfText(file.name)],
      ...[file.meta?.name ?? null, file.meta?.text ?? null, file.bytes, file.sha256],
      ...[columnOfText(file.sealedBy), file.at, Buffer.from(content.buffer, content.byteOffset, content.byteLength)],
    ],
  });
  if (done.rowCount === 0) throw taken(`the submission file ${file.name} exists already`);
}

async function between(sql: Sql, from: FilingKey, to: FilingKey): Promise<readonly FilingStanding[]> {
  const found = await sql.read({
    name: "filing_files_between",
    text: `select ${fileColumns},
             (select to_json(s) from filing_sending s where s.regime = f.regime and s.fund_id = f.fund_id and s.submission_date = f.submission_date
                and s.number = f.number order by at_us limit 1) as sending,
             (select json_agg(b.content order by b.at_us, b.name) from filing_feedback b where b.regime = f.regime and b.fund_id = f.fund_id
                and b.submission_date = f.submission_date and b.number = f.number) as feedback,
             (select count(distinct r.record_id) from filing_record r join filing_rejection j using (record_id)
                where r.regime = f.regime and r.fund_id = f.fund_id and r.submission_date = f.submission_date and r.status = 'WRITTEN' and r.number = f.number
                and not exists (select from filing_correction c where c.record_id = r.record_id)) as rejected
           from filing_file f
           where (f.regime, f.fund_id, f.submission_date, f.number) between ($1, $2, $3, $4) and ($5, $6, $7, $8)
           order by f.regime, f.fund_id, f.submission_date, f.number`,
    values: [...keyValues(from), ...keyValues(to)],
  });
  return (found.rows as readonly StandingRow[]).map((row) => {
    const file = fileOf(row);
    const { sending } = row;
    return {
      file,
      ...(sending !== null && { sending: sendingOf(file, sending) }),
      feedback: row.feedback ?? [],
      rejected: Number(row.rejected),
    };
  });
}

function sendingOf(
  { regime, fundId, date, number }: FilingKey,
  row: NonNullable<StandingRow["sending"]>,
): FilingSending {
  const { at_us, how, sent_by } = row;
  return { regime, fundId, date, number, at: fromMicroseconds(Number(at_us)), how, sentBy: textOfColumn(sent_by) };
}

function sendings(sql: Sql): Pick<FilingSubmissions, "sent" | "hasSentSince" | "unsent"> {
  return {
    async sent(sending) {
      const done = await sql.write({
        name: "filing_sent",
        text: `insert into filing_sending (regime, fund_id, submission_date, number, at_us, how, sent_by) values ($1, $2, $3, $4, $5, $6, $7)
               on conflict do nothing`,
        values: [...keyValues(sending), sending.at, sending.how, columnOfText(sending.sentBy)],
      });
      return done.rowCount === 1;
    },
    async hasSentSince(regime, since) {
      const text = "select from filing_sending where regime = $1 and at_us >= $2 limit 1";
      const found = await sql.read({ name: "filing_sent_since", text, values: [regime, since] });
      return found.rows.length > 0;
    },
    unsent: (regime, countMax) => unsent(sql, regime, countMax),
  };
}

interface UnsentRow {
  readonly regime: RegimeName;
  readonly fund_id: string;
  readonly submission_date: string;
  readonly mode: UnsentDay["mode"];
  readonly first_us: string;
  readonly records: string;
}

/** The days are walked over one by one along their index: of each only its last line is looked at, unless something of it is missing. */
async function unsent(sql: Sql, regime: RegimeName, countMax: number): Promise<readonly UnsentDay[]> {
  const found = await sql.read({
    name: "filing_unsent",
    text: `with recursive day (fund_id, submission_date) as (
             (select fund_id, submission_date from filing_record where regime = $1 order by fund_id, submission_date limit 1)
             union all
             select next.fund_id, next.submission_date from day, lateral (
               select r.fund_id, r.submission_date from filing_record r
               where r.regime = $1 and (r.fund_id, r.submission_date) > (day.fund_id, day.submission_date)
               order by r.fund_id, r.submission_date limit 1) next)
           select $1 as regime, d.fund_id, d.submission_date, max(r.mode) as mode, min(r.event_us) as first_us, count(*) as records
           from day d cross join lateral (
             select coalesce(min(f.from_line) filter (where s.number is null), max(f.to_line), 0) as line from filing_file f
             left join filing_sending s using (regime, fund_id, submission_date, number)
             where f.regime = $1 and f.fund_id = d.fund_id and f.submission_date = d.submission_date) open
           join filing_record r on r.regime = $1 and r.fund_id = d.fund_id and r.submission_date = d.submission_date and r.status = 'WRITTEN'
             and r.line >= open.line
           group by d.fund_id, d.submission_date order by d.submission_date, d.fund_id limit $2`,
    values: [regime, countMax],
  });
  return (found.rows as readonly UnsentRow[]).map((row) => ({
    regime: row.regime,
    fundId: textOfColumn(row.fund_id),
    date: row.submission_date,
    mode: row.mode,
    firstAt: fromMicroseconds(Number(row.first_us)),
    records: Number(row.records),
  }));
}

function feedbacks(sql: Sql): Pick<FilingSubmissions, "takeFeedback" | "readFeedback" | "reject" | "rejections"> {
  return {
    async takeFeedback(row) {
      const { regime, name, sha256, bytes, file, at } = row;
      const of = file === undefined ? [null, null, null] : [columnOfText(file.fundId), file.date, file.number];
      const done = await sql.write({
        name: "filing_feedback_take",
        text: `insert into filing_feedback (regime, name, sha256, bytes, fund_id, submission_date, number, at_us, content)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
        values: [regime, columnOfText(name), sha256, bytes, ...of, at, JSON.stringify(row)],
      });
      return done.rowCount === 1;
    },
    async readFeedback(regime, names) {
      const text = "select name, bytes, sha256 from filing_feedback where regime = $1 and name = any($2::text[])";
      const found = await sql.read({ name: "filing_feedback_read", text, values: [regime, names.map(columnOfText)] });
      const rows = found.rows as readonly { readonly name: string; readonly bytes: string; readonly sha256: string }[];
      return rows.map(({ name, bytes, sha256 }) => ({ name: textOfColumn(name), bytes: Number(bytes), sha256 }));
    },
    async reject({ recordId, errorRoeId, codes, feedback, at }) {
      const done = await sql.write({
        name: "filing_reject",
        text: "insert into filing_rejection (record_id, error_roe_id, codes, feedback, at_us) values ($1, $2, $3, $4, $5) on conflict do nothing",
        values: [columnOfText(recordId), errorRoeId, JSON.stringify(codes), columnOfText(feedback), at],
      });
      return done.rowCount === 1;
    },
    async rejections(recordIds) {
      const found = await sql.read({
        name: "filing_rejections",
        text: `select record_id, error_roe_id, codes, feedback, at_us from filing_rejection where record_id = any($1::text[])
               order by record_id, at_us, error_roe_id`,
        values: [recordIds.map(columnOfText)],
      });
      return (found.rows as readonly RejectionRow[]).map((row) => ({
        recordId: textOfColumn(row.record_id),
        errorRoeId: row.error_roe_id,
        codes: row.codes,
        feedback: textOfColumn(row.feedback),
        at: fromMicroseconds(Number(row.at_us)),
      }));
    },
  };
}

interface RejectionRow {
  readonly record_id: string;
  readonly error_roe_id: string;
  readonly codes: FilingRejection["codes"];
  readonly feedback: string;
  readonly at_us: string;
}

interface CorrectionRow {
  readonly record_id: string;
  readonly action: FilingCorrection["action"];
  readonly correction_id: string | null;
  readonly corrected_by: string;
  readonly reason: string;
  readonly at_us: string;
}

function corrections(sql: Sql): Pick<FilingSubmissions, "correct" | "corrections"> {
  return {
    async correct({ recordId, action, correctionId, correctedBy, reason, at }) {
      const [record, by, why] = [recordId, correctedBy, reason].map(columnOfText);
      const done = await sql.write({
        name: "filing_correct",
        text: `insert into filing_correction (record_id, action, correction_id, corrected_by, reason, at_us) values ($1, $2, $3, $4, $5, $6)
               on conflict do nothing`,
        values: [record, action, correctionId === undefined ? null : columnOfText(correctionId), by, why, at],
      });
      if (done.rowCount === 0) throw taken(`the record ${recordId} was corrected before`);
    },
    async corrections(recordIds) {
      const found = await sql.read({
        name: "filing_corrections",
        text: `select record_id, action, correction_id, corrected_by, reason, at_us from filing_correction where record_id = any($1::text[])
               order by record_id`,
        values: [recordIds.map(columnOfText)],
      });
      return (found.rows as readonly CorrectionRow[]).map((row) => ({
        recordId: textOfColumn(row.record_id),
        action: row.action,
        ...(row.correction_id !== null && { correctionId: textOfColumn(row.correction_id) }),
        correctedBy: textOfColumn(row.corrected_by),
        reason: textOfColumn(row.reason),
        at: fromMicroseconds(Number(row.at_us)),
      }));
    },
  };
}

function fileOf(row: FileRow): SealedFile {
  return {
    regime: row.regime,
    fundId: textOfColumn(row.fund_id),
    date: row.submission_date,
    number: row.number,
    mode: row.mode,
    fromLine: Number(row.from_line),
    toLine: Number(row.to_line),
    base: textOfColumn(row.base),
    name: textOfColumn(row.name),
    ...(row.meta_name !== null && { meta: { name: row.meta_name, text: row.meta_text ?? "" } }),
    bytes: Number(row.bytes),
    sha256: row.sha256,
    sealedBy: textOfColumn(row.sealed_by),
    at: fromMicroseconds(Number(row.at_us)),
  };
}

function taken(what: string): Fault {
  return new Fault("STORE_CONFLICT", what, { retry: "now" });
}

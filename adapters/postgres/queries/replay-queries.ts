// What the replay reads of the past, along indexes by fund and time.
import type pg from "pg";
import { format, parse } from "../../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type {
  HaltScope,
  RecordedDecision,
  ReplayQueries,
  SaidSignal,
  TimelineEntry,
} from "../../../ports/replay-queries.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import { inTimeline } from "../migrations/0065-timeline.ts";
import { clockSlackUs } from "../risk/risk-reads.ts";
import { storableId } from "../storable-text.ts";
import { storeFault } from "../store-fault.ts";
import { pastBooks } from "./past-books.ts";

/** Logs that follow each other have a stretch of numbers each (adapters/postgres/migrations/0025-audit-anew.ts). */
const logSpan = 2 ** 40;

const ofFund = (place: string, columns: string): string => `
  (select ${columns} from audit_entry
   where audit_entry_fund(action, text) = ${place} and ${inTimeline} and action = any ($2::text[])
     and at_us >= $3 and at_us <= $4 and (at_us, sequence) > ($5, $6) order by at_us, sequence limit $7)`;
const entryColumns = "at_us, sequence, event_id, action, text";
const entriesText = `
select at_us, sequence, event_id, action, text, sequence / ${logSpan} = (select size from audit_head) / ${logSpan} as is_current
from (${ofFund("$1", entryColumns)} union all ${ofFund("''", entryColumns)}) both_kinds order by at_us, sequence limit $7`;
const marksText = `
select at_us, sequence from (${ofFund("$1", "at_us, sequence")} union all ${ofFund("''", "at_us, sequence")}) both_kinds
order by at_us, sequence limit $7`;
const textsText = "select sequence, text from audit_entry where sequence = any ($1::bigint[]) order by sequence";

const signalsText = `
select s.strategy_id, s.at_us, s.symbol, s.value, s.price::text as price, s.horizon_s
from research_signal s where s.strategy_id in (select strategy_id from research_strategy where fund_id = $1)
  and s.at_us >= $2 and s.at_us <= $3 and (s.at_us, s.strategy_id, s.symbol) > ($4, $5, $6)
order by s.at_us, s.strategy_id, s.symbol limit $7`;

/** Rows that one statement looks at. */
const pageRows = 20_000;
/** There is no index by fund: the rows of that time are looked through, a bounded page at a time. */
const numbersText = `
with page as materialized (
  select id, at_us, kind, kind = 1 and fund_id = $3 and at_us >= $4 and at_us < $5 as matched
  from risk_journal where id > greatest($1, (select risk_journal_before($6))) order by id limit $2)
select count(*) as count, max(id)::text as through, min(at_us) filter (where kind = 1) as oldest_us,
  array_agg(id::text order by id) filter (where matched) as hits from page`;
const decisionsText = `
select j.id, j.event_id, j.at_us, j.approved, j.code, j.order_id, j.payload, a.sequence, a.action, a.text
from risk_journal j left join audit_entry a on a.event_id = j.event_id::text
where j.id = any ($1::bigint[]) order by j.id`;

export function createReplayQueries(pool: pg.Pool): ReplayQueries {
  async function ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    try {
      return await pool.query({ text, values: [...values] });
    } catch (thrown) {
      throw storeFault(thrown, "a query about the past");
    }
  }

  return {
    ...pastBooks(ask),
    async entries({ fundId, actions, from, to, after, countMax }) {
      const mark = [after?.at ?? from - 1, after?.sequence ?? -1];
      const found = await ask(entriesText, [fundId, actions, from, to, ...mark, countMax]);
      return found.rows.map(
        (row): TimelineEntry => ({
          at: fromMicroseconds(Number(row.at_us)),
          sequence: Number(row.sequence),
          eventId: textOfColumn(row.event_id),
          action: textOfColumn(row.action),
          text: row.text,
          isCurrent: row.is_current,
        }),
      );
    },
    async entryMarks({ fundId, actions, from, to, after, countMax }) {
      const mark = [after?.at ?? from - 1, after?.sequence ?? -1];
      const found = await ask(marksText, [fundId, actions, from, to, ...mark, countMax]);
      return found.rows.map((row) => ({ at: fromMicroseconds(Number(row.at_us)), sequence: Number(row.sequence) }));
    },
    async entryTexts(sequences) {
      const found = await ask(textsText, [sequences.map(String)]);
      return found.rows.map((row) => ({ sequence: Number(row.sequence), text: row.text }));
    },
    async decisionNumbers({ fundId, from, to, after }) {
      const values = [String(after), pageRows, storableId(fundId), from, to, from - clockSlackUs];
      const [page] = (await ask(numbersText, values)).rows;
      const isLast = Number(page.count) < pageRows || Number(page.oldest_us) >= to + clockSlackUs;
      return { ids: (page.hits ?? []).map(BigInt), through: isLast ? undefined : BigInt(page.through) };
    },
    async decisions(ids) {
      return (await ask(decisionsText, [ids.map(String)])).rows.map(decisionOf);
    },
    async entryOf(eventId) {
      const found = await ask("select at_us, sequence from audit_entry where event_id = $1", [columnOfText(eventId)]);
      const [row] = found.rows;
      return row && { at: fromMicroseconds(Number(row.at_us)), sequence: Number(row.sequence) };
    },
    async signals({ fundId, from, to, after, countMax }) {
      const mark = [after?.at ?? from - 1, columnOfText(after?.strategyId ?? ""), columnOfText(after?.symbol ?? "")];
      const found = await ask(signalsText, [columnOfText(fundId), from, to, ...mark, countMax]);
      return found.rows.map(
        (row): SaidSignal => ({
          strategyId: textOfColumn(row.strategy_id),
          at: fromMicroseconds(Number(row.at_us)),
          symbol: textOfColumn(row.symbol),
          value: row.value,
          price: format(parse(row.price)),
          horizonS: row.horizon_s,
        }),
      );
    },
    async haltScopes(haltIds) {
      const text = "select halt_id, severity, fund_id, strategy_id from halt where halt_id = any ($1::text[])";
      const found = await ask(text, [haltIds.map(columnOfText)]);
      return new Map(
        found.rows.map((row): [string, HaltScope] => [
          textOfColumn(row.halt_id),
          {
            severity: row.severity,
            fundId: row.fund_id,
            ...(row.strategy_id !== null && { strategyId: row.strategy_id }),
          },
        ]),
      );
    },
  };
}

interface DecisionRow {
  readonly id: string;
  readonly event_id: string;
  readonly at_us: string;
  readonly approved: boolean | null;
  readonly code: string | null;
  readonly order_id: string;
  readonly payload: Buffer;
  readonly sequence: string | null;
  readonly action: string | null;
  readonly text: Buffer | null;
}

function decisionOf(row: DecisionRow): RecordedDecision {
  const { sequence, action, text } = row;
  const hasEntry = sequence !== null && action !== null && text !== null;
  return {
    id: BigInt(row.id),
    decisionId: row.event_id,
    at: fromMicroseconds(Number(row.at_us)),
    approved: row.approved ?? false,
    code: row.code ?? "",
    orderId: row.order_id,
    payload: row.payload,
    ...(hasEntry && { entry: { sequence: Number(sequence), action: textOfColumn(action), text } }),
  };
}

// The quotes that order management kept, in a transaction.
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { DueQuote, KeptQuote, QuoteRecords } from "../../../ports/quote-records.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface QuoteRow {
  readonly id: string;
  readonly moment: KeptQuote["moment"];
  readonly fund_id: string;
  readonly symbol: string;
  readonly wanted_us: string;
  readonly bid: string | null;
  readonly ask: string | null;
  readonly quoted_us: string | null;
}

interface DueRow {
  readonly fill_id: string;
  readonly fund_id: string;
  readonly symbol: string;
  readonly due_us: string;
}

export function quoteRecords(sql: Sql): QuoteRecords {
  return {
    async keepQuote({ id, moment, fundId, symbol, wantedAt, quote }) {
      await sql.write({
        name: "oms_quote_insert",
        text: `insert into oms_quote (id, moment, fund_id, symbol, wanted_us, bid, ask, quoted_us)
               values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id, moment) do nothing`,
        values: [
          columnOfText(id),
          moment,
          columnOfText(fundId),
          columnOfText(symbol),
          wantedAt,
          quote?.bid ?? null,
          quote?.ask ?? null,
          quote?.at ?? null,
        ],
      });
    },
    async quotesOf(ids) {
      const found = await sql.read({
        name: "oms_quote_read",
        text: "select id, moment, fund_id, symbol, wanted_us, bid, ask, quoted_us from oms_quote where id = any($1::text[])",
        values: [ids.map(columnOfText)],
      });
      return (found.rows as readonly QuoteRow[]).map(quoteOf);
    },
    async addDue({ fillId, fundId, symbol, dueAt }) {
      await sql.write({
        name: "oms_quote_due_insert",
        text: `insert into oms_quote_due (fill_id, fund_id, symbol, due_us) values ($1, $2, $3, $4)
               on conflict (fill_id) do nothing`,
        values: [columnOfText(fillId), columnOfText(fundId), columnOfText(symbol), dueAt],
      });
    },
    async earliestDue(countMax) {
      const found = await sql.read({
        name: "oms_quote_due_read",
        text: "select fill_id, fund_id, symbol, due_us from oms_quote_due order by due_us, fill_id limit $1",
        values: [countMax],
      });
      return (found.rows as readonly DueRow[]).map(dueOf);
    },
    async takeDue(fillIds) {
      await sql.write({
        name: "oms_quote_due_take",
        text: "delete from oms_quote_due where fill_id = any($1::text[])",
        values: [fillIds.map(columnOfText)],
      });
    },
  };
}

function quoteOf({ id, moment, fund_id, symbol, wanted_us, bid, ask, quoted_us }: QuoteRow): KeptQuote {
  const isKept = bid !== null && ask !== null && quoted_us !== null;
  return {
    id: textOfColumn(id),
    moment,
    fundId: textOfColumn(fund_id),
    symbol: textOfColumn(symbol),
    wantedAt: fromMicroseconds(Number(wanted_us)),
    quote: isKept ? { bid, ask, at: fromMicroseconds(Number(quoted_us)) } : undefined,
  };
}

function dueOf({ fill_id, fund_id, symbol, due_us }: DueRow): DueQuote {
  return {
    fillId: textOfColumn(fill_id),
    fundId: textOfColumn(fund_id),
    symbol: textOfColumn(symbol),
    dueAt: fromMicroseconds(Number(due_us)),
  };
}

// Treasury's repository in a transaction: the ledger and the holdings that it moves, what is remembered of each fund, the history of values.
import { format, parse, zero } from "../../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { HoldingMove, LedgerEntry } from "../../../contracts/src/records/ledger.ts";
import type { LedgerRecords, NavEvery, NavPoint } from "../../../ports/ledger-records.ts";
import { bucketUs, everyTime } from "../../records/nav-buckets.ts";
import { entryColumns, entryOf, navColumns } from "../queries/ledger-rows.ts";
import { sumRecords } from "../queries/ledger-sums.ts";
import type { Sql } from "../store-transaction.ts";

export function ledgerRecords(sql: Sql): LedgerRecords {
  return { ...bookRecords(sql), ...sumRecords(sql), ...fundRecords(sql), ...waitingRecords(sql), ...navRecords(sql) };
}

type BookPart = Pick<LedgerRecords, "book" | "entry" | "lockHolding" | "balances" | "strategyHoldings" | "tradedSince">;

function bookRecords(sql: Sql): BookPart {
  return {
    async book(entry, moves) {
      const booked = await sql.write({
        name: "treasury_book",
        text: bookText,
        values: columnsOfEntry(entry, moves),
      });
      return booked.rows.length === 1;
    },
    async entry(entryId) {
      const found = await sql.read({
        name: "treasury_entry_read",
        text: `select ${entryColumns} from treasury_entry e where e.entry_id = $1`,
        values: [entryId],
      });
      const [row] = found.rows;
      return row === undefined ? undefined : entryOf(row);
    },
    async lockHolding(fundId, symbol) {
      const found = await sql.write({
        text: "select quantity from treasury_holding where fund_id = $1 and symbol = $2 for update",
        values: [fundId, symbol],
      });
      const [row] = found.rows;
      return row === undefined ? zero : parse(row.quantity);
    },
    async balances() {
      const found = await sql.read({
        name: "treasury_balances",
        text: "select fund_id, account, currency, amount from treasury_balance order by fund_id, account, currency",
      });
      return found.rows.map((row) => ({
        fundId: row.fund_id,
        account: row.account,
        currency: row.currency,
        amount: parse(row.amount),
      }));
    },
    async strategyHoldings() {
      const found = await sql.read({
        name: "treasury_strategy_holdings",
        text: `select fund_id, strategy_id, symbol, quantity from treasury_strategy_holding
               order by fund_id, strategy_id, symbol`,
      });
      return found.rows.map((row) => ({
        fundId: row.fund_id,
        strategyId: row.strategy_id,
        symbol: row.symbol,
        quantity: parse(row.quantity),
      }));
    },
    async tradedSince(fundId, at) {
      const found = await sql.read({
        name: "treasury_traded_since",
        text: `select strategy_id, symbol, sum(quantity) as quantity from treasury_entry
               where fund_id = $1 and at_us >= $2 and kind in ('FILL', 'BUST') group by strategy_id, symbol
               order by strategy_id, symbol`,
        values: [fundId, at],
      });
      return found.rows.map((row) => ({
        strategyId: row.strategy_id,
        symbol: row.symbol,
        quantity: parse(row.quantity),
      }));
    },
  };
}

/** One trip to the database: the other rows are written only if the entry is new. */
const bookText = `
with entry as (
  insert into treasury_entry (entry_id, fund_id, strategy_id, kind, symbol, quantity, reason, booked_by, at_us)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (entry_id) do nothing returning entry_id, fund_id, strategy_id),
posting as (
  insert into treasury_posting (entry_id, place, account, currency, amount)
  select entry.entry_id, one.place, one.account, one.currency, one.amount
  from entry, unnest($10::text[], $11::text[], $12::numeric[]) with ordinality as one (account, currency, amount, place)),
balance as (
  insert into treasury_balance as held (fund_id, account, currency, amount)
  select entry.fund_id, one.account, one.currency, sum(one.amount)
  from entry, unnest($10::text[], $11::text[], $12::numeric[]) as one (account, currency, amount)
  group by entry.fund_id, one.account, one.currency order by one.account, one.currency
  on conflict (fund_id, account, currency) do update set amount = held.amount + excluded.amount),
holding as (
  insert into treasury_holding as held (fund_id, symbol, quantity)
  select entry.fund_id, one.symbol, one.quantity
  from entry, unnest($13::text[], $14::numeric[]) as one (symbol, quantity)
  on conflict (fund_id, symbol) do update set quantity = held.quantity + excluded.quantity),
made as (
  insert into treasury_strategy_holding as held (fund_id, strategy_id, symbol, quantity)
  select entry.fund_id, entry.strategy_id, one.symbol, one.quantity
  from entry, unnest($13::text[], $14::numeric[]) as one (symbol, quantity) where entry.strategy_id is not null
  on conflict (fund_id, strategy_id, symbol) do update set quantity = held.quantity + excluded.quantity)
select entry_id from entry`;

function columnsOfEntry(entry: LedgerEntry, moves: readonly HoldingMove[]): unknown[] {
  const { postings } = entry;
  return [
    entry.entryId,
    entry.fundId,
    entry.strategyId ?? null,
    entry.kind,
    entry.symbol ?? null,
    entry.quantity === undefined ? null : format(entry.quantity),
    entry.reason,
    entry.bookedBy,
    entry.at,
    postings.map(({ account }) => account),
    postings.map(({ currency }) => currency),
    postings.map(({ amount }) => format(amount)),
    moves.map(({ symbol }) => symbol),
    moves.map(({ quantity }) => format(quantity)),
  ];
}

function fundRecords(sql: Sql): Pick<LedgerRecords, "lockFund" | "putFund"> {
  return {
    async lockFund(fundId) {
      const lock = { text: "select content from treasury_fund where fund_id = $1 for update", values: [fundId] };
      const known = await sql.write({ name: "treasury_fund_lock", ...lock });
      if (known.rows[0] !== undefined) return known.rows[0].content;
      const text = "insert into treasury_fund (fund_id, content) values ($1, '{}') on conflict (fund_id) do nothing";
      await sql.write({ text, values: [fundId] });
      const made = await sql.write({ name: "treasury_fund_lock", ...lock });
      return made.rows[0]?.content ?? {};
    },
    async putFund(fundId, fund) {
      await sql.write({
        name: "treasury_fund_put",
        text: `insert into treasury_fund (fund_id, content) values ($1, $2)
               on conflict (fund_id) do update set content = excluded.content`,
        values: [fundId, JSON.stringify(fund)],
      });
    },
  };
}

type WaitingPart = Pick<LedgerRecords, "keepFill" | "waitingFunds" | "waitingFills" | "removeWaitingFill">;

function waitingRecords(sql: Sql): WaitingPart {
  return {
    async keepFill(fill, at) {
      const kept = await sql.write({
        text: `insert into treasury_waiting_fill (fund_id, fill_id, content, kept_us) values ($1, $2, $3, $4)
               on conflict (fund_id, fill_id) do nothing`,
        values: [fill.fund_id, fill.fill_id, JSON.stringify(fill), at],
      });
      return kept.rowCount === 1;
    },
    async waitingFunds() {
      const found = await sql.read({
        name: "treasury_waiting_funds",
        text: `select fund_id, count(*) as count, min(kept_us) as since_us from treasury_waiting_fill
               group by fund_id order by fund_id`,
      });
      return found.rows.map((row) => ({
        fundId: row.fund_id,
        count: Number(row.count),
        since: fromMicroseconds(Number(row.since_us)),
      }));
    },
    async waitingFills(fundId, countMax) {
      const found = await sql.read({
        text: "select content from treasury_waiting_fill where fund_id = $1 order by place limit $2",
        values: [fundId, countMax],
      });
      return found.rows.map(({ content }) => content);
    },
    async removeWaitingFill(fundId, fillId) {
      await sql.write({
        text: "delete from treasury_waiting_fill where fund_id = $1 and fill_id = $2",
        values: [fundId, fillId],
      });
    },
  };
}

const navInsert = `insert into treasury_nav as kept (every, bucket_us, ${navColumns})
  select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::numeric[], $6::numeric[], $7::numeric[],
    $8::numeric[], $9::text[], $10::double precision[], $11::text[], $12::json[])`;

const replaced = ["at_us", "nav", "cash", "positions_value", "net_flows", "currency", "oldest_price_age_ms"]
  .concat("trading_day", "prices")
  .map((column) => `${column} = excluded.${column}`);

function navRecords(sql: Sql): Pick<LedgerRecords, "putNav" | "importNavs" | "imported" | "firstImport" | "thinNavs"> {
  return {
    async putNav(point) {
      await sql.write({
        name: "treasury_nav_put",
        text: `${navInsert} on conflict (fund_id, every, bucket_us) do update set ${replaced.join(", ")}
               where kept.at_us < excluded.at_us`,
        values: columnsOfNavs(everyTime.map((every) => [every, point])),
      });
    },
    async importNavs(points) {
      if (points.length === 0) return 0;
      const inserted = await sql.write({
        text: `${navInsert} on conflict (fund_id, every, bucket_us) do nothing`,
        values: columnsOfNavs(points.map((point) => ["day", point])),
      });
      return inserted.rowCount ?? 0;
    },
    async imported(name) {
      const found = await sql.read({ text: "select hash from treasury_import where name = $1", values: [name] });
      return found.rows[0]?.hash;
    },
    async firstImport(name, hash, at) {
      const inserted = await sql.write({
        text: "insert into treasury_import (name, hash, at_us) values ($1, $2, $3) on conflict (name) do nothing",
        values: [name, hash, at],
      });
      return inserted.rowCount === 1;
    },
    async thinNavs(every, before, countMax) {
      const removed = await sql.write({
        name: "treasury_nav_thin",
        text: `delete from treasury_nav where (fund_id, every, bucket_us) in (
                 select fund_id, every, bucket_us from treasury_nav where every = $1 and bucket_us < $2
                 order by bucket_us limit $3)`,
        values: [every, before, countMax],
      });
      return removed.rowCount ?? 0;
    },
  };
}

function columnsOfNavs(kept: readonly (readonly [NavEvery, NavPoint])[]): unknown[] {
  return [
    kept.map(([every]) => every),
    kept.map(([every, point]) => bucketUs(every, point)),
    kept.map(([, { fundId }]) => fundId),
    kept.map(([, { at }]) => at),
    kept.map(([, { nav }]) => format(nav)),
    kept.map(([, { cash }]) => format(cash)),
    kept.map(([, { positionsValue }]) => format(positionsValue)),
    kept.map(([, { netFlows }]) => format(netFlows)),
    kept.map(([, { currency }]) => currency),
    kept.map(([, { oldestPriceAgeMs }]) => oldestPriceAgeMs),
    kept.map(([, { tradingDay }]) => tradingDay ?? null),
    kept.map(([, { prices }]) => (prices === undefined ? null : JSON.stringify(prices))),
  ];
}

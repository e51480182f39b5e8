// Rows of the ledger and of the history of values as what they stand for.
import { parse } from "../../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { LedgerEntry, LedgerKind } from "../../../contracts/src/records/ledger.ts";
import type { NavPoint } from "../../../ports/ledger-records.ts";

/** A whole entry with its postings, of `treasury_entry e`. */
export const entryColumns = `e.entry_id, e.fund_id, e.strategy_id, e.kind, e.symbol, e.quantity, e.reason, e.booked_by, e.at_us,
  (select json_agg(json_build_array(p.account, p.currency, p.amount::text) order by p.place)
   from treasury_posting p where p.entry_id = e.entry_id) as postings`;

interface EntryRow {
  readonly entry_id: string;
  readonly fund_id: string;
  readonly strategy_id: string | null;
  readonly kind: LedgerKind;
  readonly symbol: string | null;
  readonly quantity: string | null;
  readonly reason: string;
  readonly booked_by: string;
  readonly at_us: string;
  /** Null when there are none. */
  readonly postings: readonly (readonly [string, string, string])[] | null;
}

export function entryOf(row: EntryRow): LedgerEntry {
  return {
    entryId: row.entry_id,
    fundId: row.fund_id,
    ...(row.strategy_id !== null && { strategyId: row.strategy_id }),
    kind: row.kind,
    postings: (row.postings ?? []).map(([account, currency, amount]) => ({ account, currency, amount: parse(amount) })),
    ...(row.symbol !== null && { symbol: row.symbol }),
    ...(row.quantity !== null && { quantity: parse(row.quantity) }),
    reason: row.reason,
    bookedBy: row.booked_by,
    at: fromMicroseconds(Number(row.at_us)),
  };
}

export const navColumns =
  "fund_id, at_us, nav, cash, positions_value, net_flows, currency, oldest_price_age_ms, trading_day, prices";

interface NavRow {
  readonly fund_id: string;
  readonly at_us: string;
  readonly nav: string;
  readonly cash: string;
  readonly positions_value: string;
  readonly net_flows: string;
  readonly currency: string;
  readonly oldest_price_age_ms: number;
  readonly trading_day: string | null;
  readonly prices: NonNullable<NavPoint["prices"]> | null;
}

export function navOf(row: NavRow): NavPoint {
  return {
    fundId: row.fund_id,
    at: fromMicroseconds(Number(row.at_us)),
    nav: parse(row.nav),
    cash: parse(row.cash),
    positionsValue: parse(row.positions_value),
    netFlows: parse(row.net_flows),
    currency: row.currency,
    oldestPriceAgeMs: row.oldest_price_age_ms,
    ...(row.prices !== null && { prices: row.prices }),
    ...(row.trading_day !== null && { tradingDay: row.trading_day }),
  };
}

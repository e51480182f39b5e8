// Facts of a small fund for tests of reports: so many days, the first of them from before the log began (closes instead of kept prices), the last two live
// with a deposit; trades in two symbols. Everything ties by construction, from one seed.
import * as decimal from "../contracts/src/decimal.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import { factsText, type NavFact, type ReportFacts } from "../reports/facts.ts";
import { dateOfDay, dayNumber, weekdayOf } from "../reports/metrics/dates.ts";

const d = decimal.parse;

export interface FactsOptions {
  readonly days: number;
  /** A trade every so many days; 0 for none. */
  readonly tradesEvery: number;
  readonly deposit?: string;
  /** Of every price; 0 leaves all of them where they are. */
  readonly moves?: number;
  /** By how much every price falls a day, as a fraction of the first. */
  readonly falls?: number;
  readonly thesis?: string;
}

/** Weekdays from 2025-11-03 on. */
function weekdays(count: number): readonly string[] {
  const found: string[] = [];
  for (let day = dayNumber("2025-11-03"); found.length < count; day += 1) {
    if (weekdayOf(day) < 5) found.push(dateOfDay(day));
  }
  return found;
}

const symbols = ["AAA", "BBB"] as const;

export function reportFactsOf(options: FactsOptions): ReportFacts {
  const { days: count, tradesEvery, deposit, moves = 0.02, falls = 0, thesis } = options;
  const days = weekdays(count + 1);
  const priceOf = (symbol: string, index: number): string =>
    (100 * (1 - falls * index) * (1 + moves * Math.sin(index * (symbol === "AAA" ? 0.7 : 1.3)))).toFixed(2);
  const fills: Fill[] = [];
  const ledger: ReportFacts["ledger"] = [
    entry("capital", "CAPITAL", `${days.at(-2) ?? ""}T00:00:00Z`, null, "capital", "1000000"),
  ];
  const held = new Map<string, decimal.Decimal>();
  let cash = d("1000000");
  let flows = decimal.zero;
  const navs: NavFact[] = days.map((day, index) => {
    const live = index >= days.length - 2;
    if (tradesEvery > 0 && index > 0 && index % tradesEvery === 0) {
      for (const symbol of symbols) {
        const open = held.get(symbol) ?? decimal.zero;
        const fill = fillOf(day, symbol, open === decimal.zero ? "BUY" : "SELL", priceOf(symbol, index), thesis);
        fills.push(fill);
        const quantity = fill.side === "BUY" ? d(fill.quantity) : decimal.negate(d(fill.quantity));
        held.set(symbol, decimal.add(open, quantity));
        const cost = decimal.multiply(quantity, d(fill.price), "half-even");
        cash = decimal.subtract(decimal.subtract(cash, cost), d(fill.fee ?? "0"));
      }
    }
    if (deposit !== undefined && index === days.length - 1) {
      cash = decimal.add(cash, d(deposit));
      flows = d(deposit);
      ledger.push(entry("deposit", "FLOW", `${day}T12:00:00Z`, null, "flows", deposit));
    }
    const value = symbols.reduce(
      (sum, symbol) =>
        decimal.add(sum, decimal.multiply(held.get(symbol) ?? decimal.zero, d(priceOf(symbol, index)), "half-even")),
      decimal.zero,
    );
    return {
      day,
      as_of: `${day}T23:59:59Z`,
      nav: decimal.format(decimal.add(cash, value)),
      cash: decimal.format(cash),
      positions_value: decimal.format(value),
      net_flows: decimal.format(flows),
      prices: live ? pricesOf(held, day, (symbol) => priceOf(symbol, index)) : null,
    };
  });
  // The ledger begins with what the fund had when it began to be kept, as capital.
  const last = navs.at(-1);
  const first = ledger[0];
  if (first !== undefined) {
    ledger[0] = entry(
      "capital",
      "CAPITAL",
      first.at,
      null,
      "capital",
      decimal.format(decimal.subtract(d(last?.cash ?? "0"), flows)),
    );
  }
  return {
    version: 2,
    fund: { fund_id: "alpha", mode: "PAPER", currency: "USD", calendar: "us-equities", periods_per_year: 252 },
    as_of: `${days.at(-1) ?? ""}T23:59:59.5Z`,
    rf_annual: "0.02",
    audit_sequence: 41,
    instruments: symbols.map((symbol) => ({
      symbol,
      asset_class: "EQUITY",
      currency: "USD",
      multiplier: "1",
      sector: null,
    })),
    navs,
    fills,
    ledger,
    closes: Object.fromEntries(
      symbols.map((symbol) => [symbol, days.map((day, index) => ({ day, close: priceOf(symbol, index) }))]),
    ),
    benchmark: { symbol: "SPY", closes: days.map((day, index) => ({ day, close: priceOf("SPY", index + 3) })) },
    ...furtherFacts(days),
  };
}

export interface KeptFacts {
  /** As a facts file has them. */
  readonly text: string;
  readonly trades: number;
  readonly start: string;
  readonly end: string;
}

/** A year of two trades a day, each in as many parts as it takes to have so many. */
export function keptFactsWith(trades: number): KeptFacts {
  const facts = reportFactsOf({ days: 250, tradesEvery: 1 });
  const parts = Math.round(trades / facts.fills.length);
  const share = (amount: string | undefined): string => (Number(amount ?? "0") / parts).toFixed(6);
  const fills = facts.fills.flatMap((fill) =>
    Array.from({ length: parts }, (_unused, index) => ({
      ...fill,
      fill_id: `${fill.fill_id}-${index}`,
      quantity: share(fill.quantity),
      fee: share(fill.fee),
    })),
  );
  const [start, end] = [facts.navs[1]?.day ?? "", facts.navs.at(-1)?.day ?? ""];
  return { text: factsText({ ...facts, fills }), trades: fills.length, start, end };
}

/** What the reports that need more than values and trades are made of. */
function furtherFacts(days: readonly string[]): Partial<ReportFacts> {
  const last = `${days.at(-1) ?? ""}T23:59:59Z`;
  const limits = (positionPct: string) => ({ max_position_pct: positionPct, allowed_brokers: '["paper"]' });
  const use = { used: "600000", allowed: "700000", share: 0.857, reason: null, as_of: last };
  return {
    universe: symbols.map((symbol, index) => ({ symbol, sector: index === 0 ? "technology" : "energy" })),
    volumes: Object.fromEntries(symbols.map((symbol) => [symbol, days.map((day) => ({ day, volume: "10000" }))])),
    limit_use: [
      { limit: "max_position_pct", scope: "AAA", ...use },
      { limit: "max_gross_exposure_pct", scope: "", ...use, share: null, used: null, reason: "STALE_PRICE" },
    ],
    denials: [
      {
        decision_id: "d-1",
        at: last,
        strategy_id: "alpha-momentum",
        symbol: "AAA",
        gate: "static",
        code: "MAX_NOTIONAL",
      },
    ],
    envelopes: [
      { version: 1, updated_at: `${days[0] ?? ""}T00:00:00Z`, updated_by: "operator:duty", limits: limits("0.07") },
      { version: 2, updated_at: last, updated_by: "operator:duty", limits: limits("0.05") },
    ],
    orders: [],
    audit: { began_at: `${days[0] ?? ""}T00:00:00Z`, entries: [] },
    minutes: [],
    strategies: [{ strategy_id: "alpha-momentum", status: "live", allocation_pct: 0.1 }],
    backtests: [
      {
        strategy_id: "alpha-momentum",
        days: days.map((day, index) => ({
          day,
          return: 0.001 * Math.sin(index),
          information_coefficient: index % 10 === 0 ? null : 0.05 + 0.2 * Math.sin(index * 0.9),
        })),
      },
    ],
    signals: { "alpha-momentum": [{ symbol: "AAA", at: last, value: 0.5, realised_return: null, horizon_s: 300 }] },
  };
}

function entry(
  id: string,
  kind: string,
  at: string,
  symbol: string | null,
  account: string,
  amount: string,
): ReportFacts["ledger"][number] {
  return {
    entry_id: id,
    kind,
    at,
    symbol,
    postings: [
      { account, currency: "USD", amount: decimal.format(decimal.negate(d(amount))) },
      { account: "cash", currency: "USD", amount },
    ],
  };
}

function fillOf(day: string, symbol: string, side: "BUY" | "SELL", price: string, thesis?: string): Fill {
  const id = `f-${day}-${symbol}`;
  const strategy = thesis ?? "alpha-momentum";
  return {
    fill_id: id,
    order_id: id,
    fund_id: "alpha",
    strategy_id: strategy,
    symbol,
    side,
    quantity: "100.5",
    price,
    fee: "0.37",
    currency: "USD",
    broker: "paper",
    filled_at: `${day}T19:59:30.00${symbol === "AAA" ? 1 : 2}Z`,
    kind: "SEED",
  };
}

function pricesOf(held: ReadonlyMap<string, decimal.Decimal>, day: string, priceOf: (symbol: string) => string) {
  return Object.fromEntries(
    [...held]
      .filter(([, quantity]) => quantity !== decimal.zero)
      .map(([symbol, quantity]) => [
        symbol,
        { quantity: decimal.format(quantity), price: priceOf(symbol), at: `${day}T23:59:58Z` },
      ]),
  );
}

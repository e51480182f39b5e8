// What a fund is worth, from what it holds and what that costs now. Pure: the same holdings and prices are the same value.
//
// An old price is better than none: the value is made of the last one that is known, with its age beside it, and whoever needs a fresh value asks for
// the age. Only what never had a price, and money without a fresh rate, leaves a fund without a value.
//
// Values are exact as long as quantity x multiplier x price x rate has no more than 18 places; what lies beyond is rounded half-even,
// holding by holding, so that nav = cash + positions_value holds to the last digit in any case.
import { tradingDay } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { type NavUpdated, pricesMax } from "../../contracts/src/records/fund.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { cost } from "../../core/ledger/ledger.ts";
import { ageMsOf } from "../../core/state/dated.ts";
import { type ReferenceView, rateBetween } from "../reference/reference-view.ts";

export interface Holding {
  readonly symbol: string;
  readonly quantity: decimal.Decimal;
}

export interface Price {
  readonly price: decimal.Decimal;
  readonly at: Instant;
  /** Once a corporate action turned it: the moment in whose terms it is since. */
  readonly turnedAt?: Instant;
}

export interface ValuationInput {
  readonly fund: FundReference;
  readonly holdings: readonly Holding[];
  /** What each strategy has made of nothing: quantities, and the cash that they cost and brought. */
  readonly strategies: ReadonlyMap<string, readonly Holding[]>;
  /** Deposits less withdrawals since the fund began, in its currency. */
  readonly netFlows: decimal.Decimal;
  readonly view: ReferenceView;
  readonly prices: ReadonlyMap<string, Price>;
  /** Older prices than this are named as old. */
  readonly priceAgeMsMax: number;
  readonly fxAgeMsMax: number;
  readonly at: Instant;
}

/** What some holdings are worth together. */
interface HoldingsValue {
  readonly nav: decimal.Decimal;
  readonly cash: decimal.Decimal;
  readonly positionsValue: decimal.Decimal;
  /** Sum of the magnitudes of the positions. */
  readonly grossValue: decimal.Decimal;
  readonly oldestPriceAgeMs: number;
  /** What every position was valued at. */
  readonly prices: ReadonlyMap<string, ValuedAt>;
  /** Of other currencies than the fund's. */
  readonly rates: ReadonlyMap<string, Rate>;
  /** Symbols whose price is older than it should be, with its age. */
  readonly old: ReadonlyMap<string, number>;
}

interface ValuedAt extends Price {
  readonly quantity: decimal.Decimal;
}

interface Rate {
  readonly rate: decimal.Decimal;
  readonly asOf: Instant;
}

export interface Valuation extends HoldingsValue {
  readonly fundId: string;
  readonly currency: string;
  readonly netFlows: decimal.Decimal;
  /** Since the fund began; a strategy that holds something without a price, which others hold the other way round, is left out. */
  readonly strategyPnl: ReadonlyMap<string, decimal.Decimal>;
  readonly tradingDay: string | undefined;
  readonly at: Instant;
}

/** The value, or why there is none, in a few words. */
export function valueFund(input: ValuationInput): Valuation | string {
  const { fund, view, at, netFlows } = input;
  const value = valueHoldings(input.holdings, input);
  if (typeof value === "string") return value;
  const strategyPnl = new Map<string, decimal.Decimal>();
  for (const [strategyId, made] of input.strategies) {
    const pnl = valueHoldings(made, input);
    if (typeof pnl !== "string") strategyPnl.set(strategyId, pnl.nav);
  }
  const calendar = view.calendars.get(fund.calendar);
  const day = calendar === undefined ? undefined : tradingDay(calendar, at);
  return { ...value, fundId: fund.fund_id, currency: fund.currency, netFlows, strategyPnl, tradingDay: day, at };
}

function valueHoldings(holdings: readonly Holding[], input: ValuationInput): HoldingsValue | string {
  const { fund, view, at } = input;
  let cash = decimal.zero;
  let positionsValue = decimal.zero;
  let grossValue = decimal.zero;
  let oldestPriceAgeMs = 0;
  const prices = new Map<string, ValuedAt>();
  const rates = new Map<string, Rate>();
  const old = new Map<string, number>();
  for (const { symbol, quantity } of holdings) {
    if (quantity === decimal.zero) continue;
    const instrument = view.instruments.get(symbol);
    const currency = instrument?.currency ?? symbol;
    const found = freshRate(input, currency);
    if (found === undefined) return `there is no fresh rate from ${currency} to ${fund.currency}`;
    if (currency !== fund.currency) rates.set(currency, found);
    if (instrument === undefined) {
      cash = decimal.add(cash, decimal.multiply(quantity, found.rate, "half-even"));
      continue;
    }
    const price = input.prices.get(symbol);
    if (price === undefined) return `${symbol} has no price`;
    prices.set(symbol, { ...price, quantity });
    const ageMs = ageMsOf(price.at, at);
    if (ageMs > input.priceAgeMsMax) old.set(symbol, ageMs);
    oldestPriceAgeMs = Math.max(oldestPriceAgeMs, ageMs);
    const value = decimal.multiply(cost(quantity, instrument.multiplier, price.price), found.rate, "half-even");
    positionsValue = decimal.add(positionsValue, value);
    grossValue = decimal.add(grossValue, decimal.abs(value));
  }
  const nav = decimal.add(cash, positionsValue);
  return { nav, cash, positionsValue, grossValue, oldestPriceAgeMs, prices, rates, old };
}

function freshRate({ fund, view, fxAgeMsMax, at }: ValuationInput, currency: string): Rate | undefined {
  if (currency === fund.currency) return { rate: decimal.one, asOf: at };
  const found = rateBetween(view, currency, fund.currency);
  return found === undefined || millisecondsBetween(found.asOf, at) > fxAgeMsMax ? undefined : found;
}

export function navRecord(value: Valuation, sequence: number): NavUpdated {
  return {
    fund_id: value.fundId,
    nav: decimal.format(value.nav),
    currency: value.currency,
    cash: decimal.format(value.cash),
    positions_value: decimal.format(value.positionsValue),
    net_flows: decimal.format(value.netFlows),
    strategy_pnl: Object.fromEntries([...value.strategyPnl].map(([id, pnl]) => [id, decimal.format(pnl)])),
    oldest_price_age_ms: value.oldestPriceAgeMs,
    ...(value.prices.size <= pricesMax && { prices: reportedPrices(value.prices) }),
    ...(value.rates.size > 0 && { rates: reportedRates(value.rates) }),
    ...(value.tradingDay !== undefined && { trading_day: value.tradingDay }),
    as_of: format(value.at),
    sequence,
  };
}

export function reportedPrices(prices: ReadonlyMap<string, ValuedAt>): NonNullable<NavUpdated["prices"]> {
  return Object.fromEntries(
    [...prices].map(([symbol, { quantity, price, at }]) => [
      symbol,
      { quantity: decimal.format(quantity), price: decimal.format(price), at: format(at) },
    ]),
  );
}

function reportedRates(rates: ReadonlyMap<string, Rate>): NonNullable<NavUpdated["rates"]> {
  return Object.fromEntries(
    [...rates].map(([currency, { rate, asOf }]) => [currency, { rate: decimal.format(rate), at: format(asOf) }]),
  );
}

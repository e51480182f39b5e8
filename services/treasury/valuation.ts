// What a fund is worth, from what it holds and what that costs now. Pure: the same holdings and prices are the same value.
//
// Values are exact as long as quantity x multiplier x price x rate has no more than 18 places; what lies beyond is rounded half-even,
// holding by holding, so that nav = cash + positions_value holds to the last digit in any case.
import { tradingDay } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { type ReferenceView, rateBetween } from "./reference-view.ts";

export interface Holding {
  readonly symbol: string;
  readonly quantity: decimal.Decimal;
}

export interface Price {
  readonly price: decimal.Decimal;
  readonly at: Instant;
}

export interface ValuationInput {
  readonly fund: FundReference;
  readonly holdings: readonly Holding[];
  readonly view: ReferenceView;
  readonly prices: ReadonlyMap<string, Price>;
  readonly priceAgeMsMax: number;
  readonly fxAgeMsMax: number;
  readonly at: Instant;
}

export interface Valuation {
  readonly fundId: string;
  readonly currency: string;
  readonly nav: decimal.Decimal;
  readonly cash: decimal.Decimal;
  readonly positionsValue: decimal.Decimal;
  /** Sum of the magnitudes of the positions. */
  readonly grossValue: decimal.Decimal;
  readonly oldestPriceAgeMs: number;
  readonly tradingDay: string | undefined;
  readonly at: Instant;
}

/** The value, or why there is none, in a few words. */
export function valueFund(input: ValuationInput): Valuation | string {
  const { fund, view, at } = input;
  let cash = decimal.zero;
  let positionsValue = decimal.zero;
  let grossValue = decimal.zero;
  let oldestPriceAgeMs = 0;
  for (const { symbol, quantity } of input.holdings) {
    if (quantity === decimal.zero) continue;
    const instrument = view.instruments.get(symbol);
    const rate = freshRate(input, instrument?.currency ?? symbol);
    if (rate === undefined) return `there is no fresh rate from ${instrument?.currency ?? symbol} to ${fund.currency}`;
    if (instrument === undefined) {
      cash = decimal.add(cash, decimal.multiply(quantity, rate, "half-even"));
      continue;
    }
    const price = input.prices.get(symbol);
    if (price === undefined) return `${symbol} has no price`;
    const ageMs = Math.max(0, millisecondsBetween(price.at, at));
    if (ageMs > input.priceAgeMsMax) return `the price of ${symbol} is ${Math.round(ageMs)} ms old`;
    oldestPriceAgeMs = Math.max(oldestPriceAgeMs, ageMs);
    const value = decimal.multiply(cost(quantity, instrument.multiplier, price.price), rate, "half-even");
    positionsValue = decimal.add(positionsValue, value);
    grossValue = decimal.add(grossValue, decimal.abs(value));
  }
  const calendar = view.calendars.get(fund.calendar);
  return {
    fundId: fund.fund_id,
    currency: fund.currency,
    nav: decimal.add(cash, positionsValue),
    cash,
    positionsValue,
    grossValue,
    oldestPriceAgeMs,
    tradingDay: calendar === undefined ? undefined : tradingDay(calendar, at),
    at,
  };
}

/** Quantity x multiplier x price, in the instrument's currency. */
export function cost(quantity: decimal.Decimal, multiplier: string, price: decimal.Decimal): decimal.Decimal {
  return decimal.multiply(decimal.multiply(quantity, decimal.parse(multiplier), "half-even"), price, "half-even");
}

function freshRate({ fund, view, fxAgeMsMax, at }: ValuationInput, currency: string): decimal.Decimal | undefined {
  if (currency === fund.currency) return decimal.one;
  const found = rateBetween(view, currency, fund.currency);
  return found === undefined || millisecondsBetween(found.asOf, at) > fxAgeMsMax ? undefined : found.rate;
}

export function navRecord(value: Valuation, sequence: number): NavUpdated {
  return {
    fund_id: value.fundId,
    nav: decimal.format(value.nav),
    currency: value.currency,
    cash: decimal.format(value.cash),
    positions_value: decimal.format(value.positionsValue),
    oldest_price_age_ms: value.oldestPriceAgeMs,
    ...(value.tradingDay !== undefined && { trading_day: value.tradingDay }),
    as_of: format(value.at),
    sequence,
  };
}

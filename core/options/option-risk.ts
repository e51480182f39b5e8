// How an option's worth follows its underlying: its delta, and what it would be worth in the stress that short options are limited by. The
// model is Black and Scholes at the volatility that the option's own price implies. What comes out of it is rounded to decimals here, once, and
// is data from then on: whoever decides by it computes with the decimals alone.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { Instrument, OptionRisk } from "../../contracts/src/records/market.ts";
import { greeksOf, impliedVolatility, interestRate, type OptionTerms } from "./black-scholes.ts";
import { endOfDate } from "./option-expiry.ts";

/** The stress: how far the underlying moves, either way, and by how much volatility rises with it. */
const stressMove = 0.2;
const stressVolatility = 1.5;
const secondsPerYear = 31_557_600;
const deltaDigits = 1_000_000;
const priceDigits = 10_000;

export interface PricedAt {
  readonly price: decimal.Decimal;
  readonly at: Instant;
}

/** Undefined for what is no option, and while a price or a term of it is unusable. A delta that came with the quote is taken as it is. */
export function optionRiskOf(
  instrument: Instrument,
  option: PricedAt,
  underlying: PricedAt | undefined,
  quotedDelta: number | undefined,
): OptionRisk | undefined {
  const { right, strike, expiry } = instrument;
  if (instrument.asset_class !== "OPTION" || right === undefined || strike === undefined) return undefined;
  const ends = expiry === undefined ? undefined : endOfDate(expiry);
  if (ends === undefined || underlying === undefined || underlying.price <= 0n || option.price < 0n) return undefined;
  const years = (ends - option.at) / 1_000_000 / secondsPerYear;
  const terms = { right, strike: Number(strike), price: decimal.toNumber(underlying.price), years, rate: interestRate };
  const volatility = impliedVolatility(terms, decimal.toNumber(option.price));
  const delta = quotedDelta ?? greeksOf({ ...terms, volatility }).delta;
  const share = right === "CALL" ? delta : -delta;
  if (!(share >= 0 && share <= 1)) return undefined;
  const stressed = (move: number): string => {
    const moved: OptionTerms = { ...terms, price: terms.price * (1 + move), volatility: volatility * stressVolatility };
    return digitsOf(Math.round(greeksOf(moved).value * priceDigits), priceDigits);
  };
  return {
    // Away from zero, so that nothing counts as less than it is.
    delta: digitsOf(Math.ceil(share * deltaDigits) * (right === "CALL" ? 1 : -1), deltaDigits),
    stressed_up: stressed(stressMove),
    stressed_down: stressed(-stressMove),
    at: format(option.at < underlying.at ? option.at : underlying.at),
  };
}

function digitsOf(units: number, perOne: number): string {
  const [whole, parts] = [decimal.fromInteger(BigInt(units)), decimal.fromInteger(BigInt(perOne))];
  return decimal.format(decimal.divide(whole, parts, "half-even"));
}

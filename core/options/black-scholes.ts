// What an option is worth, and how that changes: Black and Scholes, without dividends. For paper prices and for watching; binary floating
// point, because a model's output is a statistic and becomes money only when it is rounded to a tick.
import { exp, log, normalBelow, normalDensity } from "../stats/elementary.ts";

export interface OptionTerms {
  readonly right: "CALL" | "PUT";
  readonly strike: number;
  /** Of the underlying. */
  readonly price: number;
  /** Until it ends; at or below zero it is worth what exercising it gives. */
  readonly years: number;
  /** A fraction per year. */
  readonly volatility: number;
  readonly rate: number;
}

/** Of one unit of the underlying; theta per day, vega per hundredth. */
export interface Greeks {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  readonly theta: number;
  readonly vega: number;
}

/** Of a year, for every maturity. */
export const interestRate = 0.04;
const daysPerYear = 365;

export function greeksOf(option: OptionTerms): Greeks {
  const { strike, price, years, volatility, rate } = option;
  const sign = option.right === "CALL" ? 1 : -1;
  const exercised = Math.max(0, sign * (price - strike));
  if (!(years > 0 && volatility > 0 && price > 0 && strike > 0)) {
    return { value: exercised, delta: exercised > 0 ? sign : 0, gamma: 0, theta: 0, vega: 0 };
  }
  const root = Math.sqrt(years);
  const spread = volatility * root;
  const first = (log(price / strike) + (rate + (volatility * volatility) / 2) * years) / spread;
  const second = first - spread;
  const discounted = strike * exp(-rate * years);
  const density = normalDensity(first);
  const decay = (-price * density * volatility) / (2 * root) - sign * rate * discounted * normalBelow(sign * second);
  return {
    value: Math.max(0, sign * (price * normalBelow(sign * first) - discounted * normalBelow(sign * second))),
    delta: sign * normalBelow(sign * first),
    gamma: density / (price * spread),
    theta: decay / daysPerYear,
    vega: (price * density * root) / 100,
  };
}

const volatilityMin = 0.01;
const volatilityMax = 5;

/** The volatility at which the option is worth that much; the nearest end of 1 % to 500 % when there is none. */
export function impliedVolatility(option: Omit<OptionTerms, "volatility">, value: number): number {
  let [low, high] = [volatilityMin, volatilityMax];
  for (let halving = 0; halving < 60; halving += 1) {
    const middle = (low + high) / 2;
    if (greeksOf({ ...option, volatility: middle }).value < value) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

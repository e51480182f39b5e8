// Black, Scholes and Merton with a dividend yield, to 1e-9. black-scholes.ts is coarser and prices the paper market, which must not move.
import { normalCdf, normalDensity } from "../../core/stats/distributions.ts";

export interface MertonTerms {
  readonly right: "CALL" | "PUT";
  readonly strike: number;
  /** Of the underlying. */
  readonly price: number;
  readonly years: number;
  readonly volatility: number;
  readonly rate: number;
  readonly dividendYield: number;
}

export interface MertonGreeks {
  readonly price: number;
  readonly delta: number;
  readonly gamma: number;
  /** Per 1.00 of volatility and of rate. */
  readonly vega: number;
  readonly rho: number;
  readonly thetaPerYear: number;
}

/** Of an option with time and volatility left; null without. */
export function mertonGreeks(terms: MertonTerms): MertonGreeks | null {
  const { strike, price, years, volatility, rate, dividendYield } = terms;
  if (!(years > 0 && volatility > 0 && price > 0 && strike > 0)) return null;
  const sign = terms.right === "CALL" ? 1 : -1;
  const spread = volatility * Math.sqrt(years);
  const first = (Math.log(price / strike) + (rate - dividendYield + (volatility * volatility) / 2) * years) / spread;
  const second = first - spread;
  const spot = price * Math.exp(-dividendYield * years);
  const cash = strike * Math.exp(-rate * years);
  const [exercised, held] = [normalCdf(sign * second), normalCdf(sign * first)];
  const decay = (spot * normalDensity(first) * volatility) / (2 * Math.sqrt(years));
  return {
    price: sign * (spot * held - cash * exercised),
    delta: sign * Math.exp(-dividendYield * years) * held,
    gamma: (Math.exp(-dividendYield * years) * normalDensity(first)) / (price * spread),
    vega: spot * normalDensity(first) * Math.sqrt(years),
    rho: sign * years * cash * exercised,
    thetaPerYear: -decay - sign * rate * cash * exercised + sign * dividendYield * spot * held,
  };
}

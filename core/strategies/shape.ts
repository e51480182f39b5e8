// The shape of a strategy: a name, one human sentence, what it trades, and one pure function from prices so far to what it would hold. The same
// function runs live on minutes, and over the past on days: a step is whatever lies between two prices.
//
//  1. Same input, same output: no clock, no chance, no memory.
//  2. Only long positions, except of options, which are only ever written; a strategy never holds more than its allocation.
//  3. Chance and statistics are numbers; money is exact. A weight becomes money through `targetQuantity` alone.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";

export interface StrategyInput {
  /** Oldest first, the last one is the price now; a symbol without prices is not traded. */
  readonly closes: ReadonlyMap<string, readonly number[]>;
  /** The price now, exactly. */
  readonly prices: ReadonlyMap<string, decimal.Decimal>;
  readonly instruments: ReadonlyMap<string, Instrument>;
  /** What the strategy holds, negative when short. */
  readonly positions: ReadonlyMap<string, decimal.Decimal>;
  readonly nav: decimal.Decimal;
  /** The share of NAV that it may work with. */
  readonly allocationPct: number;
  readonly at: Instant;
}

export interface StrategySignal {
  readonly symbol: string;
  /** Larger wants more of it. */
  readonly value: number;
}

export interface StrategyTarget {
  readonly symbol: string;
  /** Negative to be short; a whole multiple of the lot. */
  readonly quantity: decimal.Decimal;
}

export interface StrategyOpinion {
  readonly signals: readonly StrategySignal[];
  /** A symbol that is not named stays as it is. */
  readonly targets: readonly StrategyTarget[];
}

export interface Strategy {
  readonly name: string;
  readonly fundId: string;
  readonly sentence: string;
  /** Every symbol that it reads. */
  readonly watches: (instruments: ReadonlyMap<string, Instrument>) => readonly string[];
  /** The symbols that its signals are about. */
  readonly signalled: readonly string[];
  readonly allocationPct: number;
  /** Days in its year: 252 where exchanges close, 365 where they do not. */
  readonly daysPerYear: 252 | 365;
  /** In the backtest it trades on every such day. */
  readonly tradesEveryDays: number;
  /** Prices that its signals reach back over. */
  readonly lookback: number;
  judge(input: StrategyInput): StrategyOpinion;
}

const million = decimal.fromInteger(1_000_000n);

/** A fraction as an exact decimal, to the millionth, never above it. */
export function exactFraction(fraction: number): decimal.Decimal {
  return decimal.divide(decimal.fromInteger(BigInt(Math.floor(fraction * 1_000_000))), million, "down");
}

/** How many units a share of the strategy's money buys at the price now, in whole lots, never more than the money. */
export function targetQuantity(input: StrategyInput, symbol: string, weight: number): decimal.Decimal {
  const instrument = input.instruments.get(symbol);
  const price = input.prices.get(symbol);
  if (instrument === undefined || price === undefined || decimal.sign(price) <= 0) return decimal.zero;
  const share = exactFraction(Math.max(0, Math.min(1, weight)) * Math.max(0, Math.min(1, input.allocationPct)));
  const money = decimal.multiply(input.nav, share, "down");
  if (decimal.sign(money) <= 0) return decimal.zero;
  const unit = decimal.multiply(price, decimal.parse(instrument.multiplier), "up");
  return decimal.roundToIncrement(decimal.divide(money, unit, "down"), decimal.parse(instrument.lot_size), "down");
}

/** The return over the last `steps` prices, leaving out the newest `skip`; undefined when there are too few. */
export function returnOver(closes: readonly number[] | undefined, steps: number, skip = 0): number | undefined {
  if (closes === undefined) return undefined;
  const last = closes[closes.length - 1 - skip];
  const first = closes[closes.length - 1 - skip - steps];
  if (last === undefined || first === undefined || !(first > 0) || !(last > 0)) return undefined;
  return last / first - 1;
}

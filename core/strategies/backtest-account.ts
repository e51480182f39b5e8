// What a backtest holds: positions, cash and every trade. A trade closes or opens, never both, and is made at the day's close for the paper
// broker's fee.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { Side } from "../../contracts/src/records/values.ts";
import { feeOf } from "../paper/paper-fees.ts";

type Decimal = decimal.Decimal;

export interface BacktestTrade {
  readonly day: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: Decimal;
}

export interface BacktestBook {
  readonly positions: ReadonlyMap<string, Decimal>;
  readonly trades: readonly BacktestTrade[];
  /** Trades until the target is held; a change inside the band is not worth its fee. */
  tradeTo(day: string, symbol: string, target: Decimal, price: Decimal): void;
  /** Cash and positions at these prices: the profit so far, since it began with nothing. */
  valueAt(prices: ReadonlyMap<string, Decimal>): { readonly profit: Decimal; readonly held: Decimal };
}

const bandPart = decimal.parse("0.2");

export function backtestBook(instruments: ReadonlyMap<string, Instrument>): BacktestBook {
  const positions = new Map<string, Decimal>();
  const trades: BacktestTrade[] = [];
  let cash = decimal.zero;

  function trade(day: string, instrument: Instrument, step: Decimal, price: Decimal): void {
    const { symbol, asset_class: assetClass } = instrument;
    const held = positions.get(symbol) ?? decimal.zero;
    const quantity = decimal.abs(step);
    const fee = feeOf(assetClass, quantity, price);
    trades.push({ day, symbol, side: sideOf(held, step), quantity, price, fee });
    positions.set(symbol, decimal.add(held, step));
    cash = decimal.subtract(decimal.subtract(cash, notionalOf(instrument, step, price)), fee);
  }

  return {
    positions,
    trades,
    tradeTo(day, symbol, target, price) {
      const instrument = instruments.get(symbol);
      const held = positions.get(symbol) ?? decimal.zero;
      const change = decimal.subtract(target, held);
      if (instrument === undefined || decimal.sign(change) === 0) return;
      const band = decimal.multiply(decimal.abs(target), bandPart, "down");
      if (decimal.sign(target) !== 0 && decimal.compare(decimal.abs(change), band) < 0) return;
      const crosses = decimal.sign(held) * decimal.sign(target) < 0;
      for (const step of crosses ? [decimal.negate(held), target] : [change]) trade(day, instrument, step, price);
    },
    valueAt(prices) {
      let held = decimal.zero;
      for (const [symbol, quantity] of positions) {
        const instrument = instruments.get(symbol);
        const price = prices.get(symbol);
        if (instrument === undefined || price === undefined) continue;
        held = decimal.add(held, notionalOf(instrument, quantity, price));
      }
      return { profit: decimal.add(cash, held), held };
    },
  };
}

function notionalOf({ multiplier }: Instrument, quantity: Decimal, price: Decimal): Decimal {
  const units = decimal.multiply(quantity, decimal.parse(multiplier), "half-even");
  return decimal.multiply(units, price, "half-even");
}

/** The word for a change of a position that does not cross zero. */
export function sideOf(held: Decimal, change: Decimal): Side {
  if (decimal.sign(change) > 0) return decimal.sign(held) < 0 ? "BUY_TO_COVER" : "BUY";
  return decimal.sign(held) > 0 ? "SELL" : "SELL_SHORT";
}

// What it cost to trade an order instead of having it filled at the price of the decision: implementation shortfall and its parts, in exact money.
// A cost above zero is bad for both sides. An order without fills has no slippage, but its missed move counts: leaving it out would flatter.
//
//  1. delay + execution + opportunity + fees = the profit on paper - the profit that was made.
import * as decimal from "../../contracts/src/decimal.ts";

type Decimal = decimal.Decimal;

interface TcaFill {
  readonly atSeconds: number;
  readonly price: Decimal;
  readonly quantity: Decimal;
  readonly fee: Decimal;
  readonly midAtFill: Decimal | null;
  readonly midAfter300s: Decimal | null;
}

export interface TcaOrder {
  readonly direction: 1 | -1;
  readonly quantity: Decimal;
  readonly decisionPrice: Decimal;
  readonly arrivalPrice: Decimal;
  readonly endPrice: Decimal;
  readonly fills: readonly TcaFill[];
  /** What others traded meanwhile; times as those of the fills. Own prints are not among them. */
  readonly marketTrades: readonly { readonly atSeconds: number; readonly price: Decimal; readonly quantity: Decimal }[];
  readonly averageDailyVolume: number | null;
  readonly dailyVolatility: number | null;
}

export interface OrderCost {
  readonly filled: Decimal;
  readonly fillRate: number | null;
  readonly averagePrice: number | null;
  readonly arrivalSlippageBps: number | null;
  readonly intervalVwap: number | null;
  readonly vwapSlippageBps: number | null;
  readonly intervalTwap: number | null;
  readonly twapSlippageBps: number | null;
  readonly delay: Decimal;
  readonly execution: Decimal;
  readonly opportunity: Decimal;
  readonly fees: Decimal;
  readonly shortfall: Decimal;
  /** Of the order's quantity at the price of the decision. */
  readonly paperNotional: Decimal;
  readonly arrivalNotional: Decimal;
  readonly paperProfit: Decimal;
  readonly actualProfit: Decimal;
  readonly participation: number | null;
  readonly effectiveSpreadBps: number | null;
  readonly realisedSpreadBps: number | null;
  readonly markoutBps: number | null;
  /** Volatility times the root of the order's share of a day's volume. */
  readonly expectedImpactBps: number | null;
}

const times = (left: Decimal, right: Decimal): Decimal => decimal.multiply(left, right, "half-even");
const signed = (direction: 1 | -1, value: Decimal): Decimal => (direction === 1 ? value : decimal.negate(value));
const sumOf = (values: readonly Decimal[]): Decimal => values.reduce(decimal.add, decimal.zero);

export function orderCost(order: TcaOrder): OrderCost {
  const { direction, quantity, decisionPrice, arrivalPrice, endPrice, fills } = order;
  const filled = sumOf(fills.map((fill) => fill.quantity));
  const paid = sumOf(fills.map((fill) => times(fill.price, fill.quantity)));
  const fees = sumOf(fills.map((fill) => fill.fee));
  const unfilled = decimal.subtract(quantity, filled);
  const cost = (from: Decimal, to: Decimal, size: Decimal): Decimal =>
    signed(direction, times(decimal.subtract(to, from), size));
  const delay = cost(decisionPrice, arrivalPrice, filled);
  const execution = signed(direction, decimal.subtract(paid, times(arrivalPrice, filled)));
  const opportunity = cost(decisionPrice, endPrice, unfilled);
  const averagePrice = filled === 0n ? null : decimal.toNumber(paid) / decimal.toNumber(filled);
  const market = duringFills(order);
  const slippage = (benchmark: number | null): number | null =>
    averagePrice === null || benchmark === null ? null : (direction * (averagePrice - benchmark) * 10_000) / benchmark;
  return {
    filled,
    fillRate: quantity === 0n ? null : decimal.toNumber(filled) / decimal.toNumber(quantity),
    averagePrice,
    arrivalSlippageBps: slippage(decimal.toNumber(arrivalPrice)),
    intervalVwap: market.vwap,
    vwapSlippageBps: slippage(market.vwap),
    intervalTwap: market.twap,
    twapSlippageBps: slippage(market.twap),
    delay,
    execution,
    opportunity,
    fees,
    shortfall: sumOf([delay, execution, opportunity, fees]),
    paperNotional: times(quantity, decisionPrice),
    arrivalNotional: times(filled, arrivalPrice),
    paperProfit: cost(decisionPrice, endPrice, quantity),
    actualProfit: decimal.subtract(signed(direction, decimal.subtract(times(endPrice, filled), paid)), fees),
    participation: market.volume > 0 && filled > 0n ? decimal.toNumber(filled) / market.volume : null,
    ...spreads(order),
    expectedImpactBps: expectedImpact(order),
  };
}

/** Others' trades from arrival to the last fill. */
function duringFills({ fills, marketTrades }: TcaOrder) {
  const last = fills.reduce((latest, fill) => Math.max(latest, fill.atSeconds), Number.NEGATIVE_INFINITY);
  const within = marketTrades.filter((trade) => trade.atSeconds <= last);
  const volume = decimal.toNumber(sumOf(within.map((trade) => trade.quantity)));
  const traded = decimal.toNumber(sumOf(within.map((trade) => times(trade.price, trade.quantity))));
  const prices = decimal.toNumber(sumOf(within.map((trade) => trade.price)));
  return {
    volume,
    vwap: volume > 0 ? traded / volume : null,
    twap: within.length === 0 ? null : prices / within.length,
  };
}

/** Weighted by quantity, over the fills that have the mid in question; null without any. */
function spreads({ direction, fills }: TcaOrder) {
  const weighted = (figure: (price: number, mid: number | null, later: number | null) => number | null) => {
    let [together, size] = [0, 0];
    for (const fill of fills) {
      const mid = fill.midAtFill === null ? null : decimal.toNumber(fill.midAtFill);
      const later = fill.midAfter300s === null ? null : decimal.toNumber(fill.midAfter300s);
      const found = figure(decimal.toNumber(fill.price), mid, later);
      if (found === null) continue;
      together += found * decimal.toNumber(fill.quantity);
      size += decimal.toNumber(fill.quantity);
    }
    return size === 0 ? null : (together / size) * 10_000;
  };
  return {
    effectiveSpreadBps: weighted((price, mid) => (mid === null ? null : (2 * direction * (price - mid)) / mid)),
    realisedSpreadBps: weighted((price, mid, later) =>
      mid === null || later === null ? null : (2 * direction * (price - later)) / mid,
    ),
    markoutBps: weighted((price, _mid, later) => (later === null ? null : (direction * (later - price)) / price)),
  };
}

function expectedImpact({ quantity, averageDailyVolume, dailyVolatility }: TcaOrder): number | null {
  if (averageDailyVolume === null || dailyVolatility === null || !(averageDailyVolume > 0)) return null;
  return dailyVolatility * Math.sqrt(decimal.toNumber(quantity) / averageDailyVolume) * 10_000;
}

interface CostTotals {
  readonly shortfall: Decimal;
  readonly shortfallBps: number | null;
  /** Over the orders that had fills, each by what it filled at its arrival price. */
  readonly arrivalSlippageBps: number | null;
}

export function costTotals(costs: readonly OrderCost[]): CostTotals {
  const shortfall = sumOf(costs.map((cost) => cost.shortfall));
  const notional = decimal.toNumber(sumOf(costs.map((cost) => cost.paperNotional)));
  const filled = costs.filter((cost) => cost.arrivalSlippageBps !== null);
  const weight = decimal.toNumber(sumOf(filled.map((cost) => cost.arrivalNotional)));
  const weighted = filled.reduce(
    (together, cost) => together + (cost.arrivalSlippageBps ?? 0) * decimal.toNumber(cost.arrivalNotional),
    0,
  );
  return {
    shortfall,
    shortfallBps: notional === 0 ? null : (decimal.toNumber(shortfall) / notional) * 10_000,
    arrivalSlippageBps: weight === 0 ? null : weighted / weight,
  };
}

/** A part of the shortfall in basis points of the order on paper. */
export function inBps(amount: Decimal, paperNotional: Decimal): number | null {
  return paperNotional === 0n ? null : (decimal.toNumber(amount) / decimal.toNumber(paperNotional)) * 10_000;
}

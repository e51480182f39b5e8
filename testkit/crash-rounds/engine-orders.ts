// What the traders of the engine's crash rounds ask for: ordinary small orders of the seeded paper funds, from one seed. Quantities vary so
// that the repeated-execution throttle stays out of the way, and prices stay where the paper market swings.
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { paperListings } from "../../services/shared/paper-seeds.ts";
import type { Prng } from "../virtual/prng.ts";

/** A symbol that a strategy trades, with the smallest quantity worth an order. */
export interface TradedLine {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  readonly assetClass: string;
  /** An order has 1 to 40 of these units. */
  readonly unit: number;
  readonly unitDigits: number;
}

const shares = { assetClass: "EQUITY", unit: 1, unitDigits: 0 };
const coins = { assetClass: "CRYPTO", fundId: "beta", strategyId: "beta-trend", unitDigits: 5 };

export const tradedLines: readonly TradedLine[] = [
  ...["AAPL", "MSFT", "GOOGL", "NVDA"].map((symbol) => alpha("alpha-momentum", symbol)),
  ...["AMZN", "JPM", "XOM", "SPY"].map((symbol) => alpha("alpha-meanrev", symbol)),
  { ...coins, symbol: "BTC-USD", unit: 0.0001 },
  { ...coins, symbol: "ETH-USD", unit: 0.003 },
  { ...coins, symbol: "SOL-USD", unit: 0.05 },
  { ...shares, fundId: "gamma", strategyId: "gamma-income", symbol: "SPY" },
];

function alpha(strategyId: string, symbol: string): TradedLine {
  return { ...shares, fundId: "alpha", strategyId, symbol };
}

/** Around which the paper market swings: fills at it lie within every collar. */
export const prices: ReadonlyMap<string, string> = new Map(paperListings.map(({ symbol, price }) => [symbol, price]));

/** A new order under a new key. */
export function newOrder(throws: Prng): Order {
  const traded = tradedLines[throws.below(tradedLines.length)] ?? tradedLines[0];
  if (traded === undefined) throw new Error("there is no desk");
  const id = throws.uuid();
  const isLimit = throws.chance(0.3);
  const sells = throws.chance(0.5);
  return {
    idempotency_key: `key-${id}`,
    order_id: `order-${id}`,
    fund_id: traded.fundId,
    strategy_id: traded.strategyId,
    symbol: traded.symbol,
    side: sells ? "SELL" : "BUY",
    quantity: quantityOf(traded, 1 + throws.below(40)),
    order_type: isLimit ? "LIMIT" : "MARKET",
    ...(isLimit && { limit_price: prices.get(traded.symbol) }),
    tif: "DAY",
    broker: "paper",
    asset_class: traded.assetClass,
    actor: traded.strategyId,
    ...(sells && throws.chance(0.3) && { reduce_only: true }),
  };
}

/** The same key for something else. */
export function otherBody(order: Order): Order {
  return { ...order, thesis: "the same key, another order" };
}

/** Asks about a desk without spending anything; the answer's figures tell what the engine believes to hold. */
export function dryRunOf(traded: TradedLine, id: string): Order {
  return {
    idempotency_key: `dry-${id}`,
    order_id: `dry-${id}`,
    fund_id: traded.fundId,
    strategy_id: traded.strategyId,
    symbol: traded.symbol,
    side: "BUY",
    quantity: quantityOf(traded, 1),
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: traded.assetClass,
    actor: traded.strategyId,
    dry_run: true,
  };
}

function quantityOf({ unit, unitDigits }: TradedLine, count: number): string {
  return (unit * count)
    .toFixed(unitDigits)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

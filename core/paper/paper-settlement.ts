// How the paper broker settles options that have ended: once per contract, for every account that holds it, at the first price of the underlying
// from the moment on at which the contract had ended. What was settled at which price is kept among the broker's orders, as one of its own that
// belongs to no account.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { type SettledTerms, settlementLegs } from "../options/option-settlement.ts";
import { type BookView, changesOf, type Decided } from "./paper-broker.ts";
import { isOpenState, type PaperOrder } from "./paper-matching.ts";
import { movePosition, type PaperPosition } from "./paper-positions.ts";

/** What the broker says of a contract that it has settled. */
interface PaperSettlement {
  /** Of the underlying. */
  readonly price: decimal.Decimal;
  readonly at: Instant;
  /** The newest report when it was settled: trades of the contract come before. */
  readonly cursor: number;
}

export function settlementId(symbol: string): string {
  return `settlement of ${symbol}`;
}

/** What the broker's own order says; undefined for an order of anybody else. */
export function settlementOf(order: PaperOrder | undefined): PaperSettlement | undefined {
  if (order?.limitPrice === undefined || order.account !== "") return undefined;
  return { price: order.limitPrice, at: order.updatedAt, cursor: order.arrival };
}

/** Ends the contract's open orders and settles every account; nothing when that was done before. */
export function settleOption(
  view: BookView,
  terms: SettledTerms,
  price: decimal.Decimal,
  at: Instant,
): Decided<number> {
  if (view.order !== undefined) return { answer: 0, changes: undefined };
  const ended = view.open
    .filter(({ symbol, state }) => symbol === terms.symbol && isOpenState(state))
    .map((order) => ({ order: { ...order, state: "EXPIRED" as const, updatedAt: at } }));
  const changes = changesOf(view, ended, at);
  const positions = new Map<string, PaperPosition>();
  const key = (account: string, symbol: string): string => JSON.stringify([account, symbol]);
  for (const one of view.positions) positions.set(key(one.account, one.symbol), one);
  const moved = new Map<string, PaperPosition>();
  for (const { account, symbol, quantity } of view.positions) {
    if (symbol !== terms.symbol) continue;
    for (const leg of settlementLegs(terms, quantity, price)) {
      const place = key(account, leg.symbol);
      const flat = { account, symbol: leg.symbol, quantity: decimal.zero, averagePrice: decimal.zero };
      moved.set(place, movePosition(moved.get(place) ?? positions.get(place) ?? flat, leg.change, leg.price));
    }
  }
  const own: PaperOrder = {
    clientOrderId: settlementId(terms.symbol),
    account: "",
    symbol: terms.symbol,
    side: "SELL",
    quantity: decimal.one,
    orderType: "LIMIT",
    limitPrice: price,
    tif: "DAY",
    reduceOnly: false,
    eligibleAt: at,
    brokerOrderId: `S${changes.cursor}`,
    arrival: changes.cursor,
    triggered: false,
    state: "FILLED",
    filledQuantity: decimal.one,
    executionCount: 0,
    updatedAt: at,
  };
  const orders = [...changes.orders, own];
  return { answer: ended.length, changes: { ...changes, orders, positions: [...moved.values()] } };
}

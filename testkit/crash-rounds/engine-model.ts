// The books as anybody would keep them who has only the journal: who holds what, which approved orders may still fill, and which approvals ran out unsent. Written without
// the engine's own code, so that a mistake there is not repeated here. Amendments are no part of the crash rounds.

import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import type { EngineSnapshot } from "../../core/engine/snapshot.ts";

interface ModelOrder {
  readonly line: string;
  readonly buys: boolean;
  readonly quantity: bigint;
  filled: bigint;
  ended: boolean;
  reported: bigint;
}

export interface Holding {
  readonly position: string;
  readonly pendingBuy: string;
  readonly pendingSell: string;
}

export interface Model {
  approve(order: Order): void;
  fill(fill: Fill): void;
  transition(transition: OrderTransition): void;
  /** Its approval ran out: it holds nothing until something shows that it was sent after all. */
  expire(orderId: string): void;
  holding(fundId: string, symbol: string): Holding;
  openCount(): number;
  /** What differs from the engine's own snapshot, one sentence each. */
  differences(snapshot: EngineSnapshot): readonly string[];
  complaints(): readonly string[];
}

const endings: ReadonlySet<string> = new Set(["REJECTED", "CANCELLED", "EXPIRED", "FILLED"]);
const buys = (side: string): boolean => side === "BUY" || side === "BUY_TO_COVER";
const lineOf = (fundId: string, symbol: string): string => `${fundId} ${symbol}`;
const text = (value: bigint): string => decimal.format(value as decimal.Decimal);

function remainingOf(order: ModelOrder): bigint {
  const most = order.ended ? order.reported : order.quantity;
  return most > order.filled ? most - order.filled : 0n;
}

export function createModel(): Model {
  const positions = new Map<string, bigint>();
  /** Only those that may still fill. */
  const orders = new Map<string, ModelOrder>();
  const expired = new Map<string, ModelOrder>();
  const wrong: string[] = [];

  /** A trade or an end shows that it was sent. */
  function sent(orderId: string): ModelOrder | undefined {
    const order = orders.get(orderId) ?? expired.get(orderId);
    if (order !== undefined && expired.delete(orderId)) orders.set(orderId, order);
    return order;
  }

  function settle(orderId: string, order: ModelOrder): void {
    if (remainingOf(order) === 0n) orders.delete(orderId);
  }

  function differingPositions({ funds }: EngineSnapshot): readonly string[] {
    const theirs = new Map(
      funds.flatMap(({ fund_id, positions: held }) =>
        held.map(([symbol, quantity]) => [lineOf(fund_id, symbol), quantity] as const),
      ),
    );
    return [...new Set([...theirs.keys(), ...positions.keys()])].flatMap((line) => {
      const own = text(positions.get(line) ?? 0n);
      const other = theirs.get(line) ?? "0";
      return own === other ? [] : [`the position ${line} is ${other}, the journal says ${own}`];
    });
  }

  function differingOrders(snapshot: EngineSnapshot): readonly string[] {
    const shown = (quantity: string, filled: string, ended: boolean, reported: string): string =>
      `${quantity} filled ${filled}${ended ? ` ended, reported ${reported}` : ""}`;
    const theirs = new Map(
      snapshot.orders.map((one) => [one.order_id, shown(one.quantity, one.filled, one.ended, one.filled_told)]),
    );
    return [...new Set([...theirs.keys(), ...orders.keys()])].flatMap((orderId) => {
      const own = orders.get(orderId);
      const mine = own && shown(text(own.quantity), text(own.filled), own.ended, text(own.reported));
      const other = theirs.get(orderId);
      return mine === other ? [] : [`the open order ${orderId} is ${other}, the journal says ${mine}`];
    });
  }

  return {
    approve(order) {
      if (orders.has(order.order_id)) wrong.push(`the order ${order.order_id} was approved while it was open`);
      orders.set(order.order_id, {
        line: lineOf(order.fund_id, order.symbol),
        buys: buys(order.side),
        quantity: decimal.parse(order.quantity),
        filled: 0n,
        ended: false,
        reported: 0n,
      });
    },
    fill(fill) {
      const quantity = decimal.parse(fill.quantity);
      const line = lineOf(fill.fund_id, fill.symbol);
      positions.set(line, (positions.get(line) ?? 0n) + (buys(fill.side) ? quantity : -quantity));
      const order = sent(fill.order_id);
      if (order === undefined) return;
      order.filled += quantity;
      settle(fill.order_id, order);
    },
    transition({ order_id, to, filled_quantity }) {
      const order = endings.has(to) ? sent(order_id) : undefined;
      if (order === undefined) return;
      order.ended = true;
      const reported = decimal.parse(filled_quantity);
      if (reported > order.reported) order.reported = reported;
      settle(order_id, order);
    },
    expire(orderId) {
      const order = orders.get(orderId);
      if (order === undefined) {
        wrong.push(`the approval of ${orderId} ran out, and it was not open`);
        return;
      }
      orders.delete(orderId);
      expired.set(orderId, order);
    },
    holding(fundId, symbol) {
      const line = lineOf(fundId, symbol);
      const pending = (wanted: boolean): bigint =>
        [...orders.values()]
          .filter((order) => order.line === line && order.buys === wanted)
          .reduce((sum, order) => sum + remainingOf(order), 0n);
      return {
        position: text(positions.get(line) ?? 0n),
        pendingBuy: text(pending(true)),
        pendingSell: text(pending(false)),
      };
    },
    openCount: () => orders.size,
    differences: (snapshot) => [...differingPositions(snapshot), ...differingOrders(snapshot)],
    complaints: () => wrong,
  };
}

// Order management's repository in a transaction of the memory store. What was written is kept aside until the transaction commits; rows
// are locked as the database locks them.

import { Fault } from "../../../contracts/src/fault.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import type { OrderState } from "../../../contracts/src/records/values.ts";
import type { OmsRecords, StoredOrder, StoredPosition } from "../../../ports/oms-records.ts";
import { copyOf } from "../copy-of.ts";
import type { RecordTools } from "../layered-map.ts";
import type { RiskTables } from "../risk-tables.ts";
import type { LedgerTables } from "./ledger.ts";

/** What order management would have on disk. */
export interface OmsTables {
  /** In the order in which they were put in. */
  readonly orders: Map<string, StoredOrder>;
  readonly fills: Map<string, Fill>;
  readonly positions: Map<string, StoredPosition>;
  /** The newest sequence of each fund's fills. */
  readonly sequences: Map<string, number>;
  readonly cursors: Map<string, number>;
}

export function omsTables(): OmsTables {
  return { orders: new Map(), fills: new Map(), positions: new Map(), sequences: new Map(), cursors: new Map() };
}

const ended: ReadonlySet<OrderState> = new Set(["REJECTED", "FILLED", "CANCELLED", "EXPIRED"]);

const positionKey = (fundId: string, strategyId: string, symbol: string): string =>
  JSON.stringify([fundId, strategyId, symbol]);

export function omsChanges(
  tables: OmsTables,
  risk: RiskTables,
  ledger: Pick<LedgerTables, "entries">,
  { inTurn, lock, table }: RecordTools,
): OmsRecords {
  const orders = table("oms_order", tables.orders);
  const fills = table("oms_fill", tables.fills);
  const positions = table("oms_position", tables.positions);
  const sequences = table("oms_fund", tables.sequences);
  const cursors = table("oms_report_cursor", tables.cursors);
  const lockOrder = (orderId: string) =>
    inTurn(async () => {
      await lock(`oms order ${orderId}`);
      return orders.get(orderId);
    });
  const records: OmsRecords = {
    lockKey: (key, since) =>
      inTurn(async () => {
        await lock(`oms key ${key}`);
        const took = orders.filter((one) => one.order.idempotency_key === key && one.createdAt >= since);
        return took.sort(newestFirst)[0];
      }),
    // Keys are those of the orders here: there is nothing beside them to forget.
    trimKeys: () => inTurn(async () => 0),
    insertOrder: (stored) =>
      inTurn(async () => {
        const { order_id: orderId } = stored.order;
        await lock(`oms order ${orderId}`);
        if (orders.has(orderId)) {
          throw new Fault("STORE_CONFLICT", `the order ${orderId} exists already`, { retry: "now" });
        }
        orders.set(orderId, stored);
      }),
    lockOrder,
    updateOrder: (stored) =>
      inTurn(async () => {
        await lock(`oms order ${stored.order.order_id}`);
        orders.set(stored.order.order_id, stored);
      }),
    order: (orderId) => inTurn(async () => orders.get(orderId)),
    openOrders: () =>
      inTurn(async () => orders.filter(({ state }) => !ended.has(state)).sort((one, other) => newestFirst(other, one))),
    cancelledFor: (reason) =>
      inTurn(async () => orders.filter((one) => one.state === "CANCELLED" && one.cancelReason === reason).length),
    slicesOf: (parentOrderId) =>
      inTurn(async () =>
        orders
          .filter((one) => one.parentOrderId === parentOrderId)
          .sort((one, other) => sliceNumber(one) - sliceNumber(other)),
      ),
    insertFill: (fill) =>
      inTurn(async () => {
        await lock(`oms fill ${fill.fill_id}`);
        if (fills.has(fill.fill_id)) return false;
        await lock(`oms sequence ${fill.fund_id}`);
        const newest = sequences.get(fill.fund_id) ?? 0;
        const booked: Fill = { ...fill, sequence: fill.sequence ?? newest + 1 };
        sequences.set(fill.fund_id, Math.max(newest, booked.sequence ?? 0));
        fills.set(fill.fill_id, booked);
        return copyOf(booked);
      }),
    importFills: (imported) =>
      inTurn(async () => {
        const added = imported.filter(({ fill_id: id }) => !fills.has(id));
        for (const fill of added) fills.set(fill.fill_id, fill);
        return added.length;
      }),
    unbookedFills: (fundIds, countMax) =>
      inTurn(async () =>
        fills
          .filter(
            ({ fill_id: id, fund_id: fundId, sequence }) =>
              fundIds.includes(fundId) && (sequence ?? 0) > 0 && !ledger.entries.has(`fill:${id}`),
          )
          .sort((one, other) => (one.filled_at > other.filled_at ? -1 : 1))
          .slice(0, countMax),
      ),
    fillsOf: (orderId) =>
      inTurn(async () =>
        fills
          .filter((fill) => fill.order_id === orderId)
          .sort((one, other) => (one.sequence ?? 0) - (other.sequence ?? 0)),
      ),
    lockPosition: (fundId, strategyId, symbol) =>
      inTurn(async () => {
        const key = positionKey(fundId, strategyId, symbol);
        await lock(`oms position ${key}`);
        return positions.get(key);
      }),
    putPosition: (position) =>
      inTurn(async () => {
        const key = positionKey(position.fundId, position.strategyId, position.symbol);
        await lock(`oms position ${key}`);
        positions.set(key, position);
      }),
    positions: (fundId) =>
      inTurn(async () =>
        positions
          .filter((position) => fundId === undefined || position.fundId === fundId)
          .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)),
      ),
    lockReportCursor: (broker) =>
      inTurn(async () => {
        await lock(`oms cursor ${broker}`);
        return cursors.get(broker) ?? 0;
      }),
    reportCursor: (broker) => inTurn(async () => cursors.get(broker) ?? 0),
    putReportCursor: (broker, cursor) =>
      inTurn(async () => {
        await lock(`oms cursor ${broker}`);
        cursors.set(broker, cursor);
      }),
    haltsAtSending: () =>
      inTurn(async () => {
        await lock("halts");
        return { epoch: risk.haltEpoch, active: copyOf(risk.halts) };
      }),
  };
  return records;
}

/** As the database orders them: by fund, strategy and symbol, each letter by letter. */
function keyOf({ fundId, strategyId, symbol }: StoredPosition): string {
  return [fundId, strategyId, symbol].join("\0");
}

function newestFirst(one: StoredOrder, other: StoredOrder): number {
  if (one.createdAt !== other.createdAt) return other.createdAt - one.createdAt;
  return one.order.order_id < other.order.order_id ? 1 : -1;
}

/** The number behind the last stroke. */
function sliceNumber({ order }: StoredOrder): number {
  return Number(order.order_id.slice(order.order_id.lastIndexOf("/") + 1));
}

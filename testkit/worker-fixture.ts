// The risk engine's workers on the memory store, in virtual time, between an order management and a broker that do what the test says: both can be out
// of reach, lose answers, trade in part, and differ from each other. Everything durable stays when the workers are killed.

import { systemSha256 } from "../adapters/system/hashing.ts";
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../contracts/src/instant.ts";
import type { Quote } from "../contracts/src/records/market.ts";
import type { Order } from "../contracts/src/records/order.ts";
import type { OrderState } from "../contracts/src/records/values.ts";
import type { Subject } from "../contracts/src/subject.ts";
import { bookTrade, flatPosition, signedQuantity } from "../core/ledger/position.ts";
import { hasEnded } from "../core/orders/order-lifecycle.ts";
import type { StoredOrder, StoredPosition } from "../ports/oms-records.ts";
import type { OrderManagement, PositionAdjustment, PositionCross } from "../ports/peers.ts";
import type { Settings } from "../ports/settings.ts";
import type { Store } from "../ports/store.ts";
import { paperEnvelopes } from "../services/shared/paper-seeds.ts";
import type { MemoryTables } from "./memory/tables.ts";
import { incarnation } from "./virtual/incarnation.ts";
import { type MemoryPlatform, openMemoryPlatform, testSettings } from "./virtual/memory-platform.ts";
import type { Scheduler } from "./virtual/scheduler.ts";

export interface Trade {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** Negative sells. */
  readonly quantity: string;
  readonly price: string;
}

export interface ScriptedOms {
  readonly orderManagement: OrderManagement;
  readonly adjusted: PositionAdjustment[];
  readonly crossed: PositionCross[];
  /** How a question ends: well, without reaching it, done but unanswered, unanswered and done later, refused. */
  mood: "well" | "out of reach" | "answer lost" | "arrives late" | "refuses";
  /** What a new order becomes. */
  taken: OrderState;
  trade(fillId: string, trade: Trade): Promise<void>;
  /** Trades an open order, never beyond the position when it only reduces; gives what was traded. */
  fill(orderId: string, price: string, quantityMax?: Decimal): Promise<Decimal>;
  move(orderId: string, state: OrderState): Promise<void>;
  place(order: Order, state: OrderState): Promise<void>;
  orders(): readonly StoredOrder[];
  position(fundId: string, strategyId: string, symbol: string): Decimal;
}

export interface WorkerFixture {
  readonly tables: MemoryTables;
  readonly time: Scheduler;
  readonly oms: ScriptedOms;
  readonly newest: Map<string, Quote>;
  /** The same from outside, which LIVE funds see. */
  readonly live: Map<string, Quote>;
  readonly store: Store;
  quote(symbol: string, bid: string, ask: string, ageMs?: number): void;
  /** Ports for one life of the workers, and its end. */
  life(settings?: Partial<Settings>): ReturnType<typeof lifeOf>;
  reported<Payload>(subject: Subject<Payload>): readonly Payload[];
  close(): Promise<void>;
}

export async function workerFixture(seed: number): Promise<WorkerFixture> {
  const platform = openMemoryPlatform({ seed, pumps: true });
  const { time, tables, reported, close } = platform;
  const { store } = platform.processOf("oms");
  const newest = new Map<string, Quote>();
  const live = new Map<string, Quote>();
  await platform.putReference(store);
  await store.transact("test.seed", async (unit) => {
    for (const envelope of paperEnvelopes) await unit.risk.putEnvelope(envelope);
  });
  return {
    tables,
    time,
    newest,
    live,
    store,
    oms: scriptedOms(tables, store, time),
    quote(symbol, bid, ask, ageMs = 0) {
      const at = (time.clock.now() - ageMs * 1_000) as ReturnType<typeof time.clock.now>;
      newest.set(symbol, { symbol, bid, ask, quoted_at: format(at) });
    },
    life: (settings = {}) => lifeOf(platform, settings),
    reported,
    close,
  };
}

function lifeOf(platform: MemoryPlatform, settings: Partial<Settings>) {
  const { process, clock, timers, random, log, store, riskStore, referenceData } = platform.processOf("operations");
  const own = { clock, timers, random, log, store, riskStore, referenceData };
  const alive = incarnation("operations", own, process.kill);
  const ports = { ...alive.ports, sha256: systemSha256, settings: { ...testSettings, ...settings } };
  return { ports, kill: () => alive.end(), isAlive: () => alive.isAlive() };
}

const unavailable = (): Fault =>
  new Fault("SERVICE_UNAVAILABLE", "Order management does not answer.", { retry: "later" });

function scriptedOms(tables: MemoryTables, store: Store, { clock, timers }: Scheduler): ScriptedOms {
  const adjusted: PositionAdjustment[] = [];
  const crossed: PositionCross[] = [];
  let fills = 0;

  async function place(order: Order, state: OrderState, submittedBy = "test"): Promise<void> {
    await store.transact("test.place", async (unit) => {
      if ((await unit.oms.lockOrder(order.order_id)) !== undefined) return;
      const at = clock.now();
      await unit.oms.insertOrder({
        order,
        state,
        bodyHash: "0",
        filledQuantity: decimal.zero,
        filledValue: decimal.zero,
        submittedBy,
        createdAt: at,
        updatedAt: at,
      });
    });
  }

  async function trade(fillId: string, { fundId, strategyId, symbol, quantity, price }: Trade): Promise<void> {
    await store.transact("test.trade", async (unit) => {
      const before = await unit.oms.lockPosition(fundId, strategyId, symbol);
      const held = before === undefined ? flatPosition : { cost: costOf(before), ...before };
      const signed = decimal.parse(quantity);
      const booked = bookTrade(held, {
        fillId,
        side: signed > 0n ? ("BUY" as const) : ("SELL" as const),
        quantity: decimal.abs(signed),
        price: decimal.parse(price),
        multiplier: decimal.one,
      });
      await unit.oms.putPosition({ fundId, strategyId, symbol, ...booked, updatedAt: clock.now() });
    });
  }

  const oms: ScriptedOms = {
    adjusted,
    crossed,
    mood: "well",
    taken: "ROUTED",
    place,
    trade,
    async fill(orderId, price, quantityMax = decimal.largest) {
      const stored = tables.oms.orders.get(orderId);
      if (stored === undefined || hasEnded(stored.state)) return decimal.zero;
      const { order } = stored;
      const { fund_id: fundId, strategy_id: strategyId, symbol } = order;
      const left = decimal.subtract(decimal.parse(order.quantity), stored.filledQuantity);
      const held = decimal.abs(oms.position(fundId, strategyId, symbol));
      const quantity = decimal.min(decimal.min(left, quantityMax), order.reduce_only === true ? held : left);
      if (quantity <= 0n) return decimal.zero;
      const filledQuantity = decimal.add(stored.filledQuantity, quantity);
      const state = quantity === left ? "FILLED" : "PARTIALLY_FILLED";
      fills += 1;
      const signed = decimal.format(signedQuantity(order.side, quantity));
      await trade(`fill-${fills}`, { fundId, strategyId, symbol, quantity: signed, price });
      await store.transact("test.fill", (unit) =>
        unit.oms.updateOrder({ ...stored, state, filledQuantity, updatedAt: clock.now() }),
      );
      return quantity;
    },
    async move(orderId, state) {
      const stored = tables.oms.orders.get(orderId);
      if (stored === undefined) throw new Error(`there is no order ${orderId}`);
      await store.transact("test.move", (unit) => unit.oms.updateOrder({ ...stored, state, updatedAt: clock.now() }));
    },
    orders: () => [...tables.oms.orders.values()],
    position: (fundId, strategyId, symbol) =>
      [...tables.oms.positions.values()].find(
        (one) => one.fundId === fundId && one.strategyId === strategyId && one.symbol === symbol,
      )?.quantity ?? decimal.zero,
    orderManagement: {
      async submit(order) {
        if (oms.mood === "out of reach") throw unavailable();
        if (oms.mood === "refuses") return { denial: { code: "ORDER_HALTED", reason: "No." } };
        const { taken } = oms;
        const own = "service:operations";
        const there = tables.oms.orders.get(order.order_id);
        if (there !== undefined && there.submittedBy !== own) {
          return { denial: { code: "ORDER_KEY_CONFLICT", reason: "The order_id belongs to another order." } };
        }
        if (oms.mood === "arrives late") {
          timers.after(3_000, () => void place(order, taken, own));
          throw unavailable();
        }
        await place(order, taken, own);
        if (oms.mood === "answer lost") throw unavailable();
        return { answer: { order, state: taken } as unknown as OrderStatus };
      },
      async cancel(orderId) {
        if (oms.mood === "out of reach") throw unavailable();
        const stored = tables.oms.orders.get(orderId);
        if (stored === undefined) throw new Fault("NOT_FOUND", "no", { retry: "never" });
        if (!hasEnded(stored.state)) await oms.move(orderId, "CANCELLED");
        return { answer: {} as OrderStatus };
      },
      order: async () => undefined,
      async cross(cross) {
        if (oms.mood === "out of reach") throw unavailable();
        if (oms.mood === "refuses") return { denial: { code: "CROSS_UNPRICED", reason: "No." } };
        const { crossId, fundId, symbol, strategyId, otherStrategyId, fromQuantity, quantity } = cross;
        if (!crossed.some((one) => one.crossId === crossId)) {
          crossed.push(cross);
          const own = fromQuantity.startsWith("-") ? quantity : `-${quantity}`;
          const other = fromQuantity.startsWith("-") ? `-${quantity}` : quantity;
          const price = "1";
          await trade(`${crossId}:1`, { fundId, strategyId, symbol, quantity: own, price });
          await trade(`${crossId}:2`, { fundId, strategyId: otherStrategyId, symbol, quantity: other, price });
          await store.transact("test.cross", async (unit) => {
            for (const [index, one] of [strategyId, otherStrategyId].entries()) {
              await unit.oms.insertFill({
                fill_id: `${crossId}:${index + 1}`,
                order_id: crossId,
                fund_id: fundId,
                strategy_id: one,
                symbol,
                side: "SELL",
                quantity,
                price,
                filled_at: format(clock.now()),
                kind: "CROSS",
              });
            }
          });
        }
        if (oms.mood === "answer lost") throw unavailable();
        return { answer: undefined };
      },
      async adjust(adjustment) {
        if (oms.mood === "out of reach") throw unavailable();
        const { adjustmentId, fundId, strategyId, symbol, fromQuantity, toQuantity, price } = adjustment;
        if (!adjusted.some((one) => one.adjustmentId === adjustmentId)) {
          adjusted.push(adjustment);
          const quantity = decimal.format(decimal.subtract(decimal.parse(toQuantity), decimal.parse(fromQuantity)));
          await trade(adjustmentId, { fundId, strategyId, symbol, quantity, price });
        }
        if (oms.mood === "answer lost") throw unavailable();
        return { answer: undefined };
      },
    },
  };
  return oms;
}

function costOf({ quantity, averagePrice }: StoredPosition): Decimal {
  return decimal.multiply(quantity, averagePrice, "half-even");
}

// Checks of order management's repository: keys, orders, trades with their sequence, positions, cursors, and halts at the moment of sending.
import { expect } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import type { StoredOrder, StoredPosition } from "../../ports/oms-records.ts";
import { orderOf } from "../oms-fixture.ts";
import { exampleFill } from "../record-examples.ts";
import { range } from "./bus-kit.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const d = decimal.parse;
const at = (us: number): Instant => us as Instant;

function stored(orderId: string, differs: Partial<StoredOrder> = {}): StoredOrder {
  return {
    order: orderOf(orderId, { thesis: 'a "quoted" thesis' }),
    state: "PENDING_CHECK",
    bodyHash: "ab",
    filledQuantity: decimal.zero,
    filledValue: decimal.zero,
    submittedBy: "operator:duty",
    createdAt: at(1_000_000),
    updatedAt: at(1_000_000),
    ...differs,
  };
}

const ordersAreKept: StoreCheck = {
  promise: 1,
  sentence: "orders are kept whole, found by id, key and parent, open ones oldest first, and an id is taken once",
  async run(fixture) {
    const one = stored("one", { amendment: { idempotency_key: "k", quantity: "3", askedAt: at(5) } });
    const two = stored("two", {
      createdAt: at(2_000_000),
      filledQuantity: d("1.000000000000000001"),
      releasedThrough: at(9_000_001),
    });
    const slices = [2, 10, 1].map((n) => stored(`one/${n}`, { parentOrderId: "one", createdAt: at(3_000_000) }));
    await fixture.store.transact("conformance.orders", async (unit) => {
      for (const order of [two, one, ...slices]) await unit.oms.insertOrder(order);
      expect(await unit.oms.order("one")).toEqual(one);
    });
    const twice = fixture.store.transact("conformance.orders", (unit) => unit.oms.insertOrder(stored("one")));
    expect(await rejection(twice, "the second")).toMatchObject({ code: "STORE_CONFLICT" });
    await fixture.store.transact("conformance.orders", async (unit) => {
      const ended = { ...one, cancelReason: "The halt h-1 covers it.", updatedAt: at(4_000_000) };
      await unit.oms.updateOrder({ ...ended, state: "CANCELLED", code: "X" });
    });
    const store = await fixture.reopen();
    await store.transact("conformance.look", async (unit) => {
      expect((await unit.oms.openOrders()).map(({ order }) => order.order_id)).toEqual([
        "two",
        "one/1",
        "one/10",
        "one/2",
      ]);
      expect((await unit.oms.slicesOf("one")).map(({ order }) => order.order_id)).toEqual(["one/1", "one/2", "one/10"]);
      expect(await unit.oms.order("nobody")).toBeUndefined();
      expect(await unit.oms.cancelledFor("The halt h-1 covers it.")).toBe(1);
      expect(await unit.oms.cancelledFor("The halt h-2 covers it.")).toBe(0);
      expect(await unit.oms.lockOrder("one")).toMatchObject({
        state: "CANCELLED",
        code: "X",
        amendment: { quantity: "3" },
      });
      expect(await unit.oms.lockOrder("two")).toEqual(two);
      expect(await unit.oms.lockKey("key of one", at(0))).toMatchObject({ state: "CANCELLED" });
      expect(await unit.oms.lockKey("key of one", at(1_000_001))).toBeUndefined();
      expect(await unit.oms.lockKey("nobody's key", at(0))).toBeUndefined();
    });
  },
};

const aKeyIsTakenOnce: StoreCheck = {
  promise: 0,
  sentence: "of many transactions that look who took a key and put an order in, one puts it in and the others find it",
  async run(fixture) {
    const ids = await Promise.all(
      range(1, 6).map((n) =>
        transactPatiently(fixture.store, "conformance.key", async (unit) => {
          const same = await unit.oms.lockKey("the key", at(0));
          if (same !== undefined) return same.order.order_id;
          const order = stored(`order-${n}`);
          await unit.oms.insertOrder({ ...order, order: { ...order.order, idempotency_key: "the key" } });
          return order.order.order_id;
        }),
      ),
    );
    expect(new Set(ids).size).toBe(1);
  },
};

const tradesAreCounted: StoreCheck = {
  promise: 2,
  sentence: "a trade is booked once and numbered within its fund without gaps, whatever was rolled back between",
  async run(fixture) {
    const book = (fill: Partial<Fill>, fails = false) =>
      transactPatiently(fixture.store, "conformance.fill", async (unit) => {
        const booked = await unit.oms.insertFill({ ...plain, ...fill });
        if (fails) throw new Error("planned");
        return booked === false ? false : booked.sequence;
      });
    const { sequence: _none, ...plain } = exampleFill;
    expect(await book({ fill_id: "f-1" })).toBe(1);
    await rejection(book({ fill_id: "f-2" }, true), "the failing work");
    const numbers = await Promise.all(range(2, 6).map((n) => book({ fill_id: `f-${n}` })));
    expect([...numbers].sort()).toEqual([2, 3, 4, 5, 6]);
    expect(await book({ fill_id: "f-1" })).toBe(false);
    expect(await book({ fill_id: "g-1", fund_id: "other" })).toBe(1);
    expect(await book({ fill_id: "g-9", fund_id: "other", sequence: 9 })).toBe(9);
    expect(await book({ fill_id: "g-10", fund_id: "other", order_id: "o-9" })).toBe(10);
    const own = await fixture.store.transact("conformance.look", (unit) => unit.oms.fillsOf("o-9"));
    expect(own).toEqual([{ ...plain, fill_id: "g-10", fund_id: "other", order_id: "o-9", sequence: 10 }]);
  },
};

const positionsAndCursors: StoreCheck = {
  promise: 1,
  sentence:
    "positions and cursors are what was put last; halts at sending are those in force, and a latch waits for the sender",
  async run(fixture) {
    const position = (fundId: string, symbol: string, quantity: string): StoredPosition => ({
      fundId,
      strategyId: "s",
      symbol,
      quantity: d(quantity),
      cost: d("-12.5"),
      averagePrice: d("2.5"),
      realisedPnl: d("-0.000000000000000001"),
      openedBy: "f-1",
      updatedAt: at(7),
    });
    await fixture.store.transact("conformance.positions", async (unit) => {
      expect(await unit.oms.lockPosition("b", "s", "X")).toBeUndefined();
      for (const one of [position("b", "X", "-5"), position("a", "Y", "1"), position("a", "X", "0")]) {
        await unit.oms.putPosition(one);
      }
      await unit.oms.putPosition(position("a", "Y", "2"));
      expect(await unit.oms.lockReportCursor("paper")).toBe(0);
      await unit.oms.putReportCursor("paper", 41);
    });
    const store = await fixture.reopen();
    await store.transact("conformance.look", async (unit) => {
      expect(await unit.oms.positions()).toEqual([
        position("a", "X", "0"),
        position("a", "Y", "2"),
        position("b", "X", "-5"),
      ]);
      expect((await unit.oms.positions("b")).length).toBe(1);
      expect(await unit.oms.lockPosition("b", "s", "X")).toEqual(position("b", "X", "-5"));
      expect(await unit.oms.reportCursor("paper")).toBe(41);
      expect(await unit.oms.reportCursor("other")).toBe(0);
      expect(await unit.oms.lockReportCursor("paper")).toBe(41);
    });
    const halt = { severity: "FIRM_HALT", fund_id: "", reason: "r", requested_by: "x", halt_id: "h-1" } as const;
    const seen: string[] = [];
    const sending = store.transact("conformance.send", async (unit) => {
      const { epoch, active } = await unit.oms.haltsAtSending();
      seen.push(`sender sees ${active.length} at ${epoch}`);
      latching = transactPatiently(store, "conformance.latch", async (other) => {
        await other.risk.latchHalt({ ...halt, since: "2026-01-02T00:00:00Z" });
        seen.push("latched");
      });
      await (fixture.settle?.(50) ?? new Promise((resolve) => setTimeout(resolve, 50)));
      seen.push("sent");
    });
    let latching: Promise<void> = Promise.resolve();
    await sending;
    await latching;
    expect(seen).toEqual(["sender sees 0 at 0", "sent", "latched"]);
    const after = await transactPatiently(store, "conformance.send", (unit) => unit.oms.haltsAtSending());
    expect(after).toMatchObject({ epoch: 1, active: [{ halt_id: "h-1", epoch: 1 }] });
  },
};

const tradesThatTheLedgerLacks: StoreCheck = {
  promise: 1,
  sentence:
    "trades of the named funds that the ledger has no entry for are found, newest first, and those of an imported past are not",
  async run(fixture) {
    const { sequence: _none, ...plain } = exampleFill;
    const fill = (id: string, differs: Partial<Fill> = {}): Fill => ({ ...plain, fill_id: id, ...differs });
    await fixture.store.transact("conformance.unbooked", async (unit) => {
      await unit.oms.insertFill(fill("f-1", { filled_at: "2026-11-15T10:00:01.000000Z" }));
      await unit.oms.insertFill(fill("f-2", { filled_at: "2026-11-15T10:00:02.000000Z" }));
      await unit.oms.insertFill(fill("f-3", { filled_at: "2026-11-15T10:00:03.000000Z" }));
      await unit.oms.insertFill(fill("f-4", { fund_id: "beta" }));
      await unit.oms.importFills([fill("f-5")]);
      const entry = {
        fundId: plain.fund_id,
        kind: "FILL",
        postings: [],
        reason: "r",
        bookedBy: "x",
        at: at(1),
      } as const;
      await unit.ledger.book({ ...entry, entryId: "fill:f-2" }, []);
    });
    const store = await fixture.reopen();
    await store.transact("conformance.look", async (unit) => {
      const idsOf = async (fundIds: readonly string[], countMax: number) =>
        (await unit.oms.unbookedFills(fundIds, countMax)).map(({ fill_id: id }) => id);
      expect(await idsOf([plain.fund_id], 10)).toEqual(["f-3", "f-1"]);
      expect(await idsOf([plain.fund_id], 1)).toEqual(["f-3"]);
      expect(await idsOf(["beta", "nobody"], 10)).toEqual(["f-4"]);
      expect(await idsOf([], 10)).toEqual([]);
    });
  },
};

export const omsRecordChecks: readonly StoreCheck[] = [
  ordersAreKept,
  aKeyIsTakenOnce,
  tradesAreCounted,
  tradesThatTheLedgerLacks,
  positionsAndCursors,
];

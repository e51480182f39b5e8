// What the engine hears and what it is after a restart: fills once, in any order; books equal to the journal; a clean end.
import { describe, expect, it } from "vitest";
import type { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Fill, OrderTransition } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { EngineSnapshot } from "../../../core/engine/snapshot.ts";
import {
  type EngineLife,
  orderOf,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";
import { prng } from "../../../testkit/virtual/prng.ts";

const seed = 14;

async function begin(
  options: Partial<Parameters<typeof riskEngineFixture>[0]> = {},
): Promise<[RiskEngineFixture, EngineLife]> {
  const fixture = await riskEngineFixture({ seed, ...options });
  return [fixture, await fixture.start()];
}

const at = "2026-01-02T00:00:01.000000Z";
const fillOf = (different: Partial<Fill>): Fill => ({
  fill_id: "f-1",
  order_id: "elsewhere",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "100",
  price: "232.5",
  filled_at: at,
  ...different,
});
const stepOf = (different: Partial<OrderTransition>): OrderTransition => ({
  order_id: "elsewhere",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  from: "WORKING",
  to: "CANCELLED",
  filled_quantity: "0",
  remaining_quantity: "0",
  at,
  ...different,
});
const endOf = (life: EngineLife, order: object = {}): Promise<string> =>
  life.check(order).then(
    ({ approved, code }) => (approved ? "approved" : code),
    (thrown: Fault) => thrown.code,
  );
const lastSnapshot = (fixture: RiskEngineFixture): EngineSnapshot | undefined => {
  const content = fixture.tables.risk.snapshots.at(-1)?.content;
  return content === undefined ? undefined : (JSON.parse(new TextDecoder().decode(content)) as EngineSnapshot);
};
/** The books as a clean end puts them down. */
async function booksAfter(fixture: RiskEngineFixture, life: EngineLife): Promise<EngineSnapshot | undefined> {
  await fixture.finish(life.service.stop());
  return lastSnapshot(fixture);
}

describe("what is heard", () => {
  it("a fill moves the books once, however often and under whatever event it comes, also after a restart", async () => {
    const [fixture, life] = await begin();
    for (let times = 0; times < 3; times += 1) await fixture.publish(subjects.fillsCreated, fillOf({}));
    await fixture.publish(subjects.fillsCreated, fillOf({ fill_id: "f-2", quantity: "11" }));
    await fixture.pass(100);
    life.process.kill();
    const next = await fixture.start();
    await fixture.publish(subjects.fillsCreated, fillOf({}));
    await fixture.pass(100);
    expect(fixture.tables.risk.journal.filter(({ kind }) => kind === "fill")).toHaveLength(2);
    expect((await booksAfter(fixture, next))?.funds).toMatchObject([
      { fund_id: "alpha", positions: [["AAPL", "111"]] },
    ]);
  });

  it("a fill that could not be written moves the books once and is written when it comes again", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.append", ["failed", "failed"]);
    await fixture.publish(subjects.fillsCreated, fillOf({ quantity: "50" }));
    await fixture.pass(2_000);
    expect(fixture.tables.risk.journal.filter(({ kind }) => kind === "fill")).toHaveLength(1);
    expect((await booksAfter(fixture, life))?.funds).toMatchObject([{ positions: [["AAPL", "50"]] }]);
  });

  it("reordered: a fill before its order's approval is reported, an ending before its last fill", async () => {
    const [fixture, life] = await begin();
    const order = orderOf({ quantity: "1000" });
    await fixture.finish(life.check(order));
    const own = { order_id: order.order_id };
    await fixture.publish(subjects.ordersCancelled, stepOf({ ...own, filled_quantity: "300" }));
    await fixture.pass(50);
    // The 300 that it has filled are held until they come: room for two more thousands, and not for 900 beside them.
    await fixture.publish(subjects.ordersUpdated, stepOf({ ...own, to: "WORKING", filled_quantity: "300" }));
    await fixture.publish(subjects.fillsCreated, fillOf({ ...own, quantity: "300" }));
    await fixture.publish(subjects.ordersAccepted, stepOf({ ...own, from: "PENDING_CHECK", to: "ACCEPTED" }));
    await fixture.pass(100);
    const books = await booksAfter(fixture, life);
    expect(books?.orders).toEqual([]);
    expect(books?.funds).toMatchObject([{ positions: [["AAPL", "300"]] }]);
  });

  it("an ending frees what was reserved, and only then", async () => {
    const [fixture, life] = await begin();
    const orders = [1, 2, 3].map(() => orderOf({ quantity: "1000" }));
    for (const order of orders) expect(await fixture.finish(endOf(life, order))).toBe("approved");
    expect(await fixture.finish(endOf(life, { quantity: "200" }))).toBe("POSITION_LIMIT_EXCEEDED");
    const [first] = orders;
    await fixture.publish(subjects.ordersUpdated, stepOf({ order_id: first?.order_id ?? "", to: "UNKNOWN" }));
    await fixture.pass(50);
    expect(await fixture.finish(endOf(life, { quantity: "200" }))).toBe("POSITION_LIMIT_EXCEEDED");
    await fixture.publish(subjects.ordersCancelled, stepOf({ order_id: first?.order_id ?? "" }));
    await fixture.pass(50);
    expect(await fixture.finish(endOf(life, { quantity: "200" }))).toBe("approved");
  });

  it("the newest valuation counts, whatever comes after it", async () => {
    const [fixture, life] = await begin();
    const valued = (nav: string, aheadMs: number) => ({
      fund_id: "alpha",
      nav,
      currency: "USD",
      as_of: format((fixture.time.clock.now() + aheadMs * 1_000) as never),
    });
    await fixture.publish(subjects.navUpdated, valued("100000", 0));
    await fixture.publish(subjects.navUpdated, valued("10000000", -1));
    await fixture.pass(100);
    expect(await fixture.finish(endOf(life))).toBe("POSITION_LIMIT_EXCEEDED");
    expect(fixture.tables.risk.navs.get("alpha")).toMatchObject({ nav: "100000" });
  });

  it("a number that stays away is an alarm, and one that only comes late is none", async () => {
    const [fixture, life] = await begin();
    for (const sequence of [1, 3, 2, 6]) {
      await fixture.publish(subjects.fillsCreated, fillOf({ fill_id: `f-${sequence}`, quantity: "1", sequence }));
    }
    await fixture.pass(10_000);
    const gaps = fixture.published(subjects.alarmRaised).filter(({ code }) => code === "EVENT_GAP");
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ service: "riskengine", sentence: expect.stringContaining("alpha skipped 4, 5") });
    await fixture.finish(life.service.stop());
  });
});

describe("a restart", () => {
  it("knows the keys that an earlier version hashed otherwise", async () => {
    const [fixture, life] = await begin();
    expect(await fixture.finish(endOf(life, { order_id: "one", idempotency_key: "before" }))).toBe("approved");
    await fixture.finish(life.service.stop());
    // Sixteen bytes of another hash, as versions before stored them.
    const { journal } = fixture.tables.risk;
    for (const [index, entry] of journal.entries()) {
      if (entry.keyHash === undefined) continue;
      journal[index] = { ...entry, keyHash: new Uint8Array(16).fill(index + 1), bodyHash: new Uint8Array(16).fill(9) };
    }
    const upgraded = await fixture.start();
    const end = (order: object): Promise<string> => fixture.finish(endOf(upgraded, order));
    expect(await end({ order_id: "one", idempotency_key: "before" })).toBe("DUPLICATE_KEY");
    expect(await end({ order_id: "one", idempotency_key: "before", quantity: "2" })).toBe("KEY_REUSED");
    expect(await end({ idempotency_key: "after", order_id: "another" })).toBe("approved");
  });

  const rounds = 4;
  it(`has the books that the journal says, with and without a snapshot (seed ${seed})`, async () => {
    const thrown = prng(seed);
    const [fixture, first] = await begin({ settings: { snapshotEveryEntries: 25 } });
    let life = first;
    let fills = 0;
    for (let round = 0; round < rounds; round += 1) {
      const open: Pick<Fill, "order_id" | "side">[] = [];
      for (let step = 0; step < 20; step += 1) {
        const order = orderOf({ quantity: String(1 + thrown.below(40)), side: thrown.chance(0.5) ? "BUY" : "SELL" });
        if (thrown.chance(0.7)) {
          const { order_id, side } = order;
          if ((await fixture.finish(endOf(life, order))) === "approved")
            open.push({ order_id, side: side as Fill["side"] });
        } else if (thrown.chance(0.6)) {
          fills += 1;
          const nobody = { order_id: "elsewhere", side: thrown.chance(0.5) ? "BUY" : "SELL" } as const;
          const traded = open[thrown.below(Math.max(1, open.length))] ?? nobody;
          await fixture.publish(subjects.fillsCreated, fillOf({ fill_id: `r-${fills}`, ...traded, quantity: "1" }));
        } else {
          await fixture.publish(subjects.ordersCancelled, stepOf({ order_id: open.shift()?.order_id ?? "elsewhere" }));
        }
      }
      await fixture.pass(200);
      if (round % 2 === 0) life.process.kill();
      else await fixture.finish(life.service.stop());
      life = await fixture.start();
      expect(life.service.health()).toEqual({ status: "ok" });
    }
    const restarted = await booksAfter(fixture, life);
    // Once more, from nothing but the journal.
    fixture.tables.risk.snapshots.length = 0;
    const fromNothing = await fixture.start();
    const end = await fixture.finish(endOf(fromNothing, { quantity: "1", dry_run: true }));
    expect(["approved", "FILL_NOT_ACCEPTED"]).toContain(end);
    await fixture.finish(endOf(fromNothing, { quantity: "100000" }));
    const recomputed = await booksAfter(fixture, fromNothing);
    expect(recomputed?.orders).toEqual(restarted?.orders);
    expect(recomputed?.funds.map(({ positions }) => positions)).toEqual(
      restarted?.funds.map(({ positions }) => positions),
    );
    expect(recomputed?.blocks).toEqual(restarted?.blocks);
    const ofFills = new Set(["FILL_WITHOUT_ORDER", "ORDER_OVERFILLED"]);
    expect(fixture.published(subjects.alarmRaised).filter(({ code }) => !ofFills.has(code))).toEqual([]);
  });

  it("a snapshot that differs from its recomputation is an alarm, and new risk is denied", async () => {
    const [fixture, life] = await begin();
    await fixture.publish(subjects.fillsCreated, fillOf({ kind: "SEED" }));
    await fixture.pass(100);
    await fixture.finish(life.service.stop());
    const snapshot = fixture.tables.risk.snapshots.at(-1);
    const text = new TextDecoder().decode(snapshot?.content).replace('["AAPL","100"]', '["AAPL","99"]');
    if (snapshot !== undefined)
      fixture.tables.risk.snapshots.push({ ...snapshot, content: new TextEncoder().encode(text) });
    const next = await fixture.start();
    expect(next.service.health()).toMatchObject({ status: "failing", complaint: expect.stringContaining("AAPL") });
    expect(await fixture.finish(endOf(next))).toBe("HALT_STATE_UNKNOWN");
    await fixture.pass(1_000);
    expect(fixture.published(subjects.alarmRaised)).toMatchObject([{ code: "STATE_MISMATCH", level: "critical" }]);
  });

  it.each([
    ["says less of an open order, and is equal in the rest", "100", []],
    ["differs in what it does say", "99", ["STATE_MISMATCH"]],
  ])("one from before ended orders were kept %s", async (_what, position, codes) => {
    const [fixture, life] = await begin();
    await fixture.publish(subjects.fillsCreated, fillOf({ kind: "SEED" }));
    await fixture.finish(endOf(life, { order_id: "open", quantity: "7" }));
    const step = { order_id: "open", fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL" } as const;
    const at = format(fixture.time.clock.now());
    const working = { from: "ROUTED", to: "WORKING", filled_quantity: "0", remaining_quantity: "7", at } as const;
    await fixture.publish(subjects.ordersUpdated, { ...step, ...working });
    await fixture.pass(500);
    await fixture.finish(life.service.stop());
    const snapshot = fixture.tables.risk.snapshots.at(-1);
    const { unfilled: _, ...older } = JSON.parse(new TextDecoder().decode(snapshot?.content)) as EngineSnapshot;
    const orders = older.orders.map(({ worked_at, worked, ...order }) => {
      expect([typeof worked_at, typeof worked]).toEqual(["number", "object"]);
      return order;
    });
    const text = JSON.stringify({ ...older, orders }).replace('["AAPL","100"]', `["AAPL","${position}"]`);
    const content = new TextEncoder().encode(text);
    if (snapshot !== undefined) fixture.tables.risk.snapshots.splice(0, 9, { ...snapshot, content });
    const next = await fixture.start();
    await fixture.pass(1_000);
    expect(await fixture.finish(endOf(next))).toBe(codes.length === 0 ? "approved" : "HALT_STATE_UNKNOWN");
    expect(fixture.published(subjects.alarmRaised).map(({ code }) => code)).toEqual(codes);
    await fixture.finish(next.service.stop());
  });

  it("23.3: a snapshot from before what strategies hold was kept is not restored: the journal has it", async () => {
    const [fixture, first] = await begin();
    for (const [index, [strategy_id, quantity]] of [
      ["alpha-momentum", "30"] as const,
      ["alpha-meanrev", "70"] as const,
    ].entries()) {
      await fixture.publish(subjects.fillsCreated, {
        fill_id: `f-${index}`,
        order_id: `o-${index}`,
        fund_id: "alpha",
        strategy_id,
        symbol: "AAPL",
        side: "BUY",
        quantity,
        price: "232",
        broker: "paper",
        filled_at: format(fixture.time.clock.now()),
      });
    }
    await fixture.pass(500);
    await fixture.finish(first.service.stop());
    const snapshot = fixture.tables.risk.snapshots.at(-1);
    const { strategy_positions: kept, ...older } = JSON.parse(
      new TextDecoder().decode(snapshot?.content),
    ) as EngineSnapshot;
    expect(kept).toEqual([
      ["alpha", "alpha-meanrev", "AAPL", "70"],
      ["alpha", "alpha-momentum", "AAPL", "30"],
    ]);
    const content = new TextEncoder().encode(JSON.stringify(older));
    if (snapshot !== undefined) fixture.tables.risk.snapshots.splice(0, 9, { ...snapshot, content });
    const second = await fixture.start();
    const exit = { side: "SELL", reduce_only: true, order_type: "MARKET", limit_price: undefined } as const;
    const approved = await fixture.finish(second.check({ order_id: "own", quantity: "30", ...exit }));
    expect(approved).toMatchObject({ approved: true, reduces_strategy: true });
    const other = await fixture.finish(second.check({ order_id: "more", quantity: "1", ...exit }));
    expect([other.approved, other.code]).toEqual([false, "EXIT_EXCEEDS_STRATEGY"]);
    expect(second.deaths).toEqual([]);
    await fixture.finish(second.service.stop());
  });

  it("snapshots are taken while orders come, and no order is lost or late for it", async () => {
    const [fixture, life] = await begin({ settings: { snapshotEveryEntries: 20 } });
    const ends: Promise<string>[] = [];
    for (let count = 0; count < 100; count += 1) {
      ends.push(endOf(life, { quantity: "1" }));
      await fixture.pass(20);
    }
    expect(new Set(await fixture.finish(Promise.all(ends)))).toEqual(new Set(["approved"]));
    expect(fixture.tables.risk.snapshots.length).toBeGreaterThan(1);
    const newest = fixture.tables.risk.snapshots.at(-1);
    const through = fixture.tables.risk.journal.filter(({ id }) => id <= (newest?.through ?? 0n)).length;
    expect(lastSnapshot(fixture)?.orders).toHaveLength(through);
  });
});

describe("a clean end", () => {
  it("answers what is in hand, refuses what comes, and puts the books down", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 20;
    const inHand = [endOf(life), endOf(life)];
    await fixture.pass(5);
    const queued = endOf(life);
    const stopped = life.service.stop();
    const late = endOf(life);
    expect(await fixture.finish(Promise.all([...inHand, queued, late, stopped]))).toEqual([
      "approved",
      "approved",
      "approved",
      "SERVICE_STOPPING",
      undefined,
    ]);
    expect(lastSnapshot(fixture)?.orders).toHaveLength(3);
    expect(fixture.time.pending()).toBeLessThan(5);
  });

  it("leaves nothing open when the store is gone, and puts nothing down that nobody knows", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.check({}));
    fixture.fates.set("risk.append", ["lost, committed"]);
    fixture.delays.answerMs = 10;
    const end = endOf(life);
    await fixture.pass(5);
    life.process.setReachable(false);
    await fixture.pass(50);
    await fixture.finish(life.service.stop());
    expect(await fixture.finish(end)).toBe("STORE_COMMIT_UNKNOWN");
    expect(fixture.tables.risk.snapshots).toEqual([]);
  });
});

// Flattening from the typed word to the broker's own word that nothing is left: through outages, crashes, late trades, and others' orders.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse as d, zero } from "../../../contracts/src/decimal.ts";
import type { Flatten } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Order, RiskDecision } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { operator } from "../../../testkit/risk/service-fixture.ts";
import { scriptedBroker } from "../../../testkit/scripted-broker.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { type WorkerFixture, workerFixture } from "../../../testkit/worker-fixture.ts";
import { paperReference } from "../../shared/paper-seeds.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { startFlatten } from "./flatten.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const fixtures: WorkerFixture[] = [];
let restore: () => void = () => undefined;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

const beta = { fundId: "beta", strategyId: "beta-trend", symbol: "BTC-USD" };
const alpha = { fundId: "alpha", strategyId: "alpha-momentum", symbol: "AAPL" };

async function open(fixtureSeed = seed) {
  const fixture = await workerFixture(fixtureSeed);
  fixtures.push(fixture);
  const script = scriptedBroker(fixture.time.clock);
  await fixture.oms.trade("open-1", { ...beta, quantity: "2", price: "100000" });
  await fixture.oms.trade("open-2", { ...alpha, quantity: "-10", price: "200" });
  return { fixture, script };
}

function start(
  fixture: WorkerFixture,
  script: ReturnType<typeof scriptedBroker>,
  orderManagement: OrderManagement = fixture.oms.orderManagement,
) {
  const life = fixture.life();
  const alarms = createWorkerAlarms(life.ports);
  const running = startFlatten({ ports: life.ports, orderManagement, broker: script.broker, alarms });
  const handlers = running.handlers as unknown as Record<string, (request: object, call: RpcCall) => Promise<unknown>>;
  const call = { identity: operator } as RpcCall;
  return {
    life,
    stop: () => running.stop(),
    flatten: (request: object = {}) =>
      handlers["FlattenPaper"]?.({ confirmation: "FLATTEN", reason: "", ...request }, call) as Promise<
        Flatten & { denial?: { code: string; reason: string } }
      >,
    get: (request: object = {}) => handlers["GetFlatten"]?.(request, call) as Promise<Flatten>,
  };
}

const states = ({ lines }: Flatten) => lines.map(({ fund_id: fund, state }) => `${fund} ${state}`);
const exits = (fixture: WorkerFixture) =>
  fixture.oms.orders().filter(({ order }) => order.order_id.startsWith("flatten-"));
const alarmsOf = (fixture: WorkerFixture) => fixture.reported(subjects.alarmRaised).map(({ code }) => code);

/** The engine said that it only reduces. */
async function prove(fixture: WorkerFixture, orderId: string): Promise<void> {
  await fixture.store.transact("test.prove", async (unit) => {
    const stored = await unit.oms.lockOrder(orderId);
    const decision = { approved: true, classification: "REDUCE" } as RiskDecision;
    if (stored !== undefined) await unit.oms.updateOrder({ ...stored, decision });
  });
}

async function fillAll(fixture: WorkerFixture): Promise<void> {
  for (const { order } of exits(fixture)) await fixture.oms.fill(order.order_id, "100");
}

describe("a flatten", () => {
  it("closes every position with one reduce_only order each, and ends with the broker's word for each fund", async () => {
    const { fixture, script } = await open();
    const { flatten, get, stop } = start(fixture, script);
    await expect(get()).rejects.toMatchObject({ code: "NOT_FOUND" });
    const asked = await flatten({ reason: "week's end" });
    expect(asked).toMatchObject({ requested_by: "operator:duty", reason: "week's end" });
    expect(asked.lines.every(({ state, complaint }) => state === "OWED" && complaint !== undefined)).toBe(true);
    expect(asked.lines).toMatchObject([
      { fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL", quantity: "-10" },
      { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", quantity: "2" },
    ]);
    await fixture.time.timers.sleep(3_000);
    expect(exits(fixture).map(({ order }) => order)).toMatchObject([
      { fund_id: "alpha", side: "BUY_TO_COVER", quantity: "10", order_type: "MARKET", reduce_only: true },
      { fund_id: "beta", side: "SELL", quantity: "2", order_type: "MARKET", reduce_only: true, asset_class: "CRYPTO" },
    ]);
    expect(exits(fixture)[0]?.order.order_id).toMatch(/^flatten-[0-9a-f]{32}-1$/);
    const exiting = await get();
    expect(states(exiting)).toEqual(["alpha EXITING", "beta EXITING"]);
    expect(exiting.lines[0]?.complaint).toContain("has not traded");
    await fillAll(fixture);
    await fixture.time.timers.sleep(3_000);
    const done = await get({ flatten_id: asked.flatten_id });
    expect(states(done)).toEqual(["alpha FLAT", "beta FLAT"]);
    expect(done.done_at).toBeDefined();
    expect(fixture.reported(subjects.flattenRequested)).toMatchObject([
      { positions: 2, fund_ids: ["alpha", "beta", "gamma"], flatten_id: asked.flatten_id },
    ]);
    expect(fixture.reported(subjects.operatorAttempted)).toMatchObject([{ verb: "FlattenPaper", allowed: true }]);
    expect(fixture.reported(subjects.flattenLine).map(({ state }) => state)).toEqual([
      "EXITING",
      "EXITING",
      "FLAT",
      "FLAT",
    ]);
    const proofs = fixture.reported(subjects.flatProved);
    expect(proofs.map(({ fund_id: fund }) => fund).sort()).toEqual(["alpha", "beta", "gamma"]);
    expect(proofs.every(({ asked_by: by, flat }) => by === "operator:duty" && flat)).toBe(true);
    await expect(get({ flatten_id: "flatten-x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    // Nothing is left to do, and nothing is done.
    await fixture.time.timers.sleep(120_000);
    expect(exits(fixture).length).toBe(2);
    expect(fixture.reported(subjects.flatProved).length).toBe(3);
    await stop();
  });

  it("needs the typed word, and a fund that is a paper one; each refusal is recorded and changes nothing", async () => {
    const { fixture, script } = await open();
    const { flatten, get, stop } = start(fixture, script);
    for (const confirmation of ["", "flatten", "HALT"]) {
      expect((await flatten({ confirmation })).denial?.code).toBe("CONFIRMATION_WRONG");
    }
    const setAt = fixture.time.clock.now();
    const funds = paperReference(format(setAt)).funds.map((fund) =>
      fund.fund_id === "beta" ? { ...fund, mode: "LIVE" as const } : fund,
    );
    await fixture.store.transact("test.live", (unit) =>
      unit.reference.put({ kind: "funds", version: 2, content: funds, setBy: "t", setAt, reason: "r", hash: "1" }),
    );
    expect((await flatten({ fund_id: "beta" })).denial?.code).toBe("FUND_NOT_PAPER");
    expect((await flatten({ fund_id: "drill" })).denial).toMatchObject({
      code: "FUND_NOT_PAPER",
      reason: expect.stringContaining("halt drills"),
    });
    await expect(flatten({ fund_id: "nobody" })).rejects.toMatchObject({ code: "NOT_FOUND", isReported: true });
    expect(fixture.reported(subjects.operatorAttempted).at(-1), "22.11").toMatchObject({
      target: "nobody",
      code: "NOT_FOUND",
    });
    await expect(get()).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(fixture.reported(subjects.operatorAttempted).map(({ allowed, code }) => [allowed, code])).toEqual([
      [false, "CONFIRMATION_WRONG"],
      [false, "CONFIRMATION_WRONG"],
      [false, "CONFIRMATION_WRONG"],
      [false, "FUND_NOT_PAPER"],
      [false, "FUND_NOT_PAPER"],
      [false, "NOT_FOUND"],
    ]);
    // Every paper fund: the live one is not among them.
    expect(states(await flatten())).toEqual(["alpha OWED"]);
    await fixture.time.timers.sleep(2_000);
    expect(exits(fixture).map(({ order }) => order.fund_id)).toEqual(["alpha"]);
    await stop();
  });

  it("is joined by whoever asks while it runs, and takes on what it did not cover", async () => {
    const { fixture, script } = await open();
    const { flatten, get, stop } = start(fixture, script);
    const first = await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    const [again, all] = [await flatten({ fund_id: "beta" }), await flatten({ reason: "all of it" })];
    expect([again.flatten_id, all.flatten_id]).toEqual([first.flatten_id, first.flatten_id]);
    expect(states(all)).toEqual(["alpha OWED", "beta EXITING"]);
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(3_000);
    expect((await get()).done_at).toBeDefined();
    expect(exits(fixture).length).toBe(2);
    expect(fixture.reported(subjects.flattenRequested).map(({ positions }) => positions)).toEqual([1, 0, 1]);
    // The next one is another.
    expect((await flatten()).flatten_id).not.toBe(first.flatten_id);
    await stop();
  });

  it("closes what the fund comes to hold meanwhile as well, each with a line of its own", async () => {
    const { fixture, script } = await open();
    const { flatten, get, stop } = start(fixture, script);
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    // It adds to the same opening before the exit trades, and something else comes afterwards.
    await fixture.oms.trade("more-1", { ...beta, quantity: "1", price: "100000" });
    await fillAll(fixture);
    await fixture.oms.trade("more-2", { ...beta, symbol: "ETH-USD", quantity: "3", price: "1000" });
    await fixture.time.timers.sleep(5_000);
    const half = await get();
    expect([states(half).sort(), half.done_at]).toEqual([["beta EXITING", "beta EXITING", "beta FLAT"], undefined]);
    await fillAll(fixture);
    await fixture.time.timers.sleep(5_000);
    expect((await get()).done_at).toBeDefined();
    expect(exits(fixture).map(({ filledQuantity }) => filledQuantity)).toEqual([d("2"), d("3"), d("1")]);
    const late = fixture.reported(subjects.flattenLine).filter(({ detail }) => detail.includes("came to hold"));
    expect(late.map(({ symbol }) => symbol).sort()).toEqual(["BTC-USD", "ETH-USD"]);
    await stop();
  });

  it("takes the place of resting orders on the same side, leaves market orders their part, and retries what was rejected", async () => {
    const { fixture, script } = await open();
    const order: Order = {
      order_id: "target",
      idempotency_key: "k",
      fund_id: "beta",
      strategy_id: "beta-other",
      symbol: "BTC-USD",
      side: "SELL",
      quantity: "2",
      order_type: "LIMIT",
      limit_price: "120000",
      tif: "GTC",
      broker: "paper",
      asset_class: "CRYPTO",
      actor: "t",
    };
    const { limit_price: _, ...market } = {
      ...order,
      order_id: "market",
      quantity: "0.5",
      order_type: "MARKET" as const,
    };
    await fixture.oms.place(order, "WORKING");
    await fixture.oms.place({ ...market, strategy_id: "beta-trend" }, "WORKING");
    await prove(fixture, "market");
    const { flatten, get, stop } = start(fixture, script);
    fixture.oms.taken = "REJECTED";
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    expect(fixture.oms.orders().find(({ order: one }) => one.order_id === "target")?.state).toBe("CANCELLED");
    expect((await get()).lines).toMatchObject([{ state: "OWED", complaint: expect.stringContaining("REJECTED") }]);
    fixture.oms.taken = "ROUTED";
    await fixture.time.timers.sleep(20_000);
    await fillAll(fixture);
    await fixture.oms.fill("market", "100");
    await fixture.time.timers.sleep(3_000);
    expect(fixture.oms.position("beta", "beta-trend", "BTC-USD")).toBe(zero);
    expect((await get()).done_at).toBeDefined();
    await stop();
  });

  it("is flat where two strategies hold the same amount against each other: the fund has nothing to close", async () => {
    const { fixture, script } = await open();
    await fixture.oms.trade("other-side", { ...alpha, strategyId: "alpha-meanrev", quantity: "4", price: "200" });
    const { flatten, get, stop } = start(fixture, script);
    await flatten({ fund_id: "alpha" });
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(5_000);
    expect(exits(fixture).map(({ order }) => [order.side, order.quantity])).toEqual([["BUY_TO_COVER", "6"]]);
    expect((await get()).done_at).toBeDefined();
    const ends = fixture.reported(subjects.flattenLine).filter(({ state }) => state === "FLAT");
    expect(ends.every(({ detail }) => detail.includes("against another strategy"))).toBe(true);
    await stop();
  });
});

describe("23.9: a broker that does not call it flat", () => {
  const unflatAlarms = (fixture: WorkerFixture) =>
    fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "FLATTEN_NOT_FLAT");

  it("keeps the flatten open, alarms once with the next step, and ends it with its own word, over a restart", async () => {
    const { fixture, script } = await open();
    script.hold("beta", "BTC-USD", "0.5");
    const first = start(fixture, script);
    const { flatten_id } = await first.flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(3_000);
    expect((await first.get()).funds).toMatchObject([{ fund_id: "beta", state: "OPEN", left: [] }]);
    await fillAll(fixture);
    await fixture.time.timers.sleep(3_000);
    const shown = await first.get();
    expect([states(shown), shown.done_at]).toEqual([["beta FLAT"], undefined]);
    const next_step = "Our books do not have what the broker has: ctl riskengine reconcile --fund-id beta --force";
    expect(shown.funds).toMatchObject([
      { fund_id: "beta", state: "NOT_FLAT", left: [{ symbol: "BTC-USD", quantity: "0.5" }], open_orders: 0, next_step },
    ]);
    await fixture.time.timers.sleep(600_000);
    expect(unflatAlarms(fixture)).toMatchObject([
      {
        level: "critical",
        facts: { fund_id: "beta" },
        sentence: `The flatten of beta is NOT DONE: every line is closed, and paper still has 0.5 BTC-USD. ${next_step}`,
      },
    ]);
    // The broker is asked again and again, with pauses: each answer is an entry.
    const asked = fixture.reported(subjects.flatProved).length;
    expect(asked).toBeGreaterThan(8);
    expect(asked).toBeLessThan(20);
    first.life.kill();
    const second = start(fixture, script);
    await fixture.time.timers.sleep(3_000);
    expect(unflatAlarms(fixture)).toHaveLength(2);
    expect((await second.get()).done_at).toBeUndefined();
    script.hold("beta", "BTC-USD", "0");
    await fixture.time.timers.sleep(61_000);
    expect(await second.get({ flatten_id })).toMatchObject({
      done_at: expect.any(String),
      funds: [{ fund_id: "beta", state: "FLAT", left: [] }],
    });
    await second.stop();
  });

  it("because the fund came to hold something between the last line and the proof closes that and asks again", async () => {
    const { fixture, script } = await open();
    const { flatten, get, stop } = start(fixture, script);
    script.hold("beta", "BTC-USD", "3");
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(3_000);
    expect((await get()).funds).toMatchObject([{ state: "NOT_FLAT" }]);
    // Our books have it too now: it is a line.
    await fixture.oms.trade("more", { ...beta, quantity: "3", price: "100000" });
    await fixture.time.timers.sleep(2_000);
    expect((await get()).funds).toMatchObject([{ state: "OPEN", left: [] }]);
    await fillAll(fixture);
    script.hold("beta", "BTC-USD", "0");
    await fixture.time.timers.sleep(3_000);
    expect((await get()).done_at).toBeDefined();
    expect(fixture.oms.position("beta", "beta-trend", "BTC-USD")).toBe(zero);
    await stop();
  });

  it("because of an order that nobody here knows names the orders", async () => {
    const { fixture, script } = await open();
    const stray = { clientOrderId: "stray", account: "beta", symbol: "ETH-USD", side: "BUY" as const };
    script.order({ ...stray, filled: "0", quantity: "1", state: "WORKING" });
    const { flatten, get, stop } = start(fixture, script);
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(3_000);
    const [fund] = (await get()).funds;
    expect(fund).toMatchObject({ state: "NOT_FLAT", open_orders: 1, left: [] });
    expect(fund?.next_step).toContain("ctl oms orders list --open --fund-id beta");
    expect(unflatAlarms(fixture)[0]?.sentence).toContain("paper still has 1 open order.");
    await stop();
  });

  it("is no broker that says nothing: unproved is neither flat nor not flat", async () => {
    const { fixture, script } = await open();
    script.mood = "silent";
    const { flatten, get, stop } = start(fixture, script);
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(70_000);
    expect(await get()).toMatchObject({ funds: [{ state: "UNPROVED" }] });
    expect(alarmsOf(fixture)).toEqual(["FLATTEN_OPEN"]);
    script.mood = "well";
    await fixture.time.timers.sleep(3_000);
    expect((await get()).done_at).toBeDefined();
    await stop();
  });
});

describe("orders that were open when it was asked", () => {
  const buy: Order = {
    order_id: "entry",
    idempotency_key: "entry",
    fund_id: "beta",
    strategy_id: "beta-trend",
    symbol: "ETH-USD",
    side: "BUY",
    quantity: "3",
    order_type: "LIMIT",
    limit_price: "900",
    tif: "GTC",
    broker: "paper",
    asset_class: "CRYPTO",
    actor: "t",
  };
  const named = (order_id: string, differs: Partial<Order> = {}): Order => ({
    ...buy,
    order_id,
    idempotency_key: order_id,
    ...differs,
  });
  const stateOf = (fixture: WorkerFixture, id: string) =>
    fixture.oms.orders().find(({ order }) => order.order_id === id)?.state;
  const entries = ({ orders }: Flatten) => orders.map(({ order_id: id, state }) => `${id} ${state}`).sort();
  /** The market is closed: a request to cancel is taken, and nothing comes of it. */
  const closed = (fixture: WorkerFixture): OrderManagement => ({
    ...fixture.oms.orderManagement,
    async cancel(orderId) {
      await fixture.oms.move(orderId, "CANCEL_PENDING");
      return { answer: {} as never };
    },
  });

  it("are cancelled before anything is closed, reported one by one; proven exits and other funds' stay", async () => {
    const { fixture, script } = await open();
    await fixture.oms.place(named("entry"), "WORKING");
    await fixture.oms.place(named("claims", { side: "SELL", reduce_only: true }), "WORKING");
    await fixture.oms.place(named("exit", { symbol: "SOL-USD", side: "SELL", reduce_only: true }), "WORKING");
    await prove(fixture, "exit");
    await fixture.oms.place(
      named("alphas", { fund_id: "alpha", strategy_id: "alpha-meanrev", symbol: "MSFT" }),
      "WORKING",
    );
    const seen: string[] = [];
    const watched: OrderManagement = {
      ...fixture.oms.orderManagement,
      submit: (order) => {
        seen.push(`submit ${order.symbol}`);
        return fixture.oms.orderManagement.submit(order);
      },
      cancel: (id, reason) => {
        seen.push(`cancel ${id}`);
        return fixture.oms.orderManagement.cancel(id, reason);
      },
    };
    const { flatten, get, stop } = start(fixture, script, watched);
    expect(entries(await flatten({ fund_id: "beta" }))).toEqual(["claims WORKING", "entry WORKING"]);
    expect(fixture.reported(subjects.flattenRequested)).toMatchObject([{ positions: 1, orders: 2 }]);
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(3_000);
    expect(seen.at(-1)).toBe("submit BTC-USD");
    expect(seen.slice(0, -1).sort()).toEqual(["cancel claims", "cancel entry"]);
    const done = await get();
    expect(entries(done)).toEqual(["claims CANCELLED", "entry CANCELLED"]);
    expect(done.orders.find(({ order_id: id }) => id === "entry")).toMatchObject({
      fund_id: "beta",
      side: "BUY",
      quantity: "3",
      filled_quantity: "0",
    });
    expect([done.done_at !== undefined, stateOf(fixture, "exit"), stateOf(fixture, "alphas")]).toEqual([
      true,
      "WORKING",
      "WORKING",
    ]);
    await stop();
  });

  it("keep it open and shown until they are gone, over a restart; positions are closed meanwhile", async () => {
    const { fixture, script } = await open();
    await fixture.oms.place(named("entry"), "WORKING");
    const first = start(fixture, script, closed(fixture));
    await first.flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(70_000);
    const waiting = await first.get();
    expect([states(waiting), waiting.done_at]).toEqual([["beta FLAT"], undefined]);
    expect(waiting.orders).toMatchObject([
      { state: "CANCEL_PENDING", complaint: expect.stringContaining("not confirmed") },
    ]);
    expect(alarmsOf(fixture)).toEqual(["FLATTEN_OPEN"]);
    first.life.kill();
    const second = start(fixture, script, closed(fixture));
    await fixture.time.timers.sleep(5_000);
    expect((await second.get()).done_at).toBeUndefined();
    await fixture.oms.move("entry", "CANCELLED");
    await fixture.time.timers.sleep(5_000);
    const done = await second.get();
    expect([done.done_at !== undefined, entries(done), done.orders[0]?.complaint]).toEqual([
      true,
      ["entry CANCELLED"],
      undefined,
    ]);
    await second.stop();
  });

  it("that trade before they are gone are closed as well, and only that makes another line", async () => {
    const { fixture, script } = await open();
    await fixture.oms.place(named("entry", { symbol: "BTC-USD" }), "WORKING");
    await fixture.oms.place(named("other"), "WORKING");
    const { flatten, get, stop } = start(fixture, script, closed(fixture));
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    await fillAll(fixture);
    // The broker fills one of them while nobody can cancel it, and lets the other one go.
    await fixture.oms.fill("entry", "900");
    await fixture.oms.move("other", "CANCELLED");
    await fixture.time.timers.sleep(5_000);
    expect(states(await get()).sort()).toEqual(["beta EXITING", "beta FLAT"]);
    await fillAll(fixture);
    await fixture.time.timers.sleep(5_000);
    const done = await get();
    expect([states(done), done.done_at !== undefined]).toEqual([["beta FLAT", "beta FLAT"], true]);
    expect(fixture.oms.position("beta", "beta-trend", "BTC-USD")).toBe(zero);
    expect(exits(fixture).map(({ filledQuantity }) => filledQuantity)).toEqual([d("2"), d("3")]);
    await stop();
  });

  it("and those that were taken in while it began go as well, also when it is joined", async () => {
    const { fixture, script } = await open();
    await fixture.oms.place(named("entry"), "WORKING");
    const { flatten, get, stop } = start(fixture, script);
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    await fixture.oms.place(named("later"), "WORKING");
    await fixture.time.timers.sleep(2_000);
    expect([stateOf(fixture, "entry"), stateOf(fixture, "later")]).toEqual(["CANCELLED", "CANCELLED"]);
    await fixture.oms.place(named("joined"), "WORKING");
    await flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(2_000);
    expect(entries(await get())).toEqual(["entry CANCELLED", "joined CANCELLED"]);
    await stop();
  });
});

describe("a flatten under faults", () => {
  it("stays owed with a complaint while order management is silent, alarms after a minute, and ends when it can", async () => {
    const { fixture, script } = await open();
    fixture.oms.mood = "out of reach";
    const first = start(fixture, script);
    await first.flatten({ fund_id: "beta" });
    await fixture.time.timers.sleep(50_000);
    expect(alarmsOf(fixture)).toEqual([]);
    expect((await first.get()).lines).toMatchObject([
      { state: "OWED", attempts: 1, complaint: expect.stringContaining("does not take attempt 1") },
    ]);
    await fixture.time.timers.sleep(60_000);
    expect(alarmsOf(fixture)).toEqual(["FLATTEN_OPEN"]);
    first.life.kill();
    fixture.oms.mood = "well";
    script.mood = "silent";
    const second = start(fixture, script);
    await fixture.time.timers.sleep(3_000);
    await fillAll(fixture);
    await fixture.time.timers.sleep(5_000);
    expect(exits(fixture).map(({ filledQuantity }) => filledQuantity)).toEqual([d("2")]);
    // The position is closed, and what the broker says about it is still owed.
    const closed = await second.get();
    expect([states(closed), closed.done_at]).toEqual([["beta FLAT"], undefined]);
    expect(fixture.reported(subjects.flatProved)).toEqual([]);
    script.mood = "well";
    await fixture.time.timers.sleep(5_000);
    expect((await second.get()).done_at).toBeDefined();
    expect(fixture.reported(subjects.flatProved)).toMatchObject([{ fund_id: "beta", flat: true }]);
    await second.stop();
  });

  it(`one exit at a time for each position, whatever dies and whoever trades (4 lives from seed ${seed})`, async () => {
    for (let round = 0; round < 4; round += 1) await stormyLife(seed + round);
  }, 60_000);
});

async function stormyLife(lifeSeed: number): Promise<void> {
  const { fixture, script } = await open(lifeSeed);
  const chance = prng(lifeSeed).fork("flatten");
  const last = lifeSeed % 2 === 0 ? "refuses" : "arrives late";
  const moods = ["well", "well", "out of reach", "answer lost", last] as const;
  let running = start(fixture, script);
  const asked = await running.flatten();
  const check = (): void => {
    for (const fund of ["alpha", "beta"]) {
      const alive = exits(fixture).filter(({ order, state }) => order.fund_id === fund && !hasEnded(state));
      expect(alive.length, `seed ${lifeSeed}: exits alive in ${fund}`).toBeLessThanOrEqual(1);
    }
    expect(fixture.oms.position("beta", "beta-trend", "BTC-USD") >= 0n, `seed ${lifeSeed}: never flipped`).toBe(true);
    expect(fixture.oms.position("alpha", "alpha-momentum", "AAPL") <= 0n, `seed ${lifeSeed}: never flipped`).toBe(true);
  };
  for (let step = 0; step < 25; step += 1) {
    fixture.oms.mood = moods[chance.below(moods.length)] ?? "well";
    fixture.oms.taken = (["ROUTED", "UNKNOWN", "REJECTED"] as const)[chance.below(3)] ?? "ROUTED";
    await fixture.time.timers.sleep(chance.below(4_000));
    check();
    for (const { order, state } of exits(fixture)) {
      if (hasEnded(state) || !chance.chance(0.3)) continue;
      if (chance.chance(0.5)) await fixture.oms.fill(order.order_id, "100", d("0.7"));
      else await fixture.oms.move(order.order_id, chance.chance(0.5) ? "CANCELLED" : "REJECTED");
    }
    if (chance.chance(0.3)) {
      running.life.kill();
      running = start(fixture, script);
    }
  }
  fixture.oms.mood = "well";
  fixture.oms.taken = "ROUTED";
  for (let step = 0; step < 60; step += 1) {
    await fixture.time.timers.sleep(5_000);
    await fillAll(fixture);
    check();
    if ((await running.get()).done_at !== undefined) break;
  }
  const done = await running.get({ flatten_id: asked.flatten_id });
  expect(states(done), `seed ${lifeSeed}`).toEqual(["alpha FLAT", "beta FLAT"]);
  expect(done.done_at).toBeDefined();
  expect(fixture.oms.position("beta", "beta-trend", "BTC-USD")).toBe(zero);
  expect(fixture.oms.position("alpha", "alpha-momentum", "AAPL")).toBe(zero);
  const ends = fixture.reported(subjects.flattenLine).filter(({ state }) => state === "FLAT");
  expect(ends.length, `seed ${lifeSeed}: ends`).toBe(2);
  await running.stop();
}

// The reconciler against a broker that differs in every way it can: each class is found, reported once as suspected and once as confirmed or cleared, and
// resolved; what is no answer is never read as flat.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse as d } from "../../../contracts/src/decimal.ts";
import type { Differences, FlatProof, Reconciliation } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { BrokerOrderState } from "../../../ports/broker.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import type { ReconcileSettings } from "../../../ports/settings.ts";
import { operator } from "../../../testkit/risk/service-fixture.ts";
import { type ScriptedBroker, scriptedBroker } from "../../../testkit/scripted-broker.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";
import { testSettings } from "../../../testkit/virtual/memory-platform.ts";
import { type WorkerFixture, workerFixture } from "../../../testkit/worker-fixture.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { startReconciler } from "./reconcile.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const closes: (() => Promise<void>)[] = [];
let restore: () => void = () => undefined;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

const held = { fundId: "alpha", strategyId: "alpha-momentum", symbol: "AAPL" };
const order: Order = {
  order_id: "o-1",
  idempotency_key: "o-1",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "30",
  order_type: "MARKET",
  tif: "GTC",
  broker: "paper",
  asset_class: "EQUITY",
  actor: "t",
};

/** Both sides hold 100 AAPL and agree. */
async function open(reconcile: Partial<ReconcileSettings> = {}) {
  const fixture = await workerFixture(seed);
  closes.push(fixture.close);
  const script = scriptedBroker(fixture.time.clock);
  await fixture.oms.trade("open", { ...held, quantity: "100", price: "200" });
  script.hold("alpha", "AAPL", "100");
  const begin = () => {
    const life = fixture.life({ reconcile: { ...testSettings.reconcile, ...reconcile } });
    const alarms = createWorkerAlarms(life.ports);
    return {
      life,
      running: startReconciler({
        ports: life.ports,
        broker: script.broker,
        orderManagement: fixture.oms.orderManagement,
        alarms,
      }),
    };
  };
  let now = begin();
  closes.push(() => now.running.stop());
  await fixture.time.timers.sleep(6_000);
  const call = { identity: operator } as RpcCall;
  type Ask = (request: object, call: RpcCall) => Promise<unknown>;
  const ask = (name: "Reconcile" | "ListDifferences" | "ProveFlat", request: object) =>
    (now.running.handlers as unknown as Record<string, Ask>)[name]?.(request, call);
  const restart = (): void => {
    now.life.kill();
    now = begin();
  };
  return { fixture, script, ask, restart };
}

/** How far our books have read its reports. */
const readAll = ({ store }: WorkerFixture, script: ScriptedBroker) =>
  store.transact("test.cursor", (unit) => unit.oms.putReportCursor("paper", script.cursor()));

const statuses = (fixture: WorkerFixture) => fixture.reported(subjects.reconcileDifference).map(({ status }) => status);
const alarmsOf = (fixture: WorkerFixture) => fixture.reported(subjects.alarmRaised).map(({ code }) => code);
const trade = { quantity: "30", price: "210" };

/** Makes the sides differ, and agree again. */
interface Way {
  /** Our own books are behind, which gets more time, and its own alarm when that is up. */
  readonly isBehind?: true;
  differ(fixture: WorkerFixture, script: ScriptedBroker): Promise<void>;
  resolve(fixture: WorkerFixture, script: ScriptedBroker): Promise<unknown>;
}

const brokerFilled = (script: ScriptedBroker, state: BrokerOrderState = "FILLED", id = "o-1"): void => {
  script.order({
    clientOrderId: id,
    account: "alpha",
    symbol: "AAPL",
    side: "BUY",
    filled: "30",
    quantity: "30",
    state,
  });
  script.hold("alpha", "AAPL", "130");
};

const ways: Record<string, Way> = {
  LOST_FILL: {
    async differ(fixture, script) {
      await fixture.oms.place(order, "WORKING");
      brokerFilled(script);
      script.report("o-1", trade);
      await readAll(fixture, script);
    },
    resolve: (fixture) => fixture.oms.fill("o-1", "210"),
  },
  "LOST_FILL that no report tells": {
    async differ(fixture, script) {
      await fixture.oms.place(order, "WORKING");
      brokerFilled(script);
    },
    resolve: (fixture) => fixture.oms.fill("o-1", "210"),
  },
  "LOST_FILL that was never read": {
    isBehind: true,
    async differ(fixture, script) {
      await fixture.oms.place(order, "WORKING");
      brokerFilled(script);
      script.report("o-1", trade);
    },
    resolve: async (fixture, script) => [await fixture.oms.fill("o-1", "210"), await readAll(fixture, script)],
  },
  BROKER_LAG: {
    async differ(fixture, script) {
      await fixture.oms.place(order, "WORKING");
      brokerFilled(script);
      script.report("o-1", trade);
      await fixture.oms.fill("o-1", "210");
      await readAll(fixture, script);
      script.hold("alpha", "AAPL", "100");
    },
    resolve: async (_fixture, script) => script.hold("alpha", "AAPL", "130"),
  },
  OFF_SYSTEM_TRADE: {
    differ: async (_fixture, script) => script.hold("alpha", "AAPL", "70"),
    resolve: async (_fixture, script) => script.hold("alpha", "AAPL", "100"),
  },
  "OFF_SYSTEM_TRADE with an order of somebody": {
    async differ(fixture, script) {
      brokerFilled(script, "FILLED", "by-hand");
      script.report("by-hand", trade);
      await readAll(fixture, script);
    },
    resolve: async (_fixture, script) => script.hold("alpha", "AAPL", "100"),
  },
  "OFF_SYSTEM_TRADE in a symbol that only the broker has": {
    differ: async (_fixture, script) => script.hold("alpha", "XOM", "-5"),
    resolve: async (_fixture, script) => script.hold("alpha", "XOM", "0"),
  },
  CANCELLATION_RACE: {
    async differ(fixture, script) {
      await fixture.oms.place(order, "CANCELLED");
      brokerFilled(script);
      script.report("o-1", trade);
      await readAll(fixture, script);
    },
    resolve: (fixture) => fixture.oms.trade("late", { ...held, quantity: "30", price: "210" }),
  },
  UNKNOWN: {
    async differ(fixture, script) {
      brokerFilled(script, "FILLED", "by-hand");
      script.report("by-hand", trade);
      await readAll(fixture, script);
      script.mood = "forgets reports";
    },
    resolve: async (_fixture, script) => script.hold("alpha", "AAPL", "100"),
  },
};

describe.each(Object.entries(ways))("%s", (name, way) => {
  const [expected = ""] = name.split(" ");

  it("is reported once as suspected, once as confirmed and once as cleared, and blocks in between", async () => {
    const { fixture, script, ask } = await open();
    await way.differ(fixture, script);
    await fixture.time.timers.sleep(120_000);
    if (way.isBehind) {
      expect(statuses(fixture)).toEqual([]);
      await fixture.time.timers.sleep(40_000);
    }
    expect(statuses(fixture)).toEqual(["SUSPECTED"]);
    expect(await fixture.store.transact("t", (unit) => unit.reconcile.confirmed())).toEqual([]);
    await fixture.time.timers.sleep(60_000);
    expect(fixture.reported(subjects.reconcileDifference)).toMatchObject([
      { status: "SUSPECTED", class: expected, fund_id: "alpha", account: "alpha", alerted: true },
      { status: "CONFIRMED", class: expected },
    ]);
    expect((await fixture.store.transact("t", (unit) => unit.reconcile.confirmed())).length).toBe(1);
    const reported = ["RECONCILE_SUSPECTED", "RECONCILE_CONFIRMED"];
    expect(alarmsOf(fixture)).toEqual(way.isBehind ? ["RECONCILE_STUCK", ...reported] : reported);
    expect(((await ask("ListDifferences", { open_only: true, count_max: 0 })) as Differences).differences.length).toBe(
      1,
    );
    await way.resolve(fixture, script);
    await fixture.time.timers.sleep(240_000);
    expect(statuses(fixture)).toEqual(["SUSPECTED", "CONFIRMED", "CLEARED"]);
    expect(await fixture.store.transact("t", (unit) => unit.reconcile.confirmed())).toEqual([]);
    expect(fixture.oms.adjusted).toEqual([]);
  });
});

describe("the reconciler", () => {
  it("clears at the second look what is over by then, also after a restart in between", async () => {
    const { fixture, script, restart } = await open();
    script.hold("alpha", "AAPL", "90");
    await fixture.time.timers.sleep(120_000);
    restart();
    script.hold("alpha", "AAPL", "100");
    await fixture.time.timers.sleep(20_000);
    expect(statuses(fixture)).toEqual(["SUSPECTED", "CLEARED"]);
    expect(alarmsOf(fixture)).toEqual(["RECONCILE_SUSPECTED"]);
  });

  it("never takes silence or half an answer for flat: nothing is found, cleared or corrected by it", async () => {
    const { fixture, script, ask } = await open({ autoCorrect: true });
    for (const mood of ["silent", "incomplete"] as const) {
      script.mood = mood;
      await fixture.time.timers.sleep(300_000);
      const answer = (await ask("Reconcile", { fund_id: "alpha" })) as Reconciliation;
      expect([answer.compared, answer.unanswered.length, answer.differences]).toEqual([[], 1, []]);
      await expect(ask("ProveFlat", { fund_id: "alpha", reason: "r" })).rejects.toMatchObject({
        code: "BROKER_UNAVAILABLE",
      });
    }
    expect(statuses(fixture)).toEqual([]);
    expect(fixture.oms.adjusted).toEqual([]);
    // One for each account, not one for each look.
    expect(new Set(alarmsOf(fixture))).toEqual(new Set(["BROKER_SILENT"]));
    expect(alarmsOf(fixture).length).toBe(3);
    script.mood = "well";
    script.hold("alpha", "AAPL", "0");
    await fixture.time.timers.sleep(30_000);
    script.mood = "incomplete";
    await fixture.time.timers.sleep(300_000);
    expect(statuses(fixture)).not.toContain("CLEARED");
  });

  it("corrects ours when it may, once, by an adjustment with a name of its own, and says so", async () => {
    const { fixture, script } = await open({ autoCorrect: true });
    script.hold("alpha", "AAPL", "130");
    await fixture.time.timers.sleep(300_000);
    expect(fixture.oms.adjusted).toMatchObject([
      { strategyId: "alpha-momentum", fromQuantity: "100", toQuantity: "130" },
    ]);
    expect(fixture.oms.position("alpha", "alpha-momentum", "AAPL")).toBe(d("130"));
    expect(statuses(fixture)).toEqual(["SUSPECTED", "CONFIRMED", "CORRECTED"]);
    expect(fixture.oms.orders()).toEqual([]);
  });

  it("corrects once although the answer was lost and the reconciler died in between", async () => {
    const { fixture, script, restart } = await open({ autoCorrect: true });
    script.hold("alpha", "AAPL", "130");
    fixture.oms.mood = "answer lost";
    await fixture.time.timers.sleep(126_000);
    restart();
    await fixture.time.timers.sleep(300_000);
    expect(fixture.oms.adjusted.length).toBe(1);
    expect(statuses(fixture)).toEqual(["SUSPECTED", "CONFIRMED", "CORRECTED"]);
  });

  it("is stuck, and says so once, while the difference keeps moving", async () => {
    const { fixture, script } = await open();
    for (let step = 1; step < 30; step += 1) {
      script.hold("alpha", "AAPL", String(100 + step));
      await fixture.time.timers.sleep(9_500);
    }
    expect(statuses(fixture)).toEqual(["SUSPECTED"]);
    expect(alarmsOf(fixture)).toEqual(["RECONCILE_SUSPECTED", "RECONCILE_STUCK"]);
  });

  it("alerts from the threshold on, and records what is below it", async () => {
    const { fixture, script } = await open({ alertThreshold: 2 });
    script.hold("alpha", "AAPL", "90");
    await fixture.time.timers.sleep(150_000);
    expect(fixture.reported(subjects.reconcileDifference)).toMatchObject([{ alerted: false }, { alerted: false }]);
    expect(alarmsOf(fixture)).toEqual([]);
    script.hold("alpha", "MSFT", "5");
    await fixture.time.timers.sleep(150_000);
    // The one that was there before counts towards the threshold, so it is reported with the one that reaches it.
    const reported = fixture.reported(subjects.alarmRaised).map(({ code, facts }) => `${code} ${facts?.["symbol"]}`);
    expect(reported).toEqual(["RECONCILE_CONFIRMED AAPL", "RECONCILE_SUSPECTED MSFT", "RECONCILE_CONFIRMED MSFT"]);
    const alerted = fixture.reported(subjects.reconcileDifference).filter((one) => one.alerted);
    expect(alerted.map(({ symbol, status }) => `${symbol} ${status}`)).toEqual([
      "AAPL CONFIRMED",
      "MSFT SUSPECTED",
      "MSFT CONFIRMED",
    ]);
  });

  it("tells again when a confirmed difference becomes another one, with its figures and its class", async () => {
    const { fixture, script, ask } = await open();
    script.hold("alpha", "AAPL", "90");
    await fixture.time.timers.sleep(150_000);
    expect(statuses(fixture)).toEqual(["SUSPECTED", "CONFIRMED"]);
    script.hold("alpha", "AAPL", "40");
    const { differences } = (await ask("Reconcile", { fund_id: "alpha" })) as Reconciliation;
    expect(differences).toMatchObject([{ status: "CONFIRMED", our_quantity: "100", broker_quantity: "40" }]);
    await fixture.time.timers.sleep(400_000);
    expect(fixture.reported(subjects.reconcileDifference).slice(2)).toMatchObject([
      { status: "CONFIRMED", class: "OFF_SYSTEM_TRADE", broker_quantity: "40", alerted: true },
    ]);
    const alarms = fixture.reported(subjects.alarmRaised).map(({ code, sentence }) => `${code} ${sentence}`);
    expect(alarms).toHaveLength(3);
    expect(alarms[2]).toMatch(/^RECONCILE_CONFIRMED .*the broker has 40/);
    const listed = (await ask("ListDifferences", { open_only: true, count_max: 0 })) as Differences;
    expect(listed.differences).toMatchObject([{ our_quantity: "100", broker_quantity: "40" }]);
    // As much on both sides is the same difference, shown as it is now.
    await fixture.oms.trade("more", { ...held, quantity: "10", price: "210" });
    script.hold("alpha", "AAPL", "50");
    await fixture.time.timers.sleep(130_000);
    expect(statuses(fixture)).toHaveLength(3);
    const now = (await ask("ListDifferences", { open_only: true, count_max: 0 })) as Differences;
    expect(now.differences).toMatchObject([{ our_quantity: "110", broker_quantity: "50" }]);
  });

  it("accuses nobody while our own books have not read what the broker reported, and forgets it when they have", async () => {
    const { fixture, script, ask } = await open({ enabled: false });
    await fixture.oms.place(order, "WORKING");
    brokerFilled(script);
    script.report("o-1", trade);
    const behind = (await ask("Reconcile", { fund_id: "alpha" })) as Reconciliation;
    expect(behind).toMatchObject({
      compared: [],
      unanswered: [expect.stringContaining("our own books stand at report 0")],
    });
    await fixture.oms.fill("o-1", "210");
    await readAll(fixture, script);
    expect(await ask("Reconcile", { fund_id: "alpha" })).toMatchObject({ compared: ["alpha"], differences: [] });
    expect(statuses(fixture)).toEqual([]);
    expect(alarmsOf(fixture)).toEqual([]);
  });

  it("looks when it is asked to, and refuses a fund that it does not know", async () => {
    const { fixture, script, ask } = await open({ enabled: false });
    script.hold("alpha", "AAPL", "90");
    const first = (await ask("Reconcile", { fund_id: "alpha" })) as Reconciliation;
    expect(first).toMatchObject({ compared: ["alpha"], unanswered: [], differences: [{ status: "SUSPECTED" }] });
    // However often somebody asks: only an answer that is late enough confirms.
    for (let asked = 0; asked < 3; asked += 1) {
      await fixture.time.timers.sleep(3_000);
      const early = (await ask("Reconcile", {})) as Reconciliation;
      expect(early.differences).toMatchObject([{ status: "SUSPECTED" }]);
    }
    await fixture.time.timers.sleep(1_000);
    const second = (await ask("Reconcile", {})) as Reconciliation;
    expect(second.compared).toEqual(["alpha", "beta", "gamma"]);
    expect(second.differences).toMatchObject([{ status: "CONFIRMED", our_quantity: "100", broker_quantity: "90" }]);
    await expect(ask("Reconcile", { fund_id: "nobody" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(fixture.reported(subjects.operatorAttempted).map(({ verb, target }) => [verb, target])).toEqual([
      ["Reconcile", "alpha"],
      ...Array.from({ length: 4 }, () => ["Reconcile", ""]),
    ]);
  });

  it("proves a fund flat by the broker's own complete answers, open orders included", async () => {
    const { fixture, script, ask } = await open();
    const prove = () => ask("ProveFlat", { fund_id: "alpha", reason: "After the flatten." }) as Promise<FlatProof>;
    expect(await prove()).toMatchObject({ flat: false, left: [{ symbol: "AAPL", quantity: "100" }] });
    script.hold("alpha", "AAPL", "0");
    brokerFilled(script, "PARTIALLY_FILLED");
    script.hold("alpha", "AAPL", "0");
    expect(await prove()).toMatchObject({ flat: false, left: [], open_orders: 1 });
    brokerFilled(script, "FILLED");
    script.hold("alpha", "AAPL", "0");
    expect(await prove()).toMatchObject({ flat: true, left: [], open_orders: 0, broker: "paper" });
    expect(fixture.reported(subjects.flatProved)[0]).toMatchObject({
      reason: "After the flatten.",
      asked: ["open orders", "positions"],
    });
    expect(fixture.reported(subjects.flatProved).map(({ flat, asked_by }) => [flat, asked_by])).toEqual([
      [false, "operator:duty"],
      [false, "operator:duty"],
      [true, "operator:duty"],
    ]);
    expect(await ask("ProveFlat", { fund_id: "alpha", reason: "" })).toMatchObject({
      denial: { code: "REASON_MISSING" },
    });
  });
});

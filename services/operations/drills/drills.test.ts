// Drills with the real halt manager, between an order management, an engine and a chat that do what the test says: what is measured, what fails, and
// that nothing but the drill's own fund is ever touched.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { answerOf } from "../../../contracts/src/codes.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Drill, Drills } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import { subjectByName, subjects } from "../../../contracts/src/subjects.ts";
import { drillFundId } from "../../../core/halts/halts.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { memoryBus } from "../../../testkit/memory/bus.ts";
import { operator } from "../../../testkit/risk/service-fixture.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";
import { type WorkerFixture, workerFixture } from "../../../testkit/worker-fixture.ts";
import { readHalt } from "../../halts/halt-request.ts";
import { drillFund } from "../../shared/drill-seeds.ts";
import { paperReference } from "../../shared/paper-seeds.ts";
import { type HaltPorts, startHalts } from "../halts/halts.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { startDrills } from "./drills.ts";

const fixtures: WorkerFixture[] = [];
let restore: () => void = () => undefined;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

const theirs: Order = {
  order_id: "theirs",
  idempotency_key: "theirs",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "1",
  order_type: "LIMIT",
  limit_price: "100",
  tif: "GTC",
  broker: "paper",
  asset_class: "EQUITY",
  actor: "t",
};

interface Opened {
  readonly fixture: WorkerFixture;
  /** How everybody else does. */
  readonly faults: { chat: boolean; engine: boolean; refuses: boolean; cancels: boolean };
  readonly orderManagement: OrderManagement;
}

async function open(withFund = true): Promise<Opened> {
  const fixture = await workerFixture(1);
  fixtures.push(fixture);
  const faults = { chat: true, engine: true, refuses: true, cancels: true };
  const setAt = fixture.time.clock.now();
  const { funds } = paperReference(format(setAt));
  if (withFund) {
    const content = [...funds, drillFund];
    await fixture.store.transact("test.funds", (unit) =>
      unit.reference.put({ kind: "funds", version: 2, content, setBy: "t", setAt, reason: "r", hash: "1" }),
    );
  }
  fixture.quote("BTC-USD", "100000", "100010");
  await fixture.oms.place(theirs, "WORKING");
  await latch(fixture, "theirs");
  const isHalted = (fundId: string): boolean =>
    fixture.tables.risk.halts.some((halt) => halt.severity === "FIRM_HALT" || halt.fund_id === fundId);
  const orderManagement: OrderManagement = {
    ...fixture.oms.orderManagement,
    async submit(order) {
      if (!faults.refuses || !isHalted(order.fund_id)) return fixture.oms.orderManagement.submit(order);
      return { answer: { order, state: "REJECTED", code: "FUND_HALTED" } as never };
    },
  };
  void sweep();
  return { fixture, faults, orderManagement };

  /** Order management's own reaction to a halt. */
  async function sweep(): Promise<void> {
    for (;;) {
      await fixture.time.timers.sleep(30);
      if (!faults.cancels) continue;
      for (const { order, state } of fixture.oms.orders()) {
        const covered = order.fund_id !== "alpha" && isHalted(order.fund_id);
        if (covered && !hasEnded(state)) await fixture.oms.move(order.order_id, "CANCELLED");
      }
    }
  }
}

/** Somebody else's halt, which no drill may lift. */
const latch = (fixture: WorkerFixture, id: string, severity: "FUND_HALT" | "FIRM_HALT" = "FUND_HALT") =>
  fixture.store.transact("test.latch", (unit) =>
    unit.risk.latchHalt({
      severity,
      fund_id: severity === "FIRM_HALT" ? "" : "gamma",
      reason: "r",
      requested_by: "x",
      halt_id: id,
      since: format(fixture.time.clock.now()),
    }),
  );

async function start({ fixture, faults, orderManagement }: Opened, everyHours = 0) {
  const life = fixture.life({ drills: { everyHours } });
  const { clock, timers } = fixture.time;
  const down = (): Fault => new Fault("CHAT_UNAVAILABLE", "nobody is there", { retry: "later" });
  const ports = {
    ...life.ports,
    orderManagement: orderManagement,
    bus: memoryBus({
      process: fixture.tables.process("operations"),
      clock,
      timers,
      random: life.ports.random,
      subjectByName,
    }),
    oneTimeCodes: undefined as never,
    haltsConfirmer: {
      announce: async () => undefined,
      async confirm(epoch: number) {
        if (!faults.engine) throw down();
        return { incarnation: "engine", epoch };
      },
    },
    riskBooks: { approvals: async () => [] },
    chat: {
      name: "chat",
      async send() {
        if (!faults.chat) throw down();
      },
      close: async () => undefined,
    },
  } satisfies HaltPorts & { readonly orderManagement: OrderManagement };
  // An engine that does not answer holds its lease.
  await fixture.store.transact("test.lease", (unit) =>
    unit.instances.register({
      service: "riskengine",
      incarnation: `e-${clock.now()}`,
      host: "h",
      pid: 1,
      startedAt: clock.now(),
      leaseUntil: (clock.now() + 1e12) as never,
    }),
  );
  const alarms = createWorkerAlarms(ports);
  const halts = await startHalts(ports, alarms);
  const drills = startDrills({ ports, halts, newest: fixture.newest, broker: "paper", alarms });
  const handlers = drills.handlers as unknown as Record<string, (request: object, call: RpcCall) => Promise<unknown>>;
  const call = { identity: operator } as RpcCall;
  return {
    life,
    run: (reason = "monthly") => handlers["RunDrill"]?.({ reason }, call) as Promise<Drill>,
    async list() {
      const drills = (await handlers["ListDrills"]?.({ count_max: 0 }, call)) as Drills | undefined;
      return drills?.drills;
    },
    stop: async () => {
      await drills.stop();
      await halts.stop();
    },
  };
}

const inForce = (fixture: WorkerFixture) => fixture.tables.risk.halts.map(({ halt_id: id }) => id);
const drillOrders = (fixture: WorkerFixture) =>
  fixture.oms.orders().filter(({ order }) => order.fund_id === drillFundId);

/** Whatever a drill did, it did to its own fund. */
function nothingElseTouched(fixture: WorkerFixture): void {
  expect(inForce(fixture)).toEqual(["theirs"]);
  expect(fixture.oms.orders().find(({ order }) => order.order_id === "theirs")?.state).toBe("WORKING");
  expect(fixture.oms.orders().every(({ order }) => order.order_id === "theirs" || order.fund_id === drillFundId)).toBe(
    true,
  );
  expect(drillOrders(fixture).every(({ state }) => hasEnded(state))).toBe(true);
  expect(fixture.reported(subjects.haltLifted).every(({ fund_id: fund }) => fund === drillFundId)).toBe(true);
}

describe("a drill", () => {
  it("halts its own fund, measures every step, cancels its own order and lifts its own halt", async () => {
    const opened = await open();
    const { fixture } = opened;
    const { run, list, stop } = await start(opened);
    const drill = await run();
    expect(drill).toMatchObject({ passed: true, complaint: "", reason: "monthly", requested_by: "operator:duty" });
    const { latched_ms: latched = -1, blocked_ms: blocked = -1, cancelled_ms: cancelled = -1 } = drill;
    expect(latched).toBeGreaterThanOrEqual(0);
    expect(blocked).toBeGreaterThanOrEqual(latched);
    expect(cancelled).toBeGreaterThanOrEqual(latched);
    expect(drill.notified_ms).toBeGreaterThanOrEqual(latched);
    expect(drillOrders(fixture)).toMatchObject([
      { state: "CANCELLED", order: { side: "BUY", order_type: "LIMIT", limit_price: "50000", symbol: "BTC-USD" } },
    ]);
    expect(await list()).toEqual([drill]);
    expect(fixture.reported(subjects.drillMeasured)).toEqual([drill]);
    expect(fixture.reported(subjects.haltLifted)).toMatchObject([{ halt_id: drill.halt_id, fund_id: drillFundId }]);
    expect(fixture.reported(subjects.operatorAttempted)).toMatchObject([{ verb: "RunDrill", allowed: true }]);
    expect(fixture.reported(subjects.alarmRaised)).toEqual([]);
    nothingElseTouched(fixture);
    await stop();
  });

  it("without a fund of its own halts all the same, and says that no order was cancelled", async () => {
    const opened = await open(false);
    const { run, stop } = await start(opened);
    expect(await run()).toMatchObject({ passed: true, complaint: expect.stringContaining("no order of its own") });
    expect(drillOrders(opened.fixture)).toEqual([]);
    nothingElseTouched(opened.fixture);
    await stop();
  });

  const troubles = [
    ["nobody is notified", { chat: false }, "notified"],
    ["its order is not cancelled", { cancels: false }, "cancelled"],
    ["no engine confirms", { engine: false }, "no engine confirmed"],
    ["an order in the halted fund is taken", { refuses: false }, "an order in the halted fund was"],
  ] as const;
  it.each(troubles)("fails within 25 s when %s, alarms, and leaves nothing behind", async (_, trouble, words) => {
    const opened = await open();
    const { fixture } = opened;
    Object.assign(opened.faults, trouble);
    const { run, stop } = await start(opened);
    const from = fixture.time.clock.now();
    const drill = await run();
    expect(fixture.time.clock.now() - from).toBeLessThan(25_000_000);
    expect(drill).toMatchObject({ passed: false, complaint: expect.stringContaining(words) });
    expect(fixture.reported(subjects.alarmRaised).map(({ code }) => code)).toContain("DRILL_FAILED");
    nothingElseTouched(fixture);
    await stop();
  });

  it("is one at a time: who asks while it runs gets the same", async () => {
    const opened = await open();
    const { run, list, stop } = await start(opened);
    const [one, other] = await Promise.all([run("one"), run("two")]);
    expect(other).toEqual(one);
    expect(await list()).toHaveLength(1);
    expect(opened.fixture.reported(subjects.operatorAttempted).map(({ reason }) => reason)).toEqual(["one", "two"]);
    await stop();
  });

  it("is refused under a firm halt, with what to do, and leaves neither record nor alarm", async () => {
    const opened = await open();
    const { fixture } = opened;
    const { run, list, stop } = await start(opened);
    await latch(fixture, "firm", "FIRM_HALT");
    const answer = await run();
    expect(answer).toMatchObject({
      denial: { code: "ORDER_HALTED", reason: expect.stringMatching(/firm is halted.*`ctl riskengine halts list`/) },
      isReported: true,
    });
    expect(answerOf("ORDER_HALTED").grpc).toBe("FAILED_PRECONDITION");
    expect(fixture.reported(subjects.operatorAttempted)).toMatchObject([
      { verb: "RunDrill", allowed: false, code: "ORDER_HALTED" },
    ]);
    expect(await list()).toEqual([]);
    expect(fixture.reported(subjects.drillMeasured)).toEqual([]);
    expect(fixture.reported(subjects.alarmRaised)).toEqual([]);
    expect(drillOrders(fixture)).toEqual([]);
    expect(inForce(fixture)).toEqual(["theirs", "firm"]);
    await stop();
  });

  it("that runs when the firm is halted is the answer for whoever asks then", async () => {
    const opened = await open();
    const { fixture } = opened;
    opened.faults.chat = false;
    const { run, list, stop } = await start(opened);
    const first = run("one");
    await fixture.time.timers.sleep(1_000);
    await latch(fixture, "firm", "FIRM_HALT");
    expect(await run("two")).toEqual(await first);
    expect(await list()).toHaveLength(1);
    await stop();
  });

  it("that dies is ended by the next life, as one that failed", async () => {
    const opened = await open();
    const { fixture } = opened;
    opened.faults.chat = false;
    const first = await start(opened);
    void first.run().catch(() => undefined);
    await fixture.time.timers.sleep(3_000);
    expect(inForce(fixture)).toHaveLength(2);
    first.life.kill();
    const second = await start(opened);
    await fixture.time.timers.sleep(2_000);
    expect(await second.list()).toMatchObject([{ passed: false, reason: "monthly", complaint: expect.any(String) }]);
    nothingElseTouched(fixture);
    await second.stop();
  });

  it("is cut short when operations is stopped, which is recorded and lifts its halt", async () => {
    const opened = await open();
    const { fixture } = opened;
    opened.faults.chat = false;
    const { run, stop } = await start(opened);
    const running = run();
    await fixture.time.timers.sleep(1_000);
    const from = fixture.time.clock.now();
    await stop();
    expect(fixture.time.clock.now() - from).toBeLessThan(2_000_000);
    expect(await running).toMatchObject({
      passed: false,
      complaint: expect.stringContaining("operations was stopped"),
    });
    expect(fixture.reported(subjects.drillMeasured)).toHaveLength(1);
    nothingElseTouched(fixture);
  });

  it("is the only one who halts its fund", () => {
    const request = { severity: "FUND_HALT", fund_id: drillFundId, reason: "r", requested_by: "" } as const;
    const funds = { fund: () => drillFund, fundOfStrategy: () => drillFund };
    const asked = { identity: operator, at: 0 as Instant, newId: () => "h" };
    expect(readHalt({ ...asked, request }, funds)).toMatchObject({ code: "HALT_SCOPE_INVALID" });
    const strategy = { ...request, severity: "STRATEGY_HALT", strategy_id: "drill-probe" } as const;
    expect(readHalt({ ...asked, request: strategy }, funds)).toMatchObject({ code: "HALT_SCOPE_INVALID" });
  });

  it("is due by its schedule, also over restarts, and not while the firm is halted", async () => {
    const opened = await open();
    const { fixture } = opened;
    const fiveMinutes = 1 / 12;
    const first = await start(opened, fiveMinutes);
    await fixture.time.timers.sleep(70_000);
    expect(await first.list()).toMatchObject([{ passed: true, reason: "", requested_by: "service:operations" }]);
    await first.stop();
    const second = await start(opened, fiveMinutes);
    await fixture.time.timers.sleep(200_000);
    expect(await second.list()).toHaveLength(1);
    await fixture.time.timers.sleep(120_000);
    expect(await second.list()).toHaveLength(2);
    await latch(fixture, "firm", "FIRM_HALT");
    await fixture.time.timers.sleep(400_000);
    expect(await second.list()).toHaveLength(2);
    await second.stop();
  });
});

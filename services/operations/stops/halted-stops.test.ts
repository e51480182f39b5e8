// Synthetic stops in a halted fund, with the engine itself to ask: they fire, their exits pass, and nothing that competes with them does.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse as d, zero } from "../../../contracts/src/decimal.ts";
import type { Order as OrderMessage } from "../../../contracts/src/generated/svc/v1/order.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import type { Order, RiskDecision } from "../../../contracts/src/records/order.ts";
import { decisionMessage } from "../../../core/engine/decision.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { compileEnvelope } from "../../../core/envelope/envelope.ts";
import { isProvenReduction } from "../../../core/orders/may-send.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import { engineFixture, fillOf, transitionOf } from "../../../testkit/risk/engine-fixture.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";
import { type WorkerFixture, workerFixture } from "../../../testkit/worker-fixture.ts";
import { paperEnvelopes, paperReference } from "../../shared/paper-seeds.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { startStops } from "./stops.ts";

const seed = 20_261_116;
const fixtures: WorkerFixture[] = [];
let restore: () => void = () => undefined;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

const held = { fundId: "beta", strategyId: "beta-trend", symbol: "BTC-USD" };
const halts: readonly Pick<ActiveHalt, "severity" | "fund_id" | "strategy_id">[] = [
  { severity: "FIRM_HALT", fund_id: "" },
  { severity: "FUND_HALT", fund_id: "beta" },
  { severity: "STRATEGY_HALT", fund_id: "beta", strategy_id: "beta-trend" },
];

/** Order management that asks the engine about everything that it is given, and keeps what is approved. */
function askingOrderManagement(fixture: WorkerFixture, engine: Engine): OrderManagement {
  const { clock } = fixture.time;
  return {
    ...fixture.oms.orderManagement,
    async submit(order: Order) {
      const decision = decisionMessage(engine.check(order as unknown as OrderMessage, clock.now()), "d");
      if (!decision.approved) return { denial: { code: decision.code as "ORDER_DENIED", reason: decision.reason } };
      const answered = await fixture.oms.orderManagement.submit(order);
      await fixture.store.transact("test.decided", async (unit) => {
        const stored = await unit.oms.lockOrder(order.order_id);
        if (stored !== undefined)
          await unit.oms.updateOrder({ ...stored, decision: decision as unknown as RiskDecision });
      });
      return answered;
    },
  };
}

async function open(halt: (typeof halts)[number]) {
  const fixture = await workerFixture(seed);
  fixtures.push(fixture);
  const at = () => format(fixture.time.clock.now());
  const engine = engineFixture();
  engine.setReference(paperReference(at()));
  for (const envelope of paperEnvelopes) engine.setEnvelope(compileEnvelope(envelope));
  await fixture.oms.trade("open-1", { ...held, quantity: "2", price: "100000" });
  const opening = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", side: "BUY" } as OrderMessage;
  engine.applyFill({
    ...fillOf({ ...opening, order_id: "open", broker: "paper" } as OrderMessage, "2"),
    price: "100000",
  });
  const raised = { reason: "r", requested_by: "x", halt_id: "h", since: at(), epoch: 2 };
  engine.setHalts({ known: true, epoch: 2, active: [{ ...halt, ...raised }] });
  fixture.quote("BTC-USD", "50000", "50010");
  const life = fixture.life();
  const orderManagement = askingOrderManagement(fixture, engine);
  const alarms = createWorkerAlarms(life.ports);
  const stops = startStops({
    ports: life.ports,
    quotes: { simulated: fixture.newest, live: fixture.live },
    orderManagement,
    broker: "paper",
    alarms,
  });
  return { fixture, engine, orderManagement, stop: () => stops.stop() };
}

async function pass(fixture: WorkerFixture, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 2_500) {
    fixture.quote("BTC-USD", "50000", "50010");
    await fixture.time.timers.sleep(2_500);
  }
}

const exits = (fixture: WorkerFixture) =>
  fixture.oms.orders().filter(({ order }) => order.order_id.startsWith("stop-"));

describe.each(halts)("under a $severity", (halt) => {
  it("a stop fires, its exit is proven and passes, and what competes with it or only claims to reduce does not", async () => {
    const { fixture, orderManagement, stop } = await open(halt);
    await pass(fixture, 10_000);
    const [exit] = exits(fixture);
    expect(exit?.order).toMatchObject({ side: "SELL", quantity: "2", order_type: "MARKET", reduce_only: true });
    // It is one of those that the sweep of a halt leaves alone.
    expect(exit !== undefined && isProvenReduction(exit.order, exit.decision)).toBe(true);
    const other = (id: string, differs: Partial<Order>): Promise<unknown> =>
      orderManagement.submit({ ...(exit?.order as Order), order_id: id, idempotency_key: id, ...differs });
    expect(await other("competes", { quantity: "1" })).toMatchObject({
      denial: { code: "SCHEMA_REDUCE_ONLY_UNPROVEN" },
    });
    expect(await other("flips", { quantity: "3" })).toMatchObject({ denial: { code: "SCHEMA_REDUCE_ONLY_UNPROVEN" } });
    expect(await other("claims", { side: "BUY" })).toMatchObject({ denial: { code: "SCHEMA_REDUCE_ONLY_UNPROVEN" } });
    expect(exits(fixture)).toHaveLength(1);
    await fixture.oms.fill(exit?.order.order_id ?? "", "50000");
    await pass(fixture, 5_000);
    expect([fixture.oms.position("beta", "beta-trend", "BTC-USD"), exits(fixture)[0]?.filledQuantity]).toEqual([
      zero,
      d("2"),
    ]);
    await stop();
  });

  it("an exit that somebody cancelled with everything else comes back under its next name", async () => {
    const { fixture, engine, stop } = await open(halt);
    await pass(fixture, 10_000);
    const [first] = exits(fixture);
    await fixture.oms.orderManagement.cancel(first?.order.order_id ?? "", "cancel-all");
    const gone = transitionOf(first?.order as unknown as OrderMessage, "CANCELLED", { filled_quantity: "0" });
    engine.applyTransition({ ...gone, at: format(fixture.time.clock.now()) });
    await pass(fixture, 15_000);
    expect(exits(fixture).map(({ order, state }) => [order.order_id.slice(-2), state])).toEqual([
      ["-1", "CANCELLED"],
      ["-2", "ROUTED"],
    ]);
    await stop();
  });
});

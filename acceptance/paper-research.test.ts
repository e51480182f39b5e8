// Strategies at work in virtual time on the memory store, against a stand-in for order management that trades what it is given: they step towards their targets, rest, cancel,
// are refused, are changed by people, and go on after a crash without handing anything in twice.
import { afterEach, describe, expect, it } from "vitest";
import { systemBlake3 } from "../adapters/system/hashing.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { Backtest, OrderStatus, Signals, Strategies } from "../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant } from "../contracts/src/instant.ts";
import type { Fill, Order } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { createEngine } from "../core/engine/engine.ts";
import { compileEnvelope } from "../core/envelope/envelope.ts";
import { optionRiskOf } from "../core/options/option-risk.ts";
import { inputAgesDefault } from "../core/state/input-ages.ts";
import type { StoredOrder } from "../ports/oms-records.ts";
import type { OrderManagement, RiskChecks } from "../ports/peers.ts";
import type { DeniedAnswer, UnaryHandler } from "../ports/rpc.ts";
import { startMarks } from "../services/operations/marks.ts";
import { research } from "../services/research/research.ts";
import {
  paperCapital,
  paperEnvelopes,
  paperListings,
  paperPositions,
  paperReference,
} from "../services/shared/paper-seeds.ts";
import type { RunningService } from "../services/shared/service.ts";
import { seedTreasury } from "../services/treasury/seed-treasury.ts";
import { incarnation } from "../testkit/virtual/incarnation.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { type ServiceFixture, serviceFixture } from "../testkit/virtual/service-fixture.ts";

const seed = 20_261_115;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A risk engine that knows the seeds and hears of what trades; the market is where the orders are priced. */
function engineOf(at: Instant) {
  const engine = createEngine({
    blake3: systemBlake3,
    stopwatch: () => 0,
    ages: { ...inputAgesDefault, nav: 86_400_000, borrow: 86_400_000 },
    keyWindowMs: 300_000,
    approvalValidMs: 5_000,
    openOrdersPerFundMax: 1_000,
    valueUnexplainedMax: decimal.parse("0.05"),
  });
  const { instruments } = paperReference(format(at));
  const shares = new Map(paperListings.map(({ symbol, price }) => [symbol, decimal.parse(price)]));
  const markAt = (symbol: string, price: string, now: Instant): void => {
    const instrument = instruments.find((one) => one.symbol === symbol);
    const under = shares.get(instrument?.underlying ?? "");
    const own = { price: decimal.parse(price), at: now };
    const risk = instrument && optionRiskOf(instrument, own, under && { price: under, at: now }, undefined);
    engine.setMark({ symbol, price, source: "paper", ...(risk && { option_risk: risk }), at: format(now) });
  };
  const fill = (of: object, now: Instant): void =>
    void engine.applyFill({ fill_id: "f", price: "1", filled_at: format(now), ...of } as Fill);
  engine.setReference(paperReference(format(at)));
  engine.setHalts({ known: true, epoch: 0, active: [] });
  for (const envelope of paperEnvelopes) engine.setEnvelope(compileEnvelope(envelope));
  for (const { fundId, currency, amount } of paperCapital)
    engine.setNav({ fund_id: fundId, nav: amount, currency, as_of: format(at) });
  for (const { fundId, strategyId, symbol, side, quantity } of paperPositions)
    fill({ order_id: "seed", fund_id: fundId, strategy_id: strategyId, symbol, side, quantity }, at);
  return {
    /** The code of a denial, or nothing. */
    check(order: Order, now: Instant): string {
      for (const { symbol, price } of paperListings) markAt(symbol, price, now);
      markAt(order.symbol, order.limit_price ?? "1", now);
      return engine.check(order, now).code;
    },
    fill,
    end(order: Order, now: Instant): void {
      engine.applyTransition({
        order_id: order.order_id,
        fund_id: order.fund_id,
        strategy_id: order.strategy_id,
        symbol: order.symbol,
        from: "WORKING",
        to: "CANCELLED",
        filled_quantity: "0",
        remaining_quantity: "0",
        at: format(now),
      });
    },
  };
}

/** Stands in for order management: asks the risk engine, trades what is priced to trade, and lets the rest stand. */
function fakeOrderManagement(fixture: ServiceFixture) {
  const { store, clock } = fixture.portsOf("oms");
  const submitted: Order[] = [];
  const cancelled: string[] = [];
  const denied: string[] = [];
  const risk = engineOf(clock.now());
  const state = { halted: false, isDown: false };
  const status = (order: Order, name: string, code?: string): { readonly answer: OrderStatus } => ({
    answer: { order, state: name, ...(code === undefined ? {} : { code }) } as unknown as OrderStatus,
  });
  const orderManagement: OrderManagement = {
    async submit(order) {
      await fixture.time.timers.sleep(2);
      if (state.isDown) throw new Fault("SERVICE_UNAVAILABLE", "oms is not there", { retry: "later" });
      submitted.push(order);
      if (state.halted) return status(order, "REJECTED", "ORDER_HALTED");
      const code = risk.check(order, clock.now());
      if (code !== "") {
        denied.push(`${order.order_id} ${code}`);
        return status(order, "REJECTED", "ORDER_DENIED");
      }
      const rests = order.tif === "GTC";
      await store.transact("fake.submit", async (unit) => {
        const now = clock.now();
        const quantity = decimal.parse(order.quantity);
        const filledQuantity = rests ? decimal.zero : quantity;
        await unit.oms.insertOrder({
          order,
          state: rests ? "WORKING" : "FILLED",
          bodyHash: "",
          filledQuantity,
          filledValue: decimal.zero,
          submittedBy: "service:research",
          createdAt: now,
          updatedAt: now,
        });
        if (rests) return;
        risk.fill(order, now);
        const { fund_id: fundId, strategy_id: strategyId, symbol, side } = order;
        const held = await unit.oms.lockPosition(fundId, strategyId, symbol);
        const signed = side.startsWith("BUY") ? quantity : decimal.negate(quantity);
        await unit.oms.putPosition({
          fundId,
          strategyId,
          symbol,
          updatedAt: now,
          openedBy: "x",
          averagePrice: decimal.one,
          realisedPnl: decimal.zero,
          quantity: decimal.add(held?.quantity ?? decimal.zero, signed),
        });
      });
      return status(order, rests ? "WORKING" : "FILLED");
    },
    async cancel(orderId) {
      cancelled.push(orderId);
      await store.transact("fake.cancel", async (unit) => {
        const known = (await unit.oms.lockOrder(orderId)) as StoredOrder;
        await unit.oms.updateOrder({ ...known, state: "CANCELLED", updatedAt: clock.now() });
        risk.end(known.order, clock.now());
      });
      return status({ order_id: orderId } as Order, "CANCELLED");
    },
    order: async () => undefined,
    adjust: async () => ({ answer: undefined }),
    cross: async () => ({ answer: undefined }),
  };
  return { orderManagement, submitted, cancelled, denied, state };
}

async function platform() {
  const fixture = serviceFixture(seed);
  closing.push(() => fixture.close());
  const ports = fixture.portsOf("treasury");
  await seedTreasury(ports);
  await fixture.portsOf("riskengine").store.transact("nav", async (unit) => {
    for (const { fundId, amount } of paperCapital) {
      const now = ports.clock.now();
      await unit.risk.putNav({ fund_id: fundId, nav: amount, currency: "USD", as_of: format(now) }, now);
    }
  });
  await fixture.portsOf("oms").store.transact("positions", async (unit) => {
    for (const { fundId, strategyId, symbol, side, quantity } of paperPositions) {
      const held = decimal.parse(side === "BUY" ? quantity : `-${quantity}`);
      const of = { fundId, strategyId, symbol, openedBy: "seed", updatedAt: ports.clock.now() };
      await unit.oms.putPosition({ ...of, quantity: held, averagePrice: decimal.one, realisedPnl: decimal.zero });
    }
  });
  // A quote every five seconds is fresh enough, and ten times cheaper.
  const market = { ...testSettings.market, quoteEveryMs: 5_000 };
  const risk = { ...testSettings.risk, navAgeMsMax: 1e9, lossValueAgeMsMax: 1e9 };
  const settings = { ...testSettings, market, risk };
  const marks = startMarks(fixture.portsOf("operations", { settings }));
  closing.push(() => marks.stop());
  const fake = fakeOrderManagement(fixture);
  const riskChecks: RiskChecks = {
    check: () => Promise.reject(new Error("strategies do not check")),
    envelope: async (fundId) => paperEnvelopes.find(({ fund_id }) => fund_id === fundId),
  };
  const start = async (isMortal = false) => {
    const all = fixture.portsOf("research", { orderManagement: fake.orderManagement, riskChecks, settings });
    const { clock, timers, random, store, bus, orderManagement } = all;
    const life = incarnation("research", { clock, timers, random, store, bus, orderManagement });
    const running = await research.start(isMortal ? { ...all, ...life.ports } : all);
    if (!isMortal) closing.push(() => running.stop());
    return { running, kill: () => life.end() };
  };
  return { fixture, start, ...fake };
}

async function call<Answer>(running: RunningService, name: string, request: object): Promise<Answer> {
  const handler = running.rpc[0]?.handlers[name] as UnaryHandler;
  return (await handler(request as never, { identity: { actor: "operator:duty" } } as never)) as Answer;
}

const idsOf = (orders: readonly Order[]): readonly string[] => orders.map(({ order_id }) => order_id);

describe("strategies at work", () => {
  it("22.11: trade every fund within a minute, rest, cancel, have at most one order in fifty denied, and judge what they said", async () => {
    const { fixture, start, submitted, cancelled, denied } = await platform();
    const { running } = await start();
    await fixture.time.timers.sleep(60_000);
    expect(new Set(submitted.map(({ fund_id }) => fund_id))).toEqual(new Set(["alpha", "beta", "gamma"]));
    await fixture.time.timers.sleep(400_000);
    expect(submitted.some(({ tif }) => tif === "GTC")).toBe(true);
    expect(cancelled.length).toBeGreaterThan(0);
    expect(submitted.length).toBeGreaterThan(100);
    expect(denied.length * 50, denied.join(", ")).toBeLessThanOrEqual(submitted.length);
    expect(new Set(idsOf(submitted)).size).toBe(submitted.length);
    const { strategies } = await call<Strategies>(running, "ListStrategies", {});
    const nobodys = call<Strategies>(running, "ListStrategies", { fund_id: "nonesuch" });
    await expect(nobodys).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(strategies.map(({ strategy_id, status }) => [strategy_id, status])).toEqual([
      ["alpha-meanrev", "live"],
      ["alpha-momentum", "live"],
      ["beta-trend", "live"],
      ["gamma-income", "live"],
    ]);
    expect(strategies.every(({ sentence, last_signal_at }) => sentence !== "" && last_signal_at !== undefined)).toBe(
      true,
    );
    expect(strategies[0]?.live_ic_mean).toBeGreaterThanOrEqual(-1);
    const { signals } = await call<Signals>(running, "ListSignals", {
      strategy_id: "alpha-momentum",
      count_max: 1_000,
    });
    expect(signals.length % 8).toBe(0);
    expect(signals.filter(({ realised_return }) => realised_return !== undefined).length).toBeGreaterThanOrEqual(16);
    expect(signals[0]).not.toHaveProperty("realised_return");
    expect(fixture.reported(subjects.strategyChanged)).toHaveLength(4);
  });

  it("do as they are told: shadow hands nothing in, halted does nothing, and both are reported", async () => {
    const { fixture, start, submitted } = await platform();
    const { running } = await start();
    await fixture.time.timers.sleep(30_000);
    const set = (request: object) => call<DeniedAnswer>(running, "SetStrategy", { reason: "a test", ...request });
    expect((await set({ strategy_id: "beta-trend", status: "shadow", reason: " " })).denial.code).toBe(
      "REASON_MISSING",
    );
    await expect(set({ strategy_id: "nobody", status: "shadow" })).rejects.toThrow(/no strategy/);
    await expect(set({ strategy_id: "beta-trend", status: "asleep" })).rejects.toThrow(/no status/);
    await expect(set({ strategy_id: "beta-trend", allocation_pct: 1.5 })).rejects.toThrow(/fraction/);
    expect(await set({ strategy_id: "beta-trend", status: "shadow" })).toMatchObject({
      status: "shadow",
      allocation_pct: 0.12,
    });
    await set({ strategy_id: "gamma-income", status: "halted", allocation_pct: 0.05 });
    await fixture.time.timers.sleep(1_000);
    const before = submitted.length;
    await fixture.time.timers.sleep(120_000);
    const after = new Set(submitted.slice(before).map(({ fund_id }) => fund_id));
    expect(after).toEqual(new Set(["alpha"]));
    const newest = async (strategy_id: string) =>
      (await call<Signals>(running, "ListSignals", { strategy_id, count_max: 1 })).signals[0]?.at ?? "";
    expect((await newest("beta-trend")) > (await newest("gamma-income"))).toBe(true);
    expect(fixture.reported(subjects.strategyChanged).slice(4)).toMatchObject([
      { strategy_id: "beta-trend", status: "shadow", changed_by: "operator:duty", reason: "a test" },
      { strategy_id: "gamma-income", status: "halted", allocation_pct: 0.05 },
    ]);
  });

  it("take a halt as an answer, and ask seldom while it holds", async () => {
    const { fixture, start, submitted, state } = await platform();
    await start();
    state.halted = true;
    await fixture.time.timers.sleep(180_000);
    expect(submitted.length).toBeGreaterThanOrEqual(4);
    expect(submitted.length).toBeLessThanOrEqual(4 * 4);
    state.halted = false;
    await fixture.time.timers.sleep(120_000);
    expect(submitted.length).toBeGreaterThan(20);
  });

  it("wait out a desk that is away", async () => {
    const { fixture, start, submitted, state } = await platform();
    await start();
    state.isDown = true;
    await fixture.time.timers.sleep(60_000);
    expect(submitted).toHaveLength(0);
    state.isDown = false;
    await fixture.time.timers.sleep(300_000);
    expect(new Set(submitted.map(({ fund_id }) => fund_id)).size).toBe(3);
  });

  it("go on after kill -9 at any moment without using a name again", async () => {
    const { fixture, start, submitted } = await platform();
    for (let life = 0; life < 12; life += 1) {
      const { kill } = await start(true);
      await fixture.time.timers.sleep(9_000 + life * 1_777 + (life % 4));
      kill();
    }
    await start();
    await fixture.time.timers.sleep(60_000);
    expect(submitted.length).toBeGreaterThan(30);
    expect(new Set(idsOf(submitted)).size).toBe(submitted.length);
    for (const { fund_id, strategy_id, symbol, quantity } of [...fixture.tables.oms.positions.values()].map(
      (position) => ({
        fund_id: position.fundId,
        strategy_id: position.strategyId,
        symbol: position.symbol,
        quantity: position.quantity,
      }),
    )) {
      const isShort = decimal.sign(quantity) < 0;
      expect(!isShort || symbol.includes(" "), `${fund_id} ${strategy_id} ${symbol}`).toBe(true);
    }
  });

  it("says that a backtest is not there yet", async () => {
    const { start } = await platform();
    const { running } = await start();
    await expect(call<Backtest>(running, "GetBacktest", { strategy_id: "beta-trend" })).rejects.toThrow(/ask again/);
    await expect(call<Backtest>(running, "GetBacktest", { strategy_id: "nobody" })).rejects.toThrow(/no strategy/);
  });
});

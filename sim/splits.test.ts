// A split of a share that is held, with all services in virtual time: a long position whose stop is near, a short one of another strategy, a resting
// order, and a fund close to its loss limit. Nothing fires, nothing is halted, and whoever is killed at whatever step, it happens once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import type { CorporateAction, OrderStatus, ReferenceDocument } from "../contracts/src/generated/svc/v1/platform.ts";
import type { Exposures } from "../contracts/src/generated/svc/v1/riskengine.ts";
import { parse } from "../contracts/src/instant.ts";
import type { CorporateActionChanged } from "../contracts/src/records/corporate-action.ts";
import type { NavUpdated } from "../contracts/src/records/fund.ts";
import type { Fill, OrderTransition } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Store } from "../ports/store.ts";
import { seedPositions } from "../services/oms/seed-positions.ts";
import type { ServiceName } from "../services/shared/service.ts";
import { byFloor } from "../testkit/full-count.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { faults } from "./faults.ts";
import { firstHoldings, heldKey } from "./outside.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { operatorIdentity, platform, serviceIdentity } from "./platform.ts";

const seed = 23_04;
let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

async function open(plantedBug?: PlantedBug) {
  const time = scheduler({ seed, startAt: parse("2026-11-18T15:00:00Z") });
  const settings = { ...testSettings, stops: { ...testSettings.stops, othersEveryMs: 1_000 } };
  const impatient = { leadMs: 5_000, lookEveryMs: 500, patienceMs: 8_000 };
  const made = platform({
    time,
    faults: faults(time.prng.fork("weather")),
    settings: plantedBug === undefined ? settings : { ...settings, corporateActions: impatient },
    plantedBug,
  });
  made.start();
  made.retire("research");
  const reported = <Payload>(subject: { readonly name: string }): Payload[] =>
    made.tables.log
      .filter((entry) => entry.subject === subject.name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Payload);
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  async function until(holds: () => boolean, ms: number): Promise<boolean> {
    for (const end = time.elapsedMs() + ms; time.elapsedMs() < end; await pass(50)) if (holds()) return true;
    return holds();
  }
  async function ask<Answer>(service: string, method: string, request: object, as = operatorIdentity("duty")) {
    const outcome = await time.finish(method, made.ask(as)(service, method, request));
    return (outcome.ok ? outcome.value : outcome) as Answer;
  }
  while (made.running().length < 4) await pass(100);
  await pass(3_000);
  await time.finish("the positions", seedPositions({ ...made.bystander("oms"), settings }));
  const broker = made.outside.connect();
  await time.finish("the broker", broker.begin(firstHoldings()));
  await pass(5_000);
  const states = () => reported<CorporateActionChanged>(subjects.corporateActionChanged).map(({ state }) => state);
  return { time, made, reported, pass, until, ask, broker, states };
}

type Fixture = Awaited<ReturnType<typeof open>>;

/** 1,500 long of one strategy, 101 short of another, a resting order, and a fund and a stop that lack little. */
async function prepare({ time, made, ask, pass, broker, reported, until }: Fixture): Promise<void> {
  const short = { account: "alpha", symbol: "NVDA", quantity: decimal.parse("-101"), price: decimal.parse("180") };
  await time.finish("the short", broker.disturb({ kind: "OFF_SYSTEM_TRADE", ...short }));
  const adjustment = {
    adjustment_id: "short-1",
    fund_id: "alpha",
    strategy_id: "alpha-meanrev",
    symbol: "NVDA",
    broker: "paper",
    from_quantity: "0",
    to_quantity: "-101",
    price: "180",
    reason: "tested",
  };
  await ask("Oms", "AdjustPosition", adjustment, serviceIdentity("operations"));
  for (const symbol of ["NVDA", "AAPL", "MSFT", "GOOGL"]) made.outside.gap(symbol, -0.045);
  for (const symbol of ["AMZN", "JPM", "XOM"]) made.outside.gap(symbol, -0.045);
  await pass(8_000);
  const { bid } = made.outside.bidAsk("NVDA");
  const order = {
    order_id: "rest-1",
    idempotency_key: "rest-1",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "NVDA",
    side: "BUY",
    quantity: "10",
    order_type: "LIMIT",
    limit_price: (bid * 0.97).toFixed(2),
    tif: "GTC",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "tested",
  };
  const placed = await ask<OrderStatus>("Oms", "SubmitOrder", order);
  expect(placed.state, JSON.stringify(placed)).toMatch(/ACCEPTED|ROUTED|WORKING/);
  await until(() => made.outside.open.has("rest-1"), 5_000);
  expect(reported(subjects.stopTriggered)).toEqual([]);
}

const split = { action_id: "nvda-split", kind: "SPLIT", symbol: "NVDA", ratio: "4:1", reason: "tested" };
const terms = { amount_per_share: "", ex_date: "", new_symbol: "" };
const announce = ({ ask }: Fixture) => ask<CorporateAction>("Treasury", "BookCorporateAction", { ...split, ...terms });

function nvdaOf(navs: readonly NavUpdated[]) {
  return navs.map(({ prices, cash, nav, positions_value: positions }) => {
    const { quantity = "0", price = "0" } = prices?.["NVDA"] ?? {};
    const value = decimal.multiply(decimal.parse(quantity), decimal.parse(price), "half-even");
    expect(decimal.add(decimal.parse(cash ?? "0"), decimal.parse(positions ?? "0"))).toBe(decimal.parse(nav));
    return { quantity, value, cash };
  });
}

/** Everything that must be true when it is over. */
async function expectSplitOnce(fixture: Fixture, basis: decimal.Decimal): Promise<void> {
  const { made, reported, ask } = fixture;
  expect(fixture.states()).toEqual(["ANNOUNCED", "APPLIED", "DONE"]);
  const fills = reported<Fill>(subjects.fillsCreated).filter(({ kind }) => kind === "CORPORATE_ACTION");
  expect(
    fills.map(({ strategy_id: id, side, quantity, price }) => `${id} ${side} ${quantity} ${price}`).sort(),
  ).toEqual(["alpha-meanrev SELL 303 0", "alpha-momentum BUY 4500 0"]);
  const positions = await fixture.time.finish(
    "positions",
    made.bystander("look").store.transact("look", (unit) => unit.oms.positions("alpha")),
  );
  const held = positions.filter(({ symbol }) => symbol === "NVDA");
  expect(held.map(({ strategyId, quantity }) => `${strategyId} ${decimal.format(quantity)}`).sort()).toEqual([
    "alpha-meanrev -404",
    "alpha-momentum 6000",
  ]);
  const long = held.find(({ strategyId }) => strategyId === "alpha-momentum");
  expect(long?.averagePrice).toBe(decimal.divide(basis, decimal.parse("4"), "half-even"));
  expect(made.outside.held.get(heldKey("alpha", "NVDA"))?.quantity).toBe(decimal.parse("5596"));
  const { lines, held_symbols: stillHeld } = await ask<Exposures>("RiskEngine", "ListExposures", {});
  expect(lines.find(({ fund_id, symbol }) => fund_id === "alpha" && symbol === "NVDA")).toMatchObject({
    quantity: "5596",
    pending_buy: "0",
    pending_sell: "0",
  });
  expect(stillHeld).toEqual([]);
  expect(made.outside.open.has("rest-1")).toBe(false);
  const cancelled = reported<OrderTransition>(subjects.ordersCancelled).filter(({ order_id: id }) => id === "rest-1");
  expect(cancelled.map(({ reason }) => reason)).toEqual(["The corporate action nvda-split cancels it."]);
  expect(reported(subjects.stopTriggered)).toEqual([]);
  expect(reported(subjects.reconcileDifference)).toEqual([]);
  expect(made.tables.risk.halts).toEqual([]);
  expect(made.defects).toEqual([]);
}

const basisOf = async ({ time, made }: Fixture): Promise<decimal.Decimal> => {
  const look = made.bystander("basis").store.transact("look", (unit) => unit.oms.positions("alpha"));
  const found = (await time.finish("basis", look)).find(
    ({ symbol, strategyId }) => symbol === "NVDA" && strategyId === "alpha-momentum",
  );
  return found?.averagePrice ?? decimal.zero;
};

describe(`a split, seed ${seed}`, () => {
  it("23.4: a split of a held share fires no stop and no halt, and the fund's value has no step in it", async () => {
    const fixture = await open();
    await prepare(fixture);
    const basis = await basisOf(fixture);
    expect(await announce(fixture)).toMatchObject({ state: "ANNOUNCED", already_booked: false });
    await fixture.pass(1_000);
    const order = { order_id: "late-1", idempotency_key: "late-1", fund_id: "alpha", strategy_id: "alpha-momentum" };
    const rest = { symbol: "NVDA", side: "SELL", quantity: "10", order_type: "MARKET", tif: "DAY", reduce_only: true };
    const late = { ...order, ...rest, broker: "paper", asset_class: "EQUITY", actor: "tested" };
    const refused = await fixture.ask<OrderStatus>("Oms", "SubmitOrder", late);
    expect(refused).toMatchObject({ state: "REJECTED", code: "CORPORATE_ACTION_UNDER_WAY" });
    expect(await fixture.until(() => fixture.states().includes("DONE"), 20_000)).toBe(true);
    await fixture.pass(8_000);
    await expectSplitOnce(fixture, basis);

    const navs = nvdaOf(fixture.reported<NavUpdated>(subjects.navUpdated).filter(({ fund_id: id }) => id === "alpha"));
    const first = navs.findIndex(({ quantity }) => quantity === "5596");
    expect(navs[first - 1]).toMatchObject({ quantity: "1399" });
    expect([navs[first]?.value, navs[first]?.cash]).toEqual([navs[first - 1]?.value, navs[first - 1]?.cash]);
    const [before, after] = [navs[first - 1]?.value ?? decimal.zero, navs.at(-1)?.value ?? decimal.zero];
    expect(Math.abs(Number(after) / Number(before) - 1)).toBeLessThan(0.02);

    // The same again is the same action, and another one under its name is refused.
    expect(await announce(fixture)).toMatchObject({ state: "DONE", already_booked: true });
    const other = { ...split, ...terms, ratio: "5:1" };
    expect(await fixture.ask("Treasury", "BookCorporateAction", other)).toMatchObject({
      denial: { code: "CORPORATE_ACTION_CONFLICT" },
    });
    const again = await fixture.ask<OrderStatus>("Oms", "SubmitOrder", {
      ...late,
      order_id: "on-1",
      idempotency_key: "on-1",
    });
    expect(again.code).not.toBe("CORPORATE_ACTION_UNDER_WAY");
    expect(again.state).not.toBe("REJECTED");
  });

  it("23.4: a share that changes its symbol keeps its cost, its value, its stop and its restrictions, and trades on", async () => {
    const fixture = await open();
    await prepare(fixture);
    const basis = await basisOf(fixture);
    const change = {
      action_id: "nvda-nvx",
      kind: "SYMBOL_CHANGE",
      symbol: "NVDA",
      new_symbol: "NVX",
      reason: "tested",
    };
    const other = { amount_per_share: "", ex_date: "", ratio: "" };
    expect(await fixture.ask("Treasury", "BookCorporateAction", { ...change, ...other })).toMatchObject({
      state: "ANNOUNCED",
    });
    await fixture.until(() => fixture.states().includes("APPLIED"), 20_000);
    fixture.made.crash("oms");
    fixture.made.crash("riskengine");
    expect(await fixture.until(() => fixture.states().includes("DONE"), 40_000)).toBe(true);
    await fixture.pass(15_000);
    const again = await fixture.ask("Treasury", "BookCorporateAction", { ...change, ...other });
    expect(again).toMatchObject({ state: "DONE", already_booked: true });
    const look = fixture.made.bystander("look").store.transact("look", (unit) => unit.oms.positions("alpha"));
    const held = (await fixture.time.finish("positions", look)).filter(({ quantity }) => quantity !== decimal.zero);
    const shown = held.map(({ strategyId, symbol, quantity }) => `${strategyId} ${symbol} ${decimal.format(quantity)}`);
    expect(shown).not.toContain("alpha-momentum NVDA 1500");
    expect(shown).toEqual(expect.arrayContaining(["alpha-momentum NVX 1500", "alpha-meanrev NVX -101"]));
    expect(
      held.find(({ symbol, strategyId }) => symbol === "NVX" && strategyId === "alpha-momentum")?.averagePrice,
    ).toBe(basis);
    const { lines, held_symbols: stillHeld } = await fixture.ask<Exposures>("RiskEngine", "ListExposures", {});
    const engine = lines.filter(({ fund_id, quantity }) => fund_id === "alpha" && quantity !== "0");
    expect(engine.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(["NVX"]));
    expect(engine.find(({ symbol }) => symbol === "NVX")?.quantity).toBe("1399");
    expect([engine.find(({ symbol }) => symbol === "NVDA"), stillHeld]).toEqual([undefined, []]);
    expect(fixture.made.outside.held.get(heldKey("alpha", "NVX"))?.quantity).toBe(decimal.parse("1399"));
    expect(fixture.made.outside.held.get(heldKey("alpha", "NVDA"))?.quantity).toBe(decimal.zero);

    const navs = fixture.reported<NavUpdated>(subjects.navUpdated).filter(({ fund_id: id }) => id === "alpha");
    const worthOf = ({ prices = {} }: NavUpdated) => {
      const found = prices["NVX"] ?? prices["NVDA"];
      return decimal.multiply(decimal.parse(found?.quantity ?? "0"), decimal.parse(found?.price ?? "0"), "half-even");
    };
    const first = navs.findIndex(({ prices }) => prices?.["NVX"] !== undefined);
    const [before, after] = [navs[first - 1], navs[first]];
    if (before === undefined || after === undefined) throw new Error("the fund was not valued with the new symbol");
    expect([worthOf(after), after.cash]).toEqual([worthOf(before), before.cash]);
    expect(Object.keys(navs.at(-1)?.prices ?? {})).not.toContain("NVDA");
    expect(navs.at(-1)?.oldest_price_age_ms).toBeLessThan(2_000);
    expect([fixture.reported(subjects.stopTriggered), fixture.reported(subjects.reconcileDifference)]).toEqual([
      [],
      [],
    ]);
    expect([fixture.made.tables.risk.halts, fixture.made.defects]).toEqual([[], []]);

    const order = { order_id: "on-1", idempotency_key: "on-1", fund_id: "alpha", strategy_id: "alpha-momentum" };
    const rest = { symbol: "NVX", side: "SELL", quantity: "10", order_type: "MARKET", tif: "DAY", reduce_only: true };
    const sold = { ...order, ...rest, broker: "paper", asset_class: "EQUITY", actor: "tested" };
    expect((await fixture.ask<OrderStatus>("Oms", "SubmitOrder", sold)).state).not.toBe("REJECTED");
    const filled = () =>
      fixture.reported<Fill>(subjects.fillsCreated).filter(({ order_id: id }) => id === "on-1").length > 0;
    expect(await fixture.until(filled, 10_000)).toBe(true);
  });

  it("23.4: what is said of the new symbol already is not there twice afterwards", async () => {
    const fixture = await open();
    const listed = (symbol: string) => ({ symbol, reason: "a list" });
    const content_json = JSON.stringify([listed("NVDA"), listed("NVX")]);
    await fixture.ask("Treasury", "SetReferenceData", {
      kind: "restricted",
      version: 2,
      content_json,
      reason: "tested",
    });
    const change = {
      action_id: "nvda-nvx",
      kind: "SYMBOL_CHANGE",
      symbol: "NVDA",
      new_symbol: "NVX",
      reason: "tested",
    };
    await fixture.ask("Treasury", "BookCorporateAction", { ...change, amount_per_share: "", ex_date: "", ratio: "" });
    expect(await fixture.until(() => fixture.states().includes("DONE"), 20_000)).toBe(true);
    const after = await fixture.ask<ReferenceDocument>("Treasury", "GetReferenceData", { kind: "restricted" });
    expect(JSON.parse(after.content_json)).toEqual([listed("NVX")]);
  });

  it("23.4: a split whose fractions cannot be paid for is aborted in the end, and says why", async () => {
    const fixture = await open({
      name: "unvalued",
      sentence: "Order management finds no value of any fund.",
      ports: (service, ports) => {
        const transact: Store["transact"] = (name, work) =>
          ports.store.transact(name, (unit) =>
            work({ ...unit, ledger: { ...unit.ledger, lockFund: async () => ({}) as never } }),
          );
        return service === "oms" ? { ...ports, store: { ...ports.store, transact } } : ports;
      },
    });
    await prepare(fixture);
    const halves = { ...split, ...terms, ratio: "3:2" };
    await fixture.ask("Treasury", "BookCorporateAction", halves);
    expect(await fixture.until(() => fixture.states().includes("ABORTED"), 15_000)).toBe(true);
    const [aborted] = fixture.reported<CorporateActionChanged>(subjects.corporateActionChanged).slice(-1);
    expect(aborted?.note).toMatch(/alpha was not valued with NVDA yet/);
  });

  const services: readonly ServiceName[] = ["oms", "riskengine", "treasury", "operations"];
  const kills = services.flatMap((service) =>
    (["ANNOUNCED", "APPLIED"] as const).map((state) => [service, state] as const),
  );
  /** Who carries it out. */
  const few = kills.filter(([service, state]) => service === "oms" && state === "APPLIED");
  it.each(byFloor({ first: few, later: kills }))(
    "23.4: %s killed when it is %s: it goes on and happens once",
    async (service, state) => {
      const fixture = await open();
      await prepare(fixture);
      const basis = await basisOf(fixture);
      await announce(fixture);
      for (let kill = 0; kill < 3; kill += 1) {
        await fixture.until(() => fixture.states().includes(state), 40_000);
        fixture.made.crash(service);
        await fixture.pass(300 + 700 * kill);
      }
      expect(await fixture.until(() => fixture.states().includes("DONE"), 60_000)).toBe(true);
      await fixture.pass(15_000);
      await expectSplitOnce(fixture, basis);
    },
  );
});

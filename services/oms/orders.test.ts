// Order management in virtual time: the front door, checks whose answers are lost, routing, a broker that says nothing, trades.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { OrderStatus, OrderStatuses, Positions } from "../../contracts/src/generated/svc/v1/platform.ts";
import { parse } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import { type OmsFixture, omsFixture, operator, orderOf } from "../../testkit/oms-fixture.ts";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";
import { paperPositions } from "../shared/paper-seeds.ts";

const seed = 20_261_115;
const fixtures: OmsFixture[] = [];
let undo: () => void = () => undefined;

async function fixtureOf(): Promise<OmsFixture> {
  undo = ignoreEndedIncarnations();
  const fixture = await omsFixture({ seed });
  fixtures.push(fixture);
  return fixture;
}

afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
  undo();
});

const stateOf = async (fixture: OmsFixture, id: string) => (await fixture.order(id))?.state;
const becomes = (fixture: OmsFixture, id: string, state: string) =>
  fixture.until(`${id} is ${state}`, async () => (await stateOf(fixture, id)) === state, 400_000);

describe(`the front door, seed ${seed}`, () => {
  it("takes an order to its broker, step by step, each with its event", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    const status = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"), operator);
    expect(status).toMatchObject({ state: "WORKING", broker_order_id: "b-o-1", remaining_quantity: "10" });
    fixture.broker.trade("o-1", "4", "229.5");
    fixture.broker.trade("o-1", "6", "230");
    await becomes(fixture, "o-1", "FILLED");
    const after = await oms.call<OrderStatus>("GetOrder", { order_id: "o-1" });
    expect(after).toMatchObject({ filled_quantity: "10", average_price: "229.8", remaining_quantity: "0" });
    const steps = [...fixture.reported(subjects.ordersAccepted), ...fixture.reported(subjects.ordersUpdated)];
    expect(steps.map(({ from, to }) => `${from}>${to}`)).toEqual([
      "PENDING_CHECK>ACCEPTED",
      "ACCEPTED>ROUTED",
      "ROUTED>WORKING",
      "WORKING>PARTIALLY_FILLED",
      "PARTIALLY_FILLED>FILLED",
    ]);
    // Who handed it in is proved, whatever the order says of itself.
    expect(status).toMatchObject({ order: { actor: "test" }, submitted_by: "operator:duty" });
    expect(fixture.reported(subjects.ordersCreated)).toMatchObject([
      { order_id: "o-1", submitted_by: "operator:duty" },
    ]);
    expect(fixture.reported(subjects.fillsCreated).map(({ fill_id, sequence }) => [fill_id, sequence])).toEqual([
      ["paper:e-1", 1],
      ["paper:e-2", 2],
    ]);
    expect(fixture.reported(subjects.operatorAttempted)).toMatchObject([
      { verb: "SubmitOrder", operator: "operator:duty" },
    ]);
    expect(oms.deaths).toEqual([]);
  });

  it("the same key and body is the same order for five minutes, another body is a conflict, later it is a new order", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    const asked = { ...orderOf("x"), order_id: "" };
    const first = await oms.call<OrderStatus>("SubmitOrder", asked);
    const again = await oms.call<OrderStatus>("SubmitOrder", { ...asked });
    expect(again.order?.order_id).toBe(first.order?.order_id);
    expect(first.order?.order_id).toMatch(/^[0-9a-f-]{36}$/);
    const other = await oms.call<DeniedAnswer>("SubmitOrder", { ...asked, quantity: "11" });
    expect(other.denial.code).toBe("ORDER_KEY_CONFLICT");
    await fixture.time.timers.sleep(301_000);
    const later = await oms.call<OrderStatus>("SubmitOrder", asked);
    expect(later.order?.order_id).not.toBe(first.order?.order_id);
    const taken = await oms.call<DeniedAnswer>("SubmitOrder", orderOf(later.order?.order_id ?? ""));
    expect(taken.denial.code).toBe("ORDER_KEY_CONFLICT");
    expect(taken.denial.reason).toContain("belongs to another order");
    // With a name of its own it cannot be a new order under the same one, and that is said.
    await oms.call<OrderStatus>("SubmitOrder", orderOf("named"));
    await fixture.time.timers.sleep(301_000);
    const repeated = await oms.call<DeniedAnswer>("SubmitOrder", orderOf("named"));
    expect(repeated.denial).toMatchObject({
      code: "ORDER_KEY_CONFLICT",
      reason: expect.stringContaining("from more than 5 minutes ago; to trade it once more leave the order_id out"),
    });
  });

  it("refuses what is no order and what has no broker, and keeps nothing of a dry run", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    const bad = oms.call("SubmitOrder", { ...orderOf("o-1"), side: "HOLD", quantity: "-1" });
    await expect(bad).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/side.*quantity/),
    });
    const nowhere = await oms.call<DeniedAnswer>("SubmitOrder", orderOf("o-2", { broker: "alpaca" }));
    expect(nowhere.denial.code).toBe("ORDER_BROKER_UNKNOWN");
    const dry = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-3", { dry_run: true }));
    expect(dry).toMatchObject({ state: "ACCEPTED" });
    expect(await fixture.order("o-3")).toBeUndefined();
    expect(fixture.tables.log).toEqual([]);
  });

  it("an order that a halt covers is refused at the door, with the risk engine down; a marked exit goes on", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await fixture.halt({ severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" });
    fixture.risk.isDown = () => true;
    const refused = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    expect(refused).toMatchObject({ state: "REJECTED", code: "ORDER_HALTED" });
    expect(fixture.reported(subjects.ordersRejected)).toMatchObject([{ order_id: "o-1", from: "PENDING_CHECK" }]);
    fixture.risk.isDown = () => false;
    const elsewhere = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-2", { strategy_id: "alpha-meanrev" }));
    expect(elsewhere.state).toBe("WORKING");
    const exit = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-3", { side: "SELL", reduce_only: true }));
    expect(exit.state).toBe("WORKING");
    expect(fixture.risk.asked.map(({ order_id }) => order_id)).toEqual(["o-2", "o-3"]);
  });
});

describe("a fund that a flatten closes", () => {
  it("takes marked exits alone until it is proved flat; other funds trade on", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    const asked = { requestedBy: "operator:duty", reason: "", at: fixture.time.clock.now(), auditId: "a" };
    const running = { flattenId: "flatten-1", fundIds: ["alpha", "beta"], provedFundIds: ["beta"], ...asked };
    await fixture.outside.transact("test.flatten", (unit) => unit.flattens.insert(running));
    const refused = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    expect(refused).toMatchObject({ state: "REJECTED", code: "ORDER_FUND_FLATTENING" });
    expect(refused.reason).toContain("The flatten flatten-1 closes alpha");
    const dry = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-dry", { dry_run: true }));
    expect(dry).toMatchObject({ state: "REJECTED", code: "ORDER_FUND_FLATTENING", reason: refused.reason });
    const exit = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-2", { side: "SELL", reduce_only: true }));
    expect(exit.state).toBe("WORKING");
    const beta = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", asset_class: "CRYPTO" } as const;
    expect((await oms.call<OrderStatus>("SubmitOrder", orderOf("o-3", beta))).state).toBe("WORKING");
    await fixture.outside.transact("test.flatten", (unit) =>
      unit.flattens.update({ ...running, provedFundIds: ["alpha", "beta"], doneAt: fixture.time.clock.now() }),
    );
    expect((await oms.call<OrderStatus>("SubmitOrder", orderOf("o-4"))).state).toBe("WORKING");
    expect(fixture.risk.asked.map(({ order_id }) => order_id)).toEqual(["o-dry", "o-2", "o-3", "o-4"]);
  });
});

describe("the check", () => {
  it("a lost answer is asked for again with the same key, and the first approval is ours", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    let lost = 2;
    fixture.risk.losesAnswer = () => lost-- > 0;
    const status = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    expect(status).toMatchObject({ state: "WORKING", decision: { decision_id: "d-1" } });
    expect(fixture.risk.asked.length).toBe(3);
    expect(fixture.risk.decided.length).toBe(1);
  });

  it("a denial ends it under its own code", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    fixture.risk.decide = () => "POSITION_LIMIT_EXCEEDED";
    const status = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    expect(status).toMatchObject({ state: "REJECTED", code: "POSITION_LIMIT_EXCEEDED", decision: { approved: false } });
    expect(fixture.broker.arrivals.size).toBe(0);
  });

  it("an approval that ran out before it was heard is not used", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    let lost = 6;
    fixture.risk.losesAnswer = () => lost-- > 0;
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    await becomes(fixture, "o-1", "REJECTED");
    expect((await fixture.order("o-1"))?.code).toBe("APPROVAL_EXPIRED");
    expect(fixture.broker.arrivals.size).toBe(0);
  });

  it("22.2: an approval that was released before it is sent is not used, one that came after the release is", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    const releaseThrough = (through: string) =>
      fixture.outside.transact("release", async (unit) => {
        const stored = await unit.oms.lockOrder("o-1");
        if (stored !== undefined) await unit.oms.updateOrder({ ...stored, releasedThrough: parse(through) });
      });
    let lost = 1;
    fixture.risk.losesAnswer = () => {
      if (lost === 0) return false;
      lost -= 1;
      void releaseThrough(fixture.risk.decided[0]?.valid_until ?? "");
      return true;
    };
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    await becomes(fixture, "o-1", "REJECTED");
    expect(await fixture.order("o-1")).toMatchObject({ code: "APPROVAL_RELEASED", decision: { approved: true } });
    expect(fixture.reported(subjects.ordersRejected)).toMatchObject([{ order_id: "o-1", code: "APPROVAL_RELEASED" }]);
    expect(fixture.broker.arrivals.size).toBe(0);
  });

  it("a check that nobody answers for five minutes ends the order, not before", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    fixture.risk.isDown = () => true;
    const status = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    expect(status.state).toBe("PENDING_CHECK");
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-2", { side: "SELL", reduce_only: true }));
    await fixture.time.timers.sleep(280_000);
    expect(await stateOf(fixture, "o-1")).toBe("PENDING_CHECK");
    await becomes(fixture, "o-1", "REJECTED");
    await becomes(fixture, "o-2", "REJECTED");
    const unanswered = { code: "ORDER_CHECK_UNANSWERED" };
    expect(fixture.reported(subjects.ordersRejected)).toMatchObject([unanswered, unanswered]);
  });

  it("an order that shall go before it was checked goes when its check is answered, and releases what was reserved", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    fixture.risk.isDown = () => true;
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    const asked = await oms.call<OrderStatus>("CancelOrder", { order_id: "o-1", reason: "changed my mind" });
    expect(asked.state).toBe("PENDING_CHECK");
    fixture.risk.isDown = () => false;
    await becomes(fixture, "o-1", "CANCELLED");
    expect(fixture.reported(subjects.ordersCancelled)).toMatchObject([
      { decision_id: "d-1", reason: "changed my mind" },
    ]);
    expect(fixture.broker.arrivals.size).toBe(0);
  });
});

describe("the broker", () => {
  it("its refusal is REJECTED with its reason", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    fixture.broker.refused.add("o-1");
    const status = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    expect(status).toMatchObject({ state: "REJECTED", code: "ORDER_BROKER_REJECTED", reason: "we do not want it" });
  });

  it("in its silence is asked seldom, however often somebody rings; health tells since when, and of what", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    let silent = true;
    let asked = 0;
    fixture.broker.silence = (question) => {
      if (question === "order") asked += 1;
      return silent ? "after" : undefined;
    };
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    await fixture.until("it is reported", () => /unknown/.test(oms.service.health().complaint ?? ""));
    expect(oms.service.health()).toMatchObject({
      status: "ok",
      complaint: expect.stringMatching(/^The broker paper is silent since \S+Z\. What became of 1 order is unknown\.$/),
    });
    await fixture.time.timers.sleep(30_000);
    asked = 0;
    await fixture.time.timers.sleep(60_000);
    expect(asked).toBeLessThanOrEqual(13);
    silent = false;
    await becomes(fixture, "o-1", "WORKING");
    await fixture.until("nothing is left to tell", () => oms.service.health().complaint === undefined);
  });

  it("its silence is UNKNOWN and an alarm, never rejected; asked by our id until it tells", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    let silent = true;
    fixture.broker.silence = () => (silent ? "after" : undefined);
    const status = await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    expect(status.state).toBe("UNKNOWN");
    expect(fixture.reported(subjects.alarmRaised)).toMatchObject([
      { code: "ORDER_FATE_UNKNOWN", facts: { about: "o-1" } },
    ]);
    await fixture.time.timers.sleep(120_000);
    expect(await stateOf(fixture, "o-1")).toBe("UNKNOWN");
    silent = false;
    await becomes(fixture, "o-1", "WORKING");
    expect(fixture.broker.arrivals.get("o-1")).toBe(1);
    expect(fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "ORDER_FATE_UNKNOWN").length).toBe(1);
  });

  it("what it never had is sent again while the approval holds, and refused when it does not", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    let deaf = 1;
    fixture.broker.silence = (question) => (question === "submit" && deaf-- > 0 ? "before" : undefined);
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    await becomes(fixture, "o-1", "WORKING");
    fixture.broker.silence = (question) => (question === "submit" ? "before" : undefined);
    fixture.risk.validMs = 2_000;
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-2"));
    await becomes(fixture, "o-2", "REJECTED");
    expect((await fixture.order("o-2"))?.code).toBe("APPROVAL_EXPIRED");
  });

  it("reports that are hidden, repeated or not rung for are booked once, in order", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    fixture.broker.repeatsReports = true;
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    fixture.broker.hidden.add(3);
    fixture.broker.trade("o-1", "1", "230");
    fixture.broker.trade("o-1", "2", "230");
    fixture.broker.trade("o-1", "3", "230");
    await fixture.time.timers.sleep(5_000);
    expect(fixture.reported(subjects.fillsCreated).map(({ quantity }) => quantity)).toEqual(["1"]);
    fixture.broker.hidden.clear();
    await fixture.until("all trades are booked", () => fixture.reported(subjects.fillsCreated).length === 3);
    expect((await fixture.order("o-1"))?.filledQuantity).toBe(decimal.parse("6"));
    const [position] = await fixture.positions();
    expect(position).toMatchObject({ symbol: "AAPL", quantity: decimal.parse("6"), openedBy: "paper:e-1" });
  });

  it("trades are facts: late, before the acknowledgement, and beyond the quantity", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    await oms.call<OrderStatus>("CancelOrder", { order_id: "o-1", reason: "" });
    expect(await stateOf(fixture, "o-1")).toBe("CANCELLED");
    fixture.broker.trade("o-1", "3", "230");
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-2"));
    fixture.broker.trade("o-2", "12", "231");
    await becomes(fixture, "o-2", "FILLED");
    expect(await fixture.order("o-1")).toMatchObject({ state: "CANCELLED", filledQuantity: decimal.parse("3") });
    expect(fixture.reported(subjects.alarmRaised)).toMatchObject([
      { code: "ORDER_OVERFILLED", facts: { about: "o-2" } },
    ]);
    fixture.broker.silence = (question) => (question === "submit" ? "after" : undefined);
    const submitting = oms.call<OrderStatus>("SubmitOrder", orderOf("o-3"));
    await fixture.until("it arrived", () => fixture.broker.kept.has("o-3"));
    fixture.broker.trade("o-3", "10", "231");
    expect((await submitting).state).toBe("FILLED");
    const [position] = await fixture.positions();
    expect(position?.quantity).toBe(decimal.parse("25"));
  });
});

describe("lists and positions", () => {
  it("positions are shown with fresh prices, and the first ones are put in once, as rows and events", async () => {
    const fixture = await fixtureOf();
    const first = await fixture.start({ seedPaperPlatform: true });
    first.kill();
    const oms = await fixture.start({ seedPaperPlatform: true });
    expect((await fixture.positions()).length).toBe(paperPositions.length);
    expect(fixture.reported(subjects.fillsCreated).length).toBe(paperPositions.length);
    expect(fixture.reported(subjects.fillsCreated).every(({ kind }) => kind === "SEED")).toBe(true);
    await expect(oms.call("ListPositions", { fund_id: "nonesuch" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await oms.call("ListPositions", { fund_id: "gamma" })).toMatchObject({ positions: expect.any(Array) });
    const unpriced = await oms.call<Positions>("ListPositions", { fund_id: "alpha" });
    expect(unpriced.positions[0]).not.toHaveProperty("mark_price");
    const aapl = unpriced.positions.find(({ symbol }) => symbol === "AAPL");
    fixture.mark("AAPL", "240");
    await fixture.time.timers.sleep(500);
    const { positions } = await oms.call<Positions>("ListPositions", { fund_id: "alpha" });
    const quantity = decimal.parse(aapl?.quantity ?? "");
    const paid = decimal.multiply(quantity, decimal.parse(aapl?.average_price ?? ""), "half-even");
    const value = decimal.multiply(quantity, decimal.parse("240"), "half-even");
    expect(positions.find(({ symbol }) => symbol === "AAPL")).toMatchObject({
      mark_price: "240",
      market_value: decimal.format(value),
      unrealised_pnl: decimal.format(decimal.subtract(value, paid)),
      currency: "USD",
    });
    await fixture.time.timers.sleep(11_000);
    const stale = await oms.call<Positions>("ListPositions", { fund_id: "alpha" });
    expect(stale.positions.find(({ symbol }) => symbol === "AAPL")).not.toHaveProperty("mark_price");
  });

  it("an adjustment is a trade with its own id, once, and only from the quantity that it was meant for", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    const adjustment = {
      adjustment_id: "adjust-1",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      from_quantity: "0",
      to_quantity: "-7",
      price: "230",
      broker: "paper",
      reason: "off-system trade",
    };
    expect(await oms.call("AdjustPosition", adjustment)).toMatchObject({ quantity: "-7" });
    expect(await oms.call("AdjustPosition", adjustment)).toMatchObject({ quantity: "-7" });
    expect(fixture.reported(subjects.fillsCreated)).toMatchObject([
      { kind: "ADJUSTMENT", side: "SELL", quantity: "7" },
    ]);
    const outdated = await oms.call<DeniedAnswer>("AdjustPosition", { ...adjustment, adjustment_id: "adjust-2" });
    expect(outdated.denial.code).toBe("ADJUSTMENT_OUTDATED");
    // 23.12: what the reference data does not have is never opened, because nobody could value or close it.
    for (const [index, nowhere] of [
      { fund_id: "omega" },
      { strategy_id: "beta-trend" },
      { symbol: "GONE" },
    ].entries()) {
      const opening = { ...adjustment, ...nowhere, adjustment_id: `adjust-${index + 3}` };
      const { denial } = await oms.call<DeniedAnswer>("AdjustPosition", opening);
      expect(denial.code).toBe("ADJUSTMENT_REFERENCE_GONE");
    }
    expect(fixture.reported(subjects.fillsCreated)).toHaveLength(1);
  });

  it("cancelling everything needs its word, and asks for every open order of the fund", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-2"));
    const other = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", asset_class: "CRYPTO" } as const;
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-3", other));
    const wrong = await oms.call<DeniedAnswer>("CancelAll", { confirmation: "cancel", reason: "" }, operator);
    expect(wrong.denial.code).toBe("CONFIRMATION_WRONG");
    const refused = { operator: operator.actor, verb: "CancelAll", allowed: false, code: "CONFIRMATION_WRONG" };
    expect(fixture.reported(subjects.operatorAttempted)).toMatchObject([refused]);
    const typo = oms.call("CancelAll", { fund_id: "alhpa", confirmation: "CANCEL", reason: "" }, operator);
    await expect(typo).rejects.toMatchObject({ code: "NOT_FOUND", isReported: true });
    const unknown = { ...refused, target: "alhpa", code: "NOT_FOUND" };
    expect(fixture.reported(subjects.operatorAttempted), "22.11").toMatchObject([refused, unknown]);
    const all = await oms.call<OrderStatuses>(
      "CancelAll",
      { fund_id: "alpha", confirmation: "CANCEL", reason: "end" },
      operator,
    );
    expect(all.orders.map(({ order, state }) => [order?.order_id, state])).toEqual([
      ["o-1", "CANCELLED"],
      ["o-2", "CANCELLED"],
    ]);
    expect(all.audit_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await stateOf(fixture, "o-3")).toBe("WORKING");
    const none = await oms.call("CancelAll", { fund_id: "alpha", confirmation: "CANCEL", reason: "" }, operator);
    expect(none).toMatchObject({ orders: [], audit_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const late = await oms.call<DeniedAnswer>("CancelOrder", { order_id: "o-1", reason: "" });
    expect(late.denial.code).toBe("ORDER_NOT_OPEN");
  });
});

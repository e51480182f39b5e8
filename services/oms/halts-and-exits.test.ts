// What halts do to orders between approval and broker and to those that work there; amendments; exits in slices and exits that outlive their
// position.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { OrderStatus } from "../../contracts/src/generated/svc/v1/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import { type OmsFixture, type OmsLife, omsFixture, operator, orderOf } from "../../testkit/oms-fixture.ts";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";

const seed = 61_115;
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

const becomes = (fixture: OmsFixture, id: string, state: string) =>
  fixture.until(`${id} is ${state}`, async () => (await fixture.order(id))?.state === state);
const submit = (oms: OmsLife, ...given: Parameters<typeof orderOf>) =>
  oms.call<OrderStatus>("SubmitOrder", orderOf(...given));
const exit = { side: "SELL", reduce_only: true } as const;
const adjust = (oms: OmsLife, id: string, from: string, to: string) =>
  oms.call("AdjustPosition", {
    adjustment_id: id,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    from_quantity: from,
    to_quantity: to,
    price: "230",
    broker: "paper",
    reason: "test",
  });

describe(`halts, seed ${seed}`, () => {
  it("a halt between approval and sending refuses the order; a proven, marked exit goes out if the envelope lets it", async () => {
    for (const exitsPassHalts of [true, false]) {
      const fixture = await fixtureOf();
      const oms = await fixture.start();
      fixture.risk.exitsPassHalts = exitsPassHalts;
      // The answer comes late: the halt is latched after the decision.
      let lost = 2;
      fixture.risk.losesAnswer = () => lost-- > 0;
      const submitted = [submit(oms, "o-1"), submit(oms, "o-2", { ...exit, quantity: "5" })];
      await fixture.until("both are decided", () => fixture.risk.decided.length === 2);
      await fixture.halt({ severity: "FUND_HALT", fund_id: "alpha" });
      const [increase, reduction] = await Promise.all(submitted);
      expect(increase).toMatchObject({ state: "REJECTED", code: "APPROVAL_OUTDATED" });
      expect(reduction?.state).toBe(exitsPassHalts ? "WORKING" : "REJECTED");
      expect(fixture.broker.arrivals.has("o-1")).toBe(false);
    }
  });

  it("working orders that a halt covers are cancelled until that is proven, also after a restart; exits stay", async () => {
    const fixture = await fixtureOf();
    const first = await fixture.start();
    await adjust(first, "a-1", "0", "100");
    await submit(first, "o-1");
    await submit(first, "o-2", { strategy_id: "alpha-meanrev" });
    await submit(first, "o-3", exit);
    let silent = true;
    fixture.broker.silence = (question) => (question === "cancel" && silent ? "before" : undefined);
    await fixture.halt({ severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" });
    await becomes(fixture, "o-1", "CANCEL_PENDING");
    await fixture.time.timers.sleep(20_000);
    expect((await fixture.order("o-1"))?.state).toBe("CANCEL_PENDING");
    first.kill();
    silent = false;
    await fixture.start();
    await becomes(fixture, "o-1", "CANCELLED");
    expect(fixture.broker.kept.get("o-1")?.state).toBe("CANCELLED");
    expect((await fixture.order("o-1"))?.reason).toContain("halt-1");
    expect((await fixture.order("o-2"))?.state).toBe("WORKING");
    expect((await fixture.order("o-3"))?.state).toBe("WORKING");
  });

  it.each([
    ["STRATEGY_HALT", "CANCELLED", "REJECTED"],
    ["FUND_HALT", "WORKING", "WORKING"],
    ["FIRM_HALT", "WORKING", "WORKING"],
  ] as const)(
    "23.3: under a %s an exit against another strategy's position is %s, and %s when it was not sent yet",
    async (severity, sent, unsent) => {
      const fixture = await fixtureOf();
      const oms = await fixture.start();
      await adjust(oms, "a-1", "0", "100");
      fixture.risk.reducesStrategy = false;
      await submit(oms, "o-1", { ...exit, quantity: "5" });
      fixture.risk.reducesStrategy = true;
      await submit(oms, "o-2", { ...exit, quantity: "5" });
      fixture.risk.reducesStrategy = false;
      let lost = 1;
      fixture.risk.losesAnswer = () => lost-- > 0;
      const late = submit(oms, "o-3", { ...exit, quantity: "5" });
      await fixture.until("it is decided", () => fixture.risk.decided.length === 3);
      const scope = { fund_id: severity === "FIRM_HALT" ? "" : "alpha" };
      await fixture.halt({
        severity,
        ...scope,
        ...(severity === "STRATEGY_HALT" && { strategy_id: "alpha-momentum" }),
      });
      expect((await late).state).toBe(unsent);
      await becomes(fixture, "o-1", sent);
      await fixture.time.timers.sleep(5_000);
      expect([(await fixture.order("o-1"))?.state, (await fixture.order("o-2"))?.state]).toEqual([sent, "WORKING"]);
    },
  );

  it("an order whose fate is unknown is cancelled as well, and one that the broker never had is simply gone", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    fixture.broker.silence = (question) => (question === "submit" || question === "order" ? "before" : undefined);
    await submit(oms, "o-1");
    expect((await fixture.order("o-1"))?.state).toBe("UNKNOWN");
    await fixture.halt({ severity: "FIRM_HALT", fund_id: "" });
    fixture.broker.silence = () => undefined;
    await becomes(fixture, "o-1", "CANCELLED");
    expect(fixture.broker.arrivals.size).toBe(0);
  });
});

it("23.6: when a fund's losses are not judged for a minute what rests and adds risk is cancelled, and exits stay", async () => {
  const fixture = await fixtureOf();
  const oms = await fixture.start();
  await adjust(oms, "a-1", "0", "100");
  await submit(oms, "o-1");
  await submit(oms, "o-2", { strategy_id: "alpha-meanrev" });
  await submit(oms, "o-3", exit);
  await submit(oms, "o-4", { fund_id: "beta", strategy_id: "beta-trend" });
  await fixture.unjudged("alpha", "AAPL is not traded.");
  for (const id of ["o-1", "o-2"]) {
    await becomes(fixture, id, "CANCELLED");
    expect((await fixture.order(id))?.reason).toBe("AAPL is not traded.");
  }
  expect((await fixture.order("o-3"))?.state).toBe("WORKING");
  expect((await fixture.order("o-4"))?.state).toBe("WORKING");
});

describe("amendments", () => {
  const amend = (oms: OmsLife, terms: object) =>
    oms.call<OrderStatus & DeniedAnswer>("AmendOrder", {
      order_id: "o-1",
      idempotency_key: "amend-1",
      reason: "",
      ...terms,
    });

  it("are checked under their own key and hold when the broker has confirmed them", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await submit(oms, "o-1");
    const amended = await amend(oms, { quantity: "12.0", limit_price: "229" });
    expect(amended).toMatchObject({ state: "WORKING", order: { quantity: "12", limit_price: "229" } });
    expect(fixture.risk.asked[1]).toMatchObject({ order_id: "o-1", idempotency_key: "amend-1", quantity: "12" });
    expect(fixture.broker.kept.get("o-1")?.order.quantity).toBe(decimal.parse("12"));
    expect(fixture.reported(subjects.ordersUpdated).at(-1)).toMatchObject({ quantity: "12", limit_price: "229" });
    fixture.broker.trade("o-1", "12", "229");
    await becomes(fixture, "o-1", "FILLED");
  });

  it("are dropped when they are denied, and the order stays as it was", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await submit(oms, "o-1");
    fixture.risk.decide = () => "NOTIONAL_ABOVE_MAX";
    expect(await amend(oms, { quantity: "1000" })).toMatchObject({ denial: { code: "ORDER_DENIED" } });
    expect(await fixture.order("o-1")).toMatchObject({ state: "WORKING", order: { quantity: "10" } });
    expect(await fixture.order("o-1")).not.toHaveProperty("amendment");
    fixture.broker.trade("o-1", "4", "230");
    await becomes(fixture, "o-1", "PARTIALLY_FILLED");
    const less = { idempotency_key: "amend-2", quantity: "3" };
    expect(await amend(oms, less)).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
  });

  it("go on after a restart, whether the engine or the broker was silent", async () => {
    const fixture = await fixtureOf();
    const first = await fixture.start();
    await submit(first, "o-1");
    fixture.broker.silence = (question) => (question === "amend" || question === "order" ? "after" : undefined);
    const pending = await amend(first, { quantity: "15" });
    expect(pending.order?.quantity).toBe("10");
    first.kill();
    fixture.broker.silence = () => undefined;
    await fixture.start();
    await fixture.until("the terms hold", async () => (await fixture.order("o-1"))?.order.quantity === "15");
    expect(fixture.risk.decided.length).toBe(2);
  });
});

describe("amendments that must not come into force", () => {
  const amend = (oms: OmsLife, terms: object) =>
    oms.call<OrderStatus & DeniedAnswer>("AmendOrder", {
      order_id: "o-1",
      idempotency_key: "amend-1",
      reason: "",
      ...terms,
    });

  it("are not handed over, or again, on an approval that ran out or under a halt that came after it", async () => {
    for (const trouble of ["time", "halt"] as const) {
      const fixture = await fixtureOf();
      const oms = await fixture.start();
      await submit(oms, "o-1");
      if (trouble === "halt") fixture.risk.validMs = 60_000;
      // The broker hears nothing of the first hand-over, and says so only later.
      fixture.broker.silence = (question) => (question === "amend" || question === "order" ? "before" : undefined);
      expect((await amend(oms, { quantity: "15" })).order?.quantity).toBe("10");
      expect((await fixture.order("o-1"))?.amendment).toMatchObject({ quantity: "15" });
      if (trouble === "time") await fixture.time.timers.sleep(6_000);
      else await fixture.halt({ severity: "FUND_HALT", fund_id: "alpha" });
      let amends = 0;
      fixture.broker.silence = (question) => {
        if (question === "amend") amends += 1;
        return undefined;
      };
      if (trouble === "halt") await becomes(fixture, "o-1", "CANCELLED");
      else
        await fixture.until("the terms are settled", async () => (await fixture.order("o-1"))?.amendment === undefined);
      expect((await fixture.order("o-1"))?.order.quantity).toBe("10");
      expect(amends).toBe(0);
      if (trouble === "time") expect((await fixture.order("o-1"))?.reason).toMatch(/^Not amended\. .*ran out/);
    }
  });

  it("with the key of other terms are a conflict, and terms that an order cannot have are refused", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await submit(oms, "o-1");
    fixture.broker.silence = (question) => (question === "amend" || question === "order" ? "before" : undefined);
    const first = amend(oms, { quantity: "15" });
    await fixture.until("it is wished", async () => (await fixture.order("o-1"))?.amendment !== undefined);
    expect(await amend(oms, { quantity: "16" })).toMatchObject({ denial: { code: "ORDER_KEY_CONFLICT" } });
    expect(await amend(oms, { quantity: "15.0" })).toMatchObject({ order: { quantity: "10" } });
    await first;
    await submit(oms, "o-2");
    const stop = amend(oms, { order_id: "o-2", stop_price: "229" });
    await expect(stop).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const reserved = { order_id: "o-2", idempotency_key: "stop-x-1", quantity: "9", reason: "" };
    await expect(oms.call("AmendOrder", reserved, operator)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("are not recorded when the broker has other prices, and an order that ended is not open to its own terms", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await submit(oms, "o-1");
    const { amend: real } = fixture.broker;
    // It takes the quantity and says nothing of the price.
    fixture.broker.amend = (id, { quantity }) => real(id, quantity === undefined ? {} : { quantity });
    expect(await amend(oms, { limit_price: "229" })).toMatchObject({ denial: { code: "ORDER_BROKER_REJECTED" } });
    expect(await fixture.order("o-1")).toMatchObject({
      order: { limit_price: "230" },
      reason: expect.stringContaining("Not amended"),
    });
    fixture.broker.amend = real;
    await amend(oms, { idempotency_key: "amend-2", limit_price: "229" });
    expect(await fixture.order("o-1")).toMatchObject({ order: { limit_price: "229" } });
    expect((await fixture.order("o-1"))?.reason).toBeUndefined();
    // Ended at the broker while its report is still on the way.
    for (let cursor = 1; cursor < 20; cursor += 1) fixture.broker.hidden.add(cursor);
    fixture.broker.end("o-1", "CANCELLED");
    const late = await amend(oms, { idempotency_key: "amend-3", limit_price: "228" });
    expect(late).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
    expect((await fixture.order("o-1"))?.order.limit_price).toBe("229");
    fixture.broker.hidden.clear();
    await becomes(fixture, "o-1", "CANCELLED");
    const same = await amend(oms, { idempotency_key: "amend-4", limit_price: "229" });
    expect(same).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
  });
});

describe("names", () => {
  it("of the platform's own orders and of slices are refused at the door", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    const own = { kind: "service", actor: "service:operations", name: "operations" } as Identity;
    const stranger = { kind: "service", actor: "service:webhook", name: "webhook" } as Identity;
    const give = (order: object, identity: Identity) =>
      oms.call<OrderStatus>("SubmitOrder", { ...orderOf("o-1"), ...order }, identity);
    for (const order of [
      { order_id: "stop-0123-1" },
      { idempotency_key: "stop-0123-1" },
      { order_id: "adjust-1" },
      { order_id: "exit/1" },
      { idempotency_key: "slice-exit/1" },
    ]) {
      for (const identity of [operator, stranger]) {
        await expect(give(order, identity)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      }
    }
    expect(await give({ order_id: "stop-0123-1", idempotency_key: "stop-0123-1" }, own)).toMatchObject({
      state: "WORKING",
    });
    await expect(give({ order_id: "exit/1" }, own)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("exits", () => {
  it("45.5: that claim more than their strategy holds are cut to that before the engine is asked", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    fixture.risk.maxNotional = 1_000;
    fixture.risk.decide = ({ quantity }) => Number(quantity) <= 10 || "SCHEMA_REDUCE_ONLY_UNPROVEN";
    await adjust(oms, "a-1", "0", "20");
    const claim = await submit(oms, "claim", { ...exit, limit_price: "100", quantity: "25" });
    expect(claim).toMatchObject({ state: "WORKING", cut_from: "25", order: { quantity: "20" } });
    expect(claim.reason).toBe("The exit was cut from 25 to 20: the strategy alpha-momentum holds 20 AAPL.");
    await oms.call("CancelOrder", { order_id: "claim", reason: "" });
    await becomes(fixture, "claim", "CANCELLED");
    await submit(oms, "other", { ...exit, limit_price: "90", quantity: "5" });
    const more = await submit(oms, "exit", { ...exit, limit_price: "100", quantity: "16" });
    expect(more).toMatchObject({ state: "WORKING", cut_from: "16", order: { quantity: "15" } });
    // Nothing is left: whole, the engine denies it.
    fixture.risk.decide = () => "EXIT_EXCEEDS_STRATEGY";
    const none = await submit(oms, "none", { ...exit, limit_price: "90", quantity: "7" });
    expect(none).toMatchObject({ state: "REJECTED", order: { quantity: "7" } });
    expect(none.cut_from).toBeUndefined();
    fixture.risk.decide = () => true;
    // Somebody closes most of it meanwhile: what is left is the next slice.
    await becomes(fixture, "exit/1", "WORKING");
    await adjust(oms, "a-2", "20", "18");
    fixture.broker.trade("exit/1", "10", "100");
    await fixture.until("the next slice", async () => (await fixture.order("exit/2")) !== undefined);
    expect((await fixture.order("exit/2"))?.order.quantity).toBe("3");
  });

  it("above the largest order go out in slices, one after the other, and the whole shows their sum", async () => {
    const fixture = await fixtureOf();
    const first = await fixture.start();
    await adjust(first, "a-1", "0", "25");
    fixture.risk.maxNotional = 1_000;
    const status = await submit(first, "exit", { ...exit, limit_price: "100", quantity: "25" });
    expect(status.state).toBe("WORKING");
    await becomes(fixture, "exit/1", "WORKING");
    expect([...fixture.broker.kept.keys()]).toEqual(["exit/1"]);
    fixture.broker.trade("exit/1", "10", "101");
    await becomes(fixture, "exit/2", "WORKING");
    expect(await fixture.order("exit")).toMatchObject({
      state: "PARTIALLY_FILLED",
      filledQuantity: decimal.parse("10"),
    });
    first.kill();
    await fixture.start();
    fixture.broker.trade("exit/2", "10", "99");
    await becomes(fixture, "exit/3", "WORKING");
    fixture.broker.trade("exit/3", "5", "98");
    await becomes(fixture, "exit", "FILLED");
    expect([...fixture.broker.kept.values()].map(({ order }) => decimal.format(order.quantity))).toEqual([
      "10",
      "10",
      "5",
    ]);
    expect(fixture.risk.asked.map(({ idempotency_key: key }) => key)).toEqual([1, 2, 3].map((n) => `slice-exit/${n}`));
    expect((await fixture.positions())[0]?.quantity).toBe(decimal.zero);
  });

  it("22.4: are cut only when they are marked: all else goes to the engine whole", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await adjust(oms, "a-1", "0", "50");
    fixture.risk.maxNotional = 1_000;
    fixture.risk.decide = ({ quantity }) => Number(quantity) <= 10 || "NOTIONAL_ABOVE_MAX";
    const plain = { side: "SELL", limit_price: "100", quantity: "25" } as const;
    expect(await submit(oms, "plain", plain)).toMatchObject({ state: "REJECTED", code: "NOTIONAL_ABOVE_MAX" });
    expect(await submit(oms, "buy", { ...plain, side: "BUY" })).toMatchObject({ state: "REJECTED" });
    expect(await submit(oms, "exit", { ...exit, ...plain })).toMatchObject({ state: "WORKING" });
    await becomes(fixture, "exit/1", "WORKING");
    const slice = (await fixture.order("exit/1"))?.order;
    expect([slice?.quantity, slice?.reduce_only]).toEqual(["10", true]);
    expect(fixture.risk.asked.map(({ quantity }) => quantity)).toEqual(["25", "25", "10"]);
  });

  it("in slices can be cancelled, and end as their last slice does", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await adjust(oms, "a-1", "0", "60");
    fixture.risk.maxNotional = 1_000;
    await submit(oms, "exit", { ...exit, limit_price: "100", quantity: "25" });
    await becomes(fixture, "exit/1", "WORKING");
    await oms.call("CancelOrder", { order_id: "exit", reason: "enough" });
    await becomes(fixture, "exit", "CANCELLED");
    expect((await fixture.order("exit/1"))?.state).toBe("CANCELLED");
    await submit(oms, "other", { ...exit, limit_price: "100", quantity: "25" });
    await becomes(fixture, "other/1", "WORKING");
    fixture.risk.decide = () => "SCHEMA_REDUCE_ONLY_UNPROVEN";
    fixture.broker.trade("other/1", "10", "100");
    await becomes(fixture, "other", "CANCELLED");
    expect(await fixture.order("other")).toMatchObject({
      code: "SCHEMA_REDUCE_ONLY_UNPROVEN",
      filledQuantity: decimal.parse("10"),
    });
  });

  it("that rest above what is left of the position are lowered, newest first, or cancelled", async () => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await adjust(oms, "a-1", "0", "20");
    await submit(oms, "old", { ...exit, quantity: "10" });
    await submit(oms, "young", { ...exit, quantity: "10" });
    await adjust(oms, "a-2", "20", "14");
    await fixture.until("the younger is lowered", async () => (await fixture.order("young"))?.order.quantity === "4");
    expect((await fixture.order("old"))?.order.quantity).toBe("10");
    await adjust(oms, "a-3", "14", "0");
    await becomes(fixture, "old", "CANCELLED");
    await becomes(fixture, "young", "CANCELLED");
    expect(oms.deaths).toEqual([]);
  });
});

// What halts do to orders between approval and broker and to those that work there; amendments; exits in slices and exits that outlive their
// position.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { OrderStatus } from "../../contracts/src/generated/svc/v1/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import { type OmsLife, type OmsRig, omsRig, operator, orderOf } from "../../testkit/oms-rig.ts";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";

const seed = 61_115;
const rigs: OmsRig[] = [];
let undo: () => void = () => undefined;

async function rigged(): Promise<OmsRig> {
  undo = ignoreEndedIncarnations();
  const rig = await omsRig({ seed });
  rigs.push(rig);
  return rig;
}

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  undo();
});

const becomes = (rig: OmsRig, id: string, state: string) =>
  rig.until(`${id} is ${state}`, async () => (await rig.order(id))?.state === state);
const submit = (oms: OmsLife, ...given: Parameters<typeof orderOf>) =>
  oms.call<OrderStatus>("SubmitOrder", orderOf(...given));
const exit = { side: "SELL", reduce_only: true } as const;
const adjust = (oms: OmsLife, id: string, from: string, to: string) =>
  oms.call("AdjustPosition", {
    ...{ adjustment_id: id, fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL" },
    ...{ from_quantity: from, to_quantity: to, price: "230", broker: "paper", reason: "test" },
  });

describe(`halts, seed ${seed}`, () => {
  it("a halt between approval and sending refuses the order; a proven, marked exit goes out if the envelope lets it", async () => {
    for (const exitsPassHalts of [true, false]) {
      const rig = await rigged();
      const oms = await rig.start();
      rig.risk.exitsPassHalts = exitsPassHalts;
      // The answer comes late: the halt is latched after the decision.
      let lost = 2;
      rig.risk.losesAnswer = () => lost-- > 0;
      const submitted = [submit(oms, "o-1"), submit(oms, "o-2", { ...exit, quantity: "5" })];
      await rig.until("both are decided", () => rig.risk.decided.length === 2);
      await rig.halt({ severity: "FUND_HALT", fund_id: "alpha" });
      const [increase, reduction] = await Promise.all(submitted);
      expect(increase).toMatchObject({ state: "REJECTED", code: "APPROVAL_OUTDATED" });
      expect(reduction?.state).toBe(exitsPassHalts ? "WORKING" : "REJECTED");
      expect(rig.broker.arrivals.has("o-1")).toBe(false);
    }
  });

  it("working orders that a halt covers are cancelled until that is proven, also after a restart; exits stay", async () => {
    const rig = await rigged();
    const first = await rig.start();
    await adjust(first, "a-1", "0", "100");
    await submit(first, "o-1");
    await submit(first, "o-2", { strategy_id: "alpha-meanrev" });
    await submit(first, "o-3", exit);
    let silent = true;
    rig.broker.silence = (question) => (question === "cancel" && silent ? "before" : undefined);
    await rig.halt({ severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" });
    await becomes(rig, "o-1", "CANCEL_PENDING");
    await rig.time.timers.sleep(20_000);
    expect((await rig.order("o-1"))?.state).toBe("CANCEL_PENDING");
    first.kill();
    silent = false;
    await rig.start();
    await becomes(rig, "o-1", "CANCELLED");
    expect(rig.broker.kept.get("o-1")?.state).toBe("CANCELLED");
    expect((await rig.order("o-1"))?.reason).toContain("halt-1");
    expect((await rig.order("o-2"))?.state).toBe("WORKING");
    expect((await rig.order("o-3"))?.state).toBe("WORKING");
  });

  it.each([
    ["STRATEGY_HALT", "CANCELLED", "REJECTED"],
    ["FUND_HALT", "WORKING", "WORKING"],
    ["FIRM_HALT", "WORKING", "WORKING"],
  ] as const)(
    "23.3: under a %s an exit against another strategy's position is %s, and %s when it was not sent yet",
    async (severity, sent, unsent) => {
      const rig = await rigged();
      const oms = await rig.start();
      await adjust(oms, "a-1", "0", "100");
      rig.risk.reducesStrategy = false;
      await submit(oms, "o-1", { ...exit, quantity: "5" });
      rig.risk.reducesStrategy = true;
      await submit(oms, "o-2", { ...exit, quantity: "5" });
      rig.risk.reducesStrategy = false;
      let lost = 1;
      rig.risk.losesAnswer = () => lost-- > 0;
      const late = submit(oms, "o-3", { ...exit, quantity: "5" });
      await rig.until("it is decided", () => rig.risk.decided.length === 3);
      const scope = { fund_id: severity === "FIRM_HALT" ? "" : "alpha" };
      await rig.halt({ severity, ...scope, ...(severity === "STRATEGY_HALT" && { strategy_id: "alpha-momentum" }) });
      expect((await late).state).toBe(unsent);
      await becomes(rig, "o-1", sent);
      await rig.time.timers.sleep(5_000);
      expect([(await rig.order("o-1"))?.state, (await rig.order("o-2"))?.state]).toEqual([sent, "WORKING"]);
    },
  );

  it("an order whose fate is unknown is cancelled as well, and one that the broker never had is simply gone", async () => {
    const rig = await rigged();
    const oms = await rig.start();
    rig.broker.silence = (question) => (question === "submit" || question === "order" ? "before" : undefined);
    await submit(oms, "o-1");
    expect((await rig.order("o-1"))?.state).toBe("UNKNOWN");
    await rig.halt({ severity: "FIRM_HALT", fund_id: "" });
    rig.broker.silence = () => undefined;
    await becomes(rig, "o-1", "CANCELLED");
    expect(rig.broker.arrivals.size).toBe(0);
  });
});

it("23.6: when a fund's losses are not judged for a minute what rests and adds risk is cancelled, and exits stay", async () => {
  const rig = await rigged();
  const oms = await rig.start();
  await adjust(oms, "a-1", "0", "100");
  await submit(oms, "o-1");
  await submit(oms, "o-2", { strategy_id: "alpha-meanrev" });
  await submit(oms, "o-3", exit);
  await submit(oms, "o-4", { fund_id: "beta", strategy_id: "beta-trend" });
  await rig.unjudged("alpha", "AAPL is not traded.");
  for (const id of ["o-1", "o-2"]) {
    await becomes(rig, id, "CANCELLED");
    expect((await rig.order(id))?.reason).toBe("AAPL is not traded.");
  }
  expect((await rig.order("o-3"))?.state).toBe("WORKING");
  expect((await rig.order("o-4"))?.state).toBe("WORKING");
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
    const rig = await rigged();
    const oms = await rig.start();
    await submit(oms, "o-1");
    const amended = await amend(oms, { quantity: "12.0", limit_price: "229" });
    expect(amended).toMatchObject({ state: "WORKING", order: { quantity: "12", limit_price: "229" } });
    expect(rig.risk.asked[1]).toMatchObject({ order_id: "o-1", idempotency_key: "amend-1", quantity: "12" });
    expect(rig.broker.kept.get("o-1")?.order.quantity).toBe(decimal.parse("12"));
    expect(rig.told(subjects.ordersUpdated).at(-1)).toMatchObject({ quantity: "12", limit_price: "229" });
    rig.broker.trade("o-1", "12", "229");
    await becomes(rig, "o-1", "FILLED");
  });

  it("are dropped when they are denied, and the order stays as it was", async () => {
    const rig = await rigged();
    const oms = await rig.start();
    await submit(oms, "o-1");
    rig.risk.decide = () => "NOTIONAL_ABOVE_MAX";
    expect(await amend(oms, { quantity: "1000" })).toMatchObject({ denial: { code: "ORDER_DENIED" } });
    expect(await rig.order("o-1")).toMatchObject({ state: "WORKING", order: { quantity: "10" } });
    expect(await rig.order("o-1")).not.toHaveProperty("amendment");
    rig.broker.trade("o-1", "4", "230");
    await becomes(rig, "o-1", "PARTIALLY_FILLED");
    const less = { idempotency_key: "amend-2", quantity: "3" };
    expect(await amend(oms, less)).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
  });

  it("go on after a restart, whether the engine or the broker was silent", async () => {
    const rig = await rigged();
    const first = await rig.start();
    await submit(first, "o-1");
    rig.broker.silence = (question) => (question === "amend" || question === "order" ? "after" : undefined);
    const pending = await amend(first, { quantity: "15" });
    expect(pending.order?.quantity).toBe("10");
    first.kill();
    rig.broker.silence = () => undefined;
    await rig.start();
    await rig.until("the terms hold", async () => (await rig.order("o-1"))?.order.quantity === "15");
    expect(rig.risk.decided.length).toBe(2);
  });
});

describe("amendments that must not come into force", () => {
  const amend = (oms: OmsLife, terms: object) =>
    oms.call<OrderStatus & DeniedAnswer>("AmendOrder", {
      ...{ order_id: "o-1", idempotency_key: "amend-1", reason: "", ...terms },
    });

  it("are not handed over, or again, on an approval that ran out or under a halt that came after it", async () => {
    for (const trouble of ["time", "halt"] as const) {
      const rig = await rigged();
      const oms = await rig.start();
      await submit(oms, "o-1");
      if (trouble === "halt") rig.risk.validMs = 60_000;
      // The broker hears nothing of the first hand-over, and says so only later.
      rig.broker.silence = (question) => (question === "amend" || question === "order" ? "before" : undefined);
      expect((await amend(oms, { quantity: "15" })).order?.quantity).toBe("10");
      expect((await rig.order("o-1"))?.amendment).toMatchObject({ quantity: "15" });
      if (trouble === "time") await rig.time.timers.sleep(6_000);
      else await rig.halt({ severity: "FUND_HALT", fund_id: "alpha" });
      let amends = 0;
      rig.broker.silence = (question) => {
        if (question === "amend") amends += 1;
        return undefined;
      };
      if (trouble === "halt") await becomes(rig, "o-1", "CANCELLED");
      else await rig.until("the terms are settled", async () => (await rig.order("o-1"))?.amendment === undefined);
      expect((await rig.order("o-1"))?.order.quantity).toBe("10");
      expect(amends).toBe(0);
      if (trouble === "time") expect((await rig.order("o-1"))?.reason).toMatch(/^Not amended\. .*ran out/);
    }
  });

  it("with the key of other terms are a conflict, and terms that an order cannot have are refused", async () => {
    const rig = await rigged();
    const oms = await rig.start();
    await submit(oms, "o-1");
    rig.broker.silence = (question) => (question === "amend" || question === "order" ? "before" : undefined);
    const first = amend(oms, { quantity: "15" });
    await rig.until("it is wished", async () => (await rig.order("o-1"))?.amendment !== undefined);
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
    const rig = await rigged();
    const oms = await rig.start();
    await submit(oms, "o-1");
    const { amend: real } = rig.broker;
    // It takes the quantity and says nothing of the price.
    rig.broker.amend = (id, { quantity }) => real(id, quantity === undefined ? {} : { quantity });
    expect(await amend(oms, { limit_price: "229" })).toMatchObject({ denial: { code: "ORDER_BROKER_REJECTED" } });
    expect(await rig.order("o-1")).toMatchObject({
      order: { limit_price: "230" },
      reason: expect.stringContaining("Not amended"),
    });
    rig.broker.amend = real;
    await amend(oms, { idempotency_key: "amend-2", limit_price: "229" });
    expect(await rig.order("o-1")).toMatchObject({ order: { limit_price: "229" } });
    expect((await rig.order("o-1"))?.reason).toBeUndefined();
    // Ended at the broker while its report is still on the way.
    for (let cursor = 1; cursor < 20; cursor += 1) rig.broker.hidden.add(cursor);
    rig.broker.end("o-1", "CANCELLED");
    const late = await amend(oms, { idempotency_key: "amend-3", limit_price: "228" });
    expect(late).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
    expect((await rig.order("o-1"))?.order.limit_price).toBe("229");
    rig.broker.hidden.clear();
    await becomes(rig, "o-1", "CANCELLED");
    const same = await amend(oms, { idempotency_key: "amend-4", limit_price: "229" });
    expect(same).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
  });
});

describe("names", () => {
  it("of the platform's own orders and of slices are refused at the door", async () => {
    const rig = await rigged();
    const oms = await rig.start();
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
  it("that claim more than there is are not cut: whole, the engine denies them", async () => {
    const rig = await rigged();
    const oms = await rig.start();
    rig.risk.maxNotional = 1_000;
    rig.risk.decide = ({ quantity }) => Number(quantity) <= 10 || "SCHEMA_REDUCE_ONLY_UNPROVEN";
    await adjust(oms, "a-1", "0", "20");
    const claim = await submit(oms, "claim", { ...exit, limit_price: "100", quantity: "25" });
    expect(claim).toMatchObject({ state: "REJECTED", code: "SCHEMA_REDUCE_ONLY_UNPROVEN" });
    expect(rig.risk.asked.map(({ quantity }) => quantity)).toEqual(["25"]);
    await submit(oms, "other", { ...exit, limit_price: "90", quantity: "5" });
    expect((await submit(oms, "more", { ...exit, limit_price: "100", quantity: "16" })).state).toBe("REJECTED");
    expect((await submit(oms, "exit", { ...exit, limit_price: "100", quantity: "15" })).state).toBe("WORKING");
    // Somebody closes most of it meanwhile: what is left is the next slice.
    await becomes(rig, "exit/1", "WORKING");
    await adjust(oms, "a-2", "20", "18");
    rig.broker.trade("exit/1", "10", "100");
    await rig.until("the next slice", async () => (await rig.order("exit/2")) !== undefined);
    expect((await rig.order("exit/2"))?.order.quantity).toBe("3");
  });

  it("above the largest order go out in slices, one after the other, and the whole shows their sum", async () => {
    const rig = await rigged();
    const first = await rig.start();
    await adjust(first, "a-1", "0", "25");
    rig.risk.maxNotional = 1_000;
    const status = await submit(first, "exit", { ...exit, limit_price: "100", quantity: "25" });
    expect(status.state).toBe("WORKING");
    await becomes(rig, "exit/1", "WORKING");
    expect([...rig.broker.kept.keys()]).toEqual(["exit/1"]);
    rig.broker.trade("exit/1", "10", "101");
    await becomes(rig, "exit/2", "WORKING");
    expect(await rig.order("exit")).toMatchObject({ state: "PARTIALLY_FILLED", filledQuantity: decimal.parse("10") });
    first.kill();
    await rig.start();
    rig.broker.trade("exit/2", "10", "99");
    await becomes(rig, "exit/3", "WORKING");
    rig.broker.trade("exit/3", "5", "98");
    await becomes(rig, "exit", "FILLED");
    expect([...rig.broker.kept.values()].map(({ order }) => decimal.format(order.quantity))).toEqual(["10", "10", "5"]);
    expect(rig.risk.asked.map(({ idempotency_key: key }) => key)).toEqual([1, 2, 3].map((n) => `slice-exit/${n}`));
    expect((await rig.positions())[0]?.quantity).toBe(decimal.zero);
  });

  it("22.4: are cut only when they are marked: all else goes to the engine whole", async () => {
    const rig = await rigged();
    const oms = await rig.start();
    await adjust(oms, "a-1", "0", "50");
    rig.risk.maxNotional = 1_000;
    rig.risk.decide = ({ quantity }) => Number(quantity) <= 10 || "NOTIONAL_ABOVE_MAX";
    const plain = { side: "SELL", limit_price: "100", quantity: "25" } as const;
    expect(await submit(oms, "plain", plain)).toMatchObject({ state: "REJECTED", code: "NOTIONAL_ABOVE_MAX" });
    expect(await submit(oms, "buy", { ...plain, side: "BUY" })).toMatchObject({ state: "REJECTED" });
    expect(await submit(oms, "exit", { ...exit, ...plain })).toMatchObject({ state: "WORKING" });
    await becomes(rig, "exit/1", "WORKING");
    const slice = (await rig.order("exit/1"))?.order;
    expect([slice?.quantity, slice?.reduce_only]).toEqual(["10", true]);
    expect(rig.risk.asked.map(({ quantity }) => quantity)).toEqual(["25", "25", "10"]);
  });

  it("in slices can be cancelled, and end as their last slice does", async () => {
    const rig = await rigged();
    const oms = await rig.start();
    await adjust(oms, "a-1", "0", "60");
    rig.risk.maxNotional = 1_000;
    await submit(oms, "exit", { ...exit, limit_price: "100", quantity: "25" });
    await becomes(rig, "exit/1", "WORKING");
    await oms.call("CancelOrder", { order_id: "exit", reason: "enough" });
    await becomes(rig, "exit", "CANCELLED");
    expect((await rig.order("exit/1"))?.state).toBe("CANCELLED");
    await submit(oms, "other", { ...exit, limit_price: "100", quantity: "25" });
    await becomes(rig, "other/1", "WORKING");
    rig.risk.decide = () => "SCHEMA_REDUCE_ONLY_UNPROVEN";
    rig.broker.trade("other/1", "10", "100");
    await becomes(rig, "other", "CANCELLED");
    expect(await rig.order("other")).toMatchObject({
      code: "SCHEMA_REDUCE_ONLY_UNPROVEN",
      filledQuantity: decimal.parse("10"),
    });
  });

  it("that rest above what is left of the position are lowered, newest first, or cancelled", async () => {
    const rig = await rigged();
    const oms = await rig.start();
    await adjust(oms, "a-1", "0", "20");
    await submit(oms, "old", { ...exit, quantity: "10" });
    await submit(oms, "young", { ...exit, quantity: "10" });
    await adjust(oms, "a-2", "20", "14");
    await rig.until("the younger is lowered", async () => (await rig.order("young"))?.order.quantity === "4");
    expect((await rig.order("old"))?.order.quantity).toBe("10");
    await adjust(oms, "a-3", "14", "0");
    await becomes(rig, "old", "CANCELLED");
    await becomes(rig, "young", "CANCELLED");
    expect(oms.deaths).toEqual([]);
  });
});

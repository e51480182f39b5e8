// What halts do to orders between approval and broker and to those that work there; amendments; exits in slices and exits that outlive their
// position.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { OrderStatus } from "../../contracts/src/generated/svc/v1/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import { type OmsLife, type OmsRig, omsRig, orderOf } from "../../testkit/oms-rig.ts";
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
    expect(await amend(oms, { quantity: "3" })).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
  });

  it("go on after a restart, whether the engine or the broker was silent", async () => {
    const rig = await rigged();
    const first = await rig.start();
    await submit(first, "o-1");
    rig.broker.silence = (question) => (question === "amend" ? "after" : undefined);
    const pending = await amend(first, { quantity: "15" });
    expect(pending.order?.quantity).toBe("10");
    first.kill();
    rig.broker.silence = () => undefined;
    await rig.start();
    await rig.until("the terms hold", async () => (await rig.order("o-1"))?.order.quantity === "15");
    expect(rig.risk.decided.length).toBe(2);
  });
});

describe("exits", () => {
  it("above the largest order go out in slices, one after the other, and the whole shows their sum", async () => {
    const rig = await rigged();
    const first = await rig.start();
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
    expect(rig.risk.asked.map(({ idempotency_key: key }) => key)).toEqual([1, 2, 3].map((n) => `key of exit/${n}`));
    expect((await rig.positions())[0]?.quantity).toBe(decimal.parse("-25"));
  });

  it("in slices can be cancelled, and end as their last slice does", async () => {
    const rig = await rigged();
    const oms = await rig.start();
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

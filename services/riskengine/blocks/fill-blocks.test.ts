// 28.5: a fill beyond the collar of the mark, or larger than its order, is booked and counts at once; new risk in its symbol waits until an operator
// accepts it. On the whole shell, with kills and a store that fails.
import { describe, expect, it } from "vitest";
import type { Fault } from "../../../contracts/src/fault.ts";
import type { Blocks } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  type EngineLife,
  machine,
  orderOf,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

let seed = 28_500;
let fills = 0;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  return [fixture, await fixture.start()];
}

/** The mark of AAPL is 232.5, alpha's collar 5 %. */
async function trade(fixture: RiskEngineFixture, differs: Partial<Fill> = {}): Promise<Fill> {
  fills += 1;
  const fill: Fill = {
    fill_id: `f-${fills}`,
    order_id: `foreign-${fills}`,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    price: "232.5",
    filled_at: format(fixture.time.clock.now()),
    ...differs,
  };
  await fixture.publish(subjects.fillsCreated, fill);
  await fixture.pass(200);
  return fill;
}

const codeOf = async (fixture: RiskEngineFixture, life: EngineLife, order: object = {}): Promise<string> =>
  (await fixture.finish(life.check({ quantity: "10", ...order }))).code;
const listed = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListBlocks", {}))) as Blocks).blocks.filter(
    ({ code }) => code === "FILL_NOT_ACCEPTED",
  );
const idOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string> =>
  (await listed(fixture, life))[0]?.block_id ?? "none";
const accept = (fixture: RiskEngineFixture, life: EngineLife, block_id: string, reason = "the broker confirmed it") =>
  fixture.finish(life.call("AcceptBlock", { block_id, reason }));
const held = async (fixture: RiskEngineFixture, life: EngineLife): Promise<readonly string[]> => {
  const { lines } = (await fixture.finish(life.call("ListExposures", {}))) as {
    lines: { symbol: string; quantity: string }[];
  };
  return lines.map(({ symbol, quantity }) => `${symbol} ${quantity}`);
};
const alarms = (fixture: RiskEngineFixture) => fixture.published(subjects.alarmRaised).map(({ code }) => code);

describe("28.5: a fill beyond the collar of the mark", () => {
  it("counts at once, alarms, and keeps new risk from its symbol until an operator accepts it", async () => {
    const [fixture, life] = await begin();
    const fill = await trade(fixture, { price: "300" });
    expect(await held(fixture, life)).toEqual(["AAPL 100"]);
    const denied = await fixture.finish(life.check({ quantity: "10" }));
    expect([denied.code, denied.rejecting_gate]).toEqual(["FILL_NOT_ACCEPTED", "position_risk"]);
    expect(denied.reason).toContain(
      `Fill ${fill.fill_id} of AAPL for alpha: its price 300 is more than 5 % from the mark 232.5.`,
    );
    // Other symbols, other funds and exits pass.
    expect(await codeOf(fixture, life, { symbol: "MSFT", limit_price: "428" })).toBe("");
    const elsewhere = { fund_id: "gamma", strategy_id: "gamma-income", symbol: "SPY", limit_price: "592.4" };
    expect(await codeOf(fixture, life, elsewhere)).not.toBe("FILL_NOT_ACCEPTED");
    expect(await codeOf(fixture, life, { side: "SELL", quantity: "60" })).toBe("");
    expect(await codeOf(fixture, life, { side: "SELL", quantity: "40", reduce_only: true })).toBe("");

    const [block] = await listed(fixture, life);
    expect(block).toMatchObject({ scope: "symbol", fund_id: "alpha", symbol: "AAPL" });
    expect(block?.command).toBe(`ctl riskengine blocks accept ${block?.block_id} --reason TEXT`);
    expect(alarms(fixture)).toEqual(["FILL_WITHOUT_ORDER", "FILL_OUTSIDE_COLLAR"]);
    expect(fixture.published(subjects.blockOpened)).toMatchObject([{ block_id: block?.block_id, fund_id: "alpha" }]);

    const answer = await accept(fixture, life, block?.block_id ?? "");
    expect(answer).toMatchObject({ cause: "FILL_OUTSIDE_COLLAR", symbol: "AAPL", accepted_by: "operator:duty" });
    expect(await listed(fixture, life)).toEqual([]);
    expect(await codeOf(fixture, life)).toBe("");
    expect(fixture.published(subjects.blockEnded)).toMatchObject([
      { block_id: block?.block_id, ended_by: "operator:duty", reason: "the broker confirmed it" },
    ]);
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([{ verb: "AcceptBlock", allowed: true }]);
  });

  it("stays blocked after a kill, with and without a snapshot, and accepted after it is accepted; reported once", async () => {
    const [fixture, life] = await begin();
    await trade(fixture, { price: "300" });
    const id = await idOf(fixture, life);
    life.process.kill();
    const second = await fixture.start();
    expect([await idOf(fixture, second), await codeOf(fixture, second)]).toEqual([id, "FILL_NOT_ACCEPTED"]);
    await fixture.finish(second.service.stop());
    const third = await fixture.start();
    expect([await idOf(fixture, third), await codeOf(fixture, third)]).toEqual([id, "FILL_NOT_ACCEPTED"]);
    expect(third.deaths).toEqual([]);
    await accept(fixture, third, id);
    third.process.kill();
    const fourth = await fixture.start();
    expect([await listed(fixture, fourth), await codeOf(fixture, fourth)]).toEqual([[], ""]);
    expect(await accept(fixture, fourth, id)).toMatchObject({ denial: { code: "BLOCK_NOT_OPEN" } });
    expect(alarms(fixture).filter((code) => code !== "FILL_WITHOUT_ORDER")).toEqual(["FILL_OUTSIDE_COLLAR"]);
    expect([fixture.published(subjects.blockOpened).length, fixture.published(subjects.blockEnded).length]).toEqual([
      1, 1,
    ]);
  });

  it("is reported after a crash that came between the journal and the event", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.approval", Array(50).fill("failed"));
    await trade(fixture, { price: "300" });
    expect([await codeOf(fixture, life), alarms(fixture)]).toEqual(["FILL_NOT_ACCEPTED", ["FILL_WITHOUT_ORDER"]]);
    life.process.kill();
    fixture.fates.delete("risk.approval");
    await fixture.start();
    await fixture.pass(2_000);
    expect(fixture.published(subjects.blockOpened)).toHaveLength(1);
    expect(alarms(fixture)).toContain("FILL_OUTSIDE_COLLAR");
  });

  it("no journal has the fill without its block, when the store fails and the fill comes again", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.append", ["failed", "failed"]);
    await trade(fixture, { price: "300" });
    await fixture.pass(3_000);
    const kinds = fixture.tables.risk.journal.map(({ kind }) => kind).filter((kind) => kind !== "decision");
    expect(kinds).toEqual(["block", "fill"]);
    expect(await listed(fixture, life)).toHaveLength(1);
    life.process.kill();
    expect(await listed(fixture, await fixture.start())).toHaveLength(1);
  });

  it("within it, and what is no trade, blocks nothing", async () => {
    const [fixture, life] = await begin();
    await trade(fixture, { price: "244" });
    for (const kind of ["SEED", "ADJUSTMENT", "CORPORATE_ACTION", "SETTLEMENT", "CROSS"] as const) {
      await trade(fixture, { price: "1", kind });
    }
    expect([await listed(fixture, life), await codeOf(fixture, life)]).toEqual([[], ""]);
  });

  it("each has a block of its own: accepting one accepts no other", async () => {
    const [fixture, life] = await begin();
    await trade(fixture, { price: "300" });
    const id = await idOf(fixture, life);
    await trade(fixture, { price: "310" });
    await accept(fixture, life, id);
    expect(await codeOf(fixture, life)).toBe("FILL_NOT_ACCEPTED");
    const [left] = await listed(fixture, life);
    expect(left?.reason).toContain("its price 310");
  });
});

describe("28.5: a fill that its order does not cover", () => {
  const approved = async (fixture: RiskEngineFixture, life: EngineLife, more: object = {}) => {
    const order = orderOf({ quantity: "100", ...more });
    await fixture.finish(life.call("CheckOrder", order, machine));
    return order.order_id;
  };

  it("in one or by and by, while the order is open and after it is complete, also after a restart", async () => {
    const [fixture, life] = await begin();
    const order_id = await approved(fixture, life);
    await trade(fixture, { order_id, quantity: "60" });
    await trade(fixture, { order_id, quantity: "40" });
    expect(await listed(fixture, life)).toEqual([]);
    await trade(fixture, { order_id, quantity: "1" });
    const [block] = await listed(fixture, life);
    expect(block?.reason).toContain(`it brings order ${order_id} to 101, and 100 is what was approved of it`);
    expect(alarms(fixture)).toEqual(["ORDER_OVERFILLED"]);
    await accept(fixture, life, block?.block_id ?? "");
    const other = await approved(fixture, life);
    await trade(fixture, { order_id: other, quantity: "130" });
    expect((await listed(fixture, life))[0]?.reason).toContain(`it brings order ${other} 30 above its quantity`);
    await accept(fixture, life, await idOf(fixture, life));
    life.process.kill();
    const next = await fixture.start();
    await trade(fixture, { order_id, quantity: "1" });
    expect((await listed(fixture, next))[0]?.reason).toContain("to 102, and 100 is");
  });

  it("a late fill of an order that was cancelled is covered as far as the order goes", async () => {
    const [fixture, life] = await begin();
    const order_id = await approved(fixture, life);
    const step = {
      order_id,
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      from: "WORKING",
    } as const;
    const ended = {
      to: "CANCELLED",
      filled_quantity: "0",
      remaining_quantity: "0",
      at: format(fixture.time.clock.now()),
    } as const;
    await fixture.publish(subjects.ordersCancelled, { ...step, ...ended });
    await fixture.pass(100);
    await trade(fixture, { order_id, quantity: "100" });
    expect(await listed(fixture, life)).toEqual([]);
    await trade(fixture, { order_id, quantity: "1" });
    expect(await listed(fixture, life)).toHaveLength(1);
  });

  it("of an order that was denied, or of another symbol or side than it says", async () => {
    const [fixture, life] = await begin();
    const denied = orderOf({ quantity: "1000000" });
    await fixture.finish(life.call("CheckOrder", denied, machine));
    await trade(fixture, { order_id: denied.order_id, quantity: "1" });
    expect((await listed(fixture, life))[0]?.reason).toContain("and 0 is what was approved of it");
    const order_id = await approved(fixture, life, { symbol: "MSFT", limit_price: "428" });
    await trade(fixture, { order_id, symbol: "SPY", price: "592.4" });
    expect((await listed(fixture, life)).map(({ symbol }) => symbol)).toEqual(["AAPL", "SPY"]);
    await trade(fixture, { order_id, symbol: "MSFT", price: "428", side: "SELL", quantity: "100" });
    expect((await listed(fixture, life)).map(({ symbol }) => symbol)).toEqual(["AAPL", "MSFT", "SPY"]);
  });

  it("of an order that nobody asked about is an alarm and no block", async () => {
    const [fixture, life] = await begin();
    await trade(fixture);
    expect([alarms(fixture), await codeOf(fixture, life)]).toEqual([["FILL_WITHOUT_ORDER"], ""]);
  });
});

describe("28.5: a fill without a price to hold it against", () => {
  it("is blocked until the next price, which ends it within the collar, also after a restart", async () => {
    const fixture = await riskEngineFixture({ seed: 28_590 });
    const life = await fixture.start({ inSilence: true });
    await trade(fixture, { price: "240" });
    expect([await listed(fixture, life), alarms(fixture)]).toMatchObject([
      [{ symbol: "AAPL" }],
      ["FILL_WITHOUT_ORDER", "FILL_NOT_JUDGED"],
    ]);
    life.process.kill();
    const next = await fixture.start();
    await fixture.pass(200);
    expect([await listed(fixture, next), await codeOf(fixture, next)]).toEqual([[], ""]);
    expect(fixture.published(subjects.blockEnded)).toMatchObject([
      { ended_by: "riskengine", cause: "FILL_NOT_JUDGED" },
    ]);
    next.process.kill();
    expect(await listed(fixture, await fixture.start({ inSilence: true }))).toEqual([]);
  });

  it("waits for an operator when the next price shows it beyond the collar", async () => {
    const fixture = await riskEngineFixture({ seed: 28_591 });
    const life = await fixture.start({ inSilence: true });
    await trade(fixture, { price: "300" });
    const id = await idOf(fixture, life);
    await fixture.putPrices();
    await fixture.pass(200);
    expect(await listed(fixture, life)).toMatchObject([{ block_id: id }]);
    expect(alarms(fixture)).toEqual(["FILL_WITHOUT_ORDER", "FILL_NOT_JUDGED", "FILL_OUTSIDE_COLLAR"]);
    await fixture.putPrices();
    await fixture.pass(200);
    expect([await idOf(fixture, life), await codeOf(fixture, life)]).toEqual([id, "FILL_NOT_ACCEPTED"]);
    life.process.kill();
    const next = await fixture.start();
    expect((await listed(fixture, next))[0]?.reason).toContain("300 is more than 5 %");
    await accept(fixture, next, id);
    expect(await codeOf(fixture, next)).toBe("");
  });

  it("is judged by a later price when the store failed at the first", async () => {
    const fixture = await riskEngineFixture({ seed: 28_592 });
    const life = await fixture.start({ inSilence: true });
    await trade(fixture, { price: "240" });
    fixture.fates.set("risk.append", ["failed"]);
    await fixture.putPrices();
    await fixture.pass(200);
    expect(await codeOf(fixture, life)).toBe("FILL_NOT_ACCEPTED");
    await fixture.putPrices();
    await fixture.pass(200);
    expect(await codeOf(fixture, life)).toBe("");
  });
});

describe("AcceptBlock", () => {
  it("refuses without a reason, what has ended, and what nobody knows, and each attempt is recorded", async () => {
    const [fixture, life] = await begin();
    await trade(fixture, { price: "300" });
    const id = await idOf(fixture, life);
    expect(await accept(fixture, life, id, " \t")).toMatchObject({ denial: { code: "REASON_MISSING" } });
    const unknown = accept(fixture, life, "nobody").catch((thrown: Fault) => [thrown.code, thrown.message]);
    expect(await unknown).toEqual(["NOT_FOUND", expect.stringContaining("ctl riskengine blocks list shows")]);
    const both = await Promise.all([accept(fixture, life, id), accept(fixture, life, id, "me too")]);
    expect(both[0]).toMatchObject({ block_id: id });
    expect(both[1]).toMatchObject({
      denial: { code: "BLOCK_NOT_OPEN", reason: expect.stringContaining("by operator:duty") },
    });
    expect(fixture.tables.risk.journal.filter(({ kind }) => kind === "unblock")).toHaveLength(1);
    expect(fixture.published(subjects.operatorAttempted).map(({ allowed, code }) => code ?? allowed)).toEqual([
      "REASON_MISSING",
      "NOT_FOUND",
      true,
      "BLOCK_NOT_OPEN",
    ]);
  });

  it("stays blocked when the acceptance could not be written", async () => {
    const [fixture, life] = await begin();
    await trade(fixture, { price: "300" });
    const id = await idOf(fixture, life);
    fixture.fates.set("risk.append", ["failed"]);
    await expect(accept(fixture, life, id)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await codeOf(fixture, life)).toBe("FILL_NOT_ACCEPTED");
    expect(await accept(fixture, life, id)).toMatchObject({ block_id: id });
  });
});

// What nobody vouches for keeps new risk from its symbol until an operator accepts it with the second factor, or what was missing comes: on the whole shell,
// with kills.
import { describe, expect, it } from "vitest";
import type { Blocks, Exposures } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, minusMilliseconds, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";

let seed = 85_100;
let count = 0;

async function begin(inSilence = false): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  return [fixture, await fixture.start({ inSilence })];
}

/** The mark of AAPL is 232.5. */
function fillOf(fixture: RiskEngineFixture, differs: Partial<Fill> = {}): Fill {
  count += 1;
  return {
    fill_id: `u-${count}`,
    order_id: `never-asked-${count}`,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    price: "232.5",
    filled_at: format(fixture.time.clock.now()),
    ...differs,
  };
}
async function foreign(fixture: RiskEngineFixture, differs: Partial<Fill> = {}): Promise<void> {
  await fixture.publishForeign(subjects.fillsCreated, fillOf(fixture, differs));
  await fixture.pass(300);
}
async function own(fixture: RiskEngineFixture, differs: Partial<Fill> = {}): Promise<void> {
  await fixture.publish(subjects.fillsCreated, fillOf(fixture, differs));
  await fixture.pass(300);
}
const codeOf = async (fixture: RiskEngineFixture, life: EngineLife, order: object = {}): Promise<string> =>
  (await fixture.finish(life.check({ quantity: "10", ...order }))).code;
const listed = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListBlocks", { fund_id: "alpha" }))) as Blocks).blocks.filter(
    ({ block_id }) => block_id !== undefined,
  );
const linesOf = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListExposures", {}))) as Exposures).lines.map(
    ({ symbol, quantity, pending_buy, pending_sell }) => `${symbol} ${quantity} ${pending_buy} ${pending_sell}`,
  );
const asked = (fixture: RiskEngineFixture, life: EngineLife, order_id: string, quantity = "100") =>
  fixture.finish(life.check({ order_id, quantity }));

describe("a foreign fill that nobody vouches for", () => {
  it.each<[string, Partial<Fill>, string]>([
    ["without an order", {}, "ORDER_NOT_VOUCHED"],
    ["an adjustment", { kind: "ADJUSTMENT" }, "FILL_KIND_NOT_VOUCHED"],
    ["a seed, late", { kind: "SEED" }, "FILL_KIND_NOT_VOUCHED"],
    ["a settlement of a share", { kind: "SETTLEMENT" }, "FILL_KIND_NOT_VOUCHED"],
    ["a corporate action that nobody announced", { kind: "CORPORATE_ACTION" }, "FILL_KIND_NOT_VOUCHED"],
    ["cash in lieu of none", { kind: "CASH_IN_LIEU" }, "FILL_KIND_NOT_VOUCHED"],
    ["one leg of a cross", { kind: "CROSS" }, "CROSS_NOT_VOUCHED"],
  ])("%s: waits for the second factor; exits and other symbols pass", async (_what, differs, code) => {
    const [fixture, life] = await begin();
    await own(fixture, { quantity: "200" });
    await foreign(fixture, differs);
    expect(await codeOf(fixture, life)).toBe(code);
    expect(await codeOf(fixture, life, { symbol: "MSFT", limit_price: "428" })).toBe("");
    expect(await codeOf(fixture, life, { side: "SELL", reduce_only: true })).toBe("");
    const [block] = await listed(fixture, life);
    expect(block).toMatchObject({ code, scope: "symbol", fund_id: "alpha", symbol: "AAPL" });
    expect(block?.command).toBe(`ctl riskengine blocks accept ${block?.block_id} --reason TEXT --totp CODE`);
    const alone = { block_id: block?.block_id, reason: "their books have it" };
    expect(await fixture.finish(life.call("AcceptBlock", alone))).toMatchObject({
      denial: { code: "STEP_UP_REQUIRED" },
    });
    expect(await codeOf(fixture, life)).toBe(code);
    expect(await fixture.accept(life, [block?.block_id ?? ""], alone.reason)).toMatchObject({ fund_id: "alpha" });
    expect(await codeOf(fixture, life)).toBe("");
    await fixture.finish(life.service.stop());
  });

  it("a fee that treasury's value does not have yet counts as taken out of it, until the next value has it", async () => {
    const [fixture, life] = await begin();
    const value = async (nav: string): Promise<void> => {
      const as_of = format(fixture.time.clock.now());
      await fixture.publish(subjects.navUpdated, { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of });
      await fixture.pass(500);
    };
    await foreign(fixture, { quantity: "1", fee: "-1000000" });
    await value("10000000");
    const other = { symbol: "MSFT", limit_price: "428" };
    expect(await codeOf(fixture, life, other)).toBe("LOSS_CONFIRMATION_PENDING");
    await value("11000000");
    expect(await codeOf(fixture, life, other)).toBe("");
    const [block] = await listed(fixture, life);
    expect(await fixture.accept(life, [block?.block_id ?? ""], "their rebate")).toMatchObject({ fund_id: "alpha" });
    await value("11000000");
    expect([await listed(fixture, life), await codeOf(fixture, life)]).toEqual([[], ""]);
    expect(fixture.published(subjects.riskHaltRequested)).toEqual([]);
    await fixture.finish(life.service.stop());
  });

  it("of our own order management is vouched for, whatever its kind", async () => {
    const [fixture, life] = await begin();
    for (const kind of ["ADJUSTMENT", "SEED", "SETTLEMENT", "CORPORATE_ACTION", "CASH_IN_LIEU", "CROSS"] as const) {
      await own(fixture, { kind, quantity: "1" });
    }
    await own(fixture, { quantity: "1" });
    expect([await listed(fixture, life), await codeOf(fixture, life)]).toEqual([[], ""]);
    await fixture.finish(life.service.stop());
  });

  it("before the fund has a value loosens nothing: seeds and fills without an order are free", async () => {
    const [fixture, life] = await begin(true);
    await foreign(fixture, { kind: "SEED" });
    await fixture.putPrices();
    expect(await listed(fixture, life)).toEqual([]);
    await foreign(fixture, { kind: "SEED" });
    expect((await listed(fixture, life)).map(({ code }) => code)).toEqual(["FILL_KIND_NOT_VOUCHED"]);
    await fixture.finish(life.service.stop());
  });

  it("is a fee that no trade has, or a date before its order was asked about, whoever reports it", async () => {
    const [fixture, life] = await begin();
    await asked(fixture, life, "mine");
    const early = format(minusMilliseconds(fixture.time.clock.now(), 6_000));
    const late = format(plusMilliseconds(fixture.time.clock.now(), 6_000));
    const found: string[] = [];
    const of = { order_id: "mine", quantity: "10" };
    for (const differs of [
      { fee: "232.51" },
      { fee: "-23.26" },
      { filled_at: early },
      { filled_at: late },
      { fee: "232.5" },
      { fee: "-23.25" },
      {},
    ]) {
      await own(fixture, { ...of, ...differs });
      found.push((await listed(fixture, life)).at(-1)?.code ?? "");
      for (const { block_id = "" } of await listed(fixture, life)) await fixture.accept(life, [block_id], "confirmed");
    }
    const [fee, date] = ["FEE_NOT_VOUCHED", "FILL_DATE_NOT_VOUCHED"];
    expect(found).toEqual([fee, fee, date, date, "", "", ""]);
    await fixture.finish(life.service.stop());
  });

  it("is a leg of a cross until the other one comes, over a kill; what differs is no other leg", async () => {
    const [fixture, first] = await begin();
    await foreign(fixture, { kind: "CROSS", side: "SELL" });
    first.process.kill();
    const second = await fixture.start();
    expect(await codeOf(fixture, second)).toBe("CROSS_NOT_VOUCHED");
    await foreign(fixture, { kind: "CROSS", side: "BUY", quantity: "99", strategy_id: "alpha-meanrev" });
    expect(await listed(fixture, second)).toHaveLength(2);
    await foreign(fixture, { kind: "CROSS", side: "BUY", strategy_id: "alpha-meanrev" });
    const left = await listed(fixture, second);
    expect(left.map(({ code }) => code)).toEqual(["CROSS_NOT_VOUCHED"]);
    await foreign(fixture, { kind: "CROSS", side: "SELL", quantity: "99" });
    expect([await listed(fixture, second), await codeOf(fixture, second)]).toEqual([[], ""]);
    await fixture.finish(second.service.stop());
  });

  it("shows in no line as an open order, and in every limit as one: it may have happened, and may not have", async () => {
    const [fixture, life] = await begin();
    await own(fixture, { quantity: "1000" });
    // 232,500 of AAPL; MSFT may be held up to 15 % of 10m, gross up to its limit.
    const usedOf = async () => {
      const answer = (await fixture.finish(life.call("GetLimitUse", { fund_id: "alpha" }))) as {
        uses: { limit: string; scope: string; used?: string; used_least?: string; cause?: string }[];
      };
      const { used, used_least, cause } =
        answer.uses.find(({ limit }) => limit === "max_gross_exposure_pct") ?? expect.fail("no limit");
      return [used, used_least, cause];
    };
    expect(await usedOf()).toEqual(["232500", undefined, undefined]);
    await foreign(fixture, { side: "SELL", quantity: "400" });
    expect(await usedOf()).toEqual(["232500", "139500", "nobody vouches for fills of AAPL"]);
    expect(await linesOf(fixture, life)).toEqual(["AAPL 600 0 0"]);
    life.process.kill();
    const second = await fixture.start();
    expect(await linesOf(fixture, second)).toEqual(["AAPL 600 0 0"]);
    const [block] = await listed(fixture, second);
    await fixture.accept(second, [block?.block_id ?? ""], "their books have it");
    const after = (await fixture.finish(second.call("GetLimitUse", { fund_id: "alpha" }))) as {
      uses: { limit: string; used?: string }[];
    };
    expect(after.uses.find(({ limit }) => limit === "max_gross_exposure_pct")?.used).toBe("139500");
    await fixture.finish(second.service.stop());
  });

  it("is accepted with others under one proof that names exactly them, all or none", async () => {
    const [fixture, life] = await begin();
    for (let one = 0; one < 3; one += 1) await foreign(fixture, { quantity: "10" });
    const ids = (await listed(fixture, life)).map(({ block_id = "" }) => block_id);
    expect(ids).toHaveLength(3);
    const [first = "", second = "", third = ""] = ids;
    const gone = await fixture.accept(life, [first, "no-such-block"], "all of them").catch((fault) => fault.code);
    expect(gone).toBe("NOT_FOUND");
    expect(await listed(fixture, life)).toHaveLength(3);
    expect(await fixture.accept(life, [first, third], "these two")).toMatchObject({ also: [third] });
    expect((await listed(fixture, life)).map(({ block_id }) => block_id)).toEqual([second]);
    expect(await fixture.accept(life, [second, first], "again")).toMatchObject({ denial: { code: "BLOCK_NOT_OPEN" } });
    const ended = fixture.published(subjects.blockEnded).map(({ block_id, reason }) => [block_id, reason]);
    expect(ended.sort()).toEqual(
      [
        [first, "these two"],
        [third, "these two"],
      ].sort(),
    );
    await fixture.finish(life.service.stop());
  });
});

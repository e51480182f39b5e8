// Values from outside, on the whole shell: what is not explained keeps the fund from new risk, moves no limit and no baseline upwards, and ends by itself or
// by a person with the second factor, also over a kill.
import { describe, expect, it } from "vitest";
import type { Blocks } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";

let seed = 91_000;

const alphaByForeignTreasury = (seeded: ReferenceContents): ReferenceContents => ({
  ...seeded,
  funds: seeded.funds.map((fund) => (fund.fund_id === "alpha" ? { ...fund, valued_by: "foreign-treasury" } : fund)),
});

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed, reference: alphaByForeignTreasury });
  const life = await fixture.start();
  await foreign(fixture, "10000000");
  return [fixture, life];
}

async function foreign(fixture: RiskEngineFixture, nav: string, differs: Partial<NavUpdated> = {}): Promise<void> {
  const as_of = format(fixture.time.clock.now());
  const usual = { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of };
  await fixture.publishForeign(subjects.navUpdated, { ...usual, ...differs });
  await fixture.pass(300);
}
async function codeOf(fixture: RiskEngineFixture, life: EngineLife, order: object = {}): Promise<string> {
  return (await fixture.finish(life.check({ quantity: "10", ...order }))).code;
}
const listed = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListBlocks", { fund_id: "alpha" }))) as Blocks).blocks.filter(
    ({ block_id }) => block_id !== undefined,
  );
const dailyBaseline = (fixture: RiskEngineFixture) =>
  fixture
    .published(subjects.lossBaseline)
    .filter(({ fund_id, limit }) => fund_id === "alpha" && limit === "daily")
    .map(({ value }) => value);

describe("a value from outside that nothing explains", () => {
  it("keeps the fund from new risk, exits and other funds pass, and ends when one is explained", async () => {
    const [fixture, life] = await begin();
    const asked = await fixture.finish(life.check({ order_id: "held", quantity: "100" }));
    expect(asked.approved).toBe(true);
    await fixture.publish(subjects.fillsCreated, {
      fill_id: "h-1",
      order_id: "held",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      side: "BUY",
      quantity: "100",
      price: "232.5",
      filled_at: format(fixture.time.clock.now()),
    });
    await fixture.pass(300);
    await foreign(fixture, "100000000");
    expect(await codeOf(fixture, life)).toBe("VALUE_NOT_VOUCHED");
    expect(await codeOf(fixture, life, { side: "SELL", reduce_only: true })).toBe("");
    const beta = {
      fund_id: "beta",
      strategy_id: "beta-trend",
      symbol: "BTC-USD",
      quantity: "0.01",
      limit_price: "91000",
    };
    expect(await codeOf(fixture, life, { ...beta, asset_class: "CRYPTO" })).toBe("");
    const [block] = await listed(fixture, life);
    expect(block).toMatchObject({ code: "VALUE_NOT_VOUCHED", scope: "fund", fund_id: "alpha" });
    expect(block?.reason).toContain("alpha is worth 100000000 USD by foreign");
    expect(fixture.published(subjects.alarmRaised).map(({ code }) => code)).toContain("VALUE_UNEXPLAINED");
    await foreign(fixture, "10000000");
    expect([await codeOf(fixture, life), await listed(fixture, life)]).toEqual(["", []]);
    expect(dailyBaseline(fixture)).toEqual(["10000000"]);
    await fixture.finish(life.service.stop());
  });

  it("is vouched for by a person with the second factor, as it was shown and no further", async () => {
    const [fixture, life] = await begin();
    await foreign(fixture, "12000000");
    const [block] = await listed(fixture, life);
    const id = block?.block_id ?? "";
    const alone = { block_id: id, reason: "their books" };
    expect(await fixture.finish(life.call("AcceptBlock", alone))).toMatchObject({
      denial: { code: "STEP_UP_REQUIRED" },
    });
    await fixture.accept(life, [id], "their books");
    await foreign(fixture, "12100000");
    expect([await codeOf(fixture, life), await listed(fixture, life)]).toEqual(["", []]);
    await foreign(fixture, "13000000");
    expect(await codeOf(fixture, life)).toBe("VALUE_NOT_VOUCHED");
    await fixture.finish(life.service.stop());
  });

  it("has a block of its own when it is far from the one that is shown, and not each time", async () => {
    const [fixture, life] = await begin();
    await foreign(fixture, "20000000");
    const [first] = await listed(fixture, life);
    await foreign(fixture, "30000000");
    expect((await listed(fixture, life)).map(({ block_id }) => block_id)).toEqual([first?.block_id]);
    await fixture.pass(5_000);
    await foreign(fixture, "20100000");
    expect((await listed(fixture, life)).map(({ block_id }) => block_id)).toEqual([first?.block_id]);
    await foreign(fixture, "30000000");
    const [second, ...others] = await listed(fixture, life);
    expect([others, second?.block_id === first?.block_id]).toEqual([[], false]);
    expect(second?.reason).toContain("30000000");
    await fixture.finish(life.service.stop());
  });

  it("still waits after a kill, and the value before it is what the next is judged by", async () => {
    const [fixture, life] = await begin();
    await foreign(fixture, "20000000");
    life.process.kill();
    const next = await fixture.start({ inSilence: true });
    await fixture.pass(500);
    expect((await listed(fixture, next)).map(({ code }) => code)).toEqual(["VALUE_NOT_VOUCHED"]);
    await foreign(fixture, "20000000");
    expect((await listed(fixture, next)).map(({ code }) => code)).toEqual(["VALUE_NOT_VOUCHED"]);
    await foreign(fixture, "10100000");
    expect(await listed(fixture, next)).toEqual([]);
    await fixture.finish(next.service.stop());
  });

  it("halts by its own loss when it is lower", async () => {
    const [fixture, life] = await begin();
    for (let time = 0; time < 3; time += 1) await foreign(fixture, "5000000");
    expect(await codeOf(fixture, life, { side: "SELL" })).not.toBe("");
    expect(fixture.tables.risk.halts[0]).toMatchObject({ severity: "FUND_HALT", fund_id: "alpha" });
    await fixture.finish(life.service.stop());
  });

  it("in which money came waits, and lets none out meanwhile", async () => {
    const [fixture, life] = await begin();
    await foreign(fixture, "10100000", { net_flows: "100000" });
    expect(await codeOf(fixture, life)).toBe("VALUE_NOT_VOUCHED");
    const at = format(fixture.time.clock.now());
    const asked = { fund_id: "alpha", amount: "1", cash: "1000000", at };
    const answered = await fixture.finish(life.call("ReserveWithdrawal", asked));
    expect(answered).toMatchObject({ denial: { code: "FLOW_LIMITS_UNKNOWN" } });
    const [block] = await listed(fixture, life);
    await fixture.accept(life, [block?.block_id ?? ""], "a deposit");
    await foreign(fixture, "10100000", { net_flows: "100000" });
    expect(await codeOf(fixture, life)).toBe("");
    await fixture.finish(life.service.stop());
  });
});

// Losses in the running engine: judged with the valuation that is kept, latched with it, and as they were after a restart.
import { expect, test } from "vitest";
import type { LimitUses, Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import {
  format,
  millisecondsBetween,
  minusMilliseconds,
  parse,
  plusMilliseconds,
} from "../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { memoryCode } from "../../../testkit/memory/one-time-codes.ts";
import {
  type EngineLife,
  operator,
  type RiskEngineFixture,
  type RiskEngineFixtureOptions,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";
import { rebaseLosses } from "../../shared/rebase-losses.ts";

const seed = 21;
const coins = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", quantity: "0.1", limit_price: "91000" };
const coin = { ...coins, asset_class: "CRYPTO" };

async function begin(options: Partial<RiskEngineFixtureOptions> = {}): Promise<[RiskEngineFixture, EngineLife]> {
  const fixture = await riskEngineFixture({ seed, ...options });
  return [fixture, await fixture.start()];
}

const endOf = async (fixture: RiskEngineFixture, life: EngineLife, order: object = {}): Promise<string> => {
  const { approved, code } = await fixture.finish(life.check(order));
  return approved ? "approved" : code;
};

async function value(fixture: RiskEngineFixture, nav: string, differs: Partial<NavUpdated> = {}): Promise<void> {
  const as_of = format(fixture.time.clock.now());
  const usual = { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of };
  await fixture.publish(subjects.navUpdated, { ...usual, ...differs });
  await fixture.pass(50);
}

const halts = (fixture: RiskEngineFixture) => fixture.published(subjects.riskHaltRequested);

test("a loss waits for its confirmation, denies new risk meanwhile, then halts with its figures", async () => {
  const [fixture, life] = await begin();
  await value(fixture, "9800000");
  expect(await endOf(fixture, life)).toBe("LOSS_CONFIRMATION_PENDING");
  expect(await endOf(fixture, life, coin)).toBe("approved");
  expect(halts(fixture)).toEqual([]);
  await value(fixture, "9790000", { net_flows: "0" });
  expect(await endOf(fixture, life)).toBe("FUND_HALTED");
  expect(fixture.tables.risk.halts).toMatchObject([
    { severity: "FUND_HALT", fund_id: "alpha", requested_by: "riskengine" },
  ]);
  expect(halts(fixture)).toMatchObject([
    {
      reason: "The loss of the day is 210000 USD, 2.1 % of 10000000 USD; the limit is 2 %.",
      evidence: {
        limit: "daily",
        baseline: "10000000",
        value: "9790000",
        loss: "210000",
        loss_pct: 0.021,
        limit_pct: 0.02,
      },
    },
  ]);
  await value(fixture, "9700000");
  await fixture.pass(10_000);
  expect(halts(fixture)).toHaveLength(1);
});

test("T7: a halt's sentence has the digits that its currency is paid with, and its evidence all of them", async () => {
  const [fixture] = await begin();
  await value(fixture, "9789999.123456789012");
  await value(fixture, "9789999.123456789012");
  const [halt] = halts(fixture);
  expect(halt?.reason).toBe("The loss of the day is 210000.88 USD, 2.1 % of 10000000 USD; the limit is 2 %.");
  expect(halt?.evidence).toMatchObject({ loss: "210000.876543210988" });
});

test("one bad mark halts nobody; a lone one that nobody contradicts does, when its time is over", async () => {
  const [fixture, life] = await begin();
  await value(fixture, "5000000");
  expect(await endOf(fixture, life)).toBe("LOSS_CONFIRMATION_PENDING");
  await value(fixture, "10000000");
  expect(await endOf(fixture, life)).toBe("approved");
  await value(fixture, "9000000");
  await fixture.pass(4_000);
  expect(halts(fixture)).toEqual([]);
  await fixture.pass(1_500);
  // Daily, weekly and monthly each have a halt of their own.
  expect(halts(fixture).map(({ evidence }) => evidence?.["limit"])).toEqual(["daily", "weekly", "monthly"]);
  expect(await endOf(fixture, life)).toBe("FUND_HALTED");
});

test("a restart keeps baselines and what waits, and gives valuations on their way the time to contradict", async () => {
  const [fixture, life] = await begin();
  await value(fixture, "9790000");
  const written = fixture.published(subjects.lossBaseline).length;
  life.process.kill();
  await fixture.pass(60_000);
  const next = await fixture.start({ inSilence: true });
  fixture.outside.bus.broadcast(subjects.marketMarks, {
    symbol: "AAPL",
    price: "232.5",
    source: "fixture",
    at: format(fixture.time.clock.now()),
  });
  await fixture.pass(100);
  expect(await endOf(fixture, next)).toBe("LOSS_CONFIRMATION_PENDING");
  expect(halts(fixture)).toEqual([]);
  await value(fixture, "9790000");
  expect(await endOf(fixture, next)).toBe("FUND_HALTED");
  expect(fixture.published(subjects.lossBaseline)).toHaveLength(written);
  next.process.kill();
  const third = await fixture.start({ inSilence: true });
  await value(fixture, "9780000");
  expect(halts(fixture)).toHaveLength(1);
  expect(third.deaths).toEqual([]);
});

test("a day begins with the last value before it, written before its first order; without it new risk is denied", async () => {
  const midnight = parse("2026-11-19T00:00:00Z");
  const [fixture, life] = await begin({ startAt: minusMilliseconds(midnight, 10_000) });
  await value(fixture, "1999000", { fund_id: "beta" });
  fixture.fates.set("risk.roll", ["failed", "failed", "failed"]);
  await fixture.pass(millisecondsBetween(fixture.time.clock.now(), midnight));
  expect(fixture.time.clock.now()).toBe(midnight);
  expect(await endOf(fixture, life, coin)).toBe("LOSS_NOT_JUDGED");
  await fixture.pass(5_000);
  expect(await endOf(fixture, life, coin)).toBe("approved");
  const day = format(fixture.time.clock.now()).slice(0, 10);
  const daily = fixture
    .published(subjects.lossBaseline)
    .filter((one) => one.fund_id === "beta" && one.limit === "daily");
  expect(daily.at(-1)).toMatchObject({ period: day, value: "1999000", version: 0, set_by: "riskengine" });
  // A restart right after midnight finds it, and writes no other.
  life.process.kill();
  await fixture.start({ inSilence: true });
  await fixture.pass(3_000);
  expect(
    fixture.published(subjects.lossBaseline).filter((one) => one.fund_id === "beta" && one.limit === "daily"),
  ).toEqual(daily);
});

test("a restart exactly at midnight, before anything of the day was written, counts from the last value before it", async () => {
  const midnight = parse("2026-12-01T00:00:00Z");
  const [fixture, life] = await begin({ startAt: minusMilliseconds(midnight, 10_000) });
  await value(fixture, "1999000", { fund_id: "beta" });
  fixture.fates.set("risk.roll", ["failed", "failed", "failed"]);
  await fixture.pass(millisecondsBetween(fixture.time.clock.now(), midnight));
  life.process.kill();
  fixture.fates.clear();
  expect(fixture.time.clock.now()).toBe(midnight);
  const next = await fixture.start({ inSilence: true });
  await value(fixture, "1998000", { fund_id: "beta" });
  const written = fixture.published(subjects.lossBaseline).filter((one) => one.fund_id === "beta" && one.set_by !== "");
  for (const [limit, period] of [
    ["daily", "2026-12-01"],
    ["monthly", "2026-12-01"],
  ]) {
    const of = written.filter((one) => one.limit === limit && one.period === period);
    expect(of.map((one) => one.value)).toEqual(["1999000"]);
  }
  expect(next.deaths).toEqual([]);
});

test("a value dated ahead is not believed: it begins no day, shuts out nothing that is true, and alarms", async () => {
  const [fixture, life] = await begin();
  const written = fixture.published(subjects.lossBaseline).length;
  const as_of = format(plusMilliseconds(fixture.time.clock.now(), 40 * 86_400_000));
  await value(fixture, "1", { as_of });
  expect(fixture.published(subjects.alarmRaised).map(({ code }) => code)).toContain("INPUT_DATED_AHEAD");
  expect(await endOf(fixture, life)).toBe("approved");
  await value(fixture, "9800000");
  expect(await endOf(fixture, life)).toBe("LOSS_CONFIRMATION_PENDING");
  await value(fixture, "9800000");
  expect(halts(fixture)).toHaveLength(1);
  expect(fixture.published(subjects.lossBaseline)).toHaveLength(written);
});

test("23.10: after the clock was set back values count again at once, somebody is notified, and a restart changes nothing", async () => {
  const [fixture, life] = await begin({ settings: { navAgeMsMax: 60_000 } });
  await value(fixture, "10000000", { sequence: 1 });
  expect(await endOf(fixture, life)).toBe("approved");
  fixture.time.stepClock(-3_600_000);
  await fixture.putPrices();
  await value(fixture, "1000", { sequence: 2 });
  expect(await endOf(fixture, life)).not.toBe("approved");
  expect(fixture.tables.risk.navs.get("alpha")).toMatchObject({ nav: "1000", sequence: 2 });
  await value(fixture, "10000000", { sequence: 3 });
  const stepped = fixture.published(subjects.alarmRaised).filter(({ code }) => code === "CLOCK_STEPPED");
  expect(stepped).toMatchObject([{ service: "riskengine", sentence: expect.stringContaining("set back by 3599.9 s") }]);
  // A value of before the step is none after a restart.
  fixture.time.stepClock(-3_600_000);
  life.process.kill();
  const next = await fixture.start();
  await fixture.putPrices();
  expect(await endOf(fixture, next)).not.toBe("approved");
  await value(fixture, "10000000", { sequence: 4 });
  expect(fixture.tables.risk.navs.get("alpha")).toMatchObject({ sequence: 4 });
});

test("a deposit or a withdrawal after a loss changes nothing of it", async () => {
  const [fixture, life] = await begin();
  await value(fixture, "9900000", { net_flows: "0" });
  for (const [nav, net_flows] of [
    ["990000", "-8910000"],
    ["99000000", "89100000"],
  ] as const) {
    await value(fixture, nav, { net_flows });
    expect(await endOf(fixture, life, coin)).toBe("approved");
    const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
    expect(losses.find(({ limit }) => limit === "daily")).toMatchObject({ loss_pct: 0.01, state: "JUDGED" });
  }
  await value(fixture, "98000000", { net_flows: "89100000" });
  await value(fixture, "98000000", { net_flows: "89100000" });
  expect(halts(fixture)).toMatchObject([{ evidence: { loss: "2000000", baseline: "100000000", loss_pct: 0.02 } }]);
});

test("a strategy's own loss halts the strategy alone", async () => {
  const [fixture, life] = await begin();
  const profits = (of: string) => ({ strategy_pnl: { "alpha-momentum": of, "alpha-meanrev": "0" } });
  await value(fixture, "10000000", profits("100000"));
  // It had made nothing before it was named.
  await value(fixture, "9990000", profits("-150000"));
  await value(fixture, "9990000", profits("-150000"));
  expect(halts(fixture)).toMatchObject([
    { severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" },
  ]);
  expect(await endOf(fixture, life)).toBe("STRATEGY_HALTED");
  expect(await endOf(fixture, life, { strategy_id: "alpha-meanrev" })).toBe("approved");
});

test("24.1: the use of a strategy's limit is its loss by the share of the fund that it may lose", async () => {
  const [fixture, life] = await begin();
  const profits = (of: string) => ({ strategy_pnl: { "alpha-momentum": of, "alpha-meanrev": "0" } });
  await value(fixture, "10000000", profits("0"));
  await value(fixture, "9990000", profits("-10000"));
  const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  const judged = losses.filter(({ limit, limit_pct }) => limit === "strategy" && limit_pct !== undefined);
  const { uses } = (await fixture.finish(life.call("GetLimitUse", { fund_id: "alpha" }))) as LimitUses;
  expect(judged.length).toBeGreaterThan(0);
  for (const { strategy_id, loss, loss_pct = 0, limit_pct = 1 } of judged) {
    const use = uses.find(({ limit, scope }) => limit === "strategy" && scope === strategy_id);
    expect(use?.used).toBe(loss);
    expect(use?.share).toBeCloseTo(loss_pct / limit_pct, 5);
    expect(Number(use?.allowed)).toBeCloseTo(10_000_000 * limit_pct, 2);
  }
});

test("a person's rebase counts anew, from the next valuation on, and the list says who chose it", async () => {
  const [fixture, life] = await begin({ settings: { lossConfirmations: 1 } });
  await value(fixture, "9850000");
  await fixture.finish(
    fixture.outside.store.transact("test", (unit) =>
      rebaseLosses(unit, {
        fundIds: ["alpha"],
        of: "fund",
        setBy: "operator:duty",
        reason: "agreed",
        at: fixture.time.clock.now(),
      }),
    ),
  );
  await value(fixture, "9700000");
  expect(halts(fixture)).toEqual([]);
  const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  expect(losses.find(({ limit }) => limit === "daily")).toMatchObject({
    fund_id: "alpha",
    baseline: "9850000",
    value: "9700000",
    loss: "150000",
    state: "JUDGED",
    rebased_by: "operator:duty",
    limit_pct: 0.02,
  });
  expect(losses.map(({ limit }) => limit)).toEqual(["daily", "weekly", "monthly", "high_water"]);
  await value(fixture, "9653000");
  expect(halts(fixture)).toHaveLength(1);
  const breached = (await fixture.finish(life.call("ListLosses", {}))) as Losses;
  expect(
    breached.losses.filter(({ state }) => state === "BREACHED").map(({ fund_id, limit }) => [fund_id, limit]),
  ).toEqual([["alpha", "daily"]]);
  expect(parse(breached.losses[0]?.as_of ?? "")).toBeLessThanOrEqual(fixture.time.clock.now());
});

test("a commit that fails or loses its answer loses neither the halt nor its valuation", async () => {
  const [fixture, life] = await begin();
  fixture.fates.set("risk.nav", ["committed", "failed", "lost, committed"]);
  await value(fixture, "9700000");
  await value(fixture, "9700000");
  await fixture.pass(5_000);
  expect(halts(fixture)).toHaveLength(1);
  expect(await endOf(fixture, life)).toBe("FUND_HALTED");
  expect(life.deaths).toEqual([]);
});

test("a fund's resume with rebase counts the fund anew, and no strategy of it: not one that was lifted, nor one that is halted", async () => {
  const [fixture, life] = await begin({ settings: { lossConfirmations: 1 } });
  const officer = { ...operator, roles: ["operator", "risk_officer"] } as typeof operator;
  const resume = { reason: "agreed", confirmation: "RESUME", halt_ids: [] };
  const lift = (request: object, by = operator) =>
    fixture.finish(life.call("ResumeHalt", { ...resume, ...request }, by)) as Promise<unknown>;
  const strategies = async () => {
    const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
    return losses
      .filter(({ limit }) => limit === "strategy")
      .map(({ strategy_id, state, baseline, rebased_by }) => [strategy_id, state, baseline, rebased_by])
      .sort();
  };
  await value(fixture, "10000000", { strategy_pnl: { "alpha-momentum": "0", "alpha-meanrev": "0" } });
  const profits = { strategy_pnl: { "alpha-momentum": "-250000", "alpha-meanrev": "-250000" } };
  await value(fixture, "9500000", profits);
  expect(fixture.tables.risk.halts.map(({ severity }) => severity)).toContain("FUND_HALT");
  await lift({ strategy_id: "alpha-momentum" });
  const before = await strategies();
  expect(before.map(([id, state]) => [id, state])).toEqual([
    ["alpha-meanrev", "BREACHED"],
    ["alpha-momentum", "RESUMED"],
  ]);
  const anew = { fund_id: "alpha", rebase: true };
  expect(await lift(anew, officer)).toMatchObject({ denial: { code: "STEP_UP_REQUIRED" } });
  expect(await lift({ ...anew, one_time_code: memoryCode("duty", fixture.time.clock.now()) })).toMatchObject({
    denial: { code: "RESUME_REBASE_NOT_RISK_OFFICER" },
  });
  expect(fixture.published(subjects.operatorAttempted).slice(-2)).toMatchObject([
    { verb: "ResumeHalt", allowed: false, code: "STEP_UP_REQUIRED" },
    { verb: "ResumeHalt", allowed: false, code: "RESUME_REBASE_NOT_RISK_OFFICER" },
  ]);
  expect(fixture.published(subjects.lossBaseline).some(({ set_by }) => set_by === "operator:duty")).toBe(false);
  const shown = { ...anew, one_time_code: memoryCode("duty", fixture.time.clock.now()) };
  expect(await lift(shown, officer)).toMatchObject({ baseline: "rebased", severity: "STRATEGY_HALT" });
  await value(fixture, "9500000", profits);
  expect(await strategies()).toEqual(before);
  const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  expect(losses.find(({ limit }) => limit === "daily")).toMatchObject({
    baseline: "9500000",
    rebased_by: "operator:duty",
    state: "JUDGED",
  });
  // Its own resume with rebase is what counts a strategy anew.
  await fixture.pass(30_000);
  await value(fixture, "9500000", profits);
  const own = {
    strategy_id: "alpha-meanrev",
    rebase: true,
    one_time_code: memoryCode("duty", fixture.time.clock.now()),
  };
  expect(await lift(own, officer)).toMatchObject({ baseline: "rebased" });
  expect((await strategies()).map(([id, state, , by]) => [id, state, by])).toEqual([
    ["alpha-meanrev", "JUDGED", "operator:duty"],
    ["alpha-momentum", "RESUMED", undefined],
  ]);
});

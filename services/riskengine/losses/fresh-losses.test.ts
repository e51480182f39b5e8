// One symbol that is not traded switches no loss limit off: what can be seen is judged by the last prices, what cannot is denied, and what rests is
// cancelled when it lasts.
import { describe, expect, test } from "vitest";
import type { Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, minusMilliseconds, parse } from "../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  type EngineLife,
  type RiskEngineFixture,
  type RiskEngineFixtureOptions,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

const seed = 236;
const settings = { navAgeMsMax: 60_000 };

async function begin(options: Partial<RiskEngineFixtureOptions> = {}): Promise<[RiskEngineFixture, EngineLife]> {
  const fixture = await riskEngineFixture({ seed, settings, ...options });
  return [fixture, await fixture.start()];
}

const endOf = async (fixture: RiskEngineFixture, life: EngineLife, order: object = {}): Promise<string> => {
  const { approved, code } = await fixture.finish(life.check(order));
  return approved ? "approved" : code;
};

/** MSFT is fresh, AAPL so many seconds old. */
async function value(
  fixture: RiskEngineFixture,
  nav: string,
  oldS: number,
  differs: Partial<NavUpdated> = {},
): Promise<void> {
  const now = fixture.time.clock.now();
  const price = (ageS: number) => ({ quantity: "10", price: "100", at: format(minusMilliseconds(now, ageS * 1_000)) });
  await fixture.publish(subjects.navUpdated, {
    fund_id: "alpha",
    nav,
    currency: "USD",
    positions_value: "2000",
    strategy_pnl: {},
    as_of: format(now),
    prices: { AAPL: price(oldS), MSFT: price(1) },
    oldest_price_age_ms: oldS * 1_000,
    ...differs,
  });
  await fixture.pass(50);
}

/** One valuation every five seconds, for so long. */
async function keepValuing(fixture: RiskEngineFixture, seconds: number, nav: string, oldS: number): Promise<void> {
  for (let second = 0; second < seconds; second += 5) {
    await value(fixture, nav, oldS + second);
    await fixture.pass(4_950);
  }
}

const halts = (fixture: RiskEngineFixture) => fixture.published(subjects.riskHaltRequested);
/** Nobody values the other funds here. */
const unjudged = (fixture: RiskEngineFixture) =>
  fixture.published(subjects.lossesUnjudged).filter((one) => one.fund_id === "alpha");

test("23.6: with one halted symbol the loss of the others halts the fund, and a deposit erases nothing of it", async () => {
  const [fixture, life] = await begin();
  await value(fixture, "10000000", 1);
  await value(fixture, "9700000", 120);
  expect(["LOSS_CONFIRMATION_PENDING", "NAV_STALE"]).toContain(await endOf(fixture, life));
  await value(fixture, "109700000", 121, { net_flows: "100000000" });
  expect(halts(fixture)).toMatchObject([{ evidence: { limit: "daily", value: "109700000" } }]);
  await value(fixture, "109700000", 1, { net_flows: "100000000" });
  // More of it is no way out of what was lost.
  expect(await endOf(fixture, life)).toBe("FUND_HALTED");
});

test("23.6: while a held price is too old new risk is denied with its name, also after a restart, until a fresh one comes", async () => {
  const [fixture, life] = await begin();
  await value(fixture, "10000000", 59);
  expect(await endOf(fixture, life, { symbol: "MSFT", limit_price: "428" })).toBe("approved");
  await value(fixture, "9990000", 62);
  const denied = await fixture.finish(life.check({ symbol: "MSFT", limit_price: "428" }));
  expect(["LOSS_NOT_JUDGED", "NAV_STALE"]).toContain(denied.code);
  const listed = async (of: EngineLife) =>
    ((await fixture.finish(of.call("ListLosses", { fund_id: "alpha" }))) as Losses).losses.find(
      ({ limit }) => limit === "daily",
    );
  expect(await listed(life)).toMatchObject({
    state: "NOT_JUDGED",
    value: "9990000",
    reason: expect.stringContaining("AAPL (62 s)"),
  });
  life.process.kill();
  const next = await fixture.start({ inSilence: true });
  expect(await listed(next)).toMatchObject({ state: "NOT_JUDGED" });
  const { code } = await fixture.finish(next.check({ symbol: "MSFT", limit_price: "428" }));
  expect(["LOSS_NOT_JUDGED", "NAV_STALE", "REFERENCE_PRICE_MISSING", "MARK_MISSING"]).toContain(code);
  await value(fixture, "9990000", 1);
  expect(await listed(next)).toMatchObject({ state: "JUDGED" });
});

test("23.6: what is closed is not too old; from its opening on it is", async () => {
  const opens = parse("2026-11-18T14:30:00Z");
  const [fixture, life] = await begin({ sessions: "real", startAt: minusMilliseconds(opens, 5_000) });
  const state = async () => {
    const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
    return losses.find(({ limit }) => limit === "daily")?.state;
  };
  await value(fixture, "10000000", 40_000);
  expect(await state()).toBe("JUDGED");
  await fixture.pass(6_000);
  await value(fixture, "10000000", 40_006);
  expect(await state()).toBe("NOT_JUDGED");
  await value(fixture, "10000000", 1);
  expect(await state()).toBe("JUDGED");
});

describe("23.6: after a minute that a fund's losses could not be judged in full", () => {
  test("it is reported once, and again only for another such time", async () => {
    const [fixture] = await begin();
    await value(fixture, "10000000", 1);
    await keepValuing(fixture, 55, "10000000", 61);
    expect(unjudged(fixture)).toEqual([]);
    await keepValuing(fixture, 10, "10000000", 116);
    expect(unjudged(fixture)).toMatchObject([{ fund_id: "alpha", reason: expect.stringContaining("AAPL") }]);
    await keepValuing(fixture, 70, "10000000", 130);
    expect(unjudged(fixture)).toHaveLength(1);
    await value(fixture, "10000000", 1);
    await keepValuing(fixture, 65, "10000000", 61);
    expect(unjudged(fixture)).toHaveLength(2);
  });

  test("a start counts later, and for no longer than five minutes", async () => {
    const fixture = await riskEngineFixture({ seed, settings });
    const life = await fixture.start({ inSilence: true });
    await keepValuing(fixture, 120, "10000000", 61);
    expect(unjudged(fixture)).toEqual([]);
    await keepValuing(fixture, 200, "10000000", 181);
    expect(unjudged(fixture)).toHaveLength(1);
    expect(life.deaths).toEqual([]);
  });

  test("a store in trouble delays it, and nothing else", async () => {
    const [fixture, life] = await begin();
    await value(fixture, "10000000", 1);
    fixture.fates.set(
      "risk.unjudged",
      Array.from({ length: 3 }, () => "failed" as const),
    );
    await keepValuing(fixture, 70, "10000000", 61);
    expect(unjudged(fixture)).toHaveLength(1);
    expect(life.deaths).toEqual([]);
  });
});

test("23.6: a fund that holds positions and is worth nothing is halted, from its first value on", async () => {
  const [fixture, life] = await begin();
  const negativePositions = { positions_value: "-2000" };
  for (let times = 0; times < 2; times += 1) await value(fixture, "-5", 1, negativePositions);
  expect(halts(fixture).map(({ evidence }) => evidence?.["limit"])).toContain("equity");
  expect(halts(fixture).find(({ evidence }) => evidence?.["limit"] === "equity")?.reason).toBe(
    "The fund's equity is -5 USD, and it holds positions.",
  );
  const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  expect(losses.find(({ limit }) => limit === "equity")).toMatchObject({ state: "BREACHED", value: "-5", loss: "5" });
});

// One symbol that is not traded switches no loss limit off: what can be seen is judged by the last prices, what cannot is denied, and what rests is
// cancelled when it lasts.
import { describe, expect, test } from "vitest";
import type { Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, minusMilliseconds, parse } from "../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  type EngineLife,
  type RiskEngineRig,
  type RiskEngineRigOptions,
  riskEngineRig,
} from "../../../testkit/riskengine-rig.ts";

const seed = 236;
const settings = { navAgeMsMax: 60_000 };

async function begin(options: Partial<RiskEngineRigOptions> = {}): Promise<[RiskEngineRig, EngineLife]> {
  const rig = await riskEngineRig({ seed, settings, ...options });
  return [rig, await rig.start()];
}

const endOf = async (rig: RiskEngineRig, life: EngineLife, order: object = {}): Promise<string> => {
  const { approved, code } = await rig.finish(life.check(order));
  return approved ? "approved" : code;
};

/** MSFT is fresh, AAPL so many seconds old. */
async function value(rig: RiskEngineRig, nav: string, oldS: number, differs: Partial<NavUpdated> = {}): Promise<void> {
  const now = rig.time.clock.now();
  const price = (ageS: number) => ({ quantity: "10", price: "100", at: format(minusMilliseconds(now, ageS * 1_000)) });
  await rig.publish(subjects.navUpdated, {
    ...{ fund_id: "alpha", nav, currency: "USD", positions_value: "2000", strategy_pnl: {}, as_of: format(now) },
    ...{ prices: { AAPL: price(oldS), MSFT: price(1) }, oldest_price_age_ms: oldS * 1_000 },
    ...differs,
  });
  await rig.pass(50);
}

/** One valuation every five seconds, for so long. */
async function keepValuing(rig: RiskEngineRig, seconds: number, nav: string, oldS: number): Promise<void> {
  for (let second = 0; second < seconds; second += 5) {
    await value(rig, nav, oldS + second);
    await rig.pass(4_950);
  }
}

const halts = (rig: RiskEngineRig) => rig.published(subjects.riskHaltRequested);
/** Nobody values the other funds here. */
const unjudged = (rig: RiskEngineRig) =>
  rig.published(subjects.lossesUnjudged).filter((one) => one.fund_id === "alpha");

test("23.6: with one halted symbol the loss of the others halts the fund, and a deposit erases nothing of it", async () => {
  const [rig, life] = await begin();
  await value(rig, "10000000", 1);
  await value(rig, "9700000", 120);
  expect(["LOSS_CONFIRMATION_PENDING", "NAV_STALE"]).toContain(await endOf(rig, life));
  await value(rig, "109700000", 121, { net_flows: "100000000" });
  expect(halts(rig)).toMatchObject([{ evidence: { limit: "daily", value: "109700000" } }]);
  await value(rig, "109700000", 1, { net_flows: "100000000" });
  // More of it is no way out of what was lost.
  expect(await endOf(rig, life)).toBe("FUND_HALTED");
});

test("23.6: while a held price is too old new risk is denied with its name, also after a restart, until a fresh one comes", async () => {
  const [rig, life] = await begin();
  await value(rig, "10000000", 59);
  expect(await endOf(rig, life, { symbol: "MSFT", limit_price: "428" })).toBe("approved");
  await value(rig, "9990000", 62);
  const denied = await rig.finish(life.check({ symbol: "MSFT", limit_price: "428" }));
  expect(["LOSS_NOT_JUDGED", "NAV_STALE"]).toContain(denied.code);
  const listed = async (of: EngineLife) =>
    ((await rig.finish(of.call("ListLosses", { fund_id: "alpha" }))) as Losses).losses.find(
      ({ limit }) => limit === "daily",
    );
  expect(await listed(life)).toMatchObject({
    ...{ state: "NOT_JUDGED", value: "9990000", reason: expect.stringContaining("AAPL (62 s)") },
  });
  life.process.kill();
  const next = await rig.start({ inSilence: true });
  expect(await listed(next)).toMatchObject({ state: "NOT_JUDGED" });
  const { code } = await rig.finish(next.check({ symbol: "MSFT", limit_price: "428" }));
  expect(["LOSS_NOT_JUDGED", "NAV_STALE", "REFERENCE_PRICE_MISSING", "MARK_MISSING"]).toContain(code);
  await value(rig, "9990000", 1);
  expect(await listed(next)).toMatchObject({ state: "JUDGED" });
});

test("23.6: what is closed is not too old; from its opening on it is", async () => {
  const opens = parse("2026-11-18T14:30:00Z");
  const [rig, life] = await begin({ sessions: "real", startAt: minusMilliseconds(opens, 5_000) });
  const state = async () => {
    const { losses } = (await rig.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
    return losses.find(({ limit }) => limit === "daily")?.state;
  };
  await value(rig, "10000000", 40_000);
  expect(await state()).toBe("JUDGED");
  await rig.pass(6_000);
  await value(rig, "10000000", 40_006);
  expect(await state()).toBe("NOT_JUDGED");
  await value(rig, "10000000", 1);
  expect(await state()).toBe("JUDGED");
});

describe("23.6: after a minute that a fund's losses could not be judged in full", () => {
  test("it is told once, and again only for another such time", async () => {
    const [rig] = await begin();
    await value(rig, "10000000", 1);
    await keepValuing(rig, 55, "10000000", 61);
    expect(unjudged(rig)).toEqual([]);
    await keepValuing(rig, 10, "10000000", 116);
    expect(unjudged(rig)).toMatchObject([{ fund_id: "alpha", reason: expect.stringContaining("AAPL") }]);
    await keepValuing(rig, 70, "10000000", 130);
    expect(unjudged(rig)).toHaveLength(1);
    await value(rig, "10000000", 1);
    await keepValuing(rig, 65, "10000000", 61);
    expect(unjudged(rig)).toHaveLength(2);
  });

  test("a start counts later, and for no longer than five minutes", async () => {
    const rig = await riskEngineRig({ seed, settings });
    const life = await rig.start({ inSilence: true });
    await keepValuing(rig, 120, "10000000", 61);
    expect(unjudged(rig)).toEqual([]);
    await keepValuing(rig, 200, "10000000", 181);
    expect(unjudged(rig)).toHaveLength(1);
    expect(life.deaths).toEqual([]);
  });

  test("a store in trouble delays it, and nothing else", async () => {
    const [rig, life] = await begin();
    await value(rig, "10000000", 1);
    rig.fates.set(
      "risk.unjudged",
      Array.from({ length: 3 }, () => "failed" as const),
    );
    await keepValuing(rig, 70, "10000000", 61);
    expect(unjudged(rig)).toHaveLength(1);
    expect(life.deaths).toEqual([]);
  });
});

test("23.6: a fund that holds positions and is worth nothing is halted, from its first value on", async () => {
  const [rig, life] = await begin();
  const worthless = { positions_value: "-2000" };
  for (let times = 0; times < 2; times += 1) await value(rig, "-5", 1, worthless);
  expect(halts(rig).map(({ evidence }) => evidence?.["limit"])).toContain("equity");
  expect(halts(rig).find(({ evidence }) => evidence?.["limit"] === "equity")?.reason).toBe(
    "The fund's equity is -5 USD, and it holds positions.",
  );
  const { losses } = (await rig.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  expect(losses.find(({ limit }) => limit === "equity")).toMatchObject({ state: "BREACHED", value: "-5", loss: "5" });
});

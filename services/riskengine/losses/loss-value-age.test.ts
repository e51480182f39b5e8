// A treasury that falls silent while prices go on: what a fund has lost since its last value nobody knows, so within seconds it takes no new risk.
import { expect, test } from "vitest";
import type { Blocks, Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";

const settings = { markAgeMsMax: 10_000, navAgeMsMax: 60_000, lossValueAgeMsMax: 15_000 };

async function value(fixture: RiskEngineFixture, nav: string): Promise<void> {
  const as_of = format(fixture.time.clock.now());
  await fixture.publish(subjects.navUpdated, { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of });
  await fixture.pass(50);
}

function mark(fixture: RiskEngineFixture, price: string): void {
  const at = format(fixture.time.clock.now());
  fixture.outside.bus.broadcast(subjects.marketMarks, { symbol: "AAPL", price, source: "fixture", at });
}

/** Prices come every second, values do not. */
async function fallSilent(fixture: RiskEngineFixture, seconds: number, price: string): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    mark(fixture, price);
    await fixture.pass(1_000);
  }
}

async function hold(fixture: RiskEngineFixture): Promise<void> {
  const filled_at = format(fixture.time.clock.now());
  await fixture.publish(subjects.fillsCreated, {
    fill_id: "f-1",
    order_id: "opening",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    price: "232.5",
    filled_at,
  });
  await fixture.pass(50);
}

const alarmsOf = (fixture: RiskEngineFixture) =>
  fixture
    .published(subjects.alarmRaised)
    .filter(({ code, facts }) => code === "LOSS_LIMIT_NOT_JUDGED" && facts?.["about"] === "alpha");
const check = (fixture: RiskEngineFixture, life: EngineLife, order: object = {}) => fixture.finish(life.check(order));
const buy = { limit_price: "139.5" };
const exit = { side: "SELL", quantity: "10", reduce_only: true, limit_price: "139.5" };
async function daily(fixture: RiskEngineFixture, life: EngineLife) {
  const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  return losses.find(({ limit }) => limit === "daily");
}
async function blocks(fixture: RiskEngineFixture, life: EngineLife) {
  const { blocks: found } = (await fixture.finish(life.call("ListBlocks", { fund_id: "alpha" }))) as Blocks;
  return found.filter(({ code }) => code === "LOSS_NOT_JUDGED");
}

test("24: a silent treasury and a gap in prices: denied from 15 s on, alarmed, exits pass, and the next value ends it", async () => {
  const fixture = await riskEngineFixture({ seed: 241, settings });
  const life = await fixture.start();
  await value(fixture, "10000000");
  await hold(fixture);
  await fallSilent(fixture, 13, "139.5");
  expect(await check(fixture, life, buy)).toMatchObject({ approved: true });
  expect(await daily(fixture, life)).toMatchObject({ state: "JUDGED" });
  expect(alarmsOf(fixture)).toEqual([]);

  await fallSilent(fixture, 3, "139.5");
  expect(await check(fixture, life, buy)).toMatchObject({
    approved: false,
    code: "LOSS_NOT_JUDGED",
    rejecting_gate: "drawdown_halt",
    reason: expect.stringMatching(/older than 15 s \(1[56] s\); this ends with the next valuation/),
  });
  expect(await check(fixture, life, exit)).toMatchObject({ approved: true });
  const reason = expect.stringContaining("older than 15 s (16 s)");
  expect(await daily(fixture, life)).toMatchObject({ state: "NOT_JUDGED", reason });
  const block = { scope: "fund", fund_id: "alpha", reason: expect.stringMatching(/older than 15 s \(1[56] s\)/) };
  expect(await blocks(fixture, life)).toMatchObject([block]);
  await fallSilent(fixture, 4, "139.5");
  expect(alarmsOf(fixture)).toMatchObject([{ sentence: expect.stringContaining("older than 15 s") }]);

  await value(fixture, "9990000");
  expect(await check(fixture, life, buy)).toMatchObject({ approved: true });
  expect(await daily(fixture, life)).toMatchObject({ state: "JUDGED" });
  expect(await blocks(fixture, life)).toEqual([]);
  // What the next value shows is judged as ever.
  await value(fixture, "9700000");
  await value(fixture, "9700000");
  expect(fixture.published(subjects.riskHaltRequested)).toMatchObject([{ evidence: { limit: "daily" } }]);
});

test("24: a risk engine that is started again in that silence denies from its first order on", async () => {
  const fixture = await riskEngineFixture({ seed: 242, settings });
  const life = await fixture.start();
  await value(fixture, "10000000");
  await fallSilent(fixture, 20, "232.5");
  life.process.kill();
  const next = await fixture.start({ inSilence: true });
  await fallSilent(fixture, 1, "232.5");
  expect(await check(fixture, next)).toMatchObject({ approved: false, code: "LOSS_NOT_JUDGED" });
  await value(fixture, "10000000");
  expect(await check(fixture, next)).toMatchObject({ approved: true });
});

test("24: a value every second keeps the limits judged", async () => {
  const fixture = await riskEngineFixture({ seed: 243, settings });
  const life = await fixture.start();
  for (let second = 0; second < 40; second += 1) {
    mark(fixture, "232.5");
    await value(fixture, "10000000");
    expect((await daily(fixture, life))?.state).toBe("JUDGED");
    await fixture.pass(950);
  }
  expect(await check(fixture, life)).toMatchObject({ approved: true });
  expect(alarmsOf(fixture)).toEqual([]);
});

test("a treasury that makes fresh values from old quotes: denied from 20 s on, and the next price ends it", async () => {
  const fixture = await riskEngineFixture({ seed: 242, settings });
  const life = await fixture.start();
  await hold(fixture);
  const quotedAt = format(fixture.time.clock.now());
  const valued = async (at: string): Promise<void> => {
    const as_of = format(fixture.time.clock.now());
    const prices = { AAPL: { quantity: "100", price: "139.5", at } };
    const rest = { fund_id: "alpha", nav: "10000000", currency: "USD", strategy_pnl: {}, as_of, prices };
    mark(fixture, "139.5");
    await fixture.publish(subjects.navUpdated, rest);
    await fixture.pass(1_000);
  };
  const codes: string[] = [];
  for (let second = 0; second < 24; second += 1) {
    await valued(quotedAt);
    codes.push((await check(fixture, life, buy)).code);
  }
  // The fixture's price was another one: that it jumped is confirmed in the first seconds.
  expect(codes.splice(0, 5)).toEqual(Array(5).fill("PRICE_NOT_VOUCHED"));
  expect(codes.slice(0, 13)).toEqual(Array(13).fill(""));
  expect(codes.at(-1)).toBe("LOSS_NOT_JUDGED");
  expect(alarmsOf(fixture)).toHaveLength(1);
  expect(await check(fixture, life, exit)).toMatchObject({ approved: true });
  await valued(format(fixture.time.clock.now()));
  expect(await check(fixture, life, buy)).toMatchObject({ approved: true });
  await fixture.finish(life.service.stop());
});

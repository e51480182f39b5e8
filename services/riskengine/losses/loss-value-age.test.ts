// A treasury that falls silent while prices go on: what a fund has lost since its last value nobody knows, so within seconds it takes no new risk.
import { expect, test } from "vitest";
import type { Blocks, Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineRig, riskEngineRig } from "../../../testkit/riskengine-rig.ts";

const settings = { markAgeMsMax: 10_000, navAgeMsMax: 60_000, lossValueAgeMsMax: 15_000 };

async function value(rig: RiskEngineRig, nav: string): Promise<void> {
  const as_of = format(rig.time.clock.now());
  await rig.publish(subjects.navUpdated, { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of });
  await rig.pass(50);
}

function mark(rig: RiskEngineRig, price: string): void {
  const at = format(rig.time.clock.now());
  rig.outside.bus.broadcast(subjects.marketMarks, { symbol: "AAPL", price, source: "rig", at });
}

/** Prices come every second, values do not. */
async function fallSilent(rig: RiskEngineRig, seconds: number, price: string): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    mark(rig, price);
    await rig.pass(1_000);
  }
}

async function hold(rig: RiskEngineRig): Promise<void> {
  const filled_at = format(rig.time.clock.now());
  await rig.publish(subjects.fillsCreated, {
    ...{ fill_id: "f-1", order_id: "opening", fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL" },
    ...{ side: "BUY", quantity: "100", price: "232.5", filled_at },
  });
  await rig.pass(50);
}

const alarmsOf = (rig: RiskEngineRig) =>
  rig
    .published(subjects.alarmRaised)
    .filter(({ code, facts }) => code === "LOSS_LIMIT_NOT_JUDGED" && facts?.["about"] === "alpha");
const check = (rig: RiskEngineRig, life: EngineLife, order: object = {}) => rig.finish(life.check(order));
const buy = { limit_price: "139.5" };
const exit = { side: "SELL", quantity: "10", reduce_only: true, limit_price: "139.5" };
async function daily(rig: RiskEngineRig, life: EngineLife) {
  const { losses } = (await rig.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  return losses.find(({ limit }) => limit === "daily");
}
async function blocks(rig: RiskEngineRig, life: EngineLife) {
  const { blocks: found } = (await rig.finish(life.call("ListBlocks", { fund_id: "alpha" }))) as Blocks;
  return found.filter(({ code }) => code === "LOSS_NOT_JUDGED");
}

test("24: a silent treasury and a gap in prices: denied from 15 s on, alarmed, exits pass, and the next value ends it", async () => {
  const rig = await riskEngineRig({ seed: 241, settings });
  const life = await rig.start();
  await value(rig, "10000000");
  await hold(rig);
  await fallSilent(rig, 13, "139.5");
  expect(await check(rig, life, buy)).toMatchObject({ approved: true });
  expect(await daily(rig, life)).toMatchObject({ state: "JUDGED" });
  expect(alarmsOf(rig)).toEqual([]);

  await fallSilent(rig, 3, "139.5");
  expect(await check(rig, life, buy)).toMatchObject({
    ...{ approved: false, code: "LOSS_NOT_JUDGED", rejecting_gate: "drawdown_halt" },
    reason: expect.stringMatching(/older than 15 s \(1[56] s\); this ends with the next valuation/),
  });
  expect(await check(rig, life, exit)).toMatchObject({ approved: true });
  const reason = expect.stringContaining("older than 15 s (16 s)");
  expect(await daily(rig, life)).toMatchObject({ state: "NOT_JUDGED", reason });
  const block = { scope: "fund", fund_id: "alpha", reason: expect.stringMatching(/older than 15 s \(1[56] s\)/) };
  expect(await blocks(rig, life)).toMatchObject([block]);
  await fallSilent(rig, 4, "139.5");
  expect(alarmsOf(rig)).toMatchObject([{ sentence: expect.stringContaining("older than 15 s") }]);

  await value(rig, "9990000");
  expect(await check(rig, life, buy)).toMatchObject({ approved: true });
  expect(await daily(rig, life)).toMatchObject({ state: "JUDGED" });
  expect(await blocks(rig, life)).toEqual([]);
  // What the next value shows is judged as ever.
  await value(rig, "9700000");
  await value(rig, "9700000");
  expect(rig.published(subjects.riskHaltRequested)).toMatchObject([{ evidence: { limit: "daily" } }]);
});

test("24: a risk engine that is started again in that silence denies from its first order on", async () => {
  const rig = await riskEngineRig({ seed: 242, settings });
  const life = await rig.start();
  await value(rig, "10000000");
  await fallSilent(rig, 20, "232.5");
  life.process.kill();
  const next = await rig.start({ inSilence: true });
  await fallSilent(rig, 1, "232.5");
  expect(await check(rig, next)).toMatchObject({ approved: false, code: "LOSS_NOT_JUDGED" });
  await value(rig, "10000000");
  expect(await check(rig, next)).toMatchObject({ approved: true });
});

test("24: a value every second keeps the limits judged", async () => {
  const rig = await riskEngineRig({ seed: 243, settings });
  const life = await rig.start();
  for (let second = 0; second < 40; second += 1) {
    mark(rig, "232.5");
    await value(rig, "10000000");
    expect((await daily(rig, life))?.state).toBe("JUDGED");
    await rig.pass(950);
  }
  expect(await check(rig, life)).toMatchObject({ approved: true });
  expect(alarmsOf(rig)).toEqual([]);
});

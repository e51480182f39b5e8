// Prices that jump, and the losses that follow: what is true halts within ten seconds, and what comes back halts nothing.
import { describe, expect, it } from "vitest";
import type { LimitUses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";

let seed = 91_500;

/** Of 10,000,000 a fifth is held in each of two shares. */
async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  for (const [symbol, quantity, price] of [
    ["AAPL", "8600", "232.5"],
    ["MSFT", "4600", "428"],
  ] as const) {
    await fixture.publish(subjects.fillsCreated, {
      fill_id: `held-${symbol}`,
      order_id: `before-${symbol}`,
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol,
      side: "BUY",
      quantity,
      price,
      filled_at: format(fixture.time.clock.now()),
    });
  }
  await fixture.pass(300);
  return [fixture, life];
}

/** A second of prices, and our treasury's value of them. */
async function second(fixture: RiskEngineFixture, aapl: number, msft: number): Promise<void> {
  const at = format(fixture.time.clock.now());
  for (const [symbol, price] of [
    ["AAPL", aapl],
    ["MSFT", msft],
  ] as const) {
    fixture.outside.bus.broadcast(subjects.marketMarks, { symbol, price: String(price), source: "fixture", at });
  }
  await fixture.pass(200);
  const nav = String(10_000_000 + 8_600 * (aapl - 232.5) + 4_600 * (msft - 428));
  const as_of = format(fixture.time.clock.now());
  await fixture.publish(subjects.navUpdated, { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of });
  await fixture.pass(800);
}
/** Funds that are halted: of several limits that one loss breaks each has a halt. */
const halts = (fixture: RiskEngineFixture) => new Set(fixture.tables.risk.halts.map((halt) => halt.fund_id)).size;

describe("two shares that halve", () => {
  it("halt their fund when that is confirmed, and within ten seconds", async () => {
    const [fixture, life] = await begin();
    await second(fixture, 232.5, 428);
    for (let passed = 1; passed <= 4; passed += 1) {
      await second(fixture, 116, 214);
      expect([passed, halts(fixture)]).toEqual([passed, 0]);
    }
    const code = (await fixture.finish(life.check({ quantity: "1", limit_price: "116" }))).code;
    expect(["PRICE_NOT_VOUCHED", "LOSS_CONFIRMATION_PENDING"]).toContain(code);
    const { uses } = (await fixture.finish(life.call("GetLimitUse", { fund_id: "alpha" }))) as LimitUses;
    // By the better end of the prices nothing is lost.
    expect(uses.find(({ limit }) => limit === "daily")).toMatchObject({
      used_least: "0",
      cause: "the fund's value is not vouched for",
    });
    for (let passed = 5; passed <= 9; passed += 1) await second(fixture, 116, 214);
    expect(halts(fixture)).toBe(1);
    await fixture.finish(life.service.stop());
  });

  it("and come back halt nothing, and leave no baseline and no height", async () => {
    const [fixture, life] = await begin();
    await second(fixture, 232.5, 428);
    for (let passed = 1; passed <= 3; passed += 1) await second(fixture, 116, 214);
    for (let passed = 1; passed <= 3; passed += 1) await second(fixture, 1_160, 2_140);
    for (let passed = 1; passed <= 8; passed += 1) await second(fixture, 232.5, 428);
    expect(halts(fixture)).toBe(0);
    const other = { symbol: "SPY", quantity: "1", limit_price: "592.4" };
    expect((await fixture.finish(life.check(other))).code).toBe("");
    await fixture.finish(life.service.stop());
  });

  it("cannot be kept from halting by another price that jumps to and fro", async () => {
    const [fixture, life] = await begin();
    await second(fixture, 232.5, 428);
    for (let passed = 1; passed <= 10; passed += 1) await second(fixture, passed % 2 === 0 ? 1_000 : 232.5, 214);
    expect(halts(fixture)).toBe(1);
    await fixture.finish(life.service.stop());
  });
});

// 24.1: GetLimitUse on the whole shell: for every fund and every symbol that is seeded it says what headroom and the list of losses say.
import { expect, it } from "vitest";
import type { Headroom, LimitUses, Losses } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { drillFundId } from "../../core/halts/halts.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../testkit/risk/service-fixture.ts";

const seeded: Readonly<Record<string, readonly string[]>> = {
  alpha: ["AAPL", "MSFT", "GOOGL", "AMZN", "NVDA", "JPM", "XOM", "SPY"],
  beta: ["BTC-USD", "ETH-USD", "SOL-USD"],
  gamma: ["SPY"],
};

async function ask<Answer>(
  fixture: RiskEngineFixture,
  life: EngineLife,
  procedure: string,
  message: object,
): Promise<Answer> {
  return (await fixture.finish(life.call(procedure, message))) as Answer;
}

it("24.1: equals headroom and losses for every seeded fund and symbol, with open orders on both sides", async () => {
  const fixture = await riskEngineFixture({ seed: 241 });
  const life = await fixture.start();
  for (const [side, quantity] of [
    ["BUY", "40"],
    ["BUY", "7"],
    ["SELL", "3"],
  ]) {
    await fixture.finish(life.check({ side: side ?? "", quantity: quantity ?? "" }));
  }
  const { lines } = await ask<{ lines: readonly { fund_id: string; symbol: string; pending_buy: string }[] }>(
    fixture,
    life,
    "ListExposures",
    {},
  );
  expect(lines.some(({ pending_buy }) => pending_buy !== "0")).toBe(true);
  const { uses, more } = await ask<LimitUses>(fixture, life, "GetLimitUse", {});
  expect(more).toBe(false);
  const find = (fund: string, limit: string, scope: string) =>
    uses.filter((use) => use.fund_id === fund && use.limit === limit && use.scope === scope);
  let compared = 0;
  for (const [fund_id, symbols] of Object.entries(seeded)) {
    for (const symbol of symbols) {
      const { limits } = await ask<Headroom>(fixture, life, "GetHeadroom", { fund_id, symbol });
      const isHeld = lines.some((line) => line.fund_id === fund_id && line.symbol === symbol);
      for (const { limit, used, allowed } of limits) {
        if (limit === "max_position_pct" && !isHeld) continue;
        const scope = limit === "max_position_pct" ? symbol : (limit.split(".")[1] ?? "");
        expect(find(fund_id, limit, scope), `${fund_id} ${symbol} ${limit}`).toMatchObject([{ used, allowed }]);
        compared += 1;
      }
    }
  }
  expect(compared).toBeGreaterThan(0);
  const { losses } = await ask<Losses>(fixture, life, "ListLosses", {});
  const on = losses.filter(({ limit_pct, state }) => limit_pct !== undefined || state === "NOT_JUDGED");
  expect(on.length).toBeGreaterThan(0);
  for (const { fund_id, limit, strategy_id, loss, limit_loss, loss_pct, limit_pct, state, reason } of on) {
    const expected = state === "NOT_JUDGED" ? { reason, band: 100 } : { used: loss, allowed: limit_loss };
    const found = find(fund_id, limit, strategy_id ?? "");
    expect(found, `${fund_id} ${limit}`).toMatchObject([expected]);
    if (state !== "NOT_JUDGED") expect(found[0]?.share).toBeCloseTo((loss_pct ?? 0) / (limit_pct ?? 1), 5);
  }
  expect(uses.filter((use) => use.fund_id === drillFundId)).toEqual([]);
});

it("24.1: is asked of one fund alone, and of none that is not there", async () => {
  const fixture = await riskEngineFixture({ seed: 242 });
  const life = await fixture.start();
  const { uses } = await ask<LimitUses>(fixture, life, "GetLimitUse", { fund_id: "beta" });
  expect([...new Set(uses.map(({ fund_id }) => fund_id))]).toEqual(["beta"]);
  await expect(fixture.finish(life.call("GetLimitUse", { fund_id: "nobody" }))).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});

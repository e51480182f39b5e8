// Attacks on a fund's loss limits: each tries to go on trading after a loss that should have halted the fund.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Attacker, openAttacker } from "../testkit/attacks/attacker.ts";
import { eventually } from "../testkit/platform.ts";

let attacker: Attacker;
beforeAll(async () => {
  attacker = await openAttacker("attacks-losses");
}, 180_000);
afterAll(() => attacker?.close());

const timeout = 180_000;
const passed = /FILLED|WORKING/;
const share = { fund_id: "alpha", strategy_id: "alpha-meanrev", symbol: "XOM", asset_class: "EQUITY" };
const fallen = ["AAPL", "GOOGL", "NVDA", "AMZN", "JPM", "SPY"];

async function halts(): Promise<readonly { severity: string; fund_id: string }[]> {
  const { body } = await attacker.ask("GET", "/v1/halts");
  return body as unknown as readonly { severity: string; fund_id: string }[];
}
const isHalted = async (fundId: string): Promise<boolean> =>
  (await halts()).some((halt) => halt.fund_id === fundId && halt.severity === "FUND_HALT");

describe("a loss cannot be hidden", () => {
  it("behind a symbol that has no prices", { timeout }, async () => {
    let said = "";
    await eventually(
      "new risk passes",
      async () => {
        ({ said } = await attacker.order({ ...share, side: "BUY", quantity: "1" }));
        return passed.test(said);
      },
      60_000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${said}`);
    });
    await attacker.ask("PUT", "/v1/oms/paper-weather", { halted_symbols: ["MSFT"], reason: "attack" });
    // tidy: sleeps because prices of the halted symbol are to become as old as the attack needs them
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    const gaps = fallen.map((symbol) => ({ symbol, pct: -0.2 }));
    await attacker.ask("PUT", "/v1/oms/paper-weather", { halted_symbols: ["MSFT"], gaps, reason: "attack" });
    const asked = await eventuallyDenied();
    expect(asked).not.toMatch(passed);
    await eventually("the fund is halted", () => isHalted("alpha"), 15_000);
  });

  it("behind a deposit", { timeout }, async () => {
    const flow = { fund_id: "alpha", currency: "USD", idempotency_key: "attack-deposit", reason: "attack" };
    expect((await attacker.flow({ ...flow, amount: "5000000" })).code).toBe("");
    // tidy: sleeps because a deposit that hid the loss would have lifted it by then
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(await isHalted("alpha")).toBe(true);
    const { body } = await attacker.ask("GET", "/v1/riskengine/losses?fund_id=alpha");
    const states = (body as unknown as readonly { limit: string; state: string }[])
      .filter(({ limit }) => limit === "daily")
      .map(({ state }) => state);
    expect(states).toEqual(["BREACHED"]);
  });

  it("behind a withdrawal, which a halt refuses", { timeout }, async () => {
    const flow = { fund_id: "alpha", currency: "USD", idempotency_key: "attack-withdrawal", reason: "attack" };
    expect((await attacker.flow({ ...flow, amount: "-1000" })).code).toBe("FLOW_HALTED");
  });

  it("behind a restart", { timeout }, async () => {
    attacker.fixture.kill("riskengine");
    await eventually(
      "the platform is healthy",
      async () => (await attacker.fixture.platform().health()) === 200,
      60_000,
    );
    expect(await isHalted("alpha")).toBe(true);
    expect((await attacker.order({ ...share, side: "BUY", quantity: "1" })).said).not.toMatch(passed);
  });

  it("behind another currency or calendar of the fund", { timeout }, async () => {
    const { body } = await attacker.ask("GET", "/v1/treasury/reference/funds");
    const { version, content } = body as { version: number; content: readonly { fund_id: string }[] };
    const set = (terms: object) =>
      attacker.ask("PUT", "/v1/treasury/reference/funds", {
        version: version + 1,
        content: content.map((one) => (one.fund_id === "alpha" ? { ...one, ...terms } : one)),
        reason: "attack",
      });
    expect((await set({ currency: "EUR" })).code).toBe("REFERENCE_IN_USE");
    expect((await set({ calendar: "always-open" })).code).toBe("REFERENCE_IN_USE");
    expect(await isHalted("alpha")).toBe(true);
  });

  it("and the way out stays open", { timeout }, async () => {
    const exit = { ...share, side: "SELL", quantity: "10", reduce_only: true };
    await eventually("an exit passes", async () => passed.test((await attacker.order(exit)).said), 60_000);
  });
});

/** Within ten seconds of the fall nobody buys any more. */
async function eventuallyDenied(): Promise<string> {
  let said = "";
  await eventually(
    "a purchase is denied",
    async () => {
      ({ said } = await attacker.order({ ...share, side: "BUY", quantity: "1" }));
      return !passed.test(said);
    },
    10_000,
  );
  return said;
}

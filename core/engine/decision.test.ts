// How a result reads as a message: figures, ages, warnings at their thresholds, and what is absent.
import { describe, expect, it } from "vitest";
import { engineFixture, moment, orderOf } from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage } from "./decision.ts";

const limit = (quantity: string) => ({ quantity, order_type: "LIMIT", limit_price: "200.00" });

function decide(quantity: string, at = 0) {
  const engine = engineFixture();
  return decisionMessage(engine.check(orderOf("a", limit(quantity)), moment(at)), "decision-1");
}

describe("a decision", () => {
  it("that approves names its window, its envelope and its epoch, and no gate", () => {
    expect(decide("10")).toMatchObject({
      approved: true,
      rejecting_gate: "",
      code: "",
      reason: "",
      decision_id: "decision-1",
      envelope_version: 1,
      halt_epoch: 1,
      decided_at: "2026-11-15T13:30:00.000000Z",
      valid_until: "2026-11-15T13:30:05.000000Z",
      classification: "INCREASE",
      closing_quantity_allowed: undefined,
      dry_run: undefined,
    });
  });

  it("that denies has no validity, and ends with the gate that said no", () => {
    const denied = decide("1001");
    expect(denied).toMatchObject({ approved: false, rejecting_gate: "position_risk", valid_until: undefined });
    expect(denied.checks.map(({ result }) => result)).toEqual(["PASSED", "PASSED", "PASSED", "FAILED"]);
  });

  it("shows amounts rounded up to the cent and inputs with their age", () => {
    const { checks } = decide("10", 250);
    const figures = checks.flatMap((check) => check.figures);
    expect(figures).toContainEqual({ name: "resulting_gross", value: "2000.00", age_ms: undefined });
    expect(figures).toContainEqual({ name: "price", value: "200", age_ms: 250 });
    expect(figures).toContainEqual({ name: "nav", value: "1000000", age_ms: 250 });
  });

  it.each([
    ["499", undefined],
    ["500", 0.5],
    ["749", 0.5],
    ["750", 0.75],
    ["850", 0.85],
    ["900", 0.9],
    ["949", 0.9],
    ["950", 0.95],
    ["1000", 0.95],
    ["1200", 0.95],
  ])("warns about %s of 1,000 shares with the threshold %s", (quantity, threshold) => {
    const warning = decide(quantity).warnings.find((one) => one.limit === "max_position_pct");
    expect(warning?.threshold).toBe(threshold);
    if (threshold !== undefined) expect(warning?.used).toBe(Number(quantity) / 1_000);
  });
});

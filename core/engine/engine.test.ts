// The engine against a model that recomputes everything, over random lives from printed seeds; the long form runs thousands of them. And
// what the engine promises about itself: the same calls give the same bytes, and nobody reads another order's notes.
import { describe, expect, it } from "vitest";
import { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { engineFixture, moment, orderOf } from "../../testkit/risk/engine-fixture.ts";
import { liveOnce, nothingSeen } from "../../testkit/risk/engine-properties.ts";
import { decisionMessage, inputsOf } from "./decision.ts";

const seeds = Array.from({ length: 24 }, (_, index) => 4_000 + index);

describe("random lives", () => {
  const seen = nothingSeen();

  it.each(seeds)(
    "seed %i: the state equals the model, limits hold, halts hold, and every decision can be made again",
    (seed) => {
      liveOnce(seed, 60, seen);
    },
  );

  it("saw what it was made for", () => {
    expect(seen.approvals).toBeGreaterThan(100);
    expect(seen.denials).toBeGreaterThan(100);
    expect(seen.tried).toBeGreaterThan(50);
    expect(seen.replayed).toBeGreaterThan(200);
    expect(seen.withdrawn).toBeGreaterThan(100);
    expect(seen.restored).toBeGreaterThan(15);
    expect(seen.lowered).toBeGreaterThan(5);
    expect([...seen.codes]).toEqual(
      expect.arrayContaining(["DUPLICATE_KEY", "KEY_REUSED", "FUND_HALTED", "SCHEMA_AMENDMENT_MISMATCH"]),
    );
    const sides = ["COVER_EXCEEDS_SHORT", "SELL_EXCEEDS_LONG", "SHORT_WHILE_LONG", "BUY_CROSSES_ZERO"];
    expect([...seen.codes]).toEqual(expect.arrayContaining([...sides, "NOTIONAL_ABOVE_MAX", "PRICE_OUTSIDE_COLLAR"]));
  });
});

describe("determinism", () => {
  it("gives the same bytes for the same calls", () => {
    const run = () => {
      const engine = engineFixture();
      return ["BUY", "SELL", "SELL_SHORT", "BUY"].map((side, index) => {
        const checked = engine.check(
          orderOf(`o${index}`, { side, quantity: String(300 * (index + 1)) }),
          moment(index),
        );
        return [RiskDecision.encode(decisionMessage(checked, `d${index}`)).finish(), inputsOf(checked)];
      });
    };
    expect(run()).toEqual(run());
  });

  it("never decides at an earlier moment than before", () => {
    const engine = engineFixture();
    expect(engine.check(orderOf("a"), moment(50)).at).toBe(moment(50));
    expect(engine.check(orderOf("b"), moment(10)).at).toBe(moment(50));
  });
});

describe("notes of a result", () => {
  it("are refused after the next check, instead of being another order's", () => {
    const engine = engineFixture();
    const first = engine.check(orderOf("a"), moment(0));
    engine.check(orderOf("b"), moment(1));
    expect(() => decisionMessage(first, "d")).toThrow(/written over/);
    expect(() => inputsOf(first)).toThrow(/written over/);
  });

  it("are kept by a duplicate, which has to wait for its original", () => {
    const engine = engineFixture();
    engine.check(orderOf("a"), moment(0));
    const duplicate = engine.check(orderOf("a"), moment(1));
    engine.check(orderOf("b"), moment(2));
    expect(decisionMessage(duplicate, "d")).toMatchObject({ code: "DUPLICATE_KEY", checks: [{ gate: "idempotency" }] });
    expect(inputsOf(duplicate).length).toBeGreaterThan(0);
  });
});

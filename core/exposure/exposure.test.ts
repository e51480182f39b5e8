// A holding that cannot be valued stops new risk in the whole fund, and the answer names what is missing: its price, or only the exchange
// rate. The sums themselves are compared with a model in engine.test.ts.
import { expect, it } from "vitest";
import {
  engineFixture,
  hold,
  markAll,
  moment,
  orderOf,
  reference,
  valueAll,
} from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage } from "../engine/decision.ts";

const hourMs = 3_600_000;
const order = orderOf("a", { quantity: "1" });

it("names the exchange rate of another holding when that is too old, with its age", () => {
  const engine = engineFixture();
  hold(engine, "alpha", "SAP", "10");
  const [fresh, old] = [moment(hourMs), moment(hourMs + 1)];
  markAll(engine, fresh);
  valueAll(engine, fresh);
  expect(engine.check({ ...order, dry_run: true }, fresh).outcome).toBe("approved");
  const decision = decisionMessage(engine.check(order, old), "d");
  expect(decision).toMatchObject({ code: "FX_RATE_STALE", rejecting_gate: "position_risk" });
  expect(decision.reason).toContain('"SAP" is held or ordered');
  expect(decision.checks.at(-1)?.figures).toContainEqual({ name: "fx_rate", value: "too old", age_ms: hourMs + 1 });
});

it("does not mind an old exchange rate of what the fund does not hold, and minds it as soon as it does", () => {
  const engine = engineFixture();
  hold(engine, "alpha", "MSFT", "10");
  const old = moment(hourMs + 1);
  markAll(engine, old);
  valueAll(engine, old);
  for (let time = 0; time < 2; time += 1) {
    expect(engine.check({ ...order, dry_run: true }, old).outcome).toBe("approved");
  }
  hold(engine, "alpha", "SAP", "10");
  expect(engine.check({ ...order, dry_run: true }, old)).toMatchObject({ code: "FX_RATE_STALE" });
  markAll(engine, moment(hourMs + 2));
  expect(engine.check(order, moment(hourMs + 2))).toMatchObject({ code: "FX_RATE_STALE" });
});

it("names the exchange rate of another holding when there is none, and its price when that is missing too", () => {
  const engine = engineFixture();
  hold(engine, "alpha", "SAP", "10");
  engine.setReference({ ...reference, fx: [] });
  expect(engine.check({ ...order, dry_run: true }, moment(1))).toMatchObject({
    code: "FX_RATE_MISSING",
    gate: "position_risk",
    reason: expect.stringContaining('"SAP"'),
  });
  hold(engine, "alpha", "NOBODY", "10");
  expect(engine.check(order, moment(2))).toMatchObject({
    code: "MARK_MISSING",
    reason: expect.stringContaining('"NOBODY"'),
  });
});

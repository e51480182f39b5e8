// Exchange rates that are not believed yet: what waits for them, which end counts, and what ends it. Numbers in the names are the invariants of rate-ranges.ts.
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format } from "../../../contracts/src/instant.ts";
import { engineFixture, hold, markAll, moment, orderOf, reference } from "../../../testkit/risk/engine-fixture.ts";
import type { Engine } from "../engine.ts";
import { unusedLimits } from "../limit-use.ts";

const ample = { max_notional: 1e9, max_position_pct: 0.5, max_gross_exposure_pct: 2 };

function begun(): Engine {
  const engine = engineFixture(ample, { priceJumpMax: decimal.parse("0.25") });
  engine.noteClock(moment(0));
  return engine;
}

function rate(engine: Engine, second: number, said: string, [base, quote] = ["EUR", "USD"]): void {
  engine.noteClock(moment(second * 1_000));
  const fx = [{ base: base ?? "", quote: quote ?? "", rate: said, as_of: format(moment(second * 1_000)) }];
  engine.setReference({ ...reference, fx });
  markAll(engine, moment(second * 1_000));
}

let count = 0;
function codeOf(engine: Engine, second: number, symbol = "SAP", more: Parameters<typeof orderOf>[1] = {}): string {
  count += 1;
  const order = orderOf(`r-${count}`, { symbol, quantity: "10", dry_run: true, ...more });
  return engine.check(order, moment(second * 1_000)).code ?? "";
}
const grossOf = (engine: Engine): bigint => engine.exposure("alpha")?.gross ?? 0n;
const judgedOf = (engine: Engine, nav: string, second: number) =>
  engine.values.judge({ fund_id: "alpha", nav, currency: "USD", as_of: format(moment(second * 1_000)) }, true);

describe("a rate that jumped", () => {
  it("stops new risk in what it is the rate of, lets exits and others pass, and is confirmed after 5 s", () => {
    const engine = begun();
    hold(engine, "alpha", "SAP", "10");
    rate(engine, 1, "108");
    expect(codeOf(engine, 1)).toBe("PRICE_NOT_VOUCHED");
    expect(codeOf(engine, 1, "AAPL")).toBe("");
    expect(codeOf(engine, 1, "SAP", { side: "SELL", reduce_only: true })).toBe("");
    // Of a fund in euros what is in dollars waits.
    const euro = { fund_id: "gamma", strategy_id: "euro" };
    expect([codeOf(engine, 1, "AAPL", euro), codeOf(engine, 1, "SAP", euro)]).toEqual(["PRICE_NOT_VOUCHED", ""]);
    engine.noteClock(moment(5_999));
    expect(codeOf(engine, 5.999)).toBe("PRICE_NOT_VOUCHED");
    engine.noteClock(moment(6_000));
    expect(codeOf(engine, 6)).not.toBe("PRICE_NOT_VOUCHED");
  });

  it("is none within a twentieth, and ends at once with one that is back inside", () => {
    const engine = begun();
    rate(engine, 1, "1.13");
    expect(codeOf(engine, 1)).toBe("");
    rate(engine, 2, "1.2");
    expect(codeOf(engine, 2)).toBe("PRICE_NOT_VOUCHED");
    rate(engine, 3, "1.1");
    expect(codeOf(engine, 3)).toBe("");
  });

  it("2: counts what is held at the higher end, whichever way it moved, until it is confirmed", () => {
    for (const [said, higher] of [
      ["108", 108n],
      ["0.0108", 1n],
    ] as const) {
      const engine = begun();
      hold(engine, "alpha", "SAP", "100");
      const before = grossOf(engine);
      rate(engine, 1, said);
      expect(grossOf(engine)).toBe((before * higher * 100n) / (higher === 1n ? 100n : 108n));
      engine.noteClock(moment(6_000));
      expect(grossOf(engine)).toBe(said === "108" ? before * 100n : before / 100n);
    }
  });

  it("3: makes values of funds in its currencies a range, and no money leaves them", () => {
    const engine = begun();
    rate(engine, 1, "108");
    const risen = judgedOf(engine, "9000000", 1);
    expect([risen.standing, decimal.format(risen.counts)]).toEqual(["EXPLAINED", "1000000"]);
    const fallen = judgedOf(engine, "100000", 1);
    expect([fallen.standing, fallen.counts, fallen.best]).toEqual([
      "EXPLAINED",
      decimal.parse("100000"),
      decimal.parse("1000000"),
    ]);
    engine.values.take(
      { fund_id: "alpha", nav: "9000000", currency: "USD", as_of: format(moment(1_000)) },
      risen,
      true,
    );
    const uses = engine.read((state) => unusedLimits(state, "alpha", moment(1_000)));
    expect(uses.find(({ limit }) => limit === "max_gross_exposure_pct")).toMatchObject({
      allowed: "2000000",
      allowed_most: "18000000",
    });
    const asked = { fundId: "alpha", amount: decimal.one, cash: decimal.parse("99999"), at: moment(1_500) };
    expect(engine.reserveWithdrawal(asked, moment(1_500))).toMatchObject({ code: "FLOW_LIMITS_UNKNOWN" });
    engine.noteClock(moment(6_000));
    expect(judgedOf(engine, "9000000", 6).standing).toBe("VOUCHED");
    expect(engine.reserveWithdrawal({ ...asked, at: moment(6_500) }, moment(6_500))).toBeUndefined();
  });

  it("1: is one too when the pair is turned round, or comes back", () => {
    const engine = begun();
    rate(engine, 1, "108", ["USD", "EUR"]);
    expect(codeOf(engine, 1)).toBe("PRICE_NOT_VOUCHED");
    const straight = begun();
    rate(straight, 1, "0.926", ["USD", "EUR"]);
    expect(codeOf(straight, 1)).toBe("");
    const gone = begun();
    rate(gone, 1, "1.08");
    gone.setReference({ ...reference, fx: [] });
    rate(gone, 7, "108");
    expect(codeOf(gone, 7)).toBe("PRICE_NOT_VOUCHED");
  });
});

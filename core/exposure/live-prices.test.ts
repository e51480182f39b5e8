// Which price a fund may see: what the simulated market says is for PAPER funds alone, whatever comes first, and PAPER funds keep to it once it has spoken.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { isPossiblePrice } from "../../contracts/src/records/market.ts";
import { inputCount } from "../../testkit/full-count.ts";
import {
  engineFixture,
  fillOf,
  markOf,
  moment,
  orderOf,
  reference,
  startOfDay,
} from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage } from "../engine/decision.ts";
import type { Engine } from "../engine/engine.ts";

const live = { fund_id: "beta", strategy_id: "coins" };
let count = 0;

function mixedEngine(): Engine {
  const engine = engineFixture();
  // Nothing was said of its price by anybody; beta is LIVE.
  engine.setReference({
    ...reference,
    instruments: [...reference.instruments, { ...must("XOM"), symbol: "NEW", name: "NEW" }],
    funds: reference.funds.map((fund) =>
      fund.fund_id === "beta" ? { ...fund, mode: "LIVE" as const, valued_by: "desk" } : fund,
    ),
  });
  return engine;
}

function must(symbol: string) {
  const found = reference.instruments.find((one) => one.symbol === symbol);
  if (found === undefined) throw new Error(symbol);
  return found;
}

function mark(engine: Engine, source: string, price: string, at: Instant = startOfDay): void {
  engine.setMark({ symbol: "NEW", price, source, at: format(at) });
}

/** The code of what was decided, or the price that it was decided on and who said it. */
function seen(engine: Engine, more: object = {}, at: Instant = startOfDay): string {
  const order = orderOf(`o-${++count}`, { symbol: "NEW", quantity: "1", dry_run: true, ...more });
  const decision = decisionMessage(engine.check(order, at), "d");
  const figures = decision.checks.flatMap((check) => check.figures);
  const figure = (wanted: string) => figures.find(({ name }) => name === wanted)?.value ?? "";
  return decision.approved ? `${figure("price")} ${figure("price_source")}` : decision.code;
}

describe("32.2: a LIVE fund", () => {
  it("never sees a simulated price, and says why there is none", () => {
    const engine = mixedEngine();
    mark(engine, "paper", "100");
    expect(seen(engine)).toBe("100 paper");
    expect(seen(engine, live)).toBe("REFERENCE_PRICE_MISSING");
    const { reason } = decisionMessage(
      engine.check(orderOf(`o-${++count}`, { symbol: "NEW", ...live }), startOfDay),
      "d",
    );
    expect(reason).toBe('"NEW" has no price but that of the simulated market, which no LIVE fund sees.');
  });

  it("sees the price from outside, while a PAPER fund keeps to the simulated one, in either order of starts", () => {
    for (const first of ["paper", "feed"]) {
      const engine = mixedEngine();
      for (const source of first === "paper" ? ["paper", "feed"] : ["feed", "paper"]) {
        mark(engine, source, source === "paper" ? "100" : "90");
      }
      expect(seen(engine)).toBe("100 paper");
      expect(seen(engine, live)).toBe("90 feed");
      mark(engine, "feed", "91", moment(1_000));
      expect(seen(engine, {}, moment(1_000))).toBe("100 paper");
      expect(seen(engine, live, moment(1_000))).toBe("91 feed");
    }
  });

  it("takes no new risk when its feed falls silent, however fresh the simulated price is", () => {
    const engine = mixedEngine();
    mark(engine, "feed", "90");
    mark(engine, "paper", "100", moment(10_500));
    engine.setNav({ fund_id: "beta", nav: "1000000", currency: "USD", as_of: format(moment(10_500)) });
    expect(seen(engine, live, moment(10_500))).toBe("REFERENCE_PRICE_STALE");
  });

  it("counts what it holds at its own price, and a PAPER fund at the other", () => {
    const engine = mixedEngine();
    mark(engine, "feed", "90");
    mark(engine, "paper", "100");
    for (const fund of [live, {}]) {
      engine.applyFill(fillOf(orderOf(`held-${++count}`, { symbol: "NEW", ...fund }), "10"));
    }
    // Exact products, in units of 10^-36.
    expect(engine.exposure("beta")?.gross).toBe(900n * 10n ** 36n);
    expect(engine.exposure("alpha")?.gross).toBe(1_000n * 10n ** 36n);
  });

  it("that becomes one has no price any more until one comes from outside", () => {
    const engine = engineFixture();
    engine.setMark({ ...markOf("AAPL", "210", moment(1)), source: "paper" });
    expect(seen(engine, { symbol: "AAPL" }, moment(1))).toBe("210 paper");
    engine.setReference({
      ...reference,
      funds: reference.funds.map((fund) => ({ ...fund, mode: "LIVE" as const, valued_by: "desk" })),
    });
    expect(seen(engine, { symbol: "AAPL" }, moment(1))).toBe("200 test");
    expect(seen(engine, { symbol: "AAPL" }, moment(10_001))).toBe("REFERENCE_PRICE_STALE");
  });

  it("is never decided on a simulated price, over random marks of both", () => {
    const heard = fc.record({
      isSimulated: fc.boolean(),
      price: fc.integer({ min: 50, max: 150 }).map(String),
      atMs: fc.integer({ min: 0, max: 5_000 }),
    });
    fc.assert(
      fc.property(fc.array(heard, { maxLength: 12 }), (marks) => {
        const engine = mixedEngine();
        const newest = new Map<string, { readonly price: string; readonly atMs: number; readonly source: string }>();
        const keep = (who: string, said: { price: string; atMs: number; source: string }): void => {
          const known = newest.get(who);
          const isOther = who === "paper" && said.source === "paper" && known?.source !== "paper";
          if (known === undefined || isOther || said.atMs >= known.atMs) newest.set(who, said);
        };
        for (const { isSimulated, price, atMs } of marks) {
          const source = isSimulated ? "paper" : "feed";
          mark(engine, source, price, moment(atMs));
          if (!isSimulated) keep("live", { price, atMs, source });
          if (isSimulated || newest.get("paper")?.source !== "paper") keep("paper", { price, atMs, source });
        }
        const expected = (who: string): string => {
          const known = newest.get(who);
          return known === undefined ? "REFERENCE_PRICE_MISSING" : `${known.price} ${known.source}`;
        };
        expect(seen(engine, live, moment(5_000))).toBe(expected("live"));
        expect(seen(engine, {}, moment(5_000))).toBe(expected("paper"));
      }),
      { seed: 322, numRuns: inputCount(300) },
    );
  });
});

describe("32.5: a price of zero or less", () => {
  it.each(["0", "0.00", "-1"])("is none, so that what is held makes no room (%s)", (price) => {
    const engine = mixedEngine();
    mark(engine, "feed", "100");
    engine.applyFill(fillOf(orderOf(`o-${++count}`, { symbol: "NEW", quantity: "10", ...live }), "10"));
    const before = engine.exposure("beta");
    expect(before?.gross).not.toBe(0n);
    mark(engine, "feed", price);
    expect(engine.exposure("beta")).toEqual(before);
    expect(seen(engine, live)).toBe("100 feed");
  });

  it("is one of an option that says its risk", () => {
    expect(isPossiblePrice({ price: "0" })).toBe(false);
    expect(isPossiblePrice({ ...markOf("XOM", "0", startOfDay), option_risk: undefined })).toBe(false);
    const option_risk = { delta: "0.1", stressed_up: "1", stressed_down: "0", at: format(startOfDay) };
    expect(isPossiblePrice({ price: "0", option_risk })).toBe(true);
    expect(isPossiblePrice({ price: "-0.01", option_risk })).toBe(false);
  });
});

// How much of every limit is used, held against headroom itself. The numbers are the invariants of limit-use.ts.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LimitUse, Loss } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { engineFixture, hold, moment, orderOf } from "../../testkit/risk/engine-fixture.ts";
import type { Engine } from "./engine.ts";
import { exposureUse, inOrder, lossUse, unusedLimits } from "./limit-use.ts";

const symbols = ["AAPL", "MSFT", "XOM", "BTC-USD", "SPY", "SPY-C500", "SPY-P400"] as const;
const classes: Readonly<Record<string, string>> = { "BTC-USD": "CRYPTO", "SPY-C500": "OPTION", "SPY-P400": "OPTION" };
const fields = ["max_notional", "max_gross_exposure_pct", "max_net_exposure_pct", "sector_limits_pct.technology"];

function useOf(engine: Engine, fundId = "alpha"): readonly LimitUse[] {
  const held = engine.lines().filter((line) => line.fund_id === fundId);
  return inOrder([
    ...engine.read((state) => unusedLimits(state, fundId, moment(20))),
    ...engine.read((state) =>
      exposureUse(
        state,
        fundId,
        held.map(({ symbol }) => symbol),
        moment(20),
      ),
    ),
  ]);
}

const situations = fc.record({
  held: fc.array(fc.record({ symbol: fc.constantFrom(...symbols), quantity: fc.integer({ min: -300, max: 300 }) }), {
    maxLength: 5,
  }),
  pending: fc.array(
    fc.record({ symbol: fc.constantFrom(...symbols), side: fc.constantFrom("BUY", "SELL"), quantity: fc.nat(90) }),
    { maxLength: 8 },
  ),
  max_stress_loss_pct: fc.option(fc.constant(0.3), { nil: undefined }),
});

describe("24.1: the use of limits", () => {
  it("1, 2: is that of headroom, letter by letter, for every symbol, with open orders on both sides", () => {
    fc.assert(
      fc.property(situations, ({ held, pending, max_stress_loss_pct }) => {
        const engine = engineFixture({ strict_sides: false, ...(max_stress_loss_pct && { max_stress_loss_pct }) });
        for (const { symbol, quantity } of held) if (quantity !== 0) hold(engine, "alpha", symbol, String(quantity));
        for (const [index, { symbol, side, quantity }] of pending.entries()) {
          const asset_class = classes[symbol] ?? "EQUITY";
          const order = orderOf(`p-${index}`, { symbol, side, quantity: String(quantity + 1), asset_class });
          engine.check(order, moment(index));
        }
        const before = engine.snapshot();
        const uses = useOf(engine);
        expect(engine.snapshot()).toEqual(before);
        const byName = new Map(uses.map((use) => [`${use.limit} ${use.scope}`, use]));
        for (const { symbol } of engine.lines().filter((line) => line.fund_id === "alpha")) {
          for (const { limit, used, allowed } of engine.headroom({ fundId: "alpha", symbol, side: "BUY" }, moment(20))
            .limits) {
            const scope = limit === "max_position_pct" ? symbol : (limit.split(".")[1] ?? "");
            expect(byName.get(`${limit} ${scope}`), `${limit} of ${symbol}`).toMatchObject({ used, allowed });
          }
        }
        for (const limit of fields)
          expect(
            uses.filter((use) => use.limit === limit),
            limit,
          ).toHaveLength(1);
        const shares = uses.map(({ share }) => share ?? Number.POSITIVE_INFINITY);
        expect(shares).toEqual([...shares].sort((one, other) => other - one));
      }),
      { seed: 241, numRuns: 150 },
    );
  });

  it("1: tells every limit of a fund that holds nothing, and of a position for each symbol", () => {
    const engine = engineFixture();
    const none = useOf(engine);
    expect(none.map(({ limit, scope, used, share, band }) => [limit, scope, used, share, band])).toEqual(
      ["max_gross_exposure_pct", "max_net_exposure_pct", "max_notional", "max_position_pct"]
        .map((limit): unknown[] => [limit, "", "0", 0, 0])
        .concat([["sector_limits_pct.technology", "technology", "0", 0, 0]]),
    );
    hold(engine, "alpha", "AAPL", "500");
    engine.check(orderOf("more", { quantity: "300" }), moment(0));
    engine.check(orderOf("less", { side: "SELL", quantity: "200" }), moment(1));
    const [first] = useOf(engine);
    // 800 at 200 of a fifth of a million: the order that sells does not make the worst case better.
    expect(first).toMatchObject({ limit: "max_position_pct", scope: "AAPL", used: "160000", allowed: "200000" });
    expect(first).toMatchObject({ share: 0.8, band: 75, as_of: "2026-11-15T13:30:00.020000Z" });
    expect(useOf(engine).filter(({ limit }) => limit === "max_position_pct")).toHaveLength(1);
  });

  it("1: of what cannot be counted has a reason and the band 100, and stands first", () => {
    const unpriced = engineFixture();
    hold(unpriced, "alpha", "NOTHING", "5");
    expect(useOf(unpriced)[0]).toMatchObject({
      limit: "max_position_pct",
      scope: "NOTHING",
      reason: "MARK_MISSING",
      band: 100,
    });
    expect(useOf(unpriced)[0]).not.toHaveProperty("share");
    expect(useOf(engineFixture(), "nobody")).toMatchObject([{ reason: "ENVELOPE_MISSING", band: 100 }]);
  });

  it.each([
    ["49.9999", 0, 0.499999],
    ["50", 50, 0.5],
    ["74.9999", 50, 0.749999],
    ["75", 75, 0.75],
    ["85", 85, 0.85],
    ["90", 90, 0.9],
    ["94.9999", 90, 0.949999],
    ["95", 95, 0.95],
    ["99.9999999", 95, 0.999999],
    ["100", 100, 1],
    ["250", 100, 2.5],
    ["0", 0, 0],
  ] as const)("3: a loss of %s of 100 is in the band %i", (loss, band, share) => {
    expect(lossUse(lossOf({ loss, limit_loss: "100" }), moment(0))).toMatchObject([
      { used: loss, allowed: "100", band, share },
    ]);
  });

  it("3: counts a limit of zero as used up", () => {
    const engine = engineFixture({ max_position_pct: 0, max_gross_exposure_pct: 0 });
    hold(engine, "alpha", "AAPL", "1");
    const zero = useOf(engine).filter(({ allowed }) => allowed === "0");
    expect(zero.map(({ limit, share, band }) => [limit, share, band])).toEqual([
      ["max_gross_exposure_pct", 1, 100],
      ["max_position_pct", 1, 100],
    ]);
  });

  it("2: of losses is that of their list: off has no row, a strategy is the scope, what is not judged says why", () => {
    const at = moment(0);
    expect(lossUse(lossOf({ limit_pct: undefined, limit_loss: undefined }), at)).toEqual([]);
    // A strategy counts from its own profit, and its limit is a share of the fund.
    const strategy = lossOf({ limit: "strategy", strategy_id: "trend", loss: "5", baseline: "0", limit_loss: "20" });
    expect(lossUse(strategy, at)).toEqual([
      {
        fund_id: "alpha",
        limit: "strategy",
        scope: "trend",
        used: "5",
        allowed: "20",
        share: 0.25,
        band: 0,
        as_of: "2026-11-15T13:29:00.000000Z",
      },
    ]);
    const unjudged = lossOf({ state: "NOT_JUDGED", loss: undefined, baseline: undefined, reason: "no calendar" });
    expect(lossUse(unjudged, at)).toMatchObject([{ limit: "daily", band: 100, reason: "no calendar" }]);
  });
});

function lossOf(more: Partial<Loss>): Loss {
  return {
    fund_id: "alpha",
    limit: "daily",
    period: "2026-11-15",
    baseline: "1000000",
    value: "990000",
    loss: "10000",
    loss_pct: 0.01,
    limit_pct: 0.02,
    limit_loss: "20000",
    state: "JUDGED",
    as_of: "2026-11-15T13:29:00.000000Z",
    ...more,
  };
}

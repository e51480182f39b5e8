// What headroom promises, checked with the engine itself: the quantity it names passes, and one lot more does not.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { engineFixture, hold, moment, orderOf } from "../../testkit/risk/engine-fixture.ts";

const symbols = ["AAPL", "MSFT", "XOM", "BTC-USD", "SPY", "SPY-C500", "SPY-P400"] as const;
const options = { "SPY-C500": "OPTION", "SPY-P400": "OPTION" } as const;
const classes = {
  AAPL: "EQUITY",
  MSFT: "EQUITY",
  XOM: "EQUITY",
  "BTC-USD": "CRYPTO",
  SPY: "EQUITY",
  ...options,
} as const;
const whole = { AAPL: "1", MSFT: "1", XOM: "1", SPY: "1", "SPY-C500": "1", "SPY-P400": "1" } as const;
const lots = { ...whole, "BTC-USD": "0.0001" } as const;
const strategies = { alpha: "trend", beta: "coins" } as const;

const situations = fc.record({
  fund: fc.constantFrom("alpha" as const, "beta" as const),
  symbol: fc.constantFrom(...symbols),
  side: fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"),
  held: fc.array(fc.record({ symbol: fc.constantFrom(...symbols), quantity: fc.integer({ min: -300, max: 300 }) }), {
    maxLength: 4,
  }),
  pending: fc.array(
    fc.record({
      symbol: fc.constantFrom(...symbols),
      side: fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"),
    }),
    { maxLength: 3 },
  ),
  envelope: fc.record({
    max_position_pct: fc.integer({ min: 1, max: 40 }).map((percent) => percent / 100),
    max_gross_exposure_pct: fc.integer({ min: 5, max: 200 }).map((percent) => percent / 100),
    max_net_exposure_pct: fc.integer({ min: 5, max: 200 }).map((percent) => percent / 100),
    max_notional: fc.integer({ min: 1_000, max: 400_000 }),
    price_collar_pct: fc.integer({ min: 0, max: 10 }).map((percent) => percent / 100),
    sector_limits_pct: fc.constantFrom<Record<string, number>>(
      {},
      { technology: 0.07 },
      { technology: 0.2, crypto: 0.1 },
    ),
    shorting_enabled: fc.boolean(),
    strict_sides: fc.boolean(),
  }),
});

function fixture(envelope: Partial<RiskEnvelope>, held: readonly { symbol: string; quantity: number }[], fund: string) {
  const engine = engineFixture(envelope);
  for (const { symbol, quantity } of held) if (quantity !== 0) hold(engine, fund, symbol, String(quantity));
  return engine;
}

describe("headroom", () => {
  it("names what a check lets through, and one lot more is denied by what it says binds", () => {
    fc.assert(
      fc.property(situations, ({ fund, symbol, side, held, pending, envelope }) => {
        const engine = fixture(envelope, held, fund);
        const strategy_id = strategies[fund];
        const order = (id: string, of: (typeof symbols)[number], quantity: string, way: string) =>
          orderOf(id, { fund_id: fund, strategy_id, symbol: of, side: way, quantity, asset_class: classes[of] });
        for (const [index, one] of pending.entries()) {
          engine.check(order(`pending-${index}`, one.symbol, "10", one.side), moment(index));
        }
        const before = engine.snapshot();
        const answer = engine.headroom({ fundId: fund, symbol, side }, moment(10));
        expect(engine.snapshot()).toEqual(before);
        const most = decimal.parse(answer.quantity);
        const more = decimal.format(decimal.add(most, decimal.parse(lots[symbol])));
        if (most > 0n) {
          const checked = engine.check({ ...order("most", symbol, answer.quantity, side), dry_run: true }, moment(10));
          expect(checked.reason).toBe("");
        }
        const denied = engine.check({ ...order("more", symbol, more, side), dry_run: true }, moment(10));
        expect(denied.outcome).toBe("denied");
        expect(answer.binding).not.toBe("");
        for (const one of answer.limits) {
          if (one.limit === answer.binding) expect(one.quantity).toBe(answer.quantity);
          expect(decimal.parse(one.quantity) >= most).toBe(true);
        }
      }),
      { seed: 44, numRuns: inputCount(400) },
    );
  });

  it("says which limit binds, and what each allows", () => {
    const engine = engineFixture({ price_collar_pct: 0 });
    expect(engine.headroom({ fundId: "alpha", symbol: "AAPL", side: "BUY" }, moment(0))).toMatchObject({
      quantity: "1000",
      notional: "200000",
      binding: "max_position_pct",
      envelope_version: 1,
      limits: [
        { limit: "max_notional", used: "0", allowed: "500000", quantity: "2500" },
        { limit: "max_position_pct", used: "0", allowed: "200000", quantity: "1000" },
        { limit: "max_gross_exposure_pct", used: "0", allowed: "2000000", quantity: "10000" },
        { limit: "max_net_exposure_pct", used: "0", allowed: "1000000", quantity: "5000" },
        { limit: "sector_limits_pct.technology", used: "0", allowed: "500000", quantity: "2500" },
      ],
    });
  });

  it("is nothing, with the code of what denies, for an unknown fund or symbol, in a halt, and without an envelope", () => {
    const engine = engineFixture();
    const ask = (fundId: string, symbol: string) => engine.headroom({ fundId, symbol, side: "BUY" }, moment(0));
    expect(ask("nobody", "AAPL")).toMatchObject({ quantity: "0", binding: "SCHEMA_FUND_UNKNOWN" });
    expect(ask("alpha", "NOTHING")).toMatchObject({ quantity: "0", binding: "SCHEMA_SYMBOL_UNKNOWN" });
    engine.setHalts({ known: false, epoch: 2, active: [] });
    expect(ask("alpha", "AAPL")).toMatchObject({ quantity: "0", binding: "HALT_STATE_UNKNOWN" });
  });

  it("22.7: of a sale or a cover is what that side may close, and of a short sale nothing while the fund is long", () => {
    const engine = fixture(
      {},
      [
        { symbol: "AAPL", quantity: 100 },
        { symbol: "MSFT", quantity: -50 },
      ],
      "alpha",
    );
    engine.check(orderOf("a", { side: "SELL", quantity: "30" }), moment(0));
    const ask = (symbol: string, side: string) => engine.headroom({ fundId: "alpha", symbol, side }, moment(1));
    expect(ask("AAPL", "SELL")).toMatchObject({ quantity: "70", binding: "strict_sides" });
    expect(ask("AAPL", "SELL_SHORT")).toMatchObject({ quantity: "0", binding: "strict_sides" });
    expect(ask("MSFT", "BUY_TO_COVER")).toMatchObject({ quantity: "50", binding: "strict_sides" });
    expect(ask("MSFT", "BUY")).toMatchObject({ quantity: "50", binding: "strict_sides" });
    expect(ask("XOM", "SELL_SHORT")).toMatchObject({ binding: "max_position_pct" });
  });

  it("22.4: of a sale is one order's worth, whatever is held", () => {
    const engine = fixture(
      { max_notional: 10_500, price_collar_pct: 0.05 },
      [{ symbol: "AAPL", quantity: 100 }],
      "alpha",
    );
    expect(engine.headroom({ fundId: "alpha", symbol: "AAPL", side: "SELL" }, moment(0))).toMatchObject({
      quantity: "50",
      binding: "max_notional",
    });
  });

  it("of a sale without shorting is what is held and not yet being sold", () => {
    const engine = fixture(
      { shorting_enabled: false, strict_sides: false },
      [{ symbol: "AAPL", quantity: 100 }],
      "alpha",
    );
    engine.check(orderOf("a", { side: "SELL", quantity: "30" }), moment(0));
    expect(engine.headroom({ fundId: "alpha", symbol: "AAPL", side: "SELL" }, moment(1))).toMatchObject({
      quantity: "70",
      binding: "shorting_enabled",
    });
  });
});

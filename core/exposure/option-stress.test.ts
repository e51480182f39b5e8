// The stress against a plain recomputation on random funds, and what borrowing for written calls asks of a fund.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import {
  engineFixture,
  envelopeRecord,
  hold,
  orderOf,
  reference,
  startOfDay,
} from "../../testkit/risk/engine-fixture.ts";
import type { Engine } from "../engine/engine.ts";
import { compileEnvelope, envelopeChanges } from "../envelope/envelope.ts";

const seed = 20_261_117;
const wide: Partial<RiskEnvelope> = {
  max_position_pct: 10,
  max_gross_exposure_pct: 10,
  max_net_exposure_pct: 10,
  sector_limits_pct: {},
  max_notional: 10_000_000,
  strict_sides: false,
};
/** What one unit gains in each case, as the marks of the fixture have it: SPY at 480, the call at 5, the put at 3. */
const changes = { SPY: [96, -96], "SPY-C500": [8_500, -450], "SPY-P400": [-260, 3_200] } as const;
type Symbol = keyof typeof changes;
const symbols = Object.keys(changes) as Symbol[];
const classOf = (symbol: string) => (symbol.includes("-") ? "OPTION" : "EQUITY");
const nav = 1_000_000;

interface Line {
  readonly symbol: Symbol;
  held: number;
  buys: number;
  sells: number;
}

/** Tries every end of every line in both cases. */
function naiveStress(lines: readonly Line[]): number {
  const cases = [0, 1].map((which) =>
    lines.reduce((sum, { symbol, held, buys, sells }) => {
      const change = changes[symbol][which] ?? 0;
      return sum + Math.max(-(held + buys) * change, -(held - sells) * change);
    }, 0),
  );
  return Math.max(0, ...cases);
}

const line = (symbol: Symbol) =>
  fc.record({
    symbol: fc.constant(symbol),
    held: fc.integer({ min: -60, max: 60 }),
    buys: fc.integer({ min: 0, max: 30 }),
    sells: fc.integer({ min: 0, max: 30 }),
  });

function ask(engine: Engine, id: string, symbol: string, side: string, quantity: number, isDry: boolean): string {
  const order = orderOf(id, { symbol, side, quantity: String(quantity), asset_class: classOf(symbol) });
  return engine.check({ ...order, ...(isDry && { dry_run: true }) }, startOfDay).code;
}

describe(`23.8: the stress, seed ${seed}`, () => {
  it("is the plain recomputation's, with every pending order at its worse end, and never denies what does not make it worse", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.tuple(...symbols.map(line)),
        fc.record({
          symbol: fc.constantFrom(...symbols),
          side: fc.constantFrom("BUY", "SELL_SHORT"),
          quantity: fc.integer({ min: 1, max: 80 }),
          limit: fc.integer({ min: 1, max: 40 }),
        }),
        (lines, { symbol, side, quantity, limit }) => {
          const engine = engineFixture(wide);
          for (const { symbol: held, held: count, buys, sells } of lines) {
            if (count !== 0) hold(engine, "alpha", held, String(count));
            if (buys > 0) expect(ask(engine, `buy ${held}`.replace(" ", "-"), held, "BUY", buys, false)).toBe("");
            if (sells > 0) expect(ask(engine, `sell-${held}`, held, "SELL_SHORT", sells, false)).toBe("");
          }
          engine.setEnvelope(
            compileEnvelope(envelopeRecord("alpha", { ...wide, version: 2, max_stress_loss_pct: limit / 100 })),
          );
          const isBuy = side === "BUY";
          const after = lines.map((one) =>
            one.symbol !== symbol
              ? one
              : { ...one, [isBuy ? "buys" : "sells"]: one[isBuy ? "buys" : "sells"] + quantity },
          );
          // An order that only closes is no new risk, and a fund without options has no stress.
          const own = lines.find((one) => one.symbol === symbol);
          const closable = isBuy ? -(own?.held ?? 0) - (own?.buys ?? 0) : (own?.held ?? 0) - (own?.sells ?? 0);
          const hasOptions = after.some((one) => one.symbol !== "SPY" && (one.held !== 0 || one.buys + one.sells > 0));
          const [loss, before] = [naiveStress(after), naiveStress(lines)];
          const isDenied = quantity > closable && hasOptions && loss > (limit / 100) * nav && loss > before;
          const code = ask(engine, "asked", symbol, side, quantity, true);
          seen.set(code, (seen.get(code) ?? 0) + 1);
          expect(code).toBe(isDenied ? "STRESS_LOSS_EXCEEDED" : "");
        },
      ),
      { seed, numRuns: 150 },
    );
    expect(seen.get("STRESS_LOSS_EXCEEDED")).toBeGreaterThan(20);
    expect(seen.get("")).toBeGreaterThan(20);
  });

  it("passes exactly at its limit, is off when absent, and lets a hedge through above it", () => {
    const at = (max_stress_loss_pct: number | undefined) =>
      engineFixture({ ...wide, ...(max_stress_loss_pct !== undefined && { max_stress_loss_pct }) });
    // Ten written calls lose 85,000 when SPY stands 20 % higher.
    expect(ask(at(0.085), "a", "SPY-C500", "SELL_SHORT", 10, true)).toBe("");
    expect(ask(at(0.0849), "a", "SPY-C500", "SELL_SHORT", 10, true)).toBe("STRESS_LOSS_EXCEEDED");
    expect(ask(at(undefined), "a", "SPY-C500", "SELL_SHORT", 100, true)).toBe("");
    const engine = at(0.05);
    hold(engine, "alpha", "SPY-C500", "-10");
    expect(ask(engine, "b", "SPY-C500", "SELL_SHORT", 1, true)).toBe("STRESS_LOSS_EXCEEDED");
    expect(ask(engine, "c", "SPY", "BUY", 100, true)).toBe("");
    expect(ask(engine, "d", "SPY", "SELL_SHORT", 1, true)).toBe("STRESS_LOSS_EXCEEDED");
    expect(ask(engine, "e", "AAPL", "BUY", 1, true)).toBe("");
    const { limits, binding } = engine.headroom(
      { fundId: "alpha", symbol: "SPY-C500", side: "SELL_SHORT" },
      startOfDay,
    );
    expect(binding).toBe("max_stress_loss_pct");
    expect(limits).toContainEqual({ limit: "max_stress_loss_pct", used: "85000", allowed: "50000", quantity: "0" });
  });

  it("loosens when it is raised or taken away", () => {
    const effect = (before: number | undefined, after: number | undefined) => {
      const record = (pct: number | undefined) =>
        envelopeRecord("alpha", pct === undefined ? {} : { max_stress_loss_pct: pct });
      return envelopeChanges(record(before), record(after)).map((change) => [change.field, change.effect]);
    };
    expect(effect(0.2, 0.3)).toEqual([["max_stress_loss_pct", "LOOSENS"]]);
    expect(effect(0.2, undefined)).toEqual([["max_stress_loss_pct", "LOOSENS"]]);
    expect(effect(undefined, 0.2)).toEqual([["max_stress_loss_pct", "TIGHTENS"]]);
    expect(effect(0.3, 0.2)).toEqual([["max_stress_loss_pct", "TIGHTENS"]]);
  });
});

describe("23.8: borrowing follows the underlying", () => {
  const lent = (available_quantity: string, fee_pct = "0.01") => {
    const borrow = { symbol: "SPY", available_quantity, fee_pct, as_of: reference.borrow[0]?.as_of ?? "" };
    const engine = engineFixture({ ...wide, strict_sides: true });
    engine.setReference({ ...reference, borrow: available_quantity === "none" ? [] : [borrow] });
    return engine;
  };
  const write = (engine: Engine, contracts: number, symbol = "SPY-C500") =>
    ask(engine, "w", symbol, "SELL_SHORT", contracts, true);

  it("a written call beyond the shares held needs shares that can be borrowed", () => {
    expect(write(lent("500"), 5)).toBe("");
    expect(write(lent("500"), 6)).toBe("BORROW_UNAVAILABLE");
    expect(write(lent("none"), 1)).toBe("BORROW_MISSING");
    expect(write(lent("500", "0.5"), 1)).toBe("BORROW_FEE_EXCEEDED");
    const covered = lent("none");
    hold(covered, "alpha", "SPY", "200");
    expect(write(covered, 2)).toBe("");
    expect(write(covered, 3)).toBe("BORROW_MISSING");
    expect(ask(covered, "sold", "SPY", "SELL", 100, false)).toBe("");
    expect(write(covered, 2)).toBe("BORROW_MISSING");
  });

  it("counts the calls that are written already, and shares that are sold short come on top", () => {
    const engine = lent("500");
    hold(engine, "alpha", "SPY-C500", "-3");
    expect(write(engine, 2)).toBe("");
    expect(write(engine, 3)).toBe("BORROW_UNAVAILABLE");
    expect(ask(engine, "s", "SPY", "SELL_SHORT", 200, true)).toBe("");
    expect(ask(engine, "s", "SPY", "SELL_SHORT", 201, true)).toBe("BORROW_UNAVAILABLE");
  });

  it("a put delivers nothing, and closing a written call needs nothing", () => {
    const engine = lent("none");
    expect(write(engine, 5, "SPY-P400")).toBe("");
    hold(engine, "alpha", "SPY-C500", "-3");
    expect(ask(engine, "c", "SPY-C500", "BUY_TO_COVER", 3, true)).toBe("");
  });
});

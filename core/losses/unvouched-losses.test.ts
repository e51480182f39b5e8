// Values that nobody vouches for, beside a twin that never heard them: what is counted from is the same in both, and every halt of the twin is one here.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { type LossLife, lossLife, secondsAfter } from "../../testkit/risk/loss-life.ts";

const noon = "2026-11-18T12:00:00Z";
const seed = 20_261_119;
const at = (second: number): string => secondsAfter(noon, second);

/** Everything that losses are counted from. */
function countedFrom(life: LossLife) {
  const { steady, baselines, before, peak, sampledAt, windowsFrom } = life.state() ?? {};
  return { steady, baselines, before, peak, sampledAt, windowsFrom, samples: life.samples() };
}

describe("12: a value that nobody vouches for", () => {
  it("is no height to fall from: what comes back to where it was has lost nothing", () => {
    const life = lossLife({ confirmations: 1, limits: { high_water_loss_halt_pct: 0.05 } });
    life.value(at(0), "100");
    for (const second of [1, 2, 3]) expect(life.value(at(second), "1000", { unvouched: true })).toEqual([]);
    expect(life.value(at(4), "100")).toEqual([]);
    expect([life.peak(), life.baseline("daily")]).toEqual(["100", "2026-11-18 100 v0"]);
    expect(life.value(at(5), "98")).toEqual(["daily"]);
  });

  it("halts by its worse end", () => {
    const life = lossLife();
    life.value(at(0), "100");
    expect(life.value(at(1), "97", { unvouched: true })).toEqual([]);
    expect(life.pending()).toEqual(["daily"]);
    expect(life.value(at(2), "97", { unvouched: true })).toEqual(["daily"]);
  });

  it("undoes no loss that waits, and no period begins with it", () => {
    const life = lossLife();
    life.value(at(0), "100");
    life.value(at(1), "97");
    expect(life.value(at(2), "100", { unvouched: true })).toEqual(["daily"]);
    const night = lossLife();
    night.value("2026-11-18T23:59:58Z", "100");
    night.value("2026-11-18T23:59:59Z", "50", { unvouched: true });
    night.tick("2026-11-19T00:00:00Z");
    expect(night.baseline("daily")).toBe("2026-11-19 100 v0");
  });

  it("moves no units: money that it says came or went counts when somebody vouches for it", () => {
    const life = lossLife({ confirmations: 1 });
    life.value(at(0), "100");
    life.value(at(1), "99");
    // The flow is left out of the value by whoever hands it in.
    expect(life.value(at(2), "99", { unvouched: true, flows: "900" })).toEqual([]);
    expect(life.value(at(3), "999", { flows: "900" })).toEqual([]);
    expect(life.value(at(4), "989.1", { flows: "900" })).toEqual([]);
    expect(life.value(at(5), "988.8", { flows: "900" })).toEqual(["daily"]);
  });

  it("hides no loss of a strategy", () => {
    const life = lossLife({ confirmations: 1, limits: { strategy_loss_halt_pct: 0.01, daily_loss_halt_pct: 0.5 } });
    life.value(at(0), "1000", { strategies: { a: "0" } });
    life.value(at(1), "995", { strategies: { a: "-5" } });
    expect(life.value(at(2), "995", { strategies: { a: "50" }, unvouched: true })).toEqual([]);
    expect(life.value(at(3), "990", { strategies: { a: "-10" }, unvouched: true })).toEqual(["strategy a"]);
  });

  it("in another currency is not judged at all", () => {
    const life = lossLife({ confirmations: 1 });
    life.value(at(0), "100");
    const before = life.state();
    expect(life.value(at(1), "1", { currency: "EUR", unvouched: true })).toEqual([]);
    expect(life.state()).toEqual(before);
  });

  it("leaves no trace in what is counted, and no halt of the twin out, whatever is said and when", () => {
    const lie = fc.record({ after: fc.integer({ min: 0, max: 28 }), value: fc.integer({ min: -50, max: 400 }) });
    const walk = fc.array(fc.integer({ min: -12, max: 12 }), { minLength: 5, maxLength: 30 });
    fc.assert(
      fc.property(
        walk,
        fc.array(lie, { maxLength: 20 }),
        fc.integer({ min: 1, max: 3 }),
        (moves, lies, confirmations) => {
          const options = { confirmations, limits: { high_water_loss_halt_pct: 0.1, rolling_24h_loss_halt_pct: 0.15 } };
          const [life, twin] = [lossLife(options), lossLife(options)];
          const halted = new Set<string>();
          let nav = 1_000;
          for (const [second, move] of moves.entries()) {
            nav += move;
            const flows = second % 7 === 6 ? "100" : "0";
            const said = { flows };
            for (const name of life.value(at(second), String(nav), said)) halted.add(name);
            for (const name of twin.value(at(second), String(nav), said)) expect([...halted]).toContain(name);
            expect(countedFrom(life)).toEqual(countedFrom(twin));
            for (const [place, { value }] of lies.filter(({ after }) => after === second).entries()) {
              const worst = String(Math.min(value * 10, nav));
              const when = secondsAfter(noon, second + (place + 1) / 100);
              for (const name of life.value(when, worst, { flows, unvouched: true })) halted.add(name);
            }
          }
          expect(decimal.format(life.state()?.newest.netFlows ?? decimal.zero)).toBeDefined();
        },
      ),
      { numRuns: 60, seed },
    );
  });
});

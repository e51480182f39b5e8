// Two hidden states are found again in a row that was made of them; skill by horizon pairs a signal with what came after it, never with its own day.
import { describe, expect, it } from "vitest";
import { fractionAt, laneOf } from "../../core/paper/seeded-random.ts";
import { normalQuantile } from "../../core/stats/distributions.ts";
import { factorsFromCsv } from "../factors-csv.ts";
import { fitTwoStates, fittedMin } from "./fit-states.ts";
import { meanT, type SignalDay, signalTurnover, skillByHorizon } from "./skill.ts";

const lane = laneOf(31, "states");
const normal = (place: number): number => normalQuantile(Math.min(1 - 1e-9, Math.max(1e-9, fractionAt(lane, place))));

describe("two hidden states", () => {
  it("are found with their deviations and their staying", () => {
    let state = 0;
    const returns = Array.from({ length: 1_500 }, (_, index) => {
      if (fractionAt(lane, 10_000 + index) > (state === 0 ? 0.98 : 0.93)) state = 1 - state;
      return normal(index) * (state === 0 ? 0.005 : 0.02);
    });
    const found = fitTwoStates(returns);
    expect(found?.deviations[0]).toBeCloseTo(0.005, 3);
    expect(Math.abs((found?.deviations[1] ?? 0) - 0.02)).toBeLessThan(0.003);
    expect(found?.stay[0]).toBeGreaterThan(0.94);
    expect(found?.stay[1]).toBeGreaterThan(0.85);
    expect(fitTwoStates(returns)).toEqual(found);
  });
  it("are none of too few returns and of none that move", () => {
    expect(fitTwoStates(Array.from({ length: fittedMin - 1 }, (_, index) => normal(index)))).toBeNull();
    expect(fitTwoStates(new Array<number>(200).fill(0.001))).toBeNull();
  });
});

describe("skill by horizon", () => {
  const symbols = ["a", "b", "c", "d", "e", "f"];
  const axis = Array.from({ length: 60 }, (_, index) => `2026-01-${String(index).padStart(3, "0")}`);
  const closes = new Map(
    symbols.map((symbol, at) => {
      let level = 100;
      const row = axis.map((day, index): [string, number] => {
        level *= 1 + 0.01 * normal(20_000 + at * 1_000 + index);
        return [day, level];
      });
      return [symbol, new Map(row)];
    }),
  );
  /** Knows the return of the day `ahead` days later, and of no other. */
  const knowing = (ahead: number): readonly SignalDay[] =>
    axis.slice(1, -3).map((day, index) => {
      const at = index + 1 + ahead;
      const moved = (symbol: string) => {
        const row = closes.get(symbol);
        return (row?.get(axis[at] ?? "") ?? 0) / (row?.get(axis[at - 1] ?? "") ?? 1) - 1;
      };
      return { day, values: new Map(symbols.map((symbol) => [symbol, moved(symbol)])) };
    });

  it("is whole for a signal that knows the next day, and none for one that knows its own", () => {
    expect(skillByHorizon(knowing(1), axis, closes)[0]?.mean).toBeCloseTo(1, 12);
    expect(Math.abs(skillByHorizon(knowing(0), axis, closes)[0]?.mean ?? 1)).toBeLessThan(0.2);
    const fading = skillByHorizon(knowing(1), axis, closes).map((each) => each.mean ?? 0);
    expect(fading[2]).toBeLessThan(fading[0] ?? 0);
  });
  it("counts overlapping days once in its t, and turnover against the day before", () => {
    const values = Array.from({ length: 60 }, (_, index) => 0.05 + 0.1 * normal(40_000 + index));
    expect(meanT(values, 5)).toBe(
      meanT(
        values.filter((_each, index) => index % 5 === 0),
        1,
      ),
    );
    expect(meanT([1, 1], 1)).toBeNull();
    const same = knowing(1)
      .slice(0, 1)
      .flatMap((day) => [day, { ...day, day: "later" }]);
    expect(signalTurnover(same)).toEqual({ autocorrelation: 1, turnover: 0 });
  });
});

describe("factors of one's own", () => {
  it("are read by day, and a line that does not fit is refused by its number", () => {
    expect(factorsFromCsv("day,value,size\n2026-01-03,0.01,-0.02\n2026-01-02,0,0\n")).toEqual({
      names: ["value", "size"],
      days: [
        { day: "2026-01-02", returns: [0, 0] },
        { day: "2026-01-03", returns: [0.01, -0.02] },
      ],
    });
    expect(() => factorsFromCsv("date,x\n")).toThrow("Line 1 must be");
    expect(() => factorsFromCsv("day,x\n2026-01-02,0.1\n2026-01-03,\n")).toThrow("Line 3");
    expect(() => factorsFromCsv("day,x\n2026-01-02,NaN\n")).toThrow("Line 2");
    expect(() => factorsFromCsv("day,x\n2026-01-02,1\n2026-01-02,2\n")).toThrow("twice");
  });
});

// Correlations of two symbols: against figures that others computed, over the days that both have, and what has no answer.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type DailyCloses, pairCorrelations } from "./return-correlations.ts";

const dayOf = (place: number): string => new Date(Date.UTC(2026, 0, 1 + place)).toISOString().slice(0, 10);

/** Days that a symbol has, as it is made of returns. */
function closesOf(returns: readonly number[], has: (place: number) => boolean = () => true): DailyCloses {
  const closes = [100];
  for (const one of returns) closes.push((closes.at(-1) ?? 0) * (1 + one));
  const days = closes.map((close, place) => [dayOf(place), close] as const);
  return new Map(days.filter((_day, place) => has(place)));
}

const pairOf = (a: DailyCloses, b: DailyCloses) => pairCorrelations(new Map(Object.entries({ A: a, B: b })))[0];
const moves = (count: number, seed: number): readonly number[] =>
  Array.from({ length: count }, (_, place) => Math.sin(seed * (place + 1) * (place + 2)) / 100);

it("are those of the oracle", () => {
  const text = readFileSync(new URL("../../testkit/oracle/fixtures/performance_metrics.json", import.meta.url), "utf8");
  const { cases } = JSON.parse(text);
  const [{ inputs, expected }] = cases;
  const pair = pairOf(closesOf(inputs.returns), closesOf(inputs.benchmark));
  expect(pair).toMatchObject({ a: "A", b: "B", n: inputs.returns.length });
  expect(pair?.r).toBeCloseTo(expected.correlation, 10);
});

it("are of twenty returns at least", () => {
  expect(pairOf(closesOf(moves(19, 1)), closesOf(moves(19, 2)))).toEqual({
    a: "A",
    b: "B",
    r: null,
    n: 19,
    reason: "TOO_FEW",
  });
  expect(pairOf(closesOf(moves(20, 1)), closesOf(moves(20, 1)))).toMatchObject({ r: expect.closeTo(1, 12), n: 20 });
  expect(pairOf(closesOf(moves(30, 1)), new Map())).toMatchObject({ r: null, n: 0, reason: "TOO_FEW" });
});

it("have no answer where one side did not move", () => {
  const still = closesOf(new Array<number>(30).fill(0));
  expect(pairOf(still, closesOf(moves(30, 1)))).toEqual({ a: "A", b: "B", r: null, n: 30, reason: "CONSTANT" });
});

it("go from one day that both have to the next, so that both span the same time", () => {
  const whole = moves(40, 1);
  const rests = (place: number): boolean => place % 7 < 5;
  const resting = closesOf(whole, rests);
  // The same prices, of which one is not quoted at weekends: over the days that both have they are one.
  expect(pairOf(closesOf(whole), resting)).toMatchObject({ r: expect.closeTo(1, 12), n: resting.size - 1 });
});

it("are made of every two symbols once", () => {
  const closes = closesOf(moves(25, 3));
  const pairs = pairCorrelations(new Map(["A", "B", "C"].map((symbol) => [symbol, closes])));
  expect(pairs.map(({ a, b }) => `${a}${b}`)).toEqual(["AB", "AC", "BC"]);
});

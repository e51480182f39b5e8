// A strategy under new names judges as it did under the old ones.
import { expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { alphaMomentum } from "../../core/strategies/alpha-momentum.ts";
import { renamedStrategy } from "../../core/strategies/renamed-strategy.ts";
import type { StrategyInput } from "../../core/strategies/shape.ts";
import { paperReference } from "../shared/paper-seeds.ts";

const reference = paperReference("2026-11-17T12:00:00.000000Z");

function input(name: (symbol: string) => string): StrategyInput {
  const instruments = reference.instruments.map((one) => ({ ...one, symbol: name(one.symbol) }));
  const symbols = alphaMomentum.signalled;
  const closes = symbols.map((symbol, rank) => {
    const path = Array.from({ length: alphaMomentum.lookback }, (_, step) => 100 + rank * step * 0.01);
    return [name(symbol), path] as const;
  });
  return {
    closes: new Map(closes),
    prices: new Map(symbols.map((symbol) => [name(symbol), decimal.parse("100")])),
    instruments: new Map(instruments.map((one) => [one.symbol, one])),
    positions: new Map([[name("NVDA"), decimal.parse("10")]]),
    nav: decimal.parse("10000000"),
    allocationPct: 0.5,
    at: fromUnixMs(0),
  };
}

it("23.4: a strategy goes on under the new name of its symbol", () => {
  const renamed = renamedStrategy(alphaMomentum, new Map([["NVDA", "NVX"]]));
  const now = (symbol: string): string => (symbol === "NVDA" ? "NVX" : symbol);
  const [before, after] = [alphaMomentum.judge(input((symbol) => symbol)), renamed.judge(input(now))];
  expect(before.signals.map(({ symbol }) => symbol)).toContain("NVDA");
  expect(after.signals).toEqual(before.signals.map((one) => ({ ...one, symbol: now(one.symbol) })));
  expect(after.targets).toEqual(before.targets.map((one) => ({ ...one, symbol: now(one.symbol) })));
  expect(renamed.signalled).toContain("NVX");
  expect(renamedStrategy(alphaMomentum, new Map())).toBe(alphaMomentum);
});

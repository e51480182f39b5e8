// What every strategy keeps, whatever the prices: the same input gives the same output, targets stay within the allocation and on the lot, and
// calls are covered and puts payable.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { paperCapital, paperReference } from "../../services/shared/paper-seeds.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { strategies, strategyByName } from "./index.ts";
import type { Strategy, StrategyInput, StrategyOpinion } from "./shape.ts";

const seed = 20_261_115;
const instruments = new Map(paperReference("").instruments.map((one) => [one.symbol, one]));

function randomInput(strategy: Strategy, round: number): StrategyInput {
  const chance = prng(seed).fork(`${strategy.name} ${round}`);
  const closes = new Map<string, readonly number[]>();
  const prices = new Map<string, decimal.Decimal>();
  for (const symbol of strategy.watches(instruments)) {
    let price = symbol === "SPY" ? 300 + chance.below(600) : 0.5 + chance.below(100_000) / 7;
    const row = Array.from({ length: strategy.lookback + chance.below(3) }, () => {
      price = Math.max(0.01, Math.round(price * (0.97 + chance.below(601) / 10_000) * 100) / 100);
      return price;
    });
    if (chance.below(20) === 0) continue;
    closes.set(symbol, row);
    prices.set(symbol, decimal.fromNumber(row.at(-1) ?? 1));
  }
  const capital = paperCapital.find(({ fundId }) => fundId === strategy.fundId)?.amount ?? "1";
  const nav = decimal.add(decimal.parse(capital), decimal.fromNumber(chance.below(1_000_000) / 100));
  const allocationPct = chance.below(100) / 100;
  return { closes, prices, instruments, positions: new Map(), nav, allocationPct, at: 0 as Instant };
}

function notional(
  input: StrategyInput,
  { targets }: StrategyOpinion,
  counts: (symbol: string) => boolean,
): decimal.Decimal {
  return targets
    .filter(({ symbol }) => counts(symbol))
    .map(({ symbol, quantity }) => decimal.multiply(quantity, input.prices.get(symbol) ?? decimal.zero, "up"))
    .reduce(decimal.add, decimal.zero);
}

describe.each(strategies.map((strategy) => [strategy.name, strategy] as const))("%s (seed 20261115)", (_, strategy) => {
  const opinions = Array.from({ length: 60 }, (_unused, round) => {
    const input = randomInput(strategy, round);
    return { input, opinion: strategy.judge(input) };
  });

  it("says the same of the same", () => {
    for (const [round, { opinion }] of opinions.entries()) {
      expect(strategy.judge(randomInput(strategy, round))).toEqual(opinion);
    }
    expect(opinions.filter(({ opinion }) => opinion.signals.length > 0).length).toBeGreaterThan(40);
  });

  it("wants whole lots, and never more than its allocation", () => {
    for (const { input, opinion } of opinions) {
      for (const { symbol, quantity } of opinion.targets) {
        const instrument = instruments.get(symbol);
        expect(decimal.isMultipleOf(quantity, decimal.parse(instrument?.lot_size ?? ""))).toBe(true);
        expect(decimal.sign(quantity) * (instrument?.asset_class === "OPTION" ? -1 : 1)).toBeGreaterThanOrEqual(0);
      }
      const money = decimal.multiply(input.nav, decimal.fromNumber(input.allocationPct), "up");
      const held = notional(input, opinion, (symbol) => instruments.get(symbol)?.asset_class !== "OPTION");
      expect(decimal.compare(held, money)).toBeLessThanOrEqual(0);
    }
  });

  it("is silent without prices", () => {
    const input = { ...randomInput(strategy, 1), closes: new Map(), prices: new Map() };
    expect(strategy.judge(input)).toEqual({ signals: [], targets: [] });
  });
});

describe("gamma-income", () => {
  it("covers every call and could pay for every put", () => {
    const strategy = strategyByName("gamma-income") as Strategy;
    let written = 0;
    for (let round = 0; round < 80; round += 1) {
      const input = randomInput(strategy, round);
      const { targets } = strategy.judge(input);
      const quantityOf = (right?: string): number =>
        targets
          .filter(({ symbol }) => instruments.get(symbol)?.right === right)
          .reduce((total, { quantity }) => total + decimal.toNumber(quantity), 0);
      const strikes = targets.map(({ symbol, quantity }) => {
        const { right, strike = "0" } = instruments.get(symbol) ?? {};
        return right === "PUT" ? -decimal.toNumber(quantity) * 100 * Number(strike) : 0;
      });
      expect(-100 * quantityOf("CALL")).toBeLessThanOrEqual(quantityOf());
      expect(strikes.reduce((total, one) => total + one, 0)).toBeLessThanOrEqual(
        decimal.toNumber(input.nav) * input.allocationPct * 0.6 + 1e-6,
      );
      written -= quantityOf("CALL") + quantityOf("PUT");
    }
    expect(written).toBeGreaterThan(40);
  });

  it("keeps a strike until it is near, and then rolls away from it", () => {
    const strategy = strategyByName("gamma-income") as Strategy;
    const [lower = "", higher = ""] = [...instruments.values()]
      .filter(({ right }) => right === "CALL")
      .map(({ symbol }) => symbol);
    const at = (spot: number, held: string) => {
      const input = randomInput(strategy, 7);
      const closes = new Map([["SPY", Array.from({ length: 6 }, () => spot)]]);
      const prices = new Map(
        [...instruments.keys()].map((symbol) => [symbol, decimal.fromNumber(symbol === "SPY" ? spot : 20)]),
      );
      const positions = new Map(held === "" ? [] : [[held, decimal.parse("-1")]]);
      const { targets } = strategy.judge({ ...input, allocationPct: 0.1, closes, prices, positions });
      return targets
        .filter(({ symbol, quantity }) => symbol.includes("C00") && quantity !== 0n)
        .map(({ symbol }) => symbol);
    };
    expect(at(600, "")).toEqual([lower]);
    expect(at(625, lower)).toEqual([lower]);
    expect(at(625, "")).toEqual([higher]);
    expect(at(640, lower)).toEqual([higher]);
  });
});

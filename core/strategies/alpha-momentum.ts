// Cross-sectional momentum: what rose most over the past rises on. The newest prices are left out, because they tend to turn.
import { rankWeights } from "./rank-weights.ts";
import { returnOver, type Strategy, targetQuantity } from "./shape.ts";

const universe = ["AAPL", "MSFT", "GOOGL", "AMZN", "NVDA", "JPM", "XOM", "SPY"];
const reach = 60;
const skipped = 5;

export const alphaMomentum: Strategy = {
  name: "alpha-momentum",
  fundId: "alpha",
  sentence: "Holds the half of eight US equities that rose most over the last sixty steps, the best most.",
  watches: () => universe,
  signalled: universe,
  allocationPct: 0.1,
  daysPerYear: 252,
  tradesEveryDays: 5,
  lookback: reach + skipped + 1,
  judge(input) {
    const signals = universe.flatMap((symbol) => {
      const value = returnOver(input.closes.get(symbol), reach, skipped);
      return value === undefined ? [] : [{ symbol, value }];
    });
    const weights = rankWeights(signals);
    const targets = signals.map(({ symbol }) => ({
      symbol,
      quantity: targetQuantity(input, symbol, weights.get(symbol) ?? 0),
    }));
    return { signals, targets };
  },
};

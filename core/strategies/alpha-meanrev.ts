// Short-term reversal: what fell most over the last few prices comes back. The opposite of momentum, on a shorter reach.
import { rankWeights } from "./rank-weights.ts";
import { returnOver, type Strategy, targetQuantity } from "./shape.ts";

const universe = ["AAPL", "MSFT", "GOOGL", "AMZN", "NVDA", "JPM", "XOM", "SPY"];
const reach = 5;

export const alphaMeanrev: Strategy = {
  name: "alpha-meanrev",
  fundId: "alpha",
  sentence: "Holds the half of eight US equities that fell most over the last five steps, the most fallen most.",
  watches: () => universe,
  signalled: universe,
  allocationPct: 0.1,
  daysPerYear: 252,
  tradesEveryDays: 3,
  lookback: reach + 1,
  judge(input) {
    const signals = universe.flatMap((symbol) => {
      const moved = returnOver(input.closes.get(symbol), reach);
      return moved === undefined ? [] : [{ symbol, value: -moved }];
    });
    const weights = rankWeights(signals);
    const targets = signals.map(({ symbol }) => ({
      symbol,
      quantity: targetQuantity(input, symbol, weights.get(symbol) ?? 0),
    }));
    return { signals, targets };
  },
};

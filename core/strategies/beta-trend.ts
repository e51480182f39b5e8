// Trend following on crypto: a coin is held while its short average stands above its long one, and not held else. Never short.
import { mean } from "../stats/moments.ts";
import { type Strategy, targetQuantity } from "./shape.ts";

const universe = ["BTC-USD", "ETH-USD", "SOL-USD"];
const short = 10;
const long = 40;

export const betaTrend: Strategy = {
  name: "beta-trend",
  fundId: "beta",
  sentence: "Holds each of three coins while its average over ten steps is above the one over forty.",
  watches: () => universe,
  signalled: universe,
  allocationPct: 0.12,
  daysPerYear: 365,
  tradesEveryDays: 1,
  lookback: long,
  judge(input) {
    const signals = universe.flatMap((symbol) => {
      const closes = input.closes.get(symbol) ?? [];
      const slow = mean(closes.slice(-long));
      const fast = mean(closes.slice(-short));
      if (closes.length < long || slow === null || fast === null || !(slow > 0)) return [];
      return [{ symbol, value: fast / slow - 1 }];
    });
    const targets = signals.map(({ symbol, value }) => ({
      symbol,
      quantity: targetQuantity(input, symbol, value > 0 ? 1 / universe.length : 0),
    }));
    return { signals, targets };
  },
};

// A market's past for tests of strategies: closes that wander by a seed and a symbol, the same everywhere and for good. It owes nothing to the paper
// market, so that what is pinned to it does not move with that.
import * as decimal from "../contracts/src/decimal.ts";
import { format, fromMicroseconds } from "../contracts/src/instant.ts";
import { fractionAt, laneOf } from "../core/paper/seeded-random.ts";
import type { MarketHistory } from "../ports/market-history.ts";
import { paperListings } from "../services/shared/paper-seeds.ts";

const dayUs = 86_400_000_000;
/** Moves of the last so many steps count: a walk that never leaves for good. */
const steps = 25;

export function walkMarket(
  seed: number,
): Pick<MarketHistory, "closes"> & { closeOf(symbol: string, day: number): string } {
  const listed = new Map(paperListings.map(({ symbol, price }) => [symbol, price]));
  function closeOf(symbol: string, day: number): string {
    const lane = laneOf(seed, symbol);
    let moved = 0;
    for (let back = 0; back < steps; back += 1) moved += Math.round((fractionAt(lane, day - back) - 0.5) * 30_000);
    const ppm = decimal.fromInteger(BigInt(1_000_000 + Math.max(-900_000, moved)));
    const price = decimal.divide(
      decimal.multiply(decimal.parse(listed.get(symbol) ?? "1"), ppm, "half-even"),
      decimal.fromInteger(1_000_000n),
      "half-even",
    );
    return decimal.format(decimal.max(decimal.parse("0.01"), decimal.round(price, 2, "half-even")));
  }
  return {
    closeOf,
    async closes(symbol, _interval, from, to, countMax) {
      if (!listed.has(symbol)) return { known: false, closes: [] };
      const closes: { start: string; close: string }[] = [];
      for (let day = Math.ceil(from / dayUs); day * dayUs < to && closes.length < countMax; day += 1) {
        closes.push({ start: format(fromMicroseconds(day * dayUs)), close: closeOf(symbol, day) });
      }
      return { known: true, closes };
    },
  };
}

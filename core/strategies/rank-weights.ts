// From signals to shares of the money: the better half is held, the best most. Ties go by name, so that the same signals always give the
// same shares.
import type { StrategySignal } from "./shape.ts";

/** Weights that sum to 1 over the better half, falling evenly with the rank; the rest has none. */
export function rankWeights(signals: readonly StrategySignal[]): ReadonlyMap<string, number> {
  const ordered = [...signals].sort((one, other) => other.value - one.value || (one.symbol < other.symbol ? -1 : 1));
  const held = Math.ceil(ordered.length / 2);
  const parts = (held * (held + 1)) / 2;
  return new Map(ordered.map(({ symbol }, place) => [symbol, place < held ? (held - place) / parts : 0]));
}

// What adding up a fund's lines writes into, made once: seven scales of three sums each, and the exact sums that come out.
import { type Exact, exactZero } from "./exact.ts";

/** Sums are kept by the scale of the product: the two scales added. */
export const scaleCount = 7;

export interface Abacus {
  /** By scale: gross, high and low, as whole numbers. */
  readonly beads: Float64Array;
  gross: Exact;
  high: Exact;
  low: Exact;
  /** Whether a line has no value. */
  unpriced: boolean;
  oldestFxAt: number;
  oldestMarkAt: number;
}

export function createAbacus(): Abacus {
  const beads = new Float64Array(scaleCount * 3);
  const [gross, high, low] = [exactZero, exactZero, exactZero];
  return { beads, gross, high, low, unpriced: false, oldestFxAt: Number.NaN, oldestMarkAt: Number.NaN };
}

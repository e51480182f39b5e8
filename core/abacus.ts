// What adding up a fund's lines writes into, made once: seven scales of three sums each, and the exact sums that come out.
import { type Exact, exactZero } from "./exact.ts";

/** Sums are kept by the scale of the product: the two scales added. */
export const scaleCount = 7;

export interface Abacus {
  /** By scale: gross, high and low, as whole numbers. */
  readonly beads: Float64Array;
  /** By sector and scale: gross. */
  sectorBeads: Float64Array;
  /** Whether the beads hold everything: no line was too fine or too large for them. */
  isPlain: boolean;
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
  const sectorBeads = new Float64Array(0);
  return {
    beads,
    sectorBeads,
    isPlain: false,
    gross,
    high,
    low,
    unpriced: false,
    oldestFxAt: Number.NaN,
    oldestMarkAt: Number.NaN,
  };
}

// A fund's lines as columns of plain numbers. Adding up a hundred lines this way costs less than one of them costs as exact decimals, and
// it is just as exact: only whole numbers below 2^53 are added, and where that does not hold the caller is told to take the long way.
import type { Decimal } from "../contracts/src/decimal.ts";
import { type Abacus, scaleCount } from "./abacus.ts";
import type { Line, LineColumns, ValueTable } from "./engine-books.ts";
import { type Exact, exactZero } from "./exact.ts";
import { digitsOf, scaleOf, unscaled } from "./value-tables.ts";

/** The line changed since its columns were written. */
const outdated = 255;
const exactMax = Number.MAX_SAFE_INTEGER;
const exactUnits: readonly bigint[] = Array.from({ length: scaleCount }, (_, scale) => 10n ** BigInt(36 - 4 * scale));

export function addLine(columns: LineColumns, line: Line): void {
  const place = columns.count;
  if (place === columns.slots.length) widen(columns);
  line.place = place;
  columns.lines[place] = line;
  columns.slots[place] = line.book.slot;
  columns.scales[place] = outdated;
  columns.count += 1;
}

/** The last line takes the place that becomes free. */
export function removeLine(columns: LineColumns, line: Line): void {
  const last = columns.count - 1;
  const mover = columns.lines[last];
  columns.lines.length = last;
  columns.count = last;
  if (mover === undefined || mover === line) return;
  mover.place = line.place;
  columns.lines[line.place] = mover;
  columns.slots[line.place] = mover.book.slot;
  columns.scales[line.place] = outdated;
}

/** Its quantities changed; they are read again when somebody adds up. */
export function outdate(columns: LineColumns, line: Line): void {
  columns.scales[line.place] = outdated;
}

function widen(columns: LineColumns): void {
  const length = columns.slots.length * 2;
  const { slots, highs, lows, scales } = columns;
  columns.slots = new Int32Array(length);
  columns.highs = new Float64Array(length);
  columns.lows = new Float64Array(length);
  columns.scales = new Uint8Array(length);
  columns.slots.set(slots);
  columns.highs.set(highs);
  columns.lows.set(lows);
  columns.scales.set(scales);
}

/** Reads the line's two ends anew; answers its scale. */
function refresh(columns: LineColumns, place: number): number {
  const line = columns.lines[place];
  if (line === undefined) return unscaled;
  const high = (line.position + line.pendingBuy) as Decimal;
  const low = (line.position - line.pendingSell) as Decimal;
  const scale = scaleOf(high, low);
  columns.scales[place] = scale;
  if (scale === unscaled) return scale;
  columns.highs[place] = digitsOf(high, scale);
  columns.lows[place] = low === high ? (columns.highs[place] ?? 0) : digitsOf(low, scale);
  return scale;
}

export interface AddedUp {
  readonly columns: LineColumns;
  readonly table: ValueTable;
  /** By slot; with `only` above 0 just the lines of that sector are added. */
  readonly sectorAt: Int32Array;
  readonly only: number;
  /** By slot. */
  readonly markedAt: Float64Array;
}

export function addUp(asked: AddedUp, sums: Abacus): void {
  const { columns, table, sectorAt, only, markedAt } = asked;
  const { beads } = sums;
  beads.fill(0);
  const { sectorBeads } = sums;
  sectorBeads.fill(0);
  sums.isPlain = true;
  const { count, slots, highs, lows, scales } = columns;
  const { digits, scales: valueScales, fxAt } = table;
  sums.gross = exactZero;
  sums.high = exactZero;
  sums.low = exactZero;
  sums.unpriced = false;
  let oldestFxAt = Number.POSITIVE_INFINITY;
  let oldestMarkAt = Number.POSITIVE_INFINITY;
  for (let place = 0; place < count; place += 1) {
    const slot = slots[place] ?? 0;
    if (only !== 0 && sectorAt[slot] !== only) continue;
    const value = digits[slot] ?? Number.NaN;
    const quoted = fxAt[slot] ?? Number.NaN;
    const marked = markedAt[slot] ?? Number.NaN;
    if (quoted < oldestFxAt) oldestFxAt = quoted;
    if (marked < oldestMarkAt) oldestMarkAt = marked;
    if (Number.isNaN(value)) {
      sums.unpriced = true;
      continue;
    }
    const known = scales[place] ?? unscaled;
    const scale = known === outdated ? refresh(columns, place) : known;
    const valueScale = valueScales[slot] ?? unscaled;
    if (scale === unscaled || valueScale === unscaled) {
      sums.isPlain = false;
      addExactly(columns, table, place, sums);
      continue;
    }
    const high = (highs[place] ?? 0) * value;
    const low = (lows[place] ?? 0) * value;
    const highest = high < 0 ? -high : high;
    const lowest = low < 0 ? -low : low;
    const gross = highest > lowest ? highest : lowest;
    const at = (scale + valueScale) * 3;
    beads[at] = (beads[at] ?? 0) + gross;
    beads[at + 1] = (beads[at + 1] ?? 0) + high;
    beads[at + 2] = (beads[at + 2] ?? 0) + low;
    const bead = (sectorAt[slot] ?? 0) * scaleCount + scale + valueScale;
    if (bead < sectorBeads.length) sectorBeads[bead] = (sectorBeads[bead] ?? 0) + gross;
  }
  sums.oldestFxAt = oldestFxAt;
  sums.oldestMarkAt = oldestMarkAt;
  if (addBeads(sums)) return;
  sums.isPlain = false;
  addEverythingExactly(asked, sums);
}

/** A sector's gross from beads that hold everything: its part of a sum that is exact is exact as well. */
export function sectorOf(sectorBeads: Float64Array, sector: number): Exact {
  let gross = 0n;
  for (let scale = 0; scale < scaleCount; scale += 1) {
    const bead = sectorBeads[sector * scaleCount + scale] ?? 0;
    if (bead !== 0) gross += BigInt(bead) * (exactUnits[scale] ?? 0n);
  }
  return gross as Exact;
}

/** False when a sum has left the whole numbers that are exact; the gross sum is the largest of the three. */
function addBeads(sums: Abacus): boolean {
  const { beads } = sums;
  for (let scale = 0; scale < scaleCount; scale += 1) {
    const gross = beads[scale * 3] ?? 0;
    if (gross === 0) continue;
    if (gross >= exactMax) return false;
    const unit = exactUnits[scale] ?? 0n;
    const high = beads[scale * 3 + 1] ?? 0;
    const low = beads[scale * 3 + 2] ?? 0;
    sums.gross = (sums.gross + BigInt(gross) * unit) as Exact;
    sums.high = (sums.high + BigInt(high) * unit) as Exact;
    sums.low = (sums.low + BigInt(low) * unit) as Exact;
  }
  return true;
}

function addExactly(columns: LineColumns, table: ValueTable, place: number, sums: Abacus): void {
  const line = columns.lines[place];
  const value = line === undefined ? undefined : table.values[line.book.slot];
  if (line === undefined || value === undefined) return;
  const high = (line.position + line.pendingBuy) * value;
  const low = (line.position - line.pendingSell) * value;
  const highest = high < 0n ? -high : high;
  const lowest = low < 0n ? -low : low;
  sums.gross = (sums.gross + (highest > lowest ? highest : lowest)) as Exact;
  sums.high = (sums.high + high) as Exact;
  sums.low = (sums.low + low) as Exact;
}

function addEverythingExactly({ columns, table, sectorAt, only }: AddedUp, sums: Abacus): void {
  sums.gross = exactZero;
  sums.high = exactZero;
  sums.low = exactZero;
  for (let place = 0; place < columns.count; place += 1) {
    const isWanted = only === 0 || sectorAt[columns.slots[place] ?? 0] === only;
    if (isWanted) addExactly(columns, table, place, sums);
  }
}

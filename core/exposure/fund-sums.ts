// A fund's sums, added up from its lines in plain numbers. Whoever is asked for the first time after prices have moved pays for this, so there
// are two ways: one for funds whose quantities are all whole, as they mostly are, and one for any.

import { type Plain, packedMax, placeMax, placeOf, unitsBetween } from "../money/plain.ts";
import {
  gross,
  headOf,
  netHigh,
  netLow,
  oldestFxAt,
  oldestMarkAt,
  pendingsOf,
  positionOf,
  sectorsAt,
  setHead,
  setSum,
  slotsAt,
  sumPlace,
} from "../state/fund-state.ts";
import { type Books, type FundBook, marksOf, type ValueTable } from "../state/records.ts";
import { scaledAt, tableOf } from "./value-tables.ts";

const { abs, max } = Math;

/**
 * The fund's sums from its lines; false when plain numbers cannot keep them, and then only `unpriced` and the oldest inputs are right. All
 * of them are at one place, the finest that a line's value needs: no partial sum is larger than the gross one, so if that is exact in the
 * end, everything was.
 */
export function addUpPlainly(books: Books, fund: FundBook): boolean {
  const place = headOf(fund, sumPlace);
  if (fund.unevenCount === 0 && addUpEvenly(books, fund, place)) return true;
  return addUpAnew(books, fund, place);
}

function addUpAnew(books: Books, fund: FundBook, placeBefore: number): boolean {
  let sumsAt = placeBefore;
  let place = addUpAt(books, fund, sumsAt);
  if (Number.isNaN(place) && sumsAt > 0) {
    // The line that needed so fine a place may be gone.
    sumsAt = 0;
    place = addUpAt(books, fund, 0);
  }
  if (place > sumsAt && place <= placeMax) {
    sumsAt = place;
    place = addUpAt(books, fund, place);
  }
  setHead(fund, sumPlace, sumsAt);
  return place === sumsAt;
}

/**
 * The same where every quantity is whole: nothing has to be asked of each line. False when a line has no value or one that is finer than the
 * sums, or when the sums do not fit; then nothing is right yet.
 */
function addUpEvenly(books: Books, fund: FundBook, place: number): boolean {
  const { cells, words, count, sectorCount } = fund;
  const table = tableOf(books, fund);
  const values = scaledAt(table, place);
  const { sectorAt } = books;
  const markedAt = marksOf(books, fund);
  const { sums } = books.adding;
  if (books.adding.sectors.length < sectorCount) books.adding.sectors = new Float64Array(sectorCount * 2);
  const inSectors = books.adding.sectors.fill(0, 0, sectorCount);
  const slots = slotsAt(fund);
  const positions = positionOf(fund, 0);
  let added = 0;
  let held = 0;
  let oldestMark = Number.POSITIVE_INFINITY;
  for (let row = 0; row < count; row += 1) {
    const slot = words[slots + row] ?? 0;
    const notional = (cells[positions + row] ?? Number.NaN) * (values[slot] ?? Number.NaN);
    const size = abs(notional);
    const marked = markedAt[slot] ?? Number.NaN;
    const sector = sectorAt[slot] ?? 0;
    if (marked < oldestMark) oldestMark = marked;
    added += size;
    held += notional;
    inSectors[sector] = (inSectors[sector] ?? 0) + size;
  }
  sums[gross] = added;
  sums[netHigh] = held;
  sums[netLow] = held;
  if (fund.pendingCount > 0) addPendings(books, fund, values, inSectors);
  // A line without a value makes it NaN, and one whose value is not plain, or finer, infinite.
  if (!((sums[gross] ?? Number.NaN) <= packedMax)) return false;
  noteInputs(fund, false, table, oldestMark);
  setSums(fund, sums[gross] ?? 0, sums[netHigh] ?? 0, sums[netLow] ?? 0, place);
  const sectors = sectorsAt(fund);
  for (let sector = 0; sector < sectorCount; sector += 1) cells[sectors + sector] = (inSectors[sector] ?? 0) + place;
  return true;
}

/** Adds what open orders may do to sums that have what is held. Few lines have any. */
function addPendings(
  { sectorAt, adding: { sums } }: Books,
  fund: FundBook,
  values: Float64Array,
  inSectors: Float64Array,
): void {
  const { cells, words, count } = fund;
  const slots = slotsAt(fund);
  const positions = positionOf(fund, 0);
  const pendings = pendingsOf(fund, 0);
  let added = 0;
  let bought = 0;
  let sold = 0;
  for (let row = 0; row < count; row += 1) {
    const buys = cells[pendings + row * 2] ?? 0;
    const sells = cells[pendings + row * 2 + 1] ?? 0;
    if (buys === 0 && sells === 0) continue;
    const slot = words[slots + row] ?? 0;
    const value = values[slot] ?? Number.NaN;
    const position = cells[positions + row] ?? Number.NaN;
    const worst = (max(abs(position + buys), abs(position - sells)) - abs(position)) * value;
    const sector = sectorAt[slot] ?? 0;
    added += worst;
    bought += buys * value;
    sold += sells * value;
    inSectors[sector] = (inSectors[sector] ?? 0) + worst;
  }
  sums[gross] = (sums[gross] ?? 0) + added;
  sums[netHigh] = (sums[netHigh] ?? 0) + bought;
  sums[netLow] = (sums[netLow] ?? 0) - sold;
}

/**
 * Answers the place that the sums need: the given one when they are right, a finer one, or NaN when no place will do. Everything is added as
 * it is packed, less the place: eight times the digits, which are as exact, and need not be unpacked.
 */
function addUpAt(books: Books, fund: FundBook, sumsAt: number): number {
  const { cells, words, count } = fund;
  const table = tableOf(books, fund);
  const { digits, places } = table;
  const { sectorAt } = books;
  const markedAt = marksOf(books, fund);
  const sectors = sectorsAt(fund);
  const sectorsEnd = sectors + fund.sectorCount;
  const slots = slotsAt(fund);
  const hasPendings = fund.pendingCount > 0;
  cells.fill(0, sectors, sectorsEnd);
  let added = 0;
  let high = 0;
  let low = 0;
  let oldestMark = Number.POSITIVE_INFINITY;
  let unpriced = false;
  let finest = sumsAt;
  for (let row = 0; row < count; row += 1) {
    const slot = words[slots + row] ?? 0;
    const value = digits[slot] ?? Number.NaN;
    const marked = markedAt[slot] ?? Number.NaN;
    if (marked < oldestMark) oldestMark = marked;
    if (Number.isNaN(value)) {
      unpriced = true;
      continue;
    }
    const position = (cells[positionOf(fund, row)] ?? Number.NaN) as Plain;
    const quantityPlace = placeOf(position);
    const place = quantityPlace + (places[slot] ?? 0);
    if (place > finest) finest = place;
    const unitValue = place === sumsAt ? value : value * unitsBetween(place, sumsAt);
    const held = position - quantityPlace;
    let most = held * unitValue;
    let least = most;
    if (hasPendings) {
      const pendings = pendingsOf(fund, row);
      most = (held + ((cells[pendings] ?? 0) - quantityPlace)) * unitValue;
      least = (held - ((cells[pendings + 1] ?? 0) - quantityPlace)) * unitValue;
    }
    const worst = max(abs(most), abs(least));
    added += worst;
    high += most;
    low += least;
    const sector = sectors + (sectorAt[slot] ?? 0);
    cells[sector] = (cells[sector] ?? 0) + worst;
  }
  noteInputs(fund, unpriced, table, oldestMark);
  if (finest > sumsAt) return finest;
  if (!(added <= packedMax)) return Number.NaN;
  setSums(fund, added, high, low, sumsAt);
  for (let sector = sectors; sector < sectorsEnd; sector += 1) cells[sector] = (cells[sector] ?? 0) + sumsAt;
  return sumsAt;
}

function noteInputs(fund: FundBook, unpriced: boolean, table: ValueTable, oldestMark: number): void {
  fund.unpriced = unpriced;
  setHead(fund, oldestFxAt, table.oldestFxAt);
  setHead(fund, oldestMarkAt, oldestMark);
}

/** All at that place. */
function setSums(fund: FundBook, all: number, high: number, low: number, place: number): void {
  setSum(fund, gross, (all + place) as Plain);
  setSum(fund, netHigh, (high + place) as Plain);
  setSum(fund, netLow, (low + place) as Plain);
}

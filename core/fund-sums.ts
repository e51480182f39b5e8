// A fund's sums, added up from its lines in plain numbers: the quick way, where all quantities are whole and all values at one place, as they
// are in most funds; or the way for any of them. Whoever is asked for the first time after prices have moved pays for this.
import type { Books, FundBook } from "./engine-books.ts";
import { gross, netHigh, netLow, pendingsOf, rowLength, rowsAt, sectorsAt, setSum } from "./fund-sheet.ts";
import { type Plain, packedMax, placeMax, placeOf, unitsBetween } from "./plain.ts";
import { placeOfAll, tableOf } from "./value-tables.ts";

/** What is added up by sector, before it is written down; there are few. */
let inSectors = new Float64Array(64);
/** At their places in a sheet's head. */
const sums = new Float64Array(3);

/**
 * The fund's sums from its lines; false when plain numbers cannot keep them, and then only `unpriced` and the oldest inputs are right. All
 * of them are at one place, the finest that a line's value needs: no partial sum is larger than the gross one, so if that is exact in the
 * end, everything was.
 */
export function addUpPlainly(books: Books, fund: FundBook): boolean {
  if (addUpQuickly(books, fund)) return true;
  let place = addUpAt(books, fund, fund.sumPlace);
  if (Number.isNaN(place) && fund.sumPlace > 0) {
    // The line that needed so fine a place may be gone.
    fund.sumPlace = 0;
    place = addUpAt(books, fund, 0);
  }
  if (place > fund.sumPlace && place <= placeMax) {
    fund.sumPlace = place;
    place = addUpAt(books, fund, place);
  }
  return place === fund.sumPlace;
}

/**
 * Answers the place that the sums need: the given one when they are right, a finer one, or NaN when no place will do. Everything is added as
 * it is packed, less the place: eight times the digits, which are as exact, and need not be unpacked.
 */
function addUpAt(books: Books, fund: FundBook, sumPlace: number): number {
  const { sheet } = fund;
  const { cells } = sheet;
  const { digits, places, fxAt } = tableOf(books, fund);
  const { sectorAt, markedAt } = books;
  const sectors = sectorsAt(sheet);
  cells.fill(0, sectors);
  const hasPendings = sheet.pendingCount > 0;
  let added = 0;
  let high = 0;
  let low = 0;
  let oldestFxAt = Number.POSITIVE_INFINITY;
  let oldestMarkAt = Number.POSITIVE_INFINITY;
  let unpriced = false;
  let finest = sumPlace;
  const end = rowsAt(sheet) + sheet.count * rowLength;
  for (let row = rowsAt(sheet); row < end; row += rowLength) {
    const slot = (cells[row] ?? 0) | 0;
    const value = digits[slot] ?? Number.NaN;
    const quoted = fxAt[slot] ?? Number.NaN;
    const marked = markedAt[slot] ?? Number.NaN;
    if (quoted < oldestFxAt) oldestFxAt = quoted;
    if (marked < oldestMarkAt) oldestMarkAt = marked;
    if (Number.isNaN(value)) {
      unpriced = true;
      continue;
    }
    const position = (cells[row + 1] ?? Number.NaN) as Plain;
    const quantityPlace = placeOf(position);
    const place = quantityPlace + (places[slot] ?? 0);
    if (place > finest) finest = place;
    const unitValue = place === sumPlace ? value : value * unitsBetween(place, sumPlace);
    const held = position - quantityPlace;
    let most = held * unitValue;
    let least = most;
    if (hasPendings) {
      const pendings = pendingsOf(sheet, row);
      most = (held + ((cells[pendings] ?? 0) - quantityPlace)) * unitValue;
      least = (held - ((cells[pendings + 1] ?? 0) - quantityPlace)) * unitValue;
    }
    const worst = Math.max(Math.abs(most), Math.abs(least));
    added += worst;
    high += most;
    low += least;
    const sector = sectors + (sectorAt[slot] ?? 0);
    cells[sector] = (cells[sector] ?? 0) + worst;
  }
  fund.unpriced = unpriced;
  fund.oldestFxAt = oldestFxAt;
  fund.oldestMarkAt = oldestMarkAt;
  if (finest > sumPlace) return finest;
  if (!(added <= packedMax)) return Number.NaN;
  setSum(sheet, gross, (added + sumPlace) as Plain);
  setSum(sheet, netHigh, (high + sumPlace) as Plain);
  setSum(sheet, netLow, (low + sumPlace) as Plain);
  for (let sector = sectors; sector < cells.length; sector += 1) cells[sector] = (cells[sector] ?? 0) + sumPlace;
  return sumPlace;
}

/**
 * The same where every quantity is whole and every value at one place that is no finer than the sums: nothing has to be asked of each line.
 * False when it is not so, or when the sums do not fit; then nothing is right yet.
 */
function addUpQuickly(books: Books, fund: FundBook): boolean {
  const { sheet, sumPlace } = fund;
  const { cells, count, sectorCount } = sheet;
  const table = tableOf(books, fund);
  const place = placeOfAll(table);
  if (sheet.fineCount > 0 || table.ratedCount > 0 || !(place <= sumPlace)) return false;
  const { digits } = table;
  const { sectorAt, markedAt } = books;
  if (inSectors.length < sectorCount) inSectors = new Float64Array(sectorCount * 2);
  for (let sector = 0; sector < sectorCount; sector += 1) inSectors[sector] = 0;
  const from = rowsAt(sheet);
  const to = from + count * rowLength;
  let added = 0;
  let held = 0;
  let oldestMarkAt = Number.POSITIVE_INFINITY;
  for (let row = from; row < to; row += rowLength) {
    const slot = (cells[row] ?? 0) | 0;
    const worth = (cells[row + 1] ?? Number.NaN) * (digits[slot] ?? Number.NaN);
    const size = Math.abs(worth);
    const marked = markedAt[slot] ?? Number.NaN;
    const sector = sectorAt[slot] ?? 0;
    if (marked < oldestMarkAt) oldestMarkAt = marked;
    added += size;
    held += worth;
    inSectors[sector] = (inSectors[sector] ?? 0) + size;
  }
  sums[gross] = added;
  sums[netHigh] = held;
  sums[netLow] = held;
  if (sheet.pendingCount > 0) addPendings(books, fund, digits);
  const units = unitsBetween(place, sumPlace);
  // A line without a value makes it NaN, and one that is not plain infinite.
  if (!((sums[gross] ?? Number.NaN) * units <= packedMax)) return false;
  for (let sum = gross; sum <= netLow; sum += 1) cells[sum] = (sums[sum] ?? 0) * units + sumPlace;
  const sectors = sectorsAt(sheet);
  for (let sector = 0; sector < sectorCount; sector += 1) {
    cells[sectors + sector] = (inSectors[sector] ?? 0) * units + sumPlace;
  }
  fund.unpriced = false;
  fund.oldestFxAt = Number.POSITIVE_INFINITY;
  fund.oldestMarkAt = oldestMarkAt;
  return true;
}

/** Adds what open orders may do, to sums that so far have only what is held. Few lines have any. */
function addPendings({ sectorAt }: Books, { sheet }: FundBook, digits: Float64Array): void {
  const { cells, count } = sheet;
  const from = rowsAt(sheet);
  const to = from + count * rowLength;
  let added = 0;
  let bought = 0;
  let sold = 0;
  for (let row = from; row < to; row += rowLength) {
    const pendings = pendingsOf(sheet, row);
    const buys = cells[pendings] ?? 0;
    const sells = cells[pendings + 1] ?? 0;
    if (buys === 0 && sells === 0) continue;
    const slot = (cells[row] ?? 0) | 0;
    const value = digits[slot] ?? Number.NaN;
    const position = cells[row + 1] ?? Number.NaN;
    const worst = Math.max(Math.abs(position + buys), Math.abs(position - sells)) - Math.abs(position);
    const sector = sectorAt[slot] ?? 0;
    added += worst * value;
    bought += buys * value;
    sold += sells * value;
    inSectors[sector] = (inSectors[sector] ?? 0) + worst * value;
  }
  sums[gross] = (sums[gross] ?? 0) + added;
  sums[netHigh] = (sums[netHigh] ?? 0) + bought;
  sums[netLow] = (sums[netLow] ?? 0) - sold;
}

// A fund's lines as rows of plain numbers, one behind the other. Adding up a hundred lines this way costs less than a few of them cost as
// bigints, and it is just as exact: only whole numbers are added, and where their sum leaves the exact ones the caller is told.
//
// A row is four numbers: the symbol's slot, position, pending buys and pending sells, these three as plain numbers at the same place. A line
// that plain numbers cannot keep has NaN there, which makes every sum NaN, and its quantities stand beside the row.

import { Defect } from "../contracts/src/fault.ts";
import { type Amount, simplified } from "./amount.ts";
import type { Books, FundBook, Line, LineRows, WideLine } from "./engine-books.ts";
import {
  atPlace,
  digitsAt,
  digitsMax,
  digitsOf,
  type Plain,
  placeMax,
  placeOf,
  plainOf,
  unitsBetween,
} from "./plain.ts";
import { tableOf } from "./value-tables.ts";

const rowLength = 4;
const rowsFirst = 4;

export function createLineRows(): LineRows {
  return { count: 0, lines: [], cells: new Float64Array(rowsFirst * rowLength) };
}

export function addLine(rows: LineRows, line: Line): void {
  const row = rows.count * rowLength;
  if (row === rows.cells.length) {
    const { cells } = rows;
    rows.cells = new Float64Array(cells.length * 2);
    rows.cells.set(cells);
  }
  line.place = rows.count;
  rows.lines[rows.count] = line;
  rows.cells.fill(0, row, row + rowLength);
  rows.cells[row] = line.book.slot;
  rows.count += 1;
}

/** The last line takes the place that becomes free. */
export function removeLine(rows: LineRows, line: Line): void {
  const last = rows.count - 1;
  const mover = rows.lines[last];
  rows.lines.length = last;
  rows.count = last;
  if (mover === undefined || mover === line) return;
  rows.cells.copyWithin(line.place * rowLength, last * rowLength, (last + 1) * rowLength);
  mover.place = line.place;
  rows.lines[line.place] = mover;
}

export function positionOf({ cells }: LineRows, line: Line): Amount {
  const position = cells[line.place * rowLength + 1] ?? Number.NaN;
  return Number.isNaN(position) ? wideOf(line).position : (position as Plain);
}

export function pendingBuyOf({ cells }: LineRows, line: Line): Amount {
  const pendingBuy = cells[line.place * rowLength + 2] ?? Number.NaN;
  return Number.isNaN(pendingBuy) ? wideOf(line).pendingBuy : (pendingBuy as Plain);
}

export function pendingSellOf({ cells }: LineRows, line: Line): Amount {
  const pendingSell = cells[line.place * rowLength + 3] ?? Number.NaN;
  return Number.isNaN(pendingSell) ? wideOf(line).pendingSell : (pendingSell as Plain);
}

function wideOf({ wide }: Line): WideLine {
  if (wide === undefined) throw new Defect("a line has quantities neither in its row nor beside it");
  return wide;
}

export function setQuantities(
  { cells }: LineRows,
  line: Line,
  position: Amount,
  pendingBuy: Amount,
  pendingSell: Amount,
): void {
  const row = line.place * rowLength;
  const held = simplified(position);
  const buys = simplified(pendingBuy);
  const sells = simplified(pendingSell);
  if (typeof held === "number" && typeof buys === "number" && typeof sells === "number") {
    const place = Math.max(placeOf(held), placeOf(buys), placeOf(sells));
    cells[row + 1] = atPlace(held, place);
    cells[row + 2] = atPlace(buys, place);
    cells[row + 3] = atPlace(sells, place);
    // Whether one of them is NaN.
    if (!Number.isNaN((cells[row + 1] ?? 0) + (cells[row + 2] ?? 0) + (cells[row + 3] ?? 0))) {
      line.wide = undefined;
      return;
    }
  }
  cells.fill(Number.NaN, row + 1, row + rowLength);
  line.wide = { position: held, pendingBuy: buys, pendingSell: sells };
}

/**
 * The fund's sums from its lines; false when plain numbers cannot keep them, and then only `unpriced` and the oldest inputs are right. All
 * of them are at one place, the finest that a line's value needs: no partial sum is larger than the gross one, so if that is exact in the
 * end, everything was.
 */
export function addUpPlainly(books: Books, fund: FundBook): boolean {
  let place = addUpAt(books, fund, fund.sumPlace);
  if (place > fund.sumPlace && place <= placeMax) {
    fund.sumPlace = place;
    place = addUpAt(books, fund, place);
  }
  return place === fund.sumPlace;
}

/** Answers the place that the sums need: the given one when they are right, a finer one, or NaN when no place will do. */
function addUpAt(books: Books, fund: FundBook, sumPlace: number): number {
  const { cells, count } = fund.rows;
  const { digits, places, fxAt } = tableOf(books, fund);
  const { sectorAt, markedAt } = books;
  const { sectors } = fund;
  sectors.fill(0);
  let gross = 0;
  let netHigh = 0;
  let netLow = 0;
  let oldestFxAt = Number.POSITIVE_INFINITY;
  let oldestMarkAt = Number.POSITIVE_INFINITY;
  let unpriced = false;
  let finest = sumPlace;
  const end = count * rowLength;
  for (let row = 0; row < end; row += rowLength) {
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
    const held = digitsOf(position);
    const quantityPlace = placeOf(position);
    const place = quantityPlace + (places[slot] ?? 0);
    if (place > finest) finest = place;
    const unitValue = place === sumPlace ? value : value * unitsBetween(place, sumPlace);
    const high = (held + digitsAt(cells[row + 2] ?? 0, quantityPlace)) * unitValue;
    const low = (held - digitsAt(cells[row + 3] ?? 0, quantityPlace)) * unitValue;
    const worst = Math.max(Math.abs(high), Math.abs(low));
    gross += worst;
    netHigh += high;
    netLow += low;
    const sector = sectorAt[slot] ?? 0;
    sectors[sector] = (sectors[sector] ?? 0) + worst;
  }
  fund.unpriced = unpriced;
  fund.oldestFxAt = oldestFxAt;
  fund.oldestMarkAt = oldestMarkAt;
  if (finest > sumPlace) return finest;
  if (!(gross <= digitsMax)) return Number.NaN;
  fund.gross = plainOf(gross, sumPlace);
  fund.netHigh = plainOf(netHigh, sumPlace);
  fund.netLow = plainOf(netLow, sumPlace);
  for (let sector = 0; sector < sectors.length; sector += 1) sectors[sector] = plainOf(sectors[sector] ?? 0, sumPlace);
  return sumPlace;
}

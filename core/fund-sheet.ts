// What a fund holds, as one sheet of plain numbers: its sums, its lines (a symbol in the fund each) and its sectors stand in one array, so
// that a look at a fund that nobody asked about for a while touches few places in memory. Adding up a hundred lines costs less than a few
// of them cost as bigints, and it is just as exact: only whole numbers are added, and where their sum leaves the exact ones the caller is told.
//
// The sheet has five parts: a head; an index that tells by a symbol's slot which row is its line; the rows, each with its slot and position;
// what is pending of each row, buys and sells; the gross sum of every sector. Position and pendings of a row are plain numbers at the same
// place. What plain numbers cannot keep is NaN in the sheet, which makes every sum NaN, and stands beside it. The pendings stand by
// themselves because most funds have none at most times: then nobody has to look there.
import { Defect } from "../contracts/src/fault.ts";
import { type Amount, nothing, simplified } from "./amount.ts";
import type { FundSheet, WideLine } from "./engine-books.ts";
import type { Worth } from "./exact.ts";
import { atPlace, type Plain, placeMax, placeOf } from "./plain.ts";

/** The head: the gross sum, and those of positions if every pending buy fills and no sell does, and the other way round. */
export const gross = 0;
export const netHigh = 1;
export const netLow = 2;
const headLength = 4;
/** Of a row, and of what is pending of it. */
export const rowLength = 2;
const rowsFirst = 4;
/** No row. */
export const noRow = -1;

export function createFundSheet(): FundSheet {
  const cells = new Float64Array(cellsFor(rowsFirst, 1));
  const wide = { wideLines: new Map(), wideSums: new Map() };
  return { cells, capacity: rowsFirst, count: 0, pendingCount: 0, fineCount: 0, sectorCount: 1, ...wide };
}

/** For so many rows there are twice as many places in the index, so that a search in it is short. */
function cellsFor(capacity: number, sectorCount: number): number {
  return headLength + capacity * (2 + 2 * rowLength) + sectorCount;
}

export function rowsAt({ capacity }: FundSheet): number {
  return headLength + capacity * 2;
}

export function sectorsAt({ capacity }: FundSheet): number {
  return headLength + capacity * (2 + 2 * rowLength);
}

/** Where the pending buys of a row stand; its pending sells stand behind them. */
export function pendingsOf({ capacity }: FundSheet, row: number): number {
  return row + capacity * rowLength;
}

/** Whether that is more than nothing, at whatever place; also of what is not plain. */
export function isPending(cell: number | undefined): boolean {
  return !(cell !== undefined && cell >= 0 && cell <= placeMax);
}

/** Where in the index the slot's entry is, or the empty place where it would go. An entry is the row's number, counted from 1. */
function entryOf(sheet: FundSheet, slot: number): number {
  const { cells, capacity } = sheet;
  const mask = capacity * 2 - 1;
  const rows = rowsAt(sheet) - rowLength;
  for (let place = slot & mask; ; place = (place + 1) & mask) {
    const number = cells[headLength + place] ?? 0;
    if (number === 0 || cells[rows + number * rowLength] === slot) return headLength + place;
  }
}

/** Where the line of that symbol stands, or `noRow`. */
export function rowOf(sheet: FundSheet, slot: number): number {
  const number = sheet.cells[entryOf(sheet, slot)] ?? 0;
  return number === 0 ? noRow : rowsAt(sheet) + (number - 1) * rowLength;
}

/** The slots of the fund's lines. */
export function slotsOf(sheet: FundSheet): readonly number[] {
  const rows = rowsAt(sheet);
  return Array.from({ length: sheet.count }, (_, number) => sheet.cells[rows + number * rowLength] ?? 0);
}

/** A line that holds nothing yet. */
function addRow(sheet: FundSheet, slot: number): number {
  if (sheet.count === sheet.capacity) reshape(sheet, sheet.capacity * 2, sheet.sectorCount);
  const row = rowsAt(sheet) + sheet.count * rowLength;
  const pendings = pendingsOf(sheet, row);
  sheet.cells.fill(0, row, row + rowLength);
  sheet.cells.fill(0, pendings, pendings + rowLength);
  sheet.cells[row] = slot;
  sheet.count += 1;
  sheet.cells[entryOf(sheet, slot)] = sheet.count;
  return row;
}

/** The last line takes the row that becomes free. */
function removeRow(sheet: FundSheet, slot: number): void {
  const { cells, capacity } = sheet;
  const entry = entryOf(sheet, slot);
  const freed = cells[entry] ?? 0;
  const last = rowsAt(sheet) + (sheet.count - 1) * rowLength;
  const mover = cells[last] ?? 0;
  const moverEntry = entryOf(sheet, mover);
  const to = rowsAt(sheet) + (freed - 1) * rowLength;
  const lastPendings = pendingsOf(sheet, last);
  cells.copyWithin(to, last, last + rowLength);
  cells.copyWithin(pendingsOf(sheet, to), lastPendings, lastPendings + rowLength);
  cells[moverEntry] = freed;
  sheet.count -= 1;
  // Entries behind the hole move up if they would no longer be found.
  const mask = capacity * 2 - 1;
  let hole = entry - headLength;
  for (let next = (hole + 1) & mask; cells[headLength + next] !== 0; next = (next + 1) & mask) {
    const number = cells[headLength + next] ?? 0;
    const home = (cells[rowsAt(sheet) + (number - 1) * rowLength] ?? 0) & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    cells[headLength + hole] = number;
    hole = next;
  }
  cells[headLength + hole] = 0;
}

/** The same lines in another sheet; with another number of sectors none of their sums is known. */
function reshape(sheet: FundSheet, capacity: number, sectorCount: number): void {
  const { cells, count } = sheet;
  const from = rowsAt(sheet);
  const pendingsFrom = pendingsOf(sheet, from);
  const sectors = sectorCount === sheet.sectorCount ? cells.subarray(sectorsAt(sheet)) : undefined;
  sheet.cells = new Float64Array(cellsFor(capacity, sectorCount));
  sheet.capacity = capacity;
  sheet.sectorCount = sectorCount;
  sheet.cells.set(cells.subarray(0, headLength));
  const to = rowsAt(sheet);
  sheet.cells.set(cells.subarray(from, from + count * rowLength), to);
  sheet.cells.set(cells.subarray(pendingsFrom, pendingsFrom + count * rowLength), pendingsOf(sheet, to));
  for (let number = 1; number <= count; number += 1) {
    const slot = sheet.cells[to + (number - 1) * rowLength] ?? 0;
    sheet.cells[entryAmong(sheet, slot)] = number;
  }
  if (sectors === undefined) sheet.cells.fill(Number.NaN, sectorsAt(sheet));
  else sheet.cells.set(sectors, sectorsAt(sheet));
}

/** The first empty entry from the slot's home on. */
function entryAmong({ cells, capacity }: FundSheet, slot: number): number {
  const mask = capacity * 2 - 1;
  let place = slot & mask;
  while (cells[headLength + place] !== 0) place = (place + 1) & mask;
  return headLength + place;
}

/** The place of the quantities of a row; NaN when they are not plain. */
export function quantitiesAt(cells: Float64Array, row: number): number {
  return placeOf((cells[row + 1] ?? Number.NaN) as Plain);
}

/** Where the gross sum of a sector stands. */
export function sectorPlace(sheet: FundSheet, sector: number): number {
  return sector < sheet.sectorCount ? sectorsAt(sheet) + sector : Number.NaN;
}

export function positionAt(sheet: FundSheet, row: number): Amount {
  if (row === noRow) return nothing;
  const position = sheet.cells[row + 1] ?? Number.NaN;
  return Number.isNaN(position) ? wideAt(sheet, row).position : (position as Plain);
}

export function pendingBuyAt(sheet: FundSheet, row: number): Amount {
  if (row === noRow) return nothing;
  const pendingBuy = sheet.cells[pendingsOf(sheet, row)] ?? Number.NaN;
  return Number.isNaN(pendingBuy) ? wideAt(sheet, row).pendingBuy : (pendingBuy as Plain);
}

export function pendingSellAt(sheet: FundSheet, row: number): Amount {
  if (row === noRow) return nothing;
  const pendingSell = sheet.cells[pendingsOf(sheet, row) + 1] ?? Number.NaN;
  return Number.isNaN(pendingSell) ? wideAt(sheet, row).pendingSell : (pendingSell as Plain);
}

function wideAt({ cells, wideLines }: FundSheet, row: number): WideLine {
  const wide = wideLines.get(cells[row] ?? 0);
  if (wide === undefined) throw new Defect("a line has quantities neither in its sheet nor beside it");
  return wide;
}

/** Sets the quantities of a line whose row is known, or `noRow`; one that holds nothing and expects nothing is gone. */
export function setLine(
  sheet: FundSheet,
  slot: number,
  known: number,
  position: Amount,
  pendingBuy: Amount,
  pendingSell: Amount,
): void {
  const row = known === noRow ? addRow(sheet, slot) : known;
  const { cells, wideLines } = sheet;
  const pendings = pendingsOf(sheet, row);
  if (isPending(cells[pendings]) || isPending(cells[pendings + 1])) sheet.pendingCount -= 1;
  if (quantitiesAt(cells, row) !== 0) sheet.fineCount -= 1;
  const held = simplified(position);
  const buys = simplified(pendingBuy);
  const sells = simplified(pendingSell);
  if (wideLines.size > 0) wideLines.delete(slot);
  if (typeof held === "number" && typeof buys === "number" && typeof sells === "number") {
    const place = Math.max(placeOf(held), placeOf(buys), placeOf(sells));
    const first = atPlace(held, place);
    const second = atPlace(buys, place);
    const third = atPlace(sells, place);
    if (!Number.isNaN(first + second + third)) {
      cells[row + 1] = first;
      cells[pendings] = second;
      cells[pendings + 1] = third;
      if (isPending(second) || isPending(third)) sheet.pendingCount += 1;
      if (place !== 0) sheet.fineCount += 1;
      // Nothing at all, at whatever place.
      if (first === place && second === place && third === place) {
        if (place !== 0) sheet.fineCount -= 1;
        removeRow(sheet, slot);
      }
      return;
    }
  }
  cells[row + 1] = Number.NaN;
  cells.fill(Number.NaN, pendings, pendings + rowLength);
  sheet.pendingCount += 1;
  sheet.fineCount += 1;
  wideLines.set(slot, { position: held, pendingBuy: buys, pendingSell: sells });
}

export function sumOf({ cells, wideSums }: FundSheet, place: number): Worth {
  const sum = cells[place] ?? Number.NaN;
  if (!Number.isNaN(sum)) return sum as Plain;
  const wide = wideSums.get(place);
  if (wide === undefined) throw new Defect(`a fund has its sum ${place} neither in its sheet nor beside it`);
  return wide;
}

export function setSum({ cells, wideSums }: FundSheet, place: number, sum: Worth): void {
  cells[place] = typeof sum === "number" ? sum : Number.NaN;
  if (typeof sum === "bigint") wideSums.set(place, sum);
}

/** The sector's gross, or NaN where plain numbers cannot keep it. */
export function sectorSumOf(sheet: FundSheet, sector: number): Plain {
  return (sector < sheet.sectorCount ? sheet.cells[sectorsAt(sheet) + sector] : Number.NaN) as Plain;
}

export function setSectorSum(sheet: FundSheet, sector: number, sum: Plain): void {
  if (sector < sheet.sectorCount) sheet.cells[sectorsAt(sheet) + sector] = sum;
}

/** No sector's sum is known any more; there is room for so many. */
export function clearSectors(sheet: FundSheet, sectorCount: number): void {
  if (sheet.sectorCount === sectorCount) sheet.cells.fill(Number.NaN, sectorsAt(sheet));
  else reshape(sheet, sheet.capacity, sectorCount);
}

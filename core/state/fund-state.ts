// What a fund holds, as one block of plain numbers: its sums, its lines (a symbol in the fund each) and its sectors stand beside each other, so
// that a look at a fund that no order asked about for a while touches few places in memory. Adding up a hundred lines costs less than a few
// of them cost as bigints, and it is just as exact (fund-sums.ts).
//
// The fund state is a block of the arena. Its parts: a head; an index that tells by a symbol's slot which row is its line; the rows' slots; their
// positions; what is pending of each row, buys and sells; the gross sum of every sector. Index and slots are whole numbers of half the
// size. Position and pendings of a row are plain numbers at the same place. What plain numbers cannot keep is NaN in the fund state, which
// makes every sum NaN, and stands beside it. The pendings stand by themselves because most funds have none at most times: then nobody has
// to look there.
import { Defect } from "../../contracts/src/fault.ts";
import { type Amount, nothing, simplified } from "../money/amount.ts";
import type { Notional } from "../money/exact.ts";
import { atPlace, type Plain, placeMax, placeOf } from "../money/plain.ts";
import type { CellArena, CellBlock } from "./cell-arena.ts";

/** A symbol in a fund: what is held, and what open orders may still do to it; of those that plain numbers cannot keep. */
export interface WideLine {
  readonly position: Amount;
  readonly pendingBuy: Amount;
  readonly pendingSell: Amount;
}

export interface FundState {
  readonly arena: CellArena;
  block: CellBlock;
  /** The block's page, and where in it the block begins. */
  cells: Float64Array;
  words: Int32Array;
  base: number;
  /** Lines that there is room for, a power of two, and lines that there are. */
  capacity: number;
  count: number;
  /** Lines of which something is pending. */
  pendingCount: number;
  /** Lines whose quantities are not whole numbers, or not plain. */
  unevenCount: number;
  /** Sectors that there is room for. */
  sectorCount: number;
  /** By slot, and by place in the head; undefined while there are none. */
  wideLines: Map<number, WideLine> | undefined;
  wideSums: Map<number, Notional> | undefined;
}

/** The head: the gross sum, and those of positions if every pending buy fills and no sell does, and the other way round. */
export const gross = 0;
export const netHigh = 1;
export const netLow = 2;
/** The finest place that the sums needed so far. */
export const sumPlace = 3;
/** The change of prices up to which the sums are right. */
export const changesSeen = 4;
/** No priced line has an older mark than this; it may be older than all of them. */
export const oldestMarkAt = 5;
/** No exchange rate in the sums is older than this; it may be older than all of them. */
export const oldestFxAt = 6;
/** When the oldest price in the NAV was true: so old is the NAV. */
export const navPricedAt = 7;
/** The earliest moment from which a condition of the fund alone denies new risk; infinity while there is none. */
export const conditionsFrom = 8;
/** The NAV, and the envelope's limits at it; NaN for what is not known or not plain. */
export const nav = 9;
export const positionLimit = 10;
export const grossLimit = 11;
export const netLimit = 12;
export const notionalLimit = 13;
const headLength = 16;
const rowsFirst = 4;
/** No row. */
export const noRow = -1;

export function createFundState(arena: CellArena): FundState {
  const block = arena.take(cellsFor(rowsFirst, 1));
  const { page, base } = block;
  page.cells.fill(Number.NaN, base + nav, base + notionalLimit + 1);
  page.cells[base + changesSeen] = -1;
  page.cells[base + oldestMarkAt] = Number.POSITIVE_INFINITY;
  page.cells[base + oldestFxAt] = Number.POSITIVE_INFINITY;
  page.cells[base + navPricedAt] = Number.NaN;
  page.cells[base + conditionsFrom] = Number.POSITIVE_INFINITY;
  return {
    arena,
    block,
    cells: page.cells,
    words: page.words,
    base,
    capacity: rowsFirst,
    count: 0,
    pendingCount: 0,
    unevenCount: 0,
    sectorCount: 1,
    wideLines: undefined,
    wideSums: undefined,
  };
}

/** For so many rows there are twice as many places in the index, so that a search in it is short. */
function cellsFor(capacity: number, sectorCount: number): number {
  return headLength + ((capacity * 9) >> 1) + sectorCount;
}

/** Among the whole numbers. */
function indexAt({ base }: FundState): number {
  return (base + headLength) * 2;
}

/** Where the rows' slots stand among the whole numbers. */
export function slotsAt({ base, capacity }: FundState): number {
  return (base + headLength + capacity) * 2;
}

/** Where the position of a row stands. Halves are written as shifts, so that the machine computes with whole numbers. */
export function positionOf({ base, capacity }: FundState, row: number): number {
  return base + headLength + ((capacity * 3) >> 1) + row;
}

/** Where the pending buys of a row stand; its pending sells stand behind them. */
export function pendingsOf({ base, capacity }: FundState, row: number): number {
  return base + headLength + ((capacity * 5) >> 1) + row * 2;
}

/** Where the sums of the sectors begin. */
export function sectorsAt({ base, capacity }: FundState): number {
  return base + headLength + ((capacity * 9) >> 1);
}

/** A figure of the head. */
export function headOf({ cells, base }: FundState, place: number): number {
  return cells[base + place] ?? Number.NaN;
}

export function setHead({ cells, base }: FundState, place: number, value: number): void {
  cells[base + place] = value;
}

/** Whether that is more than nothing, at whatever place; also of what is not plain. */
function isPending(cell: number | undefined): boolean {
  return !(cell !== undefined && cell >= 0 && cell <= placeMax);
}

/** Where in the index the slot's entry is, or the empty place where it would go. An entry is the row's number, counted from 1. */
function entryOf(fundState: FundState, slot: number): number {
  const { words, capacity } = fundState;
  const mask = capacity * 2 - 1;
  const index = indexAt(fundState);
  const beforeSlots = slotsAt(fundState) - 1;
  for (let place = slot & mask; ; place = (place + 1) & mask) {
    const number = words[index + place] ?? 0;
    if (number === 0 || words[beforeSlots + number] === slot) return index + place;
  }
}

/** The row of that symbol's line, or `noRow`. */
export function rowOf(fundState: FundState, slot: number): number {
  return (fundState.words[entryOf(fundState, slot)] ?? 0) - 1;
}

/** The slots of the fund's lines. */
export function slotsOf(fundState: FundState): readonly number[] {
  const from = slotsAt(fundState);
  return Array.from(fundState.words.subarray(from, from + fundState.count));
}

/** A line that holds nothing yet. */
function addRow(fundState: FundState, slot: number): number {
  if (fundState.count === fundState.capacity) reshape(fundState, fundState.capacity * 2, fundState.sectorCount);
  const row = fundState.count;
  fundState.cells[positionOf(fundState, row)] = 0;
  fundState.cells.fill(0, pendingsOf(fundState, row), pendingsOf(fundState, row + 1));
  const entry = entryOf(fundState, slot);
  fundState.words[slotsAt(fundState) + row] = slot;
  fundState.count += 1;
  fundState.words[entry] = fundState.count;
  return row;
}

/** The last line takes the row that becomes free. */
function removeRow(fundState: FundState, slot: number): void {
  const { cells, words, capacity } = fundState;
  const slots = slotsAt(fundState);
  const entry = entryOf(fundState, slot);
  const freed = (words[entry] ?? 0) - 1;
  const last = fundState.count - 1;
  const mover = words[slots + last] ?? 0;
  const moverEntry = entryOf(fundState, mover);
  words[slots + freed] = mover;
  cells[positionOf(fundState, freed)] = cells[positionOf(fundState, last)] ?? Number.NaN;
  cells.copyWithin(pendingsOf(fundState, freed), pendingsOf(fundState, last), pendingsOf(fundState, last + 1));
  words[moverEntry] = freed + 1;
  fundState.count -= 1;
  // Entries behind the hole move up if they would no longer be found.
  const mask = capacity * 2 - 1;
  const index = indexAt(fundState);
  let hole = entry - index;
  for (let next = (hole + 1) & mask; words[index + next] !== 0; next = (next + 1) & mask) {
    const number = words[index + next] ?? 0;
    const home = (words[slots + number - 1] ?? 0) & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    words[index + hole] = number;
    hole = next;
  }
  words[index + hole] = 0;
}

/** The same lines in another block; with another number of sectors none of their sums is known. */
function reshape(fundState: FundState, capacity: number, sectorCount: number): void {
  const before: FundState = { ...fundState };
  const block = fundState.arena.take(cellsFor(capacity, sectorCount));
  const { cells, words } = block.page;
  Object.assign(fundState, { block, cells, words, base: block.base, capacity, sectorCount });
  const { count } = fundState;
  cells.set(before.cells.subarray(before.base, before.base + headLength), fundState.base);
  words.set(before.words.subarray(slotsAt(before), slotsAt(before) + count), slotsAt(fundState));
  cells.set(before.cells.subarray(positionOf(before, 0), positionOf(before, count)), positionOf(fundState, 0));
  cells.set(before.cells.subarray(pendingsOf(before, 0), pendingsOf(before, count)), pendingsOf(fundState, 0));
  for (let row = 0; row < count; row += 1)
    words[emptyEntryOf(fundState, words[slotsAt(fundState) + row] ?? 0)] = row + 1;
  const [from, to] = [sectorsAt(before), sectorsAt(fundState)];
  if (sectorCount === before.sectorCount) cells.set(before.cells.subarray(from, from + sectorCount), to);
  else cells.fill(Number.NaN, to, to + sectorCount);
  fundState.arena.giveBack(before.block, cellsFor(before.capacity, before.sectorCount));
}

/** The first empty entry from the slot's home on. */
function emptyEntryOf(fundState: FundState, slot: number): number {
  const mask = fundState.capacity * 2 - 1;
  const index = indexAt(fundState);
  let place = slot & mask;
  while (fundState.words[index + place] !== 0) place = (place + 1) & mask;
  return index + place;
}

/** Where the gross sum of a sector stands. */
export function sectorPlace(fundState: FundState, sector: number): number {
  return sector < fundState.sectorCount ? sectorsAt(fundState) + sector : Number.NaN;
}

export function positionAt(fundState: FundState, row: number): Amount {
  if (row === noRow) return nothing;
  const position = fundState.cells[positionOf(fundState, row)] ?? Number.NaN;
  return Number.isNaN(position) ? wideAt(fundState, row).position : (position as Plain);
}

export function pendingBuyAt(fundState: FundState, row: number): Amount {
  if (row === noRow) return nothing;
  const pendingBuy = fundState.cells[pendingsOf(fundState, row)] ?? Number.NaN;
  return Number.isNaN(pendingBuy) ? wideAt(fundState, row).pendingBuy : (pendingBuy as Plain);
}

export function pendingSellAt(fundState: FundState, row: number): Amount {
  if (row === noRow) return nothing;
  const pendingSell = fundState.cells[pendingsOf(fundState, row) + 1] ?? Number.NaN;
  return Number.isNaN(pendingSell) ? wideAt(fundState, row).pendingSell : (pendingSell as Plain);
}

function wideAt(fundState: FundState, row: number): WideLine {
  const wide = fundState.wideLines?.get(fundState.words[slotsAt(fundState) + row] ?? 0);
  if (wide === undefined) throw new Defect("a line has quantities neither in its fund state nor beside it");
  return wide;
}

/** Sets the quantities of a line whose row is known, or `noRow`; one that holds nothing and expects nothing is gone. */
export function setLine(
  fundState: FundState,
  slot: number,
  known: number,
  position: Amount,
  pendingBuy: Amount,
  pendingSell: Amount,
): void {
  const row = known === noRow ? addRow(fundState, slot) : known;
  const { cells } = fundState;
  const at = positionOf(fundState, row);
  const pendings = pendingsOf(fundState, row);
  if (isPending(cells[pendings]) || isPending(cells[pendings + 1])) fundState.pendingCount -= 1;
  if (placeOf(cells[at] as Plain) !== 0) fundState.unevenCount -= 1;
  const held = simplified(position);
  const buys = simplified(pendingBuy);
  const sells = simplified(pendingSell);
  fundState.wideLines?.delete(slot);
  if (typeof held === "number" && typeof buys === "number" && typeof sells === "number") {
    const place = Math.max(placeOf(held), placeOf(buys), placeOf(sells));
    const first = atPlace(held, place);
    const second = atPlace(buys, place);
    const third = atPlace(sells, place);
    if (!Number.isNaN(first + second + third)) {
      cells[at] = first;
      cells[pendings] = second;
      cells[pendings + 1] = third;
      // Nothing at all, at whatever place.
      if (first === place && second === place && third === place) {
        removeRow(fundState, slot);
        return;
      }
      if (isPending(second) || isPending(third)) fundState.pendingCount += 1;
      if (place !== 0) fundState.unevenCount += 1;
      return;
    }
  }
  cells[at] = Number.NaN;
  cells.fill(Number.NaN, pendings, pendings + 2);
  fundState.pendingCount += 1;
  fundState.unevenCount += 1;
  fundState.wideLines ??= new Map();
  fundState.wideLines.set(slot, { position: held, pendingBuy: buys, pendingSell: sells });
}

export function sumOf(fundState: FundState, place: number): Notional {
  const sum = headOf(fundState, place);
  if (!Number.isNaN(sum)) return sum as Plain;
  const wide = fundState.wideSums?.get(place);
  if (wide === undefined) throw new Defect(`a fund has its sum ${place} neither in its fund state nor beside it`);
  return wide;
}

export function setSum(fundState: FundState, place: number, sum: Notional): void {
  setHead(fundState, place, typeof sum === "number" ? sum : Number.NaN);
  if (typeof sum === "number") return;
  fundState.wideSums ??= new Map();
  fundState.wideSums.set(place, sum);
}

/** The sector's gross, or NaN where plain numbers cannot keep it. */
export function sectorSumOf(fundState: FundState, sector: number): Plain {
  return (sector < fundState.sectorCount ? fundState.cells[sectorsAt(fundState) + sector] : Number.NaN) as Plain;
}

export function setSectorSum(fundState: FundState, sector: number, sum: Plain): void {
  if (sector < fundState.sectorCount) fundState.cells[sectorsAt(fundState) + sector] = sum;
}

/** No sector's sum is known any more; there is room for so many. */
export function clearSectors(fundState: FundState, sectorCount: number): void {
  const from = sectorsAt(fundState);
  if (fundState.sectorCount === sectorCount) fundState.cells.fill(Number.NaN, from, from + sectorCount);
  else reshape(fundState, fundState.capacity, sectorCount);
}

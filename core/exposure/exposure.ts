// A fund's exposure in the worst case: gross, net both ways, and gross per sector, as exact products. A mark costs nothing for funds that are
// not asked about; whoever is asked adds up anew when prices have moved, and keeps its sums along with its orders while they have not.
//
// Invariants (engine.test.ts compares each with a plain addition):
//  1. gross = sum over lines of max(|position + pending buys|, |position - pending sells|) x unit value; pending buys and sells are
//     never set against each other.
//  2. netHigh and netLow = the same sums with sign, each for one of the two cases.
//  3. A line without a value counts nothing and makes the fund unpriced; no new risk passes while there is one.
//  4. A line that holds nothing and expects nothing is gone.
import type { Instant } from "../../contracts/src/instant.ts";
import type { Amount } from "../money/amount.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { type Exact, type Notional, zeroNotional } from "../money/exact.ts";
import { type Plain, sum } from "../money/plain.ts";
import * as fundStates from "../state/fund-state.ts";
import {
  clearSectors,
  headOf,
  noRow,
  pendingBuyAt,
  pendingSellAt,
  positionAt,
  rowOf,
  sectorSumOf,
  setHead,
  setLine,
  setSectorSum,
  setSum,
  slotsOf,
  sumOf,
} from "../state/fund-state.ts";
import { type Books, type FundBook, marksOf, pricesOf, type SymbolBook } from "../state/records.ts";
import { addUpPlainly } from "./fund-sums.ts";
import { type LineValue, lineValue } from "./line-value.ts";
import { addUpOptions } from "./option-sums.ts";
import { movePlainly } from "./plain-exposure.ts";
import { tableOf } from "./value-tables.ts";

/** Brings the fund's sums up to date with every mark and every change of reference data so far. */
export function catchUp(books: Books, fund: FundBook): void {
  if (isCurrent(books, fund)) return;
  const sectorCount = books.sectorNumbers.size + 1;
  if (fund.sectorCount !== sectorCount) clearSectors(fund, sectorCount);
  fund.wideSectors = undefined;
  if (!addUpPlainly(books, fund)) addUpExactly(books, fund);
  if (fund.mayHaveOptions) addUpOptions(books, fund);
  setHead(fund, fundStates.changesSeen, books.changes);
}

/** Whether the fund's sums have seen every change so far. */
function isCurrent(books: Books, fund: FundBook): boolean {
  return headOf(fund, fundStates.changesSeen) === books.changes;
}

/** The long way, for sums that do not fit into plain numbers. */
function addUpExactly(books: Books, fund: FundBook): void {
  const value: LineValue = { high: zeroNotional, low: zeroNotional, gross: zeroNotional };
  let gross = zeroNotional;
  let netHigh = zeroNotional;
  let netLow = zeroNotional;
  clearSectors(fund, fund.sectorCount);
  for (const slot of slotsOf(fund)) {
    lineValue(fund, rowOf(fund, slot), tableOf(books, fund).values[slot], value);
    gross = exact.plus(gross, value.gross);
    netHigh = exact.plus(netHigh, value.high);
    netLow = exact.plus(netLow, value.low);
  }
  setSum(fund, fundStates.gross, gross);
  setSum(fund, fundStates.netHigh, netHigh);
  setSum(fund, fundStates.netLow, netLow);
}

/** The fund's gross exposure to the sector of that number; 0 is none. Its sums are up to date. */
export function sectorGross(books: Books, fund: FundBook, sector: number): Notional {
  if (sector === 0) return zeroNotional;
  const plain = sectorSumOf(fund, sector);
  if (!Number.isNaN(plain)) return plain;
  fund.wideSectors ??= new Map();
  let gross = fund.wideSectors.get(sector);
  if (gross === undefined) {
    gross = addUpSector(books, fund, sector);
    fund.wideSectors.set(sector, gross);
  }
  return gross;
}

function addUpSector(books: Books, fund: FundBook, sector: number): Exact {
  const value: LineValue = { high: zeroNotional, low: zeroNotional, gross: zeroNotional };
  let gross = 0n;
  for (const slot of slotsOf(fund)) {
    if (books.sectorAt[slot] !== sector) continue;
    lineValue(fund, rowOf(fund, slot), tableOf(books, fund).values[slot], value);
    gross += exact.toExact(value.gross);
  }
  return gross as Exact;
}

/** Adds to what may still be bought, or sold. */
export function movePending(books: Books, fund: FundBook, book: SymbolBook, direction: 1 | -1, change: Amount): void {
  const row = rowOf(fund, book.slot);
  if (typeof change === "number" && row !== noRow && !fund.mayHaveOptions && isCurrent(books, fund)) {
    const { digits, places } = tableOf(books, fund);
    const value = digits[book.slot] ?? Number.NaN;
    const place = places[book.slot] ?? 0;
    // Its mark and its rate are in the sums already, as the line is.
    if (movePlainly(fund, row, books.sectorAt[book.slot] ?? 0, direction, change, value, place)) return;
  }
  if (direction === 1) move(books, fund, book, amounts.nothing, change, amounts.nothing);
  else move(books, fund, book, amounts.nothing, amounts.nothing, change);
}

/** Adds to what is held. */
export function movePosition(books: Books, fund: FundBook, book: SymbolBook, change: Amount): void {
  move(books, fund, book, change, amounts.nothing, amounts.nothing);
}

function move(books: Books, fund: FundBook, book: SymbolBook, held: Amount, buys: Amount, sells: Amount): void {
  const row = rowOf(fund, book.slot);
  const before = positionAt(fund, row);
  const buysBefore = pendingBuyAt(fund, row);
  const sellsBefore = pendingSellAt(fund, row);
  const position = amounts.plus(before, held);
  const pendingBuy = amounts.plus(buysBefore, buys);
  const pendingSell = amounts.plus(sellsBefore, sells);
  setLine(fund, book.slot, row, position, pendingBuy, pendingSell);
  if (book.option !== undefined) fund.mayHaveOptions = true;
  // Lines of one underlying count together: such a fund is added up anew by whoever asks next.
  if (fund.mayHaveOptions) setHead(fund, fundStates.changesSeen, -1);
  // Sums that are behind the prices are added up anew anyway, with whatever the line is by then.
  if (!isCurrent(books, fund)) return;
  const unitValue = tableOf(books, fund).values[book.slot];
  if (unitValue === undefined) {
    fund.unpriced = true;
    return;
  }
  const worst = worstQuantity(position, pendingBuy, pendingSell);
  const change = amounts.minus(worst, worstQuantity(before, buysBefore, sellsBefore));
  addGross(books, fund, book, exact.product(change, unitValue));
  const high = exact.product(amounts.plus(held, buys), unitValue);
  const low = exact.product(amounts.minus(held, sells), unitValue);
  setSum(fund, fundStates.netHigh, exact.plus(sumOf(fund, fundStates.netHigh), high));
  setSum(fund, fundStates.netLow, exact.plus(sumOf(fund, fundStates.netLow), low));
  noteInputs(books, fund, book);
}

function worstQuantity(position: Amount, pendingBuy: Amount, pendingSell: Amount): Amount {
  const high = amounts.magnitude(amounts.plus(position, pendingBuy));
  return amounts.larger(high, amounts.magnitude(amounts.minus(position, pendingSell)));
}

function addGross(books: Books, fund: FundBook, book: SymbolBook, change: Notional): void {
  const { wideSectors } = fund;
  setSum(fund, fundStates.gross, exact.plus(sumOf(fund, fundStates.gross), change));
  const sector = books.sectorAt[book.slot] ?? 0;
  const wide = wideSectors?.get(sector);
  if (wide !== undefined) wideSectors?.set(sector, (wide + exact.toExact(change)) as Exact);
  // What is no longer plain here is added up by whoever asks.
  const plain = typeof change === "number" ? sum(sectorSumOf(fund, sector), change) : (Number.NaN as Plain);
  setSectorSum(fund, sector, plain);
}

/** A line that is new in the sums may bring an older mark or an older rate. */
function noteInputs(books: Books, fund: FundBook, book: SymbolBook): void {
  const { slot } = book;
  const { markedAt } = pricesOf(book, fund);
  if (markedAt < headOf(fund, fundStates.oldestMarkAt)) setHead(fund, fundStates.oldestMarkAt, markedAt);
  const fxAt = tableOf(books, fund).fxAt[slot] ?? Number.NaN;
  if (fxAt < headOf(fund, fundStates.oldestFxAt)) setHead(fund, fundStates.oldestFxAt, fxAt);
}

/**
 * The age of the oldest mark among the fund's lines but that of one slot, or of none, in milliseconds; zero when there are none. Below the age that is allowed it may
 * be given as too old, because marks grow younger without anybody looking; above it, where it denies, it is exact. A mark from further ahead
 * than it may lie behind counts as being that old.
 */
export function oldestMarkAgeMs(books: Books, fund: FundBook, except: number, at: Instant, ageMsMax: number): number {
  const { count } = fund;
  if (count < 2 && count === (rowOf(fund, except) === noRow ? 0 : 1)) return 0;
  const ageAtMost = at - headOf(fund, fundStates.oldestMarkAt);
  const microsecondsMax = ageMsMax * 1_000;
  if (ageAtMost <= microsecondsMax && books.newestMarkAt - at <= microsecondsMax) {
    return Math.max(0, ageAtMost / 1_000);
  }
  let oldest = Number.POSITIVE_INFINITY;
  let age = 0;
  const marks = marksOf(books, fund);
  for (const slot of slotsOf(fund)) {
    const markedAt = marks[slot] ?? Number.NaN;
    if (markedAt < oldest) oldest = markedAt;
    if (slot === except) continue;
    const distance = markedAt - at > microsecondsMax ? markedAt - at : at - markedAt;
    if (distance > age) age = distance;
  }
  setHead(fund, fundStates.oldestMarkAt, oldest);
  return age / 1_000;
}

/** A symbol without a value. It may be the fault of the exchange rate alone, or of an option's delta. */
interface Unpriced {
  readonly symbol: string;
  readonly rate: "missing" | "old" | "delta" | undefined;
  /** NaN unless the rate or the delta is old. */
  readonly rateAgeMs: number;
}

/** The first by name of the fund's other symbols that has no value, or one at an exchange rate that is too old to be one. */
export function firstUnpriced(
  books: Books,
  fund: FundBook,
  except: number,
  at: Instant,
  fxAgeMsMax: number,
): Unpriced | undefined {
  const fxMicrosecondsMax = fxAgeMsMax * 1_000;
  if (!fund.unpriced && at - headOf(fund, fundStates.oldestFxAt) <= fxMicrosecondsMax) return undefined;
  const { values, rates, fxAt } = tableOf(books, fund);
  let first: SymbolBook | undefined;
  let oldest = Number.POSITIVE_INFINITY;
  for (const slot of slotsOf(fund)) {
    const book = books.bySlot[slot];
    const quotedAt = fxAt[slot] ?? Number.NaN;
    if (quotedAt < oldest) oldest = quotedAt;
    const isPriced = values[slot] !== undefined && !(at - quotedAt > fxMicrosecondsMax);
    if (book === undefined || isPriced || slot === except) continue;
    if (first === undefined || book.symbol < first.symbol) first = book;
  }
  // It may have been another fund's rate that was old.
  setHead(fund, fundStates.oldestFxAt, oldest);
  if (first === undefined) return undefined;
  const { symbol, slot, facts } = first;
  if (values[slot] !== undefined) {
    return { symbol, rate: "old", rateAgeMs: (at - (fxAt[slot] ?? Number.NaN)) / 1_000 };
  }
  if (facts === undefined || pricesOf(first, fund).price === undefined)
    return { symbol, rate: undefined, rateAgeMs: Number.NaN };
  return { symbol, rate: rates[slot] === undefined ? "missing" : "delta", rateAgeMs: Number.NaN };
}

/** Every symbol of the fund that has no value, by name. */
export function unpricedSymbols(books: Books, fund: FundBook): readonly string[] {
  const { values } = tableOf(books, fund);
  return slotsOf(fund)
    .filter((slot) => values[slot] === undefined)
    .map((slot) => books.bySlot[slot]?.symbol ?? "")
    .sort();
}

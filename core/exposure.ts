// A fund's exposure in the worst case: gross, net both ways, and gross per sector, as exact products. A mark costs nothing for funds that are
// not asked about; whoever is asked adds up anew when prices have moved, and keeps its sums along with its orders while they have not.
//
// Invariants (engine.test.ts compares each with a plain addition):
//  1. gross = sum over lines of max(|position + pending buys|, |position - pending sells|) x unit value; pending buys and sells are
//     never set against each other.
//  2. netHigh and netLow = the same sums with sign, each for one of the two cases.
//  3. A line without a value counts nothing and makes the fund unpriced; no new risk passes while there is one.
//  4. A line that holds nothing and expects nothing is gone.
import type { Instant } from "../contracts/src/instant.ts";
import type { Amount } from "./amount.ts";
import * as amounts from "./amount.ts";
import type { Books, FundBook, Line, SymbolBook } from "./engine-books.ts";
import * as exact from "./exact.ts";
import { type Exact, type Worth, worthless } from "./exact.ts";
import {
  addLine,
  addUpPlainly,
  pendingBuyOf,
  pendingSellOf,
  positionOf,
  removeLine,
  setQuantities,
} from "./line-rows.ts";
import { type Plain, sum } from "./plain.ts";
import { tableOf } from "./value-tables.ts";

/** Brings the fund's sums up to date with every mark and every change of reference data so far. */
export function catchUp(books: Books, fund: FundBook): void {
  if (fund.changesSeen === books.changes) return;
  const sectorCount = books.sectorNumbers.size + 1;
  if (fund.sectors.length !== sectorCount) fund.sectors = new Float64Array(sectorCount);
  if (fund.wideSectors.size > 0) fund.wideSectors.clear();
  if (!addUpPlainly(books, fund)) addUpExactly(books, fund);
  fund.changesSeen = books.changes;
}

/** The long way, for sums that do not fit into plain numbers. */
function addUpExactly(books: Books, fund: FundBook): void {
  const value: LineValue = { high: worthless, low: worthless, gross: worthless };
  fund.gross = worthless;
  fund.netHigh = worthless;
  fund.netLow = worthless;
  fund.sectors.fill(Number.NaN);
  for (const line of fund.lines.values()) {
    lineValue(fund, line, unitValueOf(books, fund, line), value);
    fund.gross = exact.plus(fund.gross, value.gross);
    fund.netHigh = exact.plus(fund.netHigh, value.high);
    fund.netLow = exact.plus(fund.netLow, value.low);
  }
}

function unitValueOf(books: Books, fund: FundBook, line: Line): Amount | undefined {
  return tableOf(books, fund).values[line.book.slot];
}

/** The fund's gross exposure to the sector of that number; 0 is none. Its sums are up to date. */
export function sectorGross(books: Books, fund: FundBook, sector: number): Worth {
  if (sector === 0) return worthless;
  const plain = fund.sectors[sector] ?? Number.NaN;
  if (!Number.isNaN(plain)) return plain as Plain;
  let gross = fund.wideSectors.get(sector);
  if (gross === undefined) {
    gross = addUpSector(books, fund, sector);
    fund.wideSectors.set(sector, gross);
  }
  return gross;
}

function addUpSector(books: Books, fund: FundBook, sector: number): Exact {
  const value: LineValue = { high: worthless, low: worthless, gross: worthless };
  let gross = 0n;
  for (const line of fund.lines.values()) {
    if (books.sectorAt[line.book.slot] !== sector) continue;
    lineValue(fund, line, unitValueOf(books, fund, line), value);
    gross += exact.toExact(value.gross);
  }
  return gross as Exact;
}

/** What the line adds to the sums if every pending buy fills and no sell does, the other way round, and at worst. */
export interface LineValue {
  high: Worth;
  low: Worth;
  gross: Worth;
}

/** The values of a fund's line at that value of a unit; all zero without one. */
export function lineValue({ rows }: FundBook, line: Line, unitValue: Amount | undefined, into: LineValue): void {
  if (unitValue === undefined) {
    into.high = worthless;
    into.low = worthless;
    into.gross = worthless;
    return;
  }
  const position = positionOf(rows, line);
  into.high = exact.product(amounts.plus(position, pendingBuyOf(rows, line)), unitValue);
  into.low = exact.product(amounts.minus(position, pendingSellOf(rows, line)), unitValue);
  into.gross = exact.larger(exact.magnitude(into.high), exact.magnitude(into.low));
}

/** The line of a symbol in a fund, made when there is none; whoever asks for it puts something on it. */
export function lineOf(fund: FundBook, book: SymbolBook): Line {
  let line = fund.lines.get(book.symbol);
  if (line === undefined) {
    line = { book, place: 0, wide: undefined };
    fund.lines.set(book.symbol, line);
    addLine(fund.rows, line);
  }
  return line;
}

/** Adds to what may still be bought, or sold. */
export function movePending(books: Books, fund: FundBook, line: Line, direction: 1 | -1, change: Amount): void {
  if (direction === 1) move(books, fund, line, amounts.nothing, change, amounts.nothing);
  else move(books, fund, line, amounts.nothing, amounts.nothing, change);
}

/** Adds to what is held. */
export function movePosition(books: Books, fund: FundBook, line: Line, change: Amount): void {
  move(books, fund, line, change, amounts.nothing, amounts.nothing);
}

function move(books: Books, fund: FundBook, line: Line, held: Amount, buys: Amount, sells: Amount): void {
  const { rows } = fund;
  const before = positionOf(rows, line);
  const buysBefore = pendingBuyOf(rows, line);
  const sellsBefore = pendingSellOf(rows, line);
  const position = amounts.plus(before, held);
  const pendingBuy = amounts.plus(buysBefore, buys);
  const pendingSell = amounts.plus(sellsBefore, sells);
  setQuantities(rows, line, position, pendingBuy, pendingSell);
  // Sums that are behind the prices are added up anew anyway, with whatever the line is by then.
  if (fund.changesSeen === books.changes) {
    const unitValue = unitValueOf(books, fund, line);
    if (unitValue === undefined) fund.unpriced = true;
    else {
      const worst = worstQuantity(position, pendingBuy, pendingSell);
      const change = amounts.minus(worst, worstQuantity(before, buysBefore, sellsBefore));
      addGross(books, fund, line, exact.product(change, unitValue));
      fund.netHigh = exact.plus(fund.netHigh, exact.product(amounts.plus(held, buys), unitValue));
      fund.netLow = exact.plus(fund.netLow, exact.product(amounts.minus(held, sells), unitValue));
      noteInputs(books, fund, line);
    }
  }
  if (amounts.isNothing(position) && amounts.isNothing(pendingBuy)) dropIfEmpty(fund, line);
}

/** Invariant 4. */
export function dropIfEmpty(fund: FundBook, line: Line): void {
  const { rows } = fund;
  if (rows.lines[line.place] !== line) return;
  const isEmpty =
    amounts.isNothing(positionOf(rows, line)) &&
    amounts.isNothing(pendingBuyOf(rows, line)) &&
    amounts.isNothing(pendingSellOf(rows, line));
  if (!isEmpty) return;
  fund.lines.delete(line.book.symbol);
  removeLine(rows, line);
}

function worstQuantity(position: Amount, pendingBuy: Amount, pendingSell: Amount): Amount {
  const high = amounts.magnitude(amounts.plus(position, pendingBuy));
  return amounts.larger(high, amounts.magnitude(amounts.minus(position, pendingSell)));
}

function addGross(books: Books, fund: FundBook, line: Line, change: Worth): void {
  fund.gross = exact.plus(fund.gross, change);
  const sector = books.sectorAt[line.book.slot] ?? 0;
  const wide = fund.wideSectors.size === 0 ? undefined : fund.wideSectors.get(sector);
  if (wide !== undefined) fund.wideSectors.set(sector, (wide + exact.toExact(change)) as Exact);
  // What is no longer plain here is added up by whoever asks.
  fund.sectors[sector] = typeof change === "number" ? sum(fund.sectors[sector] as Plain, change) : Number.NaN;
}

/** A line that is new in the sums may bring an older mark or an older rate. */
function noteInputs(books: Books, fund: FundBook, line: Line): void {
  const { slot, markedAt } = line.book;
  if (markedAt < fund.oldestMarkAt) fund.oldestMarkAt = markedAt;
  const fxAt = tableOf(books, fund).fxAt[slot] ?? Number.NaN;
  if (fxAt < fund.oldestFxAt) fund.oldestFxAt = fxAt;
}

/**
 * The age of the oldest mark among the fund's other lines, in milliseconds; zero when there are none. Below the age that is allowed it may
 * be told too old, because marks grow younger without anybody looking; above it, where it denies, it is exact. A mark from further ahead
 * than it may lie behind counts as being that old.
 */
export function oldestMarkAgeMs(
  books: Books,
  fund: FundBook,
  except: Line | undefined,
  at: Instant,
  ageMsMax: number,
): number {
  const { count, lines } = fund.rows;
  if (count === (except === undefined ? 0 : 1)) return 0;
  const ageAtMost = at - fund.oldestMarkAt;
  const microsecondsMax = ageMsMax * 1_000;
  if (ageAtMost <= microsecondsMax && books.newestMarkAt - at <= microsecondsMax) {
    return Math.max(0, ageAtMost / 1_000);
  }
  const own = except?.book.slot ?? -1;
  let oldest = Number.POSITIVE_INFINITY;
  let age = 0;
  for (let place = 0; place < count; place += 1) {
    const slot = lines[place]?.book.slot ?? 0;
    const markedAt = books.markedAt[slot] ?? Number.NaN;
    if (markedAt < oldest) oldest = markedAt;
    if (slot === own) continue;
    const distance = markedAt - at > microsecondsMax ? markedAt - at : at - markedAt;
    if (distance > age) age = distance;
  }
  fund.oldestMarkAt = oldest;
  return age / 1_000;
}

/** A symbol without a value. It may be the exchange rate's fault alone. */
interface Unpriced {
  readonly symbol: string;
  readonly rate: "missing" | "old" | undefined;
  /** NaN unless the rate is old. */
  readonly rateAgeMs: number;
}

/** The first by name of the fund's other symbols that has no value, or one at an exchange rate that is too old to be one. */
export function firstUnpriced(
  books: Books,
  fund: FundBook,
  except: Line | undefined,
  at: Instant,
  fxAgeMsMax: number,
): Unpriced | undefined {
  const fxMicrosecondsMax = fxAgeMsMax * 1_000;
  if (!fund.unpriced && at - fund.oldestFxAt <= fxMicrosecondsMax) return undefined;
  const { values, fxAt } = tableOf(books, fund);
  let first: SymbolBook | undefined;
  for (const book of [...fund.lines.values()].map((line) => line.book)) {
    const { symbol, slot } = book;
    const isPriced = values[slot] !== undefined && !(at - (fxAt[slot] ?? Number.NaN) > fxMicrosecondsMax);
    if (isPriced || symbol === except?.book.symbol) continue;
    if (first === undefined || symbol < first.symbol) first = book;
  }
  if (first === undefined) return undefined;
  const { symbol, slot, facts, price } = first;
  if (values[slot] !== undefined) {
    return { symbol, rate: "old", rateAgeMs: (at - (fxAt[slot] ?? Number.NaN)) / 1_000 };
  }
  const rate = facts !== undefined && price !== undefined ? "missing" : undefined;
  return { symbol, rate, rateAgeMs: Number.NaN };
}

/** Every symbol of the fund that has no value, by name. */
export function unpricedSymbols(books: Books, fund: FundBook): readonly string[] {
  const { values } = tableOf(books, fund);
  return [...fund.lines.values()]
    .map(({ book }) => book)
    .filter(({ slot }) => values[slot] === undefined)
    .map(({ symbol }) => symbol)
    .sort();
}

// A fund's exposure in the worst case, kept up to date instead of added up: gross, net both ways, and gross per sector, as exact
// products. A mark costs nothing for funds that are not asked about: whoever is asked catches up first.
//
// Invariants (engine.test.ts compares each with a plain addition):
//  1. gross = sum over lines of max(|position + pending buys|, |position - pending sells|) x unit value; pending buys and sells are
//     never set against each other.
//  2. netHigh and netLow = the same sums with sign, each for one of the two cases.
//  3. A line without a value counts nothing and is in `unpriced`; no new risk passes while there is one.
//  4. A line that holds nothing and expects nothing is gone.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import {
  type Books,
  changedRingLength,
  createLine,
  type FundBook,
  type Line,
  type SymbolBook,
} from "./engine-books.ts";
import { type Exact, exactZero } from "./exact.ts";
import { unitValueAt } from "./valuation.ts";

/** Tells every fund that this symbol's value may have changed. */
export function noteChange(books: Books, book: SymbolBook): void {
  book.version += 1;
  books.changed[books.changes % changedRingLength] = book;
  books.changes += 1;
}

/** Tells every fund that everything may have changed. */
export function noteEveryChange(books: Books): void {
  for (const book of books.symbols.values()) book.version += 1;
  books.changes += changedRingLength + 1;
}

/** Brings the symbol's value in that currency up to date: `unitValue`, `fxRate` and `fxAt` of the book. */
export function valueIn(books: Books, book: SymbolBook, currency: string): void {
  if (book.unitVersion === book.version && book.unitCurrency === currency) return;
  book.unitVersion = book.version;
  book.unitCurrency = currency;
  book.unitValue = undefined;
  book.fxRate = undefined;
  book.fxAt = Number.NaN;
  const { facts, price } = book;
  if (facts === undefined) return;
  convert(books, book, facts.currency, currency);
  if (price === undefined || book.fxRate === undefined) return;
  // What is worth less than nothing is still a risk of that size.
  book.unitValue = unitValueAt(decimal.abs(price), facts, book.fxRate);
}

function convert(books: Books, book: SymbolBook, from: string, to: string): void {
  if (from === to) {
    book.fxRate = decimal.one;
    book.fxAt = Number.POSITIVE_INFINITY;
    return;
  }
  const direct = books.fx.get(from)?.get(to);
  if (direct !== undefined) {
    book.fxRate = direct.rate;
    book.fxAt = direct.at;
    return;
  }
  const inverse = books.fx.get(to)?.get(from);
  if (inverse === undefined || inverse.rate <= 0n) return;
  book.fxRate = decimal.divide(decimal.one, inverse.rate, "up");
  book.fxAt = inverse.at;
}

/** Writes the line's share of the sums anew; the two ends are what their quantities are worth. */
function settle(fund: FundBook, line: Line, high: Exact, low: Exact): void {
  const highest = high < 0n ? -high : high;
  const lowest = low < 0n ? -low : low;
  const gross = (highest > lowest ? highest : lowest) as Exact;
  if (high !== line.high) {
    fund.netHigh = (fund.netHigh + high - line.high) as Exact;
    line.high = high;
  }
  if (low !== line.low) {
    fund.netLow = (fund.netLow + low - line.low) as Exact;
    line.low = low;
  }
  if (gross === line.gross) return;
  const change = gross - line.gross;
  fund.gross = (fund.gross + change) as Exact;
  if (line.sector !== undefined) line.sector.gross = (line.sector.gross + change) as Exact;
  line.gross = gross;
}

function worth(quantity: bigint, unitValue: Decimal | undefined): Exact {
  return unitValue === undefined ? exactZero : ((quantity * unitValue) as Exact);
}

/** Takes the symbol's value of now into the fund's sums. */
function revalue(books: Books, fund: FundBook, line: Line): void {
  const { book } = line;
  valueIn(books, book, fund.currency);
  line.version = book.version;
  if (line.sector?.sector !== book.facts?.sector) moveSector(fund, line);
  if (book.facts === undefined || book.facts.currency === fund.currency) fund.foreign.delete(line);
  else fund.foreign.add(line);
  if (line.unitValue === book.unitValue && line.unitValue !== undefined) return;
  line.unitValue = book.unitValue;
  if (line.unitValue === undefined) fund.unpriced.add(line);
  else {
    fund.unpriced.delete(line);
    if (book.markedAt < fund.oldestMarkAt) fund.oldestMarkAt = book.markedAt;
  }
  const high = worth(line.position + line.pendingBuy, line.unitValue);
  settle(fund, line, high, worth(line.position - line.pendingSell, line.unitValue));
}

function moveSector(fund: FundBook, line: Line): void {
  if (line.sector !== undefined) line.sector.gross = (line.sector.gross - line.gross) as Exact;
  const name = line.book.facts?.sector;
  if (name === undefined) {
    line.sector = undefined;
    return;
  }
  let sector = fund.sectors.get(name);
  if (sector === undefined) {
    sector = { sector: name, gross: exactZero };
    fund.sectors.set(name, sector);
  }
  sector.gross = (sector.gross + line.gross) as Exact;
  line.sector = sector;
}

/** Brings the fund's sums up to date with every mark and every change of reference data so far. */
export function catchUp(books: Books, fund: FundBook): void {
  const behind = books.changes - fund.changesSeen;
  if (behind === 0) return;
  if (behind <= changedRingLength && behind <= fund.lines.size) {
    for (let change = fund.changesSeen; change < books.changes; change += 1) {
      const book = books.changed[change % changedRingLength];
      const line = book === undefined ? undefined : fund.lines.get(book.symbol);
      if (line !== undefined && line.version !== line.book.version) revalue(books, fund, line);
    }
  } else {
    for (const line of fund.lines.values()) if (line.version !== line.book.version) revalue(books, fund, line);
  }
  fund.changesSeen = books.changes;
}

/** The line of a symbol in a fund, made when there is none; whoever asks for it puts something on it. */
export function lineOf(books: Books, fund: FundBook, book: SymbolBook): Line {
  let line = fund.lines.get(book.symbol);
  if (line === undefined) {
    line = createLine(book);
    fund.lines.set(book.symbol, line);
    revalue(books, fund, line);
  }
  return line;
}

/** Adds to what may still be bought, or sold: only that end of the line moves. */
export function movePending(fund: FundBook, line: Line, direction: 1 | -1, change: bigint): void {
  if (direction === 1) {
    line.pendingBuy = (line.pendingBuy + change) as Decimal;
    settle(fund, line, (line.high + worth(change, line.unitValue)) as Exact, line.low);
  } else {
    line.pendingSell = (line.pendingSell + change) as Decimal;
    settle(fund, line, line.high, (line.low - worth(change, line.unitValue)) as Exact);
  }
  if (change < 0n) dropIfEmpty(fund, line);
}

/** Adds to what is held: both ends move. */
export function movePosition(fund: FundBook, line: Line, change: bigint): void {
  const value = worth(change, line.unitValue);
  line.position = (line.position + change) as Decimal;
  settle(fund, line, (line.high + value) as Exact, (line.low + value) as Exact);
  dropIfEmpty(fund, line);
}

/** Invariant 4. */
function dropIfEmpty(fund: FundBook, line: Line): void {
  if (line.position !== 0n || line.pendingBuy !== 0n || line.pendingSell !== 0n) return;
  fund.lines.delete(line.book.symbol);
  fund.unpriced.delete(line);
  fund.foreign.delete(line);
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
  const others = fund.lines.size - (except === undefined ? 0 : 1);
  if (others === 0) return 0;
  const ageAtMost = at - fund.oldestMarkAt;
  const microsecondsMax = ageMsMax * 1_000;
  if (ageAtMost <= microsecondsMax && books.newestMarkAt - at <= microsecondsMax) return Math.max(0, ageAtMost / 1_000);
  let oldest = Number.POSITIVE_INFINITY;
  let age = 0;
  for (const line of fund.lines.values()) {
    if (line.unitValue === undefined) continue;
    const { markedAt } = line.book;
    if (markedAt < oldest) oldest = markedAt;
    if (line === except) continue;
    const own = markedAt - at > microsecondsMax ? markedAt - at : at - markedAt;
    if (own > age) age = own;
  }
  fund.oldestMarkAt = oldest;
  return age / 1_000;
}

/** The first by name of the fund's other symbols that has no value, or one at an exchange rate that is too old to be one. */
export function unpricedSymbol(
  books: Books,
  fund: FundBook,
  except: Line | undefined,
  at: Instant,
  fxAgeMsMax: number,
): string | undefined {
  if (fund.unpriced.size === 0 && fund.foreign.size === 0) return undefined;
  let first: string | undefined;
  for (const line of fund.unpriced) {
    if (line !== except && (first === undefined || line.book.symbol < first)) first = line.book.symbol;
  }
  for (const line of fund.foreign) {
    valueIn(books, line.book, fund.currency);
    const stale = Math.abs(at - line.book.fxAt) > fxAgeMsMax * 1_000;
    if (stale && line !== except && (first === undefined || line.book.symbol < first)) first = line.book.symbol;
  }
  return first;
}

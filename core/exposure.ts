// A fund's exposure in the worst case: gross, net both ways, and gross per sector, as exact products. A mark costs nothing for funds that are
// not asked about; whoever is asked adds up anew when prices have moved, and keeps its sums along with its orders while they have not.
//
// Invariants (engine.test.ts compares each with a plain addition):
//  1. gross = sum over lines of max(|position + pending buys|, |position - pending sells|) x unit value; pending buys and sells are
//     never set against each other.
//  2. netHigh and netLow = the same sums with sign, each for one of the two cases.
//  3. A line without a value counts nothing and makes the fund unpriced; no new risk passes while there is one.
//  4. A line that holds nothing and expects nothing is gone.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import { scaleCount } from "./abacus.ts";
import type { Books, FundBook, Line, SectorSum, SymbolBook } from "./engine-books.ts";
import { type Exact, exactZero, larger, magnitude } from "./exact.ts";
import { addLine, addUp, outdate, removeLine, sectorOf } from "./line-columns.ts";
import { tableOf } from "./value-tables.ts";

const noBeads = new Float64Array(0);

/** Brings the fund's sums up to date with every mark and every change of reference data so far. */
export function catchUp(books: Books, fund: FundBook): void {
  if (fund.changesSeen === books.changes) return;
  const { abacus: sums } = books;
  const table = tableOf(books, fund);
  const { columns } = fund;
  const { sectorAt, markedAt } = books;
  sums.sectorBeads = beadsFor(books, fund);
  addUp({ columns, table, sectorAt, markedAt, only: 0 }, sums);
  fund.sectorBeads = sums.isPlain ? sums.sectorBeads : noBeads;
  fund.gross = sums.gross;
  fund.netHigh = sums.high;
  fund.netLow = sums.low;
  fund.unpriced = sums.unpriced;
  fund.oldestFxAt = sums.oldestFxAt;
  fund.oldestMarkAt = sums.oldestMarkAt;
  fund.changesSeen = books.changes;
}

/** The fund's own beads, or new ones when there are more sectors than there were. */
function beadsFor({ sectorNumbers }: Books, { sectorBeads }: FundBook): Float64Array {
  const length = (sectorNumbers.size + 1) * scaleCount;
  return sectorBeads.length === length ? sectorBeads : new Float64Array(length);
}

/** The fund's gross exposure to the sector of that number; 0 is none. Its sums are up to date. */
export function sectorGross(books: Books, fund: FundBook, only: number): Exact {
  const known = fund.sectors[only];
  if (known !== undefined && known.changesSeen === books.changes) return known.gross;
  if (only === 0) return exactZero;
  const sum: SectorSum = known ?? { gross: exactZero, changesSeen: 0 };
  sum.gross = fund.sectorBeads.length > 0 ? sectorOf(fund.sectorBeads, only) : addUpSector(books, fund, only);
  sum.changesSeen = books.changes;
  while (fund.sectors.length <= only) fund.sectors.push(undefined);
  fund.sectors[only] = sum;
  return sum.gross;
}

/** The long way, for sums that do not fit into plain numbers. */
function addUpSector(books: Books, fund: FundBook, only: number): Exact {
  const { abacus: sums } = books;
  const { sectorAt, markedAt } = books;
  sums.sectorBeads = noBeads;
  addUp({ columns: fund.columns, table: tableOf(books, fund), sectorAt, markedAt, only }, sums);
  return sums.gross;
}

/** What the line adds to the sums if every pending buy fills and no sell does, the other way round, and at worst. */
export interface LineValue {
  high: Exact;
  low: Exact;
  gross: Exact;
}

/** The values of a fund's line at that value of a unit; all zero without one. */
export function lineValue(line: Line, unitValue: Decimal | undefined, into: LineValue): void {
  if (unitValue === undefined) {
    into.high = exactZero;
    into.low = exactZero;
    into.gross = exactZero;
    return;
  }
  into.high = ((line.position + line.pendingBuy) * unitValue) as Exact;
  into.low = ((line.position - line.pendingSell) * unitValue) as Exact;
  into.gross = larger(magnitude(into.high), magnitude(into.low));
}

/** The line of a symbol in a fund, made when there is none; whoever asks for it puts something on it. */
export function lineOf(fund: FundBook, book: SymbolBook): Line {
  let line = fund.lines.get(book.symbol);
  if (line === undefined) {
    const [position, pendingBuy, pendingSell] = [decimal.zero, decimal.zero, decimal.zero];
    line = { book, place: 0, position, pendingBuy, pendingSell };
    fund.lines.set(book.symbol, line);
    addLine(fund.columns, line);
  }
  return line;
}

/** Adds to what may still be bought, or sold. */
export function movePending(books: Books, fund: FundBook, line: Line, direction: 1 | -1, change: bigint): void {
  if (direction === 1) move(books, fund, line, 0n, change, 0n);
  else move(books, fund, line, 0n, 0n, change);
}

/** Adds to what is held. */
export function movePosition(books: Books, fund: FundBook, line: Line, change: bigint): void {
  move(books, fund, line, change, 0n, 0n);
}

function move(books: Books, fund: FundBook, line: Line, held: bigint, buys: bigint, sells: bigint): void {
  outdate(fund.columns, line);
  // Sums that are behind the prices are added up anew anyway, with whatever the line is by then.
  const isCurrent = fund.changesSeen === books.changes;
  const unitValue = isCurrent ? tableOf(books, fund).values[line.book.slot] : undefined;
  const worstBefore = unitValue === undefined ? 0n : worstQuantity(line);
  if (held !== 0n) line.position = (line.position + held) as Decimal;
  if (buys !== 0n) line.pendingBuy = (line.pendingBuy + buys) as Decimal;
  if (sells !== 0n) line.pendingSell = (line.pendingSell + sells) as Decimal;
  if (unitValue !== undefined) {
    const worst = worstQuantity(line);
    if (worst !== worstBefore) addGross(books, fund, line, (worst - worstBefore) * unitValue);
    const high = held + buys;
    const low = held - sells;
    if (high !== 0n) fund.netHigh = (fund.netHigh + high * unitValue) as Exact;
    if (low !== 0n) fund.netLow = (fund.netLow + low * unitValue) as Exact;
    noteInputs(books, fund, line);
  } else if (isCurrent) fund.unpriced = true;
  dropIfEmpty(fund, line);
}

/** Invariant 4. */
export function dropIfEmpty(fund: FundBook, line: Line): void {
  if (line.position !== 0n || line.pendingBuy !== 0n || line.pendingSell !== 0n) return;
  if (fund.lines.get(line.book.symbol) !== line) return;
  fund.lines.delete(line.book.symbol);
  removeLine(fund.columns, line);
}

function worstQuantity(line: Line): bigint {
  const high = line.position + line.pendingBuy;
  const low = line.position - line.pendingSell;
  const highest = high < 0n ? -high : high;
  const lowest = low < 0n ? -low : low;
  return highest > lowest ? highest : lowest;
}

function addGross(books: Books, fund: FundBook, line: Line, change: bigint): void {
  fund.gross = (fund.gross + change) as Exact;
  const sector = books.sectorAt[line.book.slot] ?? 0;
  // The beads are from before the change; without them and without a sum that is kept along, whoever asks adds up the lines.
  const isKept = fund.sectors[sector]?.changesSeen === books.changes;
  if (sector === 0 || !(isKept || fund.sectorBeads.length > 0)) return;
  const before = sectorGross(books, fund, sector);
  const sum = fund.sectors[sector];
  if (sum !== undefined) sum.gross = (before + change) as Exact;
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
  const { count, slots } = fund.columns;
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
    const slot = slots[place] ?? 0;
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

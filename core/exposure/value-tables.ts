// What one unit of each symbol is worth, once per currency that some fund has. A mark changes one number per currency and nothing per fund:
// whoever is asked about adds up anew. Beside the exact value stand its digits as a plain number, for adding up many at once.
import * as decimal from "../../contracts/src/decimal.ts";
import {
  type Amount,
  amountOf,
  isNegative,
  isPositive,
  larger,
  magnitude,
  negated,
  oneUnit,
  simplified,
  timesUp,
  toDecimal,
} from "../money/amount.ts";
import { digitsMax, digitsOf, placeOf, unitsBetween } from "../money/plain.ts";
import { type Books, type FundBook, pricesOf, type SymbolBook, type ValueTable, widened } from "../state/records.ts";
import { unitValueAt } from "./valuation.ts";

/** The table of a fund's currency and of the prices that it may see. */
export function tableOf(books: Books, fund: FundBook): ValueTable {
  fund.table ??= valueTable(books, fund);
  return fund.table;
}

function valueTable(books: Books, { currency, isPaper }: FundBook): ValueTable {
  const key = isPaper ? `${currency} PAPER` : currency;
  let table = books.tables.get(key);
  if (table === undefined) {
    table = {
      currency,
      isPaper,
      values: [],
      nets: [],
      rates: [],
      fxAt: new Float64Array(0),
      oldestFxAt: Number.POSITIVE_INFINITY,
      digits: new Float64Array(0),
      places: new Uint8Array(0),
      scaled: [],
    };
    books.tables.set(key, table);
    for (const book of books.symbols.values()) evaluate(books, table, book);
  }
  return table;
}

/** The symbol is worth something else now, in every currency, to those that see this price. */
export function noteChange(books: Books, book: SymbolBook, isPaper: boolean): void {
  for (const table of books.tables.values()) {
    if (table.isPaper !== isPaper) continue;
    evaluate(books, table, book);
    for (const option of book.derived) evaluate(books, table, option);
  }
  books.changes += 1;
}

/** Everything may be worth something else now; currencies that nobody has any more leave. */
export function noteEveryChange(books: Books): void {
  books.tables.clear();
  for (const fund of books.funds.values()) fund.table = valueTable(books, fund);
  books.changes += 1;
}

function evaluate(books: Books, table: ValueTable, book: SymbolBook): void {
  const { slot, facts } = book;
  const { price: newest, highest } = pricesOf(book, table);
  // While it is a range, what is held counts at the higher end.
  const price = newest === undefined ? undefined : (highest ?? newest);
  makeRoom(books, table, slot);
  const quote = facts === undefined ? undefined : rateBetween(books, facts.currency, table.currency);
  table.rates[slot] = quote?.rate;
  table.fxAt[slot] = quote?.at ?? Number.NaN;
  if (quote !== undefined && quote.at < table.oldestFxAt) table.oldestFxAt = quote.at;
  const risk = book.option === undefined || quote === undefined ? undefined : optionValue(book, table, quote.most);
  table.nets[slot] = risk;
  if (facts === undefined || quote === undefined || price === undefined || (book.option && risk === undefined)) {
    table.values[slot] = undefined;
    table.digits[slot] = Number.NaN;
    scale(table, slot);
    return;
  }
  // What is worth less than nothing is still a risk of that size.
  const premium = unitValueAt(magnitude(price), facts, quote.most);
  const value = simplified(risk === undefined ? premium : larger(premium, magnitude(risk)));
  table.values[slot] = value;
  table.places[slot] = typeof value === "number" ? placeOf(value) : 0;
  table.digits[slot] = typeof value === "number" ? digitsOf(value) : Number.POSITIVE_INFINITY;
  scale(table, slot);
}

/**
 * What one contract adds to net exposure: delta x the underlying's price x multiplier x rate, away from zero to a hundredth, so that sums with it
 * stay plain. Undefined while the delta or the underlying's price is not known.
 */
function optionValue(book: SymbolBook, table: ValueTable, rate: Amount): Amount | undefined {
  const { facts, option } = book;
  const { delta } = pricesOf(book, table);
  const prices = option?.underlying && pricesOf(option.underlying, table);
  const price = prices?.price === undefined ? undefined : (prices.highest ?? prices.price);
  if (delta === undefined || price === undefined || facts === undefined) return undefined;
  const size = timesUp(magnitude(delta), magnitude(price));
  const value = toDecimal(unitValueAt(size, facts, rate));
  const cents = amountOf((((value + hundredth - 1n) / hundredth) * hundredth) as decimal.Decimal);
  return isNegative(delta) ? negated(cents) : cents;
}

const hundredth = decimal.one / 100n;

/** The digits of every value at one place, for sums at that place. */
export function scaledAt(table: ValueTable, place: number): Float64Array {
  const known = table.scaled[place];
  if (known !== undefined) return known;
  const { digits, places } = table;
  const column = digits.map((value, slot) => scaledTo(place, value, places[slot]));
  table.scaled[place] = column;
  return column;
}

function scale({ scaled, digits, places }: ValueTable, slot: number): void {
  for (const [place, column] of scaled.entries()) {
    if (column !== undefined) column[slot] = scaledTo(place, digits[slot], places[slot]);
  }
}

/** Infinity for what is finer or no longer exact there, so that no sum with it passes for one; NaN without a value. */
function scaledTo(place: number, value = Number.NaN, own = 0): number {
  if (Number.isNaN(value)) return value;
  const digits = own > place ? Number.POSITIVE_INFINITY : value * unitsBetween(own, place);
  return digits > digitsMax ? Number.POSITIVE_INFINITY : digits;
}

function makeRoom(books: Books, table: ValueTable, slot: number): void {
  if (slot < table.digits.length) return;
  const length = Math.max(slot + 1, books.liveMarkedAt.length);
  table.digits = widened(table.digits, length);
  table.fxAt = widened(table.fxAt, length);
  table.scaled = table.scaled.map((column) => column && widened(column, length));
  const places = new Uint8Array(table.digits.length);
  places.set(table.places);
  table.places = places;
}

interface Rate {
  readonly rate: Amount;
  /** While it is a range, the higher end. */
  readonly most: Amount;
  readonly least: Amount;
  readonly at: number;
}

const same: Rate = { rate: oneUnit, most: oneUnit, least: oneUnit, at: Number.POSITIVE_INFINITY };

/** Either way round: a rate that is only known the other way is turned, and rounded up. */
export function rateBetween(books: Books, from: string, to: string): Rate | undefined {
  if (from === to) return same;
  const direct = books.fx.get(from)?.get(to);
  if (direct !== undefined) {
    const { rate, at, highest = rate, lowest = rate } = direct;
    return { rate, at, most: highest, least: lowest };
  }
  const inverse = books.fx.get(to)?.get(from);
  if (inverse === undefined || !isPositive(inverse.rate)) return undefined;
  const rate = turned(inverse.rate);
  const { highest, lowest, at } = inverse;
  return {
    rate,
    at,
    most: lowest === undefined ? rate : turned(lowest),
    least: highest === undefined ? rate : turned(highest),
  };
}

const turned = (rate: Amount): Amount => amountOf(decimal.divide(decimal.one, toDecimal(rate), "up"));

// What one unit of each symbol is worth, once per currency that some fund has. A mark changes one number per currency and nothing per fund:
// whoever is asked about adds up anew. Beside the exact value stand its digits as a plain number, for adding up many at once.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { type Books, type FundBook, type SymbolBook, type ValueTable, widened } from "./engine-books.ts";
import { unitValueAt } from "./valuation.ts";

/** Digits are kept in units of 1, 10^-4, 10^-8 or 10^-12: whatever keeps them whole. */
const units: readonly bigint[] = [10n ** 18n, 10n ** 14n, 10n ** 10n, 10n ** 6n];
/** The scale of what no such unit keeps whole, or not within a number's exact digits. */
export const unscaled = 254;
const digitsMax = BigInt(Number.MAX_SAFE_INTEGER);

/** The scale that keeps both whole, or `unscaled`. */
export function scaleOf(value: Decimal, other: Decimal): number {
  for (let scale = 0; scale < units.length; scale += 1) {
    const unit = units[scale] ?? 1n;
    if (value % unit === 0n && other % unit === 0n) return fits(value, unit) && fits(other, unit) ? scale : unscaled;
  }
  return unscaled;
}

function fits(value: bigint, unit: bigint): boolean {
  const digits = value / unit;
  return digits <= digitsMax && digits >= -digitsMax;
}

export function digitsOf(value: Decimal, scale: number): number {
  return Number(value / (units[scale] ?? 1n));
}

/** The table of a fund's currency. */
export function tableOf(books: Books, fund: FundBook): ValueTable {
  fund.table ??= valueTable(books, fund.currency);
  return fund.table;
}

function valueTable(books: Books, currency: string): ValueTable {
  let table = books.tables.get(currency);
  if (table === undefined) {
    table = {
      currency,
      values: [],
      rates: [],
      fxAt: new Float64Array(0),
      digits: new Float64Array(0),
      scales: new Uint8Array(0),
    };
    books.tables.set(currency, table);
    for (const book of books.symbols.values()) evaluate(books, table, book);
  }
  return table;
}

/** The symbol is worth something else now, in every currency. */
export function noteChange(books: Books, book: SymbolBook): void {
  for (const table of books.tables.values()) evaluate(books, table, book);
  books.changes += 1;
}

/** Everything may be worth something else now; currencies that nobody has any more leave. */
export function noteEveryChange(books: Books): void {
  books.tables.clear();
  for (const fund of books.funds.values()) fund.table = valueTable(books, fund.currency);
  books.changes += 1;
}

function evaluate(books: Books, table: ValueTable, book: SymbolBook): void {
  const { slot, facts, price } = book;
  makeRoom(books, table, slot);
  const quote = facts === undefined ? undefined : rateBetween(books, facts.currency, table.currency);
  table.rates[slot] = quote?.rate;
  table.fxAt[slot] = quote?.at ?? Number.NaN;
  if (facts === undefined || quote === undefined || price === undefined) {
    table.values[slot] = undefined;
    table.digits[slot] = Number.NaN;
    return;
  }
  // What is worth less than nothing is still a risk of that size.
  const value = unitValueAt(decimal.abs(price), facts, quote.rate);
  const scale = scaleOf(value, decimal.zero);
  table.values[slot] = value;
  table.scales[slot] = scale;
  table.digits[slot] = scale === unscaled ? 0 : digitsOf(value, scale);
}

function makeRoom(books: Books, table: ValueTable, slot: number): void {
  if (slot < table.digits.length) return;
  const length = Math.max(slot + 1, books.markedAt.length);
  table.digits = widened(table.digits, length);
  table.fxAt = widened(table.fxAt, length);
  const scales = new Uint8Array(table.digits.length);
  scales.set(table.scales);
  table.scales = scales;
}

interface Rate {
  readonly rate: Decimal;
  readonly at: number;
}

const same: Rate = { rate: decimal.one, at: Number.POSITIVE_INFINITY };

/** Either way round: a rate that is only known the other way is turned, and rounded up. */
function rateBetween(books: Books, from: string, to: string): Rate | undefined {
  if (from === to) return same;
  const direct = books.fx.get(from)?.get(to);
  if (direct !== undefined) return direct;
  const inverse = books.fx.get(to)?.get(from);
  if (inverse === undefined || inverse.rate <= 0n) return undefined;
  return { rate: decimal.divide(decimal.one, inverse.rate, "up"), at: inverse.at };
}

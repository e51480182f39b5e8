// What a fund should be worth by everything that the engine knows itself: the last value that somebody vouched for, carried forward by what was held then and
// by every fill since, at the engine's own prices. A value from outside is explained when it lies near that. What the engine has no price of moves nothing, so
// what such a position made is not explained.
//
// Invariants (carried-value.test.ts compares them with a plain valuation of cash and holdings):
//  1. Carried value = vouched value + sum of quantity x (price now - price then) + sum over fills of quantity x (price now - price paid) - fees, whatever the
//     order of prices and fills.
//  2. A fill that is taken back leaves no trace.
//  3. A corporate action, which changes quantities for nothing, changes no value once its symbol has a price in the new terms; before, its symbol is carried
//     as if its value had stayed.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { type Amount, parseAmount, toDecimal } from "../money/amount.ts";
import { positionAt, rowOf, slotsOf } from "../state/fund-state.ts";
import { type Books, type FundBook, pricesOf, type SymbolBook } from "../state/records.ts";
import { directionOf } from "../state/terms.ts";
import { unitValueAt } from "./valuation.ts";
import { tableOf } from "./value-tables.ts";

/** A value that somebody vouches for. */
export interface VouchedValue {
  readonly nav: Decimal;
  readonly netFlows: Decimal;
}

export interface CarriedValue extends VouchedValue {
  /** By our clock. */
  readonly since: Instant;
  readonly lines: Map<string, CarriedLine>;
  /** By currency. */
  readonly fees: Map<string, Decimal>;
}

interface CarriedLine {
  /** What was held then, and what one was worth in the fund's currency; undefined until somebody has said a price. */
  readonly quantity: bigint;
  worth: bigint | undefined;
  /** What was bought since, less what was sold, and what was paid for it: quantity x price, of twice the places. */
  traded: bigint;
  paid: bigint;
}

/** A fill, as far as it moves a value. */
export interface ValuedFill {
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly price: string;
  readonly fee?: string | undefined;
  readonly currency?: string | undefined;
  readonly kind?: string | undefined;
}

/** Begins anew at that value. What the engine has no price of is worth what the value itself says. */
export function carryFrom(
  books: Books,
  fund: FundBook,
  { nav, netFlows }: VouchedValue,
  since: Instant,
  said: Readonly<Record<string, { readonly price: string }>> = {},
): CarriedValue {
  const lines = new Map<string, CarriedLine>();
  for (const slot of slotsOf(fund)) {
    const book = books.bySlot[slot];
    const quantity = toDecimal(positionAt(fund, rowOf(fund, slot)));
    if (book === undefined || quantity === 0n) continue;
    const { price } = said[book.symbol] ?? {};
    const worth =
      worthOf(books, fund, book) ?? (price === undefined ? undefined : worthAt(books, fund, book, parseAmount(price)));
    lines.set(book.symbol, { quantity, worth, traded: 0n, paid: 0n });
  }
  return { nav, netFlows, since, lines, fees: new Map() };
}

/** A fill moved the books. The two legs of a cross move nothing of the fund together, and what one alone makes is an open end (`madeBy`). */
export function carryFill({ lines, fees }: CarriedValue, books: Books, fill: ValuedFill): void {
  if (fill.kind === "CROSS") return;
  const { symbol, fee } = fill;
  const line = lines.get(symbol) ?? { quantity: 0n, worth: undefined, traded: 0n, paid: 0n };
  const quantity = BigInt(directionOf(fill.side)) * decimal.parse(fill.quantity);
  line.traded += quantity;
  line.paid += quantity * decimal.parse(fill.price);
  lines.set(symbol, line);
  if (fee === undefined) return;
  const currency = fill.currency ?? books.symbols.get(symbol)?.facts?.currency ?? "";
  fees.set(currency, ((fees.get(currency) ?? 0n) + decimal.parse(fee)) as Decimal);
}

/** What the fund should be worth now, without money that came or went. */
export function carriedNow(books: Books, fund: FundBook, { nav, lines, fees }: CarriedValue): Decimal {
  let value: bigint = nav * decimal.one;
  for (const [symbol, line] of lines) {
    const book = books.symbols.get(symbol);
    const worth = book && worthOf(books, fund, book);
    if (book === undefined || worth === undefined) continue;
    // What had no price counts from its first one on.
    line.worth ??= worth;
    value += line.quantity * (worth - line.worth) + line.traded * worth - paidInFund(books, fund, book, line.paid);
  }
  for (const [currency, fee] of fees) value -= fee * (rateTo(books, fund, currency) ?? decimal.one);
  return wholePlaces(value);
}

/** What a fill that may be untrue, or one leg of a cross, has made so far: what it brought less what it cost. Zero while that cannot be said. */
export function madeBy(books: Books, fund: FundBook, fill: ValuedFill): Decimal {
  const book = books.symbols.get(fill.symbol);
  if (book === undefined) return decimal.zero;
  const quantity = BigInt(directionOf(fill.side)) * decimal.parse(fill.quantity);
  const worth = worthOf(books, fund, book);
  const rate = rateTo(books, fund, fill.currency ?? book.facts?.currency ?? "") ?? decimal.one;
  const fee = decimal.parse(fill.fee ?? "0") * rate;
  const moved =
    worth === undefined ? 0n : quantity * worth - paidInFund(books, fund, book, quantity * decimal.parse(fill.price));
  return wholePlaces(moved - fee);
}

/** What a position would be worth more at another price of its symbol; below zero when less. */
export function movedBy(books: Books, fund: FundBook, book: SymbolBook, price: Amount): Decimal {
  const now = worthOf(books, fund, book);
  const then = worthAt(books, fund, book, price);
  const quantity = toDecimal(positionAt(fund, rowOf(fund, book.slot)));
  return now === undefined || then === undefined ? decimal.zero : wholePlaces(quantity * (then - now));
}

/** What one unit is worth in the fund's currency at the engine's own price; undefined without one. */
function worthOf(books: Books, fund: FundBook, book: SymbolBook): bigint | undefined {
  const { price } = pricesOf(book, fund);
  const rate = tableOf(books, fund).rates[book.slot];
  if (price === undefined || rate === undefined || book.facts === undefined) return undefined;
  return toDecimal(unitValueAt(price, book.facts, rate));
}

function worthAt(books: Books, fund: FundBook, book: SymbolBook, price: Amount): bigint | undefined {
  const rate = tableOf(books, fund).rates[book.slot];
  if (rate === undefined || book.facts === undefined) return undefined;
  return toDecimal(unitValueAt(price, book.facts, rate));
}

/** Of twice the places, as what it is made of. */
function paidInFund(books: Books, fund: FundBook, { facts, slot }: SymbolBook, paid: bigint): bigint {
  const rate = tableOf(books, fund).rates[slot];
  if (facts === undefined || rate === undefined) return 0n;
  return (((paid * toDecimal(facts.multiplier)) / decimal.one) * toDecimal(rate)) / decimal.one;
}

function rateTo({ fx }: Books, { currency }: FundBook, from: string): Decimal | undefined {
  if (from === currency) return decimal.one;
  const direct = fx.get(from)?.get(currency);
  if (direct !== undefined) return toDecimal(direct.rate);
  const inverse = fx.get(currency)?.get(from);
  const turned = inverse && toDecimal(inverse.rate);
  return turned === undefined || turned <= 0n ? undefined : decimal.divide(decimal.one, turned, "half-even");
}

/** Of a sum of products; a smallest place more or less decides nothing here. */
const wholePlaces = (value: bigint): Decimal => (value / decimal.one) as Decimal;

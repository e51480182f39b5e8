// The other end of what limits count while something of a fund is open: the least that may be used, the most that may be allowed, and why that is not known better.
// Limits are judged by the worse end (decision 0085); this is only shown, and costs nothing while nothing is open.
//
// Invariants (other-end.test.ts names them):
//  1. While nothing is open there is none.
//  2. Each figure is taken at its own better end, as the worse ones are: whatever turns out to be true, no less is used and no more is allowed.
//  3. Of a fund with options no least is told: their lines move with one another.
import type { Decimal } from "../../contracts/src/decimal.ts";
import { doubtOf } from "../exposure/doubts.ts";
import { unitValueAt } from "../exposure/valuation.ts";
import { rateBetween, tableOf } from "../exposure/value-tables.ts";
import { type Amount, isMore, isPositive, minus, nothing, plus, toDecimal } from "../money/amount.ts";
import { type Exact, type Notional, product, toExact } from "../money/exact.ts";
import { pendingBuyAt, pendingSellAt, positionAt, rowOf, slotsOf } from "../state/fund-state.ts";
import { type Books, type FundBook, pricesOf, type SymbolBook } from "../state/records.ts";

export interface OtherEnd {
  /** The most that the fund may be worth; undefined while its value is vouched for. */
  readonly nav: Amount | undefined;
  /** The least that may be used of the limit; undefined where it cannot be told. */
  least(field: string, scope: string): Notional | undefined;
  /** What is open of what the limit counts. */
  cause(field: string, scope: string): string;
}

interface Range {
  readonly low: bigint;
  readonly high: bigint;
}

interface OpenLine {
  readonly symbol: string;
  readonly sector: string;
  /** What it adds if every pending buy fills, and if every pending sell does. */
  readonly high: Range;
  readonly low: Range;
  readonly hasFills: boolean;
  readonly hasPrice: boolean;
}

const namedMax = 10;
const valueCause = "the fund's value is not vouched for";

export function otherEndOf(books: Books, fund: FundBook): OtherEnd | undefined {
  const isWatched =
    fund.doubts !== undefined || slotsOf(fund).some((slot) => hasRange(books, fund, books.bySlot[slot]));
  if (!isWatched && fund.navMost === undefined) return undefined;
  const lines = slotsOf(fund).flatMap((slot) => lineOf(books, fund, slot));
  return {
    nav: fund.navMost,
    least: (field, scope) => (isWatched && !fund.mayHaveOptions ? leastOf(lines, field, scope) : undefined),
    cause: (field, scope) => causeOf(countedBy(lines, field, scope), fund),
  };
}

/** Of a loss: none while the fund's value is vouched for. Its baseline is, so only the value has another end. */
export function leastLoss(books: Books, fundId: string, baseline: Decimal): Decimal | undefined {
  const most = books.funds.get(fundId)?.navMost;
  if (most === undefined) return undefined;
  const least = baseline - toDecimal(most);
  return (least > 0n ? least : 0n) as Decimal;
}

export const lossCause = valueCause;

/** Its price, or the rate of its currency. */
function hasRange(books: Books, fund: FundBook, book: SymbolBook | undefined): boolean {
  if (book?.facts === undefined) return false;
  if (pricesOf(book, fund).lowest !== undefined) return true;
  const rate = rateBetween(books, book.facts.currency, fund.currency);
  return rate !== undefined && isMore(rate.most, rate.least);
}

function lineOf(books: Books, fund: FundBook, slot: number): readonly OpenLine[] {
  const book = books.bySlot[slot];
  const most = tableOf(books, fund).values[slot];
  if (book?.facts === undefined || most === undefined) return [];
  const { price, lowest = price } = pricesOf(book, fund);
  const rate = rateBetween(books, book.facts.currency, fund.currency);
  if (lowest === undefined || rate === undefined) return [];
  const hasPrice = hasRange(books, fund, book);
  const least = isPositive(lowest) ? unitValueAt(lowest, book.facts, rate.least) : nothing;
  const unit = hasPrice ? least : most;
  const units = [unit, most] as const;
  const row = rowOf(fund, slot);
  // What a fill that may be untrue could take back stands beside the open orders.
  const doubt = doubtOf(fund, slot);
  const position = positionAt(fund, row);
  const [fewest, largest] = [minus(position, doubt.sells), plus(position, doubt.buys)];
  const buys = minus(pendingBuyAt(fund, row), doubt.buys);
  const sells = minus(pendingSellAt(fund, row), doubt.sells);
  return [
    {
      symbol: book.symbol,
      sector: book.facts.sector,
      high: worthOf(plus(fewest, buys), plus(largest, buys), units),
      low: worthOf(minus(fewest, sells), minus(largest, sells), units),
      hasFills: fund.doubts?.has(slot) === true,
      hasPrice,
    },
  ];
}

/** Of any quantity between these two at any price between those. */
function worthOf(least: Amount, most: Amount, units: readonly [Amount, Amount]): Range {
  const ends = [least, most].flatMap((quantity) => units.map((unit): bigint => toExact(product(quantity, unit))));
  return { low: ends.reduce(smaller), high: ends.reduce(larger) };
}

function countedBy(lines: readonly OpenLine[], field: string, scope: string): readonly OpenLine[] {
  if (field === "max_notional") return [];
  if (field === "max_position_pct") return lines.filter(({ symbol }) => symbol === scope);
  return field.startsWith("sector_limits_pct.") ? lines.filter(({ sector }) => sector === scope) : lines;
}

/** Invariant 2. */
function leastOf(lines: readonly OpenLine[], field: string, scope: string): Notional | undefined {
  if (field === "max_notional" || field === "max_stress_loss_pct") return undefined;
  const counted = countedBy(lines, field, scope);
  if (field === "max_net_exposure_pct") {
    return larger(
      sizeOf(sumOf(counted.map(({ high }) => high))),
      sizeOf(sumOf(counted.map(({ low }) => low))),
    ) as Exact;
  }
  return counted.reduce((sum, { high, low }) => sum + larger(sizeOf(high), sizeOf(low)), 0n) as Exact;
}

function sumOf(ranges: readonly Range[]): Range {
  return ranges.reduce((sum, { low, high }) => ({ low: sum.low + low, high: sum.high + high }), { low: 0n, high: 0n });
}

/** The least that anything of it is away from nothing. */
function sizeOf({ low, high }: Range): bigint {
  if (low > 0n) return low;
  return high < 0n ? -high : 0n;
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);

function causeOf(lines: readonly OpenLine[], { navMost }: FundBook): string {
  const fills = lines.filter(({ hasFills }) => hasFills).map(({ symbol }) => symbol);
  const prices = lines.filter(({ hasPrice }) => hasPrice).map(({ symbol }) => symbol);
  return [
    ...(fills.length === 0 ? [] : [`nobody vouches for fills of ${named(fills)}`]),
    ...(prices.length === 0 ? [] : [`prices of ${named(prices)} are not confirmed`]),
    ...(navMost === undefined ? [] : [valueCause]),
  ].join("; ");
}

function named(symbols: readonly string[]): string {
  const shown = symbols.slice(0, namedMax).join(", ");
  return symbols.length <= namedMax ? shown : `${shown} and ${symbols.length - namedMax} more`;
}

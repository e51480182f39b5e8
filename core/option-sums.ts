// What a fund's options add to its sums beside what every line does. In gross and by sector an option counts like any line, at the larger of its
// premium and |delta| x the underlying's notional (value-tables.ts). Two things are its own: net exposure goes by the signed delta, and lines
// of one underlying count together against the position limit. Funds without options pay nothing for this.
//
// Invariants (engine.test.ts compares them with a plain addition, option-exposure.test.ts shows each):
//  1. net = sum of delta x notional, a put's sign turned; of a line's two ends the higher is in netHigh, the lower in netLow.
//  2. A group is its underlying's line and those of the options on it, each at its worst end; nothing is set against anything.
//  3. A fund's sums are never current while an option line has changed and nobody has added up.
import * as amounts from "./amount.ts";
import type { Books, FundBook, OptionGroup, SymbolBook } from "./engine-books.ts";
import * as exact from "./exact.ts";
import { type Worth, worthless } from "./exact.ts";
import * as sheets from "./fund-sheet.ts";
import { noRow, pendingBuyAt, pendingSellAt, positionAt, rowOf, setSum, slotsOf, sumOf } from "./fund-sheet.ts";
import { type LineValue, lineValue } from "./line-value.ts";
import { tableOf } from "./value-tables.ts";

const line: LineValue = { high: worthless, low: worthless, gross: worthless };

/** Sums that were added up from all lines, as if each were a share, become those of options. */
export function addUpOptions(books: Books, fund: FundBook): void {
  const { values, nets } = tableOf(books, fund);
  const groups = new Map<number, { gross: Worth }>();
  let netHigh = sumOf(fund, sheets.netHigh);
  let netLow = sumOf(fund, sheets.netLow);
  let oldestDeltaAt = Number.POSITIVE_INFINITY;
  let found = false;
  for (const slot of slotsOf(fund)) {
    const book = books.bySlot[slot];
    if (book?.option === undefined) continue;
    found = true;
    oldestDeltaAt = Math.min(oldestDeltaAt, deltaTimeOf(book));
    const row = rowOf(fund, slot);
    lineValue(fund, row, values[slot], line);
    const ends = netEnds(fund, row, nets[slot]);
    netHigh = exact.plus(netHigh, exact.minus(ends.high, line.high));
    netLow = exact.plus(netLow, exact.minus(ends.low, line.low));
    const { underlying } = book.option;
    if (underlying === undefined) continue;
    const group = groups.get(underlying.slot) ?? { gross: underlyingGross(books, fund, underlying) };
    group.gross = exact.plus(group.gross, line.gross);
    groups.set(underlying.slot, group);
  }
  fund.mayHaveOptions = found;
  fund.options = found ? { groups, oldestDeltaAt } : undefined;
  setSum(fund, sheets.netHigh, netHigh);
  setSum(fund, sheets.netLow, netLow);
}

/** Both ends of an option's line in net exposure; nothing without a delta. */
export function netEnds(
  fund: FundBook,
  row: number,
  net: amounts.Amount | undefined,
): { readonly high: Worth; readonly low: Worth } {
  if (net === undefined || row === noRow) return { high: worthless, low: worthless };
  return endsOf(positionAt(fund, row), pendingBuyAt(fund, row), pendingSellAt(fund, row), net);
}

/** A put's sign turns them round: what buys most adds least. */
export function endsOf(
  position: amounts.Amount,
  buys: amounts.Amount,
  sells: amounts.Amount,
  net: amounts.Amount,
): { readonly high: Worth; readonly low: Worth } {
  const most = exact.product(amounts.plus(position, buys), net);
  const least = exact.product(amounts.minus(position, sells), net);
  return exact.isMore(least, most) ? { high: least, low: most } : { high: most, low: least };
}

function underlyingGross(books: Books, fund: FundBook, { slot }: SymbolBook): Worth {
  const row = rowOf(fund, slot);
  if (row === noRow) return worthless;
  const own: LineValue = { high: worthless, low: worthless, gross: worthless };
  lineValue(fund, row, tableOf(books, fund).values[slot], own);
  return own.gross;
}

/** What the fund has of an underlying and its options; also while it has no option. */
export function groupOf(books: Books, fund: FundBook, underlying: SymbolBook): OptionGroup {
  return fund.options?.groups.get(underlying.slot) ?? { gross: underlyingGross(books, fund, underlying) };
}

/** A delta is as old as the older of itself and its underlying's price; NaN, which no age passes, without either. */
export function deltaTimeOf({ option }: SymbolBook): number {
  const { deltaAt = Number.NaN, underlying } = option ?? {};
  return Math.min(deltaAt, underlying?.markedAt ?? Number.NaN);
}

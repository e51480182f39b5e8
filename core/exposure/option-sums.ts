// What a fund's options add to its sums beside what every line does. In gross and by sector an option counts like any line, at the larger of its
// premium and |delta| x the underlying's notional (value-tables.ts). Two things are its own: net exposure goes by the signed delta, and lines
// of one underlying count together against the position limit. Funds without options pay nothing for this.
//
// Invariants (engine.test.ts compares them with a plain addition, option-exposure.test.ts shows each):
//  1. net = sum of delta x notional, a put's sign turned; of a line's two ends the higher is in netHigh, the lower in netLow.
//  2. A group is its underlying's line and those of the options on it, each at its worst end; nothing is set against anything.
//  3. What is owed of an underlying is what written calls could have to deliver, each at its worst end.
//  4. A fund's sums are never current while an option line has changed and nobody has added up.

import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { type Exact, type Notional, zeroNotional } from "../money/exact.ts";
import * as fundStates from "../state/fund-state.ts";
import { noRow, pendingBuyAt, pendingSellAt, positionAt, rowOf, setSum, slotsOf, sumOf } from "../state/fund-state.ts";
import { type Books, type FundBook, type OptionGroup, pricesOf, type SymbolBook } from "../state/records.ts";
import type { Losses } from "../state/view.ts";
import { type LineValue, lineValue } from "./line-value.ts";
import { lineLosses, noLosses, plusLosses, unitStress, worstLoss } from "./option-stress.ts";
import { tableOf } from "./value-tables.ts";

const line: LineValue = { high: zeroNotional, low: zeroNotional, gross: zeroNotional };

/** Sums that were added up from all lines, as if each were a share, become those of options. */
export function addUpOptions(books: Books, fund: FundBook): void {
  const { values, nets } = tableOf(books, fund);
  const groups = new Map<number, OptionGroup>();
  let netHigh = sumOf(fund, fundStates.netHigh);
  let netLow = sumOf(fund, fundStates.netLow);
  let oldestDeltaAt = Number.POSITIVE_INFINITY;
  let found = false;
  for (const slot of slotsOf(fund)) {
    const book = books.bySlot[slot];
    if (book?.option === undefined) continue;
    found = true;
    oldestDeltaAt = Math.min(oldestDeltaAt, deltaTimeOf(book, fund));
    const row = rowOf(fund, slot);
    lineValue(fund, row, values[slot], line);
    const ends = netEnds(fund, row, nets[slot]);
    netHigh = exact.plus(netHigh, exact.minus(ends.high, line.high));
    netLow = exact.plus(netLow, exact.minus(ends.low, line.low));
    const { underlying } = book.option;
    if (underlying === undefined) continue;
    const before = groups.get(underlying.slot) ?? underlyingAlone(books, fund, underlying);
    groups.set(underlying.slot, {
      gross: exact.plus(before.gross, line.gross),
      losses: plusLosses(before.losses, lossesOf(books, fund, row, book)),
      owed: amounts.plus(before.owed, owedBy(fund, row, book)),
    });
  }
  fund.mayHaveOptions = found;
  fund.options = found ? { groups, stress: stressOf(groups), oldestDeltaAt } : undefined;
  setSum(fund, fundStates.netHigh, netHigh);
  setSum(fund, fundStates.netLow, netLow);
}

function stressOf(groups: ReadonlyMap<number, OptionGroup>): Exact {
  let sum = 0n;
  for (const { losses } of groups.values()) sum += worstLoss(losses);
  return sum as Exact;
}

/** Both ends of an option's line in net exposure; nothing without a delta. */
export function netEnds(
  fund: FundBook,
  row: number,
  net: amounts.Amount | undefined,
): { readonly high: Notional; readonly low: Notional } {
  if (net === undefined || row === noRow) return { high: zeroNotional, low: zeroNotional };
  return endsOf(positionAt(fund, row), pendingBuyAt(fund, row), pendingSellAt(fund, row), net);
}

/** A put's sign turns them round: what buys most adds least. */
export function endsOf(
  position: amounts.Amount,
  buys: amounts.Amount,
  sells: amounts.Amount,
  net: amounts.Amount,
): { readonly high: Notional; readonly low: Notional } {
  const most = exact.product(amounts.plus(position, buys), net);
  const least = exact.product(amounts.minus(position, sells), net);
  return exact.isMore(least, most) ? { high: least, low: most } : { high: most, low: least };
}

/** A group of which there is no option yet. */
function underlyingAlone(books: Books, fund: FundBook, underlying: SymbolBook): OptionGroup {
  const row = rowOf(fund, underlying.slot);
  const own: LineValue = { high: zeroNotional, low: zeroNotional, gross: zeroNotional };
  lineValue(fund, row, row === noRow ? undefined : tableOf(books, fund).values[underlying.slot], own);
  return { gross: own.gross, losses: lossesOf(books, fund, row, underlying), owed: amounts.nothing };
}

/** What the fund has of an underlying and its options; also while it has no option. */
export function groupOf(books: Books, fund: FundBook, underlying: SymbolBook): OptionGroup {
  return fund.options?.groups.get(underlying.slot) ?? underlyingAlone(books, fund, underlying);
}

/** What a line loses in the stress; nothing while that cannot be said, and then nothing new passes anyway. */
export function lossesOf(books: Books, fund: FundBook, row: number, book: SymbolBook): Losses {
  const unit =
    row === noRow ? undefined : unitStress(book, pricesOf(book, fund), tableOf(books, fund).rates[book.slot]);
  if (unit === undefined) return noLosses;
  return lineLosses(positionAt(fund, row), pendingBuyAt(fund, row), pendingSellAt(fund, row), unit);
}

/** What a line of calls could have to deliver. */
export function owedBy(fund: FundBook, row: number, book: SymbolBook): amounts.Amount {
  if (row === noRow || book.option?.isCall !== true || book.facts === undefined) return amounts.nothing;
  return owedOf(amounts.minus(positionAt(fund, row), pendingSellAt(fund, row)), book.facts.multiplier);
}

/** Of so many calls; only what is written is owed. */
function owedOf(calls: amounts.Amount, multiplier: amounts.Amount): amounts.Amount {
  return amounts.isNegative(calls) ? amounts.timesUp(amounts.negated(calls), multiplier) : amounts.nothing;
}

/** A delta is as old as the older of itself and its underlying's price; NaN, which no age passes, without either. */
export function deltaTimeOf(book: SymbolBook, fund: FundBook): number {
  const { underlying } = book.option ?? {};
  const pricedAt = underlying === undefined ? Number.NaN : pricesOf(underlying, fund).markedAt;
  return Math.min(pricesOf(book, fund).deltaAt, pricedAt);
}

// Fills what the gates read where options are concerned: for an order in one, and for an order in an underlying that the fund has options on.
import type { Instant } from "../../contracts/src/instant.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { type Exact, zeroNotional } from "../money/exact.ts";
import * as fundStates from "../state/fund-state.ts";
import { noRow, pendingSellAt, positionAt, rowOf, slotsOf, sumOf } from "../state/fund-state.ts";
import { isFresh } from "../state/new-risk.ts";
import { type Books, type FundBook, type OptionGroup, pricesOf, type SymbolBook } from "../state/records.ts";
import type { FundView } from "../state/view.ts";
import { type LineValue, lineValue } from "./line-value.ts";
import { minusLosses, noLosses, unitStress, worstLoss } from "./option-stress.ts";
import { deltaTimeOf, groupOf, lossesOf, netEnds, owedBy } from "./option-sums.ts";
import { tableOf } from "./value-tables.ts";

interface Asked {
  readonly book: SymbolBook | undefined;
  readonly row: number;
}

const own: LineValue = { high: zeroNotional, low: zeroNotional, gross: zeroNotional };

/** After everything else of the fund was filled. */
export function fillOptions(view: FundView, books: Books, fund: FundBook, { book, row }: Asked, at: Instant): void {
  findOldDelta(view, books, fund, book, at);
  if (book === undefined) return;
  const table = tableOf(books, fund);
  if (book.option !== undefined) {
    const net = netEnds(fund, row, table.nets[book.slot]);
    view.netHighOthers = exact.minus(sumOf(fund, fundStates.netHigh), net.high);
    view.netLowOthers = exact.minus(sumOf(fund, fundStates.netLow), net.low);
    view.heldHigh = undefined;
    view.heldLow = undefined;
  } else if (fund.options?.groups.has(book.slot) !== true) return;
  const underlying = book.option === undefined ? book : book.option.underlying;
  lineValue(fund, row, row === noRow ? undefined : table.values[book.slot], own);
  const group = underlying === undefined ? noGroup : groupOf(books, fund, underlying);
  view.option = {
    underlying: underlying?.symbol ?? "",
    delta: book.option && pricesOf(book, fund).delta,
    deltaAgeMs: book.option === undefined ? Number.NaN : (at - deltaTimeOf(book, fund)) / 1_000,
    netValue: table.nets[book.slot],
    groupOthers: underlying === undefined ? zeroNotional : exact.minus(group.gross, own.gross),
    unitStress: unitStress(book, pricesOf(book, fund), table.rates[book.slot]),
    lossesOthers: minusLosses(group.losses, underlying === undefined ? noLosses : lossesOf(books, fund, row, book)),
    stressRest: ((fund.options?.stress ?? 0n) - groupStress(fund, underlying)) as Exact,
    isCall: book.option?.isCall,
    endsAt: book.option?.endsAt ?? Number.NaN,
    owedOthers: amounts.minus(group.owed, underlying === undefined ? amounts.nothing : owedBy(fund, row, book)),
    cover: underlying === undefined ? amounts.nothing : coverOf(fund, underlying),
  };
  if (book.option !== undefined) fillBorrow(view, underlying, at);
}

const noGroup: OptionGroup = { gross: zeroNotional, losses: noLosses, owed: amounts.nothing };

function groupStress({ options }: FundBook, underlying: SymbolBook | undefined): bigint {
  const group = underlying === undefined ? undefined : options?.groups.get(underlying.slot);
  return group === undefined ? 0n : worstLoss(group.losses);
}

/** Shares that are held and not being sold. */
function coverOf(fund: FundBook, { slot }: SymbolBook): amounts.Amount {
  const row = rowOf(fund, slot);
  const left = amounts.minus(positionAt(fund, row), pendingSellAt(fund, row));
  return amounts.isPositive(left) ? left : amounts.nothing;
}

/** What an assigned call has to deliver is borrowed like anything that is sold short. */
function fillBorrow(view: FundView, underlying: SymbolBook | undefined, at: Instant): void {
  view.borrowAvailable = underlying?.borrowAvailable;
  view.borrowFee = underlying?.borrowFee;
  view.borrowAgeMs = underlying === undefined ? Number.NaN : (at - underlying.borrowAt) / 1_000;
}

/** Another option of the fund whose delta is too old counts as one that cannot be valued; the first by name. */
function findOldDelta(view: FundView, books: Books, fund: FundBook, asked: SymbolBook | undefined, at: Instant): void {
  const { options } = fund;
  const ageMsMax = view.ages.mark;
  if (options === undefined || view.unpricedSymbol !== undefined) return;
  if (isFresh((at - options.oldestDeltaAt) / 1_000, ageMsMax)) return;
  let oldest = Number.POSITIVE_INFINITY;
  for (const slot of slotsOf(fund)) {
    const book = books.bySlot[slot];
    if (book?.option === undefined) continue;
    const deltaAt = deltaTimeOf(book, fund);
    oldest = Math.min(oldest, deltaAt);
    const ageMs = (at - deltaAt) / 1_000;
    if (book === asked || isFresh(ageMs, ageMsMax)) continue;
    if (view.unpricedSymbol !== undefined && view.unpricedSymbol < book.symbol) continue;
    view.unpricedSymbol = book.symbol;
    view.unpricedRate = "delta";
    view.unpricedRateAgeMs = ageMs;
  }
  options.oldestDeltaAt = oldest;
}

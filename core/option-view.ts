// Fills what the gates look at where options are concerned: for an order in one, and for an order in an underlying that the fund has options on.
import type { Instant } from "../contracts/src/instant.ts";
import type { Books, FundBook, SymbolBook } from "./engine-books.ts";
import * as exact from "./exact.ts";
import { worthless } from "./exact.ts";
import * as sheets from "./fund-sheet.ts";
import { noRow, slotsOf, sumOf } from "./fund-sheet.ts";
import { isFresh } from "./gates/new-risk.ts";
import { type LineValue, lineValue } from "./line-value.ts";
import { deltaTimeOf, groupOf, netEnds } from "./option-sums.ts";
import { tableOf } from "./value-tables.ts";
import type { FundView } from "./view.ts";

interface Asked {
  readonly book: SymbolBook | undefined;
  readonly row: number;
}

const own: LineValue = { high: worthless, low: worthless, gross: worthless };

/** After everything else of the fund was filled. */
export function fillOptions(view: FundView, books: Books, fund: FundBook, { book, row }: Asked, at: Instant): void {
  findOldDelta(view, books, fund, book, at);
  if (book === undefined) return;
  const table = tableOf(books, fund);
  if (book.option !== undefined) {
    const net = netEnds(fund, row, table.nets[book.slot]);
    view.netHighOthers = exact.minus(sumOf(fund, sheets.netHigh), net.high);
    view.netLowOthers = exact.minus(sumOf(fund, sheets.netLow), net.low);
    view.heldHigh = undefined;
    view.heldLow = undefined;
  } else if (fund.options?.groups.has(book.slot) !== true) return;
  const underlying = book.option === undefined ? book : book.option.underlying;
  lineValue(fund, row, row === noRow ? undefined : table.values[book.slot], own);
  const others = underlying === undefined ? worthless : exact.minus(groupOf(books, fund, underlying).gross, own.gross);
  view.option = {
    underlying: underlying?.symbol ?? "",
    delta: book.option?.delta,
    deltaAgeMs: book.option === undefined ? Number.NaN : (at - deltaTimeOf(book)) / 1_000,
    netValue: table.nets[book.slot],
    groupOthers: others,
  };
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
    const deltaAt = deltaTimeOf(book);
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

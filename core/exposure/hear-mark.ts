// Takes a price in. A symbol has two: one that LIVE funds see, which the simulated market never says, and one that PAPER funds see, which is the simulated
// market's as soon as it has said one (decision 0074). services/shared/newest-marks.ts keeps the same rule where there is no engine.
import * as instant from "../../contracts/src/instant.ts";
import { isPossiblePrice, isSimulated, type Mark, paperSource } from "../../contracts/src/records/market.ts";
import { type Amount, isEqual, parseAmount } from "../money/amount.ts";
import { type Books, marksOf, noPrices, pricesOf, type SymbolBook, type SymbolPrices } from "../state/records.ts";
import { highestPrice } from "./valuation.ts";
import { noteChange } from "./value-tables.ts";

/**
 * The newest of each kind counts. What has another currency than its instrument is no price, and neither is zero or less: what is held would count
 * nothing, and make room for new risk.
 */
export function hearMark(books: Books, mark: Mark): HeardMark {
  const book = books.symbols.get(mark.symbol);
  if (book === undefined || !isPossiblePrice(mark)) return heardNothing;
  if (mark.currency !== undefined && book.facts !== undefined && mark.currency !== book.facts.currency) {
    return heardNothing;
  }
  if (isSimulated(mark)) {
    // From then on it is the only one that counts: two markets in turn would be none.
    if (book.paper.source !== paperSource) Object.assign(book.paper, noPrices());
    return { live: false, paper: setPrices(books, book, mark, true) };
  }
  const live = setPrices(books, book, mark, false);
  return { live, paper: book.paper.source !== paperSource && setPrices(books, book, mark, true) };
}

/** For whose funds it is the price now. */
interface HeardMark {
  readonly live: boolean;
  readonly paper: boolean;
}

const heardNothing: HeardMark = { live: false, paper: false };

/** It has none until the next one is heard. Whose the next one is stays known. */
export function forgetPrices(books: Books, symbol: string): void {
  const book = books.symbols.get(symbol);
  if (book === undefined) return;
  for (const isPaper of [false, true]) {
    const prices = pricesOf(book, { isPaper });
    if (prices.price === undefined) continue;
    Object.assign(prices, noPrices(), { source: prices.source });
    marksOf(books, { isPaper })[book.slot] = Number.NaN;
    noteChange(books, book, isPaper);
  }
}

/** Whether it is the newest. */
function setPrices(books: Books, book: SymbolBook, mark: Mark, isPaper: boolean): boolean {
  const prices = pricesOf(book, { isPaper });
  const at = instant.parse(mark.at);
  if (at < prices.markedAt) return false;
  const price = parseAmount(mark.price);
  const isOther = setOptionRisk(book, prices, mark.option_risk);
  const changed = isOther || prices.price === undefined || !isEqual(price, prices.price);
  prices.price = price;
  prices.bid = parsed(mark.bid);
  prices.ask = parsed(mark.ask);
  prices.market = highestPrice(price, prices.bid, prices.ask);
  prices.markedAt = at;
  prices.source = mark.source;
  marksOf(books, { isPaper })[book.slot] = at;
  if (at > books.newestMarkAt) books.newestMarkAt = at;
  if (changed) noteChange(books, book, isPaper);
  return true;
}

/** A mark without a delta leaves the one before, which grows old. Whether it is another one now. */
function setOptionRisk({ option }: SymbolBook, prices: SymbolPrices, risk: Mark["option_risk"]): boolean {
  if (option === undefined || risk === undefined) return false;
  const before = [prices.delta, prices.stressedUp, prices.stressedDown];
  prices.delta = parseAmount(risk.delta);
  prices.stressedUp = parseAmount(risk.stressed_up);
  prices.stressedDown = parseAmount(risk.stressed_down);
  prices.deltaAt = instant.parse(risk.at);
  return [prices.delta, prices.stressedUp, prices.stressedDown].some((now, index) => {
    const then = before[index];
    return then === undefined || !isEqual(now, then);
  });
}

function parsed(text: string | undefined): Amount | undefined {
  return text === undefined ? undefined : parseAmount(text);
}

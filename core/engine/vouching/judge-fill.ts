// Whether a fill's price can be believed: it lies within the collar that an order of that kind would have, counted from the mark with its bid and ask. A bid or ask
// that is further from the price than a price may jump counts for nothing: who publishes prices could make any fill one that the market paid.
// The newest mark is asked, and only a fresh one that is believed: without it nothing is known, and the next one settles it. Where no price is fresh or believed
// the gates deny new risk anyway, so a fill that waits to be judged lets nothing through in between.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import * as amounts from "../../money/amount.ts";
import * as exact from "../../money/exact.ts";
import { priceText } from "../../money/price-text.ts";
import { isFresh } from "../../state/new-risk.ts";
import { pricesOf, type SymbolBook } from "../../state/records.ts";
import { percent } from "../../state/wording.ts";
import type { EngineState } from "../state.ts";

/** What is asked about. */
export interface PricedFill {
  readonly fundId: string;
  readonly symbol: string;
  readonly price: string;
  readonly isExit: boolean;
}

export type PriceJudgement =
  | { readonly kind: "within" }
  | { readonly kind: "outside"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

const noPrices = { price: undefined, bid: undefined, ask: undefined, highest: undefined, markedAt: Number.NaN };

export function judgePrice(
  { books, ages, options }: Pick<EngineState, "books" | "ages" | "options">,
  { fundId, symbol, price: text, isExit }: PricedFill,
  now: Instant,
): PriceJudgement {
  const book = books.symbols.get(symbol);
  const fund = books.funds.get(fundId);
  const envelope = fund?.envelope;
  if (fund === undefined || envelope === undefined) {
    return { kind: "unknown", reason: `fund ${fundId} has no envelope, so it has no collar` };
  }
  // A LIVE fund's is never the simulated market's.
  const { price, bid, ask, highest, markedAt } = book === undefined ? noPrices : pricesOf(book, fund);
  if (book === undefined || price === undefined || !amounts.isPositive(price)) {
    return { kind: "unknown", reason: `there is no price of ${symbol}` };
  }
  if (!isFresh((now - markedAt) / 1_000, ages.mark)) {
    return { kind: "unknown", reason: `the price of ${symbol} is too old` };
  }
  if (highest !== undefined) return { kind: "unknown", reason: `the price of ${symbol} is not believed yet` };
  const collar = isExit ? envelope.exitCollar : envelope.priceCollar;
  const given = amounts.parseAmount(text);
  const isNear = nearTo(price, book, options.priceJumpMax);
  const low = bid !== undefined && amounts.isMore(price, bid) && isNear(bid) ? bid : price;
  const high = ask !== undefined && amounts.isMore(ask, price) && isNear(ask) ? ask : price;
  const band = exact.product(collar, price);
  const beyond = amounts.isMore(given, high) ? amounts.minus(given, high) : amounts.minus(low, given);
  if (!exact.isMore(exact.product(beyond, amounts.oneUnit), band)) return { kind: "within" };
  const tick = book.facts === undefined ? undefined : amounts.toDecimal(book.facts.tickSize);
  const mark = priceText(amounts.toDecimal(price), tick);
  const far = `${decimal.format(decimal.parse(text))} is more than ${percent(collar)} from the mark ${mark}`;
  return { kind: "outside", reason: far };
}

/** Five ticks are near, as they are no jump. */
function nearTo(price: amounts.Amount, { facts, jumpMax }: SymbolBook, usualMax: decimal.Decimal | undefined) {
  const max = jumpMax ?? usualMax;
  if (max === undefined) return () => true;
  const of = amounts.toDecimal(price);
  const least = facts === undefined ? decimal.zero : ((amounts.toDecimal(facts.tickSize) * 5n) as decimal.Decimal);
  const most = decimal.max(((of * max) / decimal.one) as decimal.Decimal, least);
  return (quoted: amounts.Amount): boolean => {
    const distance = amounts.toDecimal(quoted) - of;
    return (distance < 0n ? -distance : distance) <= most;
  };
}

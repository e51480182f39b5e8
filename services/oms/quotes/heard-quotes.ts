// The last quotes of each symbol that were heard, so that one of a moment that has just passed is still known. What was not heard is not known: nothing
// is taken for a quote of another moment than its own.
import type { Instant } from "../../../contracts/src/instant.ts";
import { millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import type { Mark } from "../../../contracts/src/records/market.ts";
import { isNewest } from "../../../core/state/dated.ts";

interface HeardQuote {
  readonly bid: string;
  readonly ask: string;
  /** When it was true at its source. */
  readonly at: Instant;
}

export interface HeardQuotes {
  hear(mark: Mark, now: Instant): void;
  /** The one that was in force at that moment, unless it was older than this. */
  inForce(symbol: string, at: Instant, ageMsMax: number): HeardQuote | undefined;
  /** The first after that moment, unless it came later than this. */
  next(symbol: string, at: Instant, lateMsMax: number): HeardQuote | undefined;
  /** They are of other terms than those that the symbol has now. */
  forget(symbol: string): void;
}

/** Of one symbol: half a minute, at two marks a second. */
const quotesMax = 64;
/** More than any platform lists here. */
const symbolsMax = 10_000;

export function createHeardQuotes(): HeardQuotes {
  /** Oldest first. */
  const heard = new Map<string, HeardQuote[]>();
  return {
    hear({ symbol, bid, ask, at: text }, now) {
      if (bid === undefined || ask === undefined) return;
      const at = parse(text);
      const before = heard.get(symbol);
      const last = before?.at(-1);
      if (!isNewest(at, last?.at, now)) return;
      if (before === undefined || last === undefined) {
        if (heard.size < symbolsMax) heard.set(symbol, [{ bid, ask, at }]);
        return;
      }
      // Dated before what is known, and believed all the same: the clock was set back, and what it dated counts no more.
      if (at < last.at) before.length = 0;
      if (at === last.at) before.pop();
      before.push({ bid, ask, at });
      if (before.length > quotesMax) before.shift();
    },
    inForce(symbol, at, ageMsMax) {
      const found = heard.get(symbol)?.findLast((quote) => quote.at <= at);
      return found !== undefined && millisecondsBetween(found.at, at) <= ageMsMax ? found : undefined;
    },
    next(symbol, at, lateMsMax) {
      const found = heard.get(symbol)?.find((quote) => quote.at > at);
      return found !== undefined && millisecondsBetween(at, found.at) <= lateMsMax ? found : undefined;
    },
    forget: (symbol) => void heard.delete(symbol),
  };
}

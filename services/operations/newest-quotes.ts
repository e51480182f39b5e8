// The feed of quotes, with a memory of the newest quote of each symbol that somebody listens to: who asks for a price gets what the feed of marks
// has heard, without a second stream.
import { tryParse } from "../../contracts/src/instant.ts";
import type { Quote } from "../../contracts/src/records/market.ts";
import { isNewest } from "../../core/state/dated.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Quotes } from "../../ports/quotes.ts";

interface RememberedQuotes {
  readonly quotes: Quotes;
  /** By symbol; bounded by the symbols of the streams that are open. */
  readonly newest: ReadonlyMap<string, Quote>;
}

export function rememberQuotes(from: Quotes, clock: Clock): RememberedQuotes {
  const newest = new Map<string, Quote>();
  const listeners = new Map<string, number>();

  function count(symbols: readonly string[], change: 1 | -1): void {
    for (const symbol of symbols) {
      const left = (listeners.get(symbol) ?? 0) + change;
      if (left > 0) listeners.set(symbol, left);
      else {
        listeners.delete(symbol);
        newest.delete(symbol);
      }
    }
  }

  return {
    newest,
    quotes: {
      name: from.name,
      async subscribe(symbols, hear) {
        const own = [...new Set(symbols)];
        count(own, 1);
        const stream = await from.subscribe(symbols, (quotes) => {
          const now = clock.now();
          for (const quote of quotes) {
            if (!listeners.has(quote.symbol)) continue;
            // A quote that comes late must not make the price older, and one from the future must not shut out what is true.
            const at = tryParse(quote.quoted_at);
            const before = tryParse(newest.get(quote.symbol)?.quoted_at ?? "");
            if (at !== undefined && isNewest(at, before, now)) newest.set(quote.symbol, quote);
          }
          hear(quotes);
        });
        return {
          get unknown() {
            return stream.unknown;
          },
          stop: async () => {
            await stream.stop();
            count(own.splice(0), -1);
          },
        };
      },
    },
  };
}

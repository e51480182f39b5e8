// What a market was like: bars and news of the past. The paper market answers any moment from its seed.
//
// What every adapter promises (testkit/conformance/market-history.ts):
//  1. Bars come oldest first, begin on whole intervals of UTC (weeks on Monday), and have low <= open, close <= high.
//  2. The same question gives the same answer, except that the newest bar grows until it is `closed`; all before it are.
//  3. `closes` says of every bar what `bars` says of it.
//  4. A symbol that it does not know is an empty answer with `known: false`.
//  5. `bars` gives the rest of the process its turn again and again while it works, and ends with what it has when its signal aborts.
import type { Instant } from "../contracts/src/instant.ts";
import type { Bar, BarInterval, NewsItem } from "../contracts/src/records/market.ts";

export interface MarketHistory {
  bars(
    symbol: string,
    interval: BarInterval,
    from: Instant,
    to: Instant,
    countMax: number,
    signal?: AbortSignal,
  ): Promise<{ readonly known: boolean; readonly bars: readonly Bar[] }>;
  /** The same bars with their closes alone, which may be much cheaper. */
  closes(
    symbol: string,
    interval: BarInterval,
    from: Instant,
    to: Instant,
    countMax: number,
  ): Promise<{ readonly known: boolean; readonly closes: readonly Pick<Bar, "start" | "close">[] }>;
  /** Newest first, of one moment in order of their ids. */
  news(symbol: string | undefined, from: Instant, to: Instant, countMax: number): Promise<readonly NewsItem[]>;
}

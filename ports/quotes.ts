// Quotes from a market: the newest bid, ask and last price of each symbol that was asked for.
//
// What every adapter promises (testkit/conformance/quotes.ts):
//  1. Quotes carry the moment at which they were true at their source.
//  2. After `stop` resolves, nothing is heard any more.
//  3. A symbol that it does not know is named in `unknown`, never quoted.
//  4. One that it comes to know later, as after a corporate action, is quoted from then on and no longer named: nobody has to ask again.
import type { Quote } from "../contracts/src/records/market.ts";

export interface QuoteStream {
  /** As it is now, not as it was when it was asked for. */
  readonly unknown: readonly string[];
  stop(): Promise<void>;
}

export interface Quotes {
  /** The feed's name, in every mark that is made of it. */
  readonly name: string;
  subscribe(symbols: readonly string[], hear: (quotes: readonly Quote[]) => void): Promise<QuoteStream>;
}

// What the public port knows, by kind: each as a service said it last, with the moment at which it did.
import type { Instrument, Quote } from "../../../contracts/src/generated/svc/v1/market.ts";
import type { FollowedHalts } from "./public-halts.ts";
import type { Source } from "./reported.ts";

export interface MarketFeed {
  readonly quotes: Source<ReadonlyMap<string, Quote>>;
  readonly instruments: Source<readonly Instrument[]>;
  /** As strangers see them. */
  readonly funds: Source<readonly object[]>;
  readonly halts: Source<FollowedHalts>;
}

// A feed of public market data in a test's hand: it says what the test puts in, when the test puts it in.
import type { FundStatus, Instrument, Quote } from "../../contracts/src/generated/svc/v1/market.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { MarketFeed } from "../../edges/gateway/public/market-sources.ts";
import type { FollowedHalts } from "../../edges/gateway/public/public-halts.ts";
import type { Reported, Source } from "../../edges/gateway/public/reported.ts";

interface HeldSource<Value> extends Source<Value> {
  say(value: Value, at: Instant): void;
}

export interface HeldFeed extends MarketFeed {
  readonly quotes: HeldSource<ReadonlyMap<string, Quote>>;
  readonly instruments: HeldSource<readonly Instrument[]>;
  readonly funds: HeldSource<readonly object[]>;
  readonly halts: HeldSource<FollowedHalts>;
}

export function heldFeed(): HeldFeed {
  return { quotes: held(), instruments: held(), funds: held<readonly Partial<FundStatus>[]>(), halts: held() };
}

function held<Value>(): HeldSource<Value> {
  const listeners = new Set<(reported: Reported<Value>) => void>();
  let newest: Reported<Value> | undefined;
  return {
    newest: () => newest,
    listen: (hear) => {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
    say: (value, at) => {
      newest = { value, at };
      for (const hear of listeners) hear(newest);
    },
  };
}

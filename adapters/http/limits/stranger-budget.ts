// What callers without a verified token may ask of one port: each address has tokens for every share (contracts/src/doors/open-shares.ts), and what is not
// needed to log in, to alert or to know that the platform is well costs also of what all strangers have together. What that refuses costs nothing of the
// address's own.
import {
  type OpenShare,
  openShares,
  type ShareRule,
  strangersTogether,
} from "../../../contracts/src/doors/open-shares.ts";
import type { Clock } from "../../../ports/clock.ts";
import { type BucketOptions, type TokenBuckets, tokenBuckets } from "./token-buckets.ts";

interface Admitted {
  readonly allowed: boolean;
  /** Whole seconds; 0 when it was allowed. */
  readonly waitS: number;
  /** Whose tokens were too few. */
  readonly short?: "address" | "all";
}

export interface StrangerBudget {
  take(address: string, share: OpenShare, cost: number): Admitted;
  /** How much of its own share an address has left, from 0 to 1: who asked least goes first. */
  left(address: string, share: OpenShare): number;
}

export interface StrangerShares {
  readonly shares: Readonly<Record<OpenShare, ShareRule>>;
  readonly together: BucketOptions;
}

const sharesDefault: StrangerShares = { shares: openShares, together: strangersTogether };
const noLimit = { ratePerS: 1e9, burst: 1e9 };

/** Of a port with this rate of market data; a rate or a burst of 0 sets no limit to that, here either. */
export function strangerShares(publicRate: BucketOptions | undefined): StrangerShares {
  if (publicRate === undefined) return sharesDefault;
  const { ratePerS, burst } = publicRate;
  if (ratePerS === 0 || burst === 0) return { shares: { ...openShares, data: noLimit }, together: strangersTogether };
  const together = {
    ratePerS: Math.max(strangersTogether.ratePerS, strangersTogether.addresses * ratePerS),
    burst: Math.max(strangersTogether.burst, strangersTogether.addresses * burst),
  };
  const data = {
    ...openShares.data,
    ratePerS: Math.max(openShares.data.ratePerS, ratePerS),
    burst: Math.max(openShares.data.burst, burst),
  };
  return { shares: { ...openShares, data }, together };
}

export function strangerBudget(clock: Clock, { shares, together }: StrangerShares = sharesDefault): StrangerBudget {
  const own = new Map<OpenShare, TokenBuckets>();
  for (const share of Object.keys(shares) as OpenShare[]) own.set(share, tokenBuckets(shares[share], clock));
  const all = tokenBuckets(together, clock);

  function bucketsOf(share: OpenShare): TokenBuckets {
    const buckets = own.get(share) ?? tokenBuckets(shares[share], clock);
    own.set(share, buckets);
    return buckets;
  }

  return {
    take: (address, share, cost) => {
      const buckets = bucketsOf(share);
      const taken = buckets.take(address, cost);
      if (!taken.allowed) return { allowed: false, waitS: taken.waitS, short: "address" };
      const { leaves } = shares[share];
      if (leaves === undefined) return { allowed: true, waitS: 0 };
      const ofAll = all.take("", cost, leaves * together.burst);
      if (ofAll.allowed) return { allowed: true, waitS: 0 };
      buckets.giveBack(address, cost);
      return { allowed: false, waitS: ofAll.waitS, short: "all" };
    },
    left: (address, share) => bucketsOf(share).fullness(address),
  };
}

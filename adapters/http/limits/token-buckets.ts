// How often each address may ask: a bucket of tokens, filled at a steady rate up to a burst, over all routes that share it.
//  1. A request that finds too few tokens takes none, so that whoever waits as long as it was asked to is answered.
//  2. Memory is bounded: of all addresses the longest unseen is forgotten first.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";

const addressesMax = 20_000;

export interface BucketOptions {
  readonly ratePerS: number;
  readonly burst: number;
}

export interface Taken {
  readonly allowed: boolean;
  /** Whole tokens that are left. */
  readonly left: number;
  /** Until there are enough for what was refused, in whole seconds; 0 when it was not. */
  readonly waitS: number;
  /** Until the bucket is full, in whole seconds. */
  readonly fullInS: number;
}

export interface TokenBuckets extends BucketOptions {
  /** `leaving` so many tokens for what is more urgent. */
  take(address: string, cost: number, leaving?: number): Taken;
  /** What was taken for something that was refused all the same. */
  giveBack(address: string, cost: number): void;
  /** From 0 to 1. */
  fullness(address: string): number;
  /** How many addresses are remembered. */
  size(): number;
}

interface Bucket {
  tokens: number;
  at: Instant;
}

export function tokenBuckets({ ratePerS, burst }: BucketOptions, clock: Clock): TokenBuckets {
  /** The longest unseen first. */
  const buckets = new Map<string, Bucket>();

  function fill(address: string, now: Instant): Bucket {
    const bucket = buckets.get(address);
    if (bucket === undefined) return { tokens: burst, at: now };
    // A clock that was set back gives nothing and takes nothing.
    const elapsedS = Math.max(0, now - bucket.at) / 1_000_000;
    return { tokens: Math.min(burst, bucket.tokens + elapsedS * ratePerS), at: now };
  }

  function keep(address: string, bucket: Bucket): void {
    buckets.delete(address);
    buckets.set(address, bucket);
    if (buckets.size <= addressesMax) return;
    const [oldest = ""] = buckets.keys();
    buckets.delete(oldest);
  }

  return {
    ratePerS,
    burst,
    size: () => buckets.size,
    giveBack: (address, asked) => {
      const bucket = fill(address, clock.now());
      bucket.tokens = Math.min(burst, bucket.tokens + Math.min(asked, burst));
      keep(address, bucket);
    },
    fullness: (address) => fill(address, clock.now()).tokens / burst,
    take: (address, asked, leaving = 0) => {
      // What costs more than a bucket can hold costs all that it holds; otherwise it could never be had.
      const cost = Math.min(asked, burst - leaving);
      const bucket = fill(address, clock.now());
      const allowed = bucket.tokens >= cost + leaving;
      if (allowed) bucket.tokens -= cost;
      keep(address, bucket);
      return {
        allowed,
        left: Math.floor(bucket.tokens),
        waitS: allowed ? 0 : Math.max(1, Math.ceil((cost + leaving - bucket.tokens) / ratePerS)),
        fullInS: Math.ceil((burst - bucket.tokens) / ratePerS),
      };
    },
  };
}

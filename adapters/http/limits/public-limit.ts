// The limit of the public market data, asked before anything else of a request: every answer says how much is left, in the words of the IETF's draft
// and in those that clients have always read, and whoever has nothing left learns when to come back.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../../ports/clock.ts";
import { callerKey } from "../../listener/caller-key.ts";
import { addressOf } from "../caller-address.ts";
import type { Refuse } from "../refusals.ts";
import { factsOf } from "../route-facts.ts";
import { type BucketOptions, type Taken, type TokenBuckets, tokenBuckets } from "./token-buckets.ts";

interface PublicLimit {
  /** Undefined lets the request go on; a reply has already been sent. */
  check(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
  /** For what never becomes a request of the router's: seconds to wait, 0 when it may. */
  take(address: string): number;
}

/** A rate or a burst of 0 sets no limit. */
export function publicLimit(options: BucketOptions | undefined, clock: Clock, refuse: Refuse): PublicLimit {
  if (options === undefined || options.ratePerS === 0 || options.burst === 0) {
    return { check: () => undefined, take: () => 0 };
  }
  const buckets = tokenBuckets(options, clock);
  return {
    take: (address) => buckets.take(callerKey(address), 1).waitS,
    check: (request, reply) => {
      const cost = factsOf(request)?.publicCost;
      if (cost === undefined) return undefined;
      const taken = buckets.take(callerKey(addressOf(request)), cost);
      reply.headers(rateHeaders(buckets, taken));
      if (taken.allowed) return undefined;
      return refuse(request, reply, {
        code: "RESOURCE_EXHAUSTED",
        detail: `This address may make ${options.ratePerS} requests a second here, and ${options.burst} at once; try again in ${taken.waitS} s.`,
        headers: { "retry-after": String(taken.waitS) },
      });
    },
  };
}

function rateHeaders({ burst, ratePerS }: TokenBuckets, { left, fullInS }: Taken): Record<string, string> {
  return {
    "ratelimit-policy": `"ip";q=${burst};w=${Math.ceil(burst / ratePerS)}`,
    ratelimit: `"ip";r=${left};t=${fullInS}`,
    "x-ratelimit-limit": String(burst),
    "x-ratelimit-remaining": String(left),
    "x-ratelimit-reset": String(fullInS),
  };
}

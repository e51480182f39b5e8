// How often one caller may try what guessers would try. Counting is the library's; who counts as one caller is decided here: an
// IPv4 address, or a whole IPv6 /64, because every home has that many addresses. Memory is bounded: each limit remembers at most
// 5,000 callers, the longest unseen forgotten first.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Refuse } from "./refusals.ts";
import { type AttemptLimit, factsOf } from "./route-facts.ts";

const windowMs = 60_000;
const ipv6SubnetBits = 64;

export type MakeAttemptLimit = (perMinuteMax: number) => AttemptLimit;

export async function attemptLimits(app: FastifyInstance): Promise<MakeAttemptLimit> {
  // Loaded here and not at the top, like the server itself: most processes of the platform never serve HTTP.
  const { default: rateLimit } = await import("@fastify/rate-limit");
  await app.register(rateLimit, { global: false });
  // A connection that has just ended has no address any more; all such callers count as one.
  const callerOf = (address: string | undefined): string =>
    address === undefined || address === "" ? "unknown" : rateLimit.normalizeIP(address, ipv6SubnetBits);
  return (perMinuteMax) => {
    const count = app.createRateLimit({
      max: perMinuteMax,
      timeWindow: windowMs,
      keyGenerator: (request) => callerOf(request.ip),
    });
    return async (request) => {
      const counted = await count(request);
      return counted.isAllowed || !counted.isExceeded ? undefined : Math.max(1, counted.ttlInSeconds);
    };
  };
}

/** Comes before the verifier is asked: proof costs more to check than to send. */
export async function checkAttempts(
  request: FastifyRequest,
  reply: FastifyReply,
  refuse: Refuse,
): Promise<FastifyReply | undefined> {
  const waitS = await factsOf(request)?.attempts?.(request);
  if (waitS === undefined) return undefined;
  return refuse(request, reply, {
    code: "RESOURCE_EXHAUSTED",
    detail: `Too many attempts from this address; try again in ${waitS} s.`,
    headers: { "retry-after": String(waitS) },
  });
}

// How often one caller may try what guessers would try. Counting is the library's; who counts as one caller is decided here: the
// person, where a login is asked for; elsewhere an IPv4 address, or a whole IPv6 /64, because every home has that many addresses.
// Memory is bounded: each limit remembers at most 5,000 callers, the longest unseen forgotten first.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { addressOf } from "../caller-address.ts";
import type { IdentityGuard } from "../identity-guard.ts";
import type { Refusal, Refuse } from "../refusals.ts";
import { type AttemptLimit, factsOf } from "../route-facts.ts";

const windowMs = 60_000;
const ipv6SubnetBits = 64;

/** Counts by address unless it is told how to know the caller. */
export type MakeAttemptLimit = (
  perMinuteMax: number,
  nameOf?: (request: FastifyRequest) => string | undefined,
) => AttemptLimit;

export async function attemptLimits(app: FastifyInstance): Promise<MakeAttemptLimit> {
  // Loaded here and not at the top, like the server itself: most processes of the platform never serve HTTP.
  const { default: rateLimit } = await import("@fastify/rate-limit");
  await app.register(rateLimit, { global: false });
  // A connection that has just ended has no address any more; all such callers count as one.
  const callerAt = (address: string): string =>
    address === "" ? "unknown" : rateLimit.normalizeIP(address, ipv6SubnetBits);
  return (perMinuteMax, nameOf = (request) => callerAt(addressOf(request))) => {
    const count = app.createRateLimit({
      max: perMinuteMax,
      timeWindow: windowMs,
      keyGenerator: (request) => nameOf(request) ?? "unknown",
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
  return waitS === undefined ? undefined : refuse(request, reply, tooMany(waitS, "from this address"));
}

/** Comes after: whoever is not the person uses up none of the person's attempts. */
export async function checkPersonAttempts(
  request: FastifyRequest,
  reply: FastifyReply,
  refuse: Refuse,
  guard: IdentityGuard,
): Promise<FastifyReply | undefined> {
  const waitS = await factsOf(request)?.personAttempts?.(request);
  if (waitS === undefined) return undefined;
  const actor = guard.identityOf(request)?.actor;
  return refuse(request, reply, { ...tooMany(waitS, "under this login"), ...(actor === undefined ? {} : { actor }) });
}

function tooMany(waitS: number, whose: string): Refusal {
  return {
    code: "RESOURCE_EXHAUSTED",
    detail: `Too many attempts ${whose}; try again in ${waitS} s.`,
    headers: { "retry-after": String(waitS) },
  };
}

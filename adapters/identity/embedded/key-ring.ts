// The keys that sign tokens, as values: the first one signs, the others are kept for as long as something that they signed may be
// alive, or are refused.

import type { JWK } from "jose";
import { z } from "zod";
import * as instant from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";

export interface RingKey {
  readonly kid: string;
  /** With its private part. */
  readonly jwk: JWK;
  readonly createdAt: instant.Instant;
  /** From then on it signs nothing new. */
  readonly retiredAt?: instant.Instant;
  /** From then on nothing that it signed is accepted. */
  readonly refusedAt?: instant.Instant;
}

/** Newest first; never empty once there was one. */
export type KeyRing = readonly RingKey[];

export type Retire = "after overlap" | "at once";

const microseconds = z.number().int().transform(instant.fromMicroseconds);
const storedKey = z.object({
  kid: z.string().min(1),
  jwk: z.looseObject({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string(), d: z.string() }),
  created_us: microseconds,
  retired_us: microseconds.optional(),
  refused_us: microseconds.optional(),
});
const storedRing = z.object({ version: z.literal(1), keys: z.array(storedKey) });

export function ringOf(text: string | undefined): KeyRing {
  if (text === undefined) return [];
  return storedRing.parse(parseJson(text)).keys.map((key) => ({
    kid: key.kid,
    jwk: key.jwk,
    createdAt: key.created_us,
    ...(key.retired_us === undefined ? {} : { retiredAt: key.retired_us }),
    ...(key.refused_us === undefined ? {} : { refusedAt: key.refused_us }),
  }));
}

export function textOf(ring: KeyRing): string {
  const keys = ring.map((key) => ({
    kid: key.kid,
    jwk: key.jwk,
    created_us: key.createdAt,
    retired_us: key.retiredAt,
    refused_us: key.refusedAt,
  }));
  return JSON.stringify({ version: 1, keys });
}

/** The ring with a new key in front. "At once" also refuses those that were on their way out. */
export function withNewKey(ring: KeyRing, fresh: RingKey, retire: Retire, at: instant.Instant): KeyRing {
  const others = ring.map((key) => ({
    ...key,
    retiredAt: key.retiredAt ?? at,
    ...(retire === "at once" ? { refusedAt: key.refusedAt ?? at } : {}),
  }));
  return [fresh, ...others];
}

/** The ring without the keys of which nothing can be alive any more. */
export function withoutSpent(ring: KeyRing, at: instant.Instant, tokenMsMax: number): KeyRing {
  return ring.filter((key) => key.retiredAt === undefined || instant.plusMilliseconds(key.retiredAt, tokenMsMax) > at);
}

/** Whether the key that signs has reached the age at which it is replaced. */
export function isDue(ring: KeyRing, at: instant.Instant, ageMsMax: number): boolean {
  const [signing] = ring;
  return signing === undefined || instant.plusMilliseconds(signing.createdAt, ageMsMax) <= at;
}

/** What the provider signs with and publishes, the signing key first. */
export function accepted(ring: KeyRing): readonly RingKey[] {
  return ring.filter((key) => key.refusedAt === undefined);
}

/** The part of a key that everybody may see. */
export function publicPart(key: RingKey): JWK {
  const { kty, crv, x, y } = key.jwk;
  return { kty, crv, x, y, kid: key.kid, alg: "ES256", use: "sig" } as JWK;
}

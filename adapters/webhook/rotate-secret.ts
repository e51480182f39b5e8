// Makes a fund's webhook secret, the first and every next one, and keeps the ones before it good for a while.
//
//  1. What must be remembered is written first: whoever dies in between has changed nothing, and a secret in use is never lost.
//  2. Of those before it none is good for longer than it was, nor for longer than the new overlap: without an overlap all of them end at once.
//  3. The record says who, which fund and why; no secret, nor anything computed from one, is in it.
import type { Denial } from "../../contracts/src/codes.ts";
import {
  earlier,
  format,
  type Instant,
  millisecondsBetween,
  parse,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Identity, NamedAction } from "../../ports/identity.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Store } from "../../ports/store.ts";
import type { RotatedSecret, SecretRotation, WebhookSecrets } from "../../ports/webhook.ts";
import { type Rotation, readRotation, type SecretPaths, secretPaths } from "./secret-paths.ts";

interface WebhookSecretsPorts {
  readonly secrets: Pick<Secrets, "get" | "put">;
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly random: Random;
  readonly folder: string;
  /** Called once a new one is in place. */
  readonly changed: (fundId: string) => void;
}

const secretBytes = 32;
/** Rotated more often within one overlap, the oldest end first. */
const previousMax = 8;

export function webhookSecrets(ports: WebhookSecretsPorts): WebhookSecrets {
  return {
    async rotate(caller, asked, proof) {
      const paths = secretPaths(ports.folder, asked.fundId);
      const denial = paths === undefined ? unnameable : await attempt(ports, caller, asked, proof);
      if (paths === undefined || denial !== undefined) return { ok: false, denial: denial ?? unnameable };
      const rotated = await write(ports, caller, asked, paths);
      ports.changed(asked.fundId);
      return { ok: true, value: rotated };
    },
    async stateOf(fundId) {
      const paths = secretPaths(ports.folder, fundId);
      const [secret, kept] =
        paths === undefined
          ? []
          : await Promise.all([ports.secrets.get(paths.secret), ports.secrets.get(paths.rotation)]);
      const rotation = readRotation(kept?.value);
      const now = ports.clock.now();
      const ends = goodPrevious(rotation, now).map(({ until }) => until);
      return {
        fundId,
        version: secret?.version ?? 0,
        rotatedAt:
          rotation !== undefined && rotation.version === secret?.version ? parse(rotation.rotated_at) : undefined,
        previousValidUntil: secret === undefined || ends.length === 0 ? undefined : latest(ends),
      };
    },
  };
}

/** Uses the proof up and leaves the record, both or neither. */
function attempt(
  { store, clock }: WebhookSecretsPorts,
  caller: Identity,
  { fundId, overlapS, reason }: SecretRotation,
  proof: string | undefined,
): Promise<Denial | undefined> {
  const at = clock.now();
  const named: NamedAction = { action: "RotateWebhookSecret", parameters: { fund_id: fundId, overlap_s: overlapS } };
  return store.transact("webhook.rotate-secret", async (unit) => {
    const denial = await unit.stepUps.redeem({ identity: caller, named, proof, at });
    await unit.events.publish(subjects.operatorAttempted, {
      operator: caller.actor,
      verb: "RotateWebhookSecret",
      target: fundId,
      allowed: denial === undefined,
      ...(denial === undefined ? {} : { code: denial.code }),
      reason: denial?.reason ?? reason,
      at: format(at),
    });
    return denial;
  });
}

async function write(
  { secrets, clock, random }: WebhookSecretsPorts,
  { actor }: Identity,
  { fundId, overlapS }: SecretRotation,
  paths: SecretPaths,
): Promise<RotatedSecret> {
  const [current, kept] = await Promise.all([secrets.get(paths.secret), secrets.get(paths.rotation)]);
  const at = clock.now();
  const end = plusMilliseconds(at, overlapS * 1_000);
  const before = goodPrevious(readRotation(kept?.value), at).map(({ value, until }) => ({
    value,
    until: earlier(until, end),
  }));
  const previous = [...(current === undefined ? [] : [{ value: current.value, until: end }]), ...before]
    .filter(({ until }) => millisecondsBetween(at, until) > 0)
    .slice(0, previousMax);
  const version = (current?.version ?? 0) + 1;
  const rotation: Rotation = {
    rotated_at: format(at),
    version,
    previous: previous.map(({ value, until }) => ({ value, valid_until: format(until) })),
  };
  // A concurrent rotation is refused by the versions that both expect.
  await secrets.put(paths.rotation, JSON.stringify(rotation), { expectedVersion: kept?.version ?? 0, actor });
  const secret = Buffer.from(random.bytes(secretBytes)).toString("base64url");
  const put = await secrets.put(paths.secret, secret, { expectedVersion: current?.version ?? 0, actor });
  return { fundId, secret, version: put.version, previousValidUntil: previous.length === 0 ? undefined : end };
}

function goodPrevious(rotation: Rotation | undefined, at: Instant) {
  return (rotation?.previous ?? [])
    .map(({ value, valid_until }) => ({ value, until: parse(valid_until) }))
    .filter(({ until }) => until > at);
}

function latest(ends: readonly Instant[]): Instant {
  return ends.reduce((last, one) => (one > last ? one : last));
}

const unnameable: Denial = {
  code: "WEBHOOK_FUND_NOT_ENABLED",
  reason: "A fund whose id has other characters than letters, digits and . _ - cannot have a webhook secret.",
};

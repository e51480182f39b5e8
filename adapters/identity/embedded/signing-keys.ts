// Keeps the keys that sign tokens: private parts in the secrets store, public parts where every verifier reads them.
//
//  1. The secrets store is the truth; the table follows it, so a process that dies between the two leaves nothing to repair but
//     what the next start repairs by itself.
//  2. A new key is published before anything is signed with it.
//  3. A row and the event about it change together, so every change is reported once, whoever made it and however often it was tried.
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import * as instant from "../../../contracts/src/instant.ts";
import type { SigningKeyChanged } from "../../../contracts/src/records/platform.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { SigningKeys } from "../../../ports/identity.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import {
  isDue,
  type KeyRing,
  publicPart,
  type Retire,
  type RingKey,
  ringOf,
  textOf,
  withNewKey,
  withoutSpent,
} from "./key-ring.ts";
import type { EmbeddedProviderOptions } from "./options.ts";

type SigningKeyOptions = Pick<
  EmbeddedProviderOptions,
  "store" | "secrets" | "secretsPrefix" | "clock" | "accessTokenS" | "signingKeyS"
> & {
  /** Told the keys in force, at the start and whenever they changed. */
  readonly inForce: (ring: KeyRing) => void;
};

interface SigningKeyKeeper extends SigningKeys {
  /** Replaces the key by its age, forgets spent ones, and takes over what another process did. Called every few seconds. */
  tend(): Promise<void>;
}

/** Clocks that differ, and tokens that were signed while the change was on its way. */
const marginMs = 60_000;
/** Who changes keys when nobody asked. */
const ownActor = "service:gateway";
/** One publication at a time over all processes; the number is ours alone. */
const publicationLock = 7_104_003;

export async function openSigningKeys(options: SigningKeyOptions): Promise<SigningKeyKeeper> {
  const { secrets, clock } = options;
  const path = `secret/${options.secretsPrefix}/identity/signing-keys`;
  const tokenMsMax = options.accessTokenS * 1_000 + marginMs;
  const ageMsMax = options.signingKeyS * 1_000;
  let knownVersion = 0;

  async function publish(by: By): Promise<void> {
    const read = async () => await secrets.get(path);
    const { ring, version } = await options.store.transactSql("signing_keys_publish", async (unit, sql) => {
      await sql.write({ text: "select pg_advisory_xact_lock($1)", values: [publicationLock] });
      // Read under the lock: whoever comes after us reads the same or something newer, so the table never goes back.
      const secret = await read();
      const current = ringOf(secret?.value);
      await follow(unit, sql, current, { ...by, at: clock.now() });
      return { ring: current, version: secret?.version ?? 0 };
    });
    knownVersion = version;
    options.inForce(ring);
  }

  async function replace(retire: Retire, by: By, isWanted: (ring: KeyRing) => boolean): Promise<string> {
    const fresh = await makeKey(clock.now());
    await secrets.rotate(path, (current) => {
      const ring = withoutSpent(ringOf(current?.value), clock.now(), tokenMsMax);
      return textOf(isWanted(ring) ? withNewKey(ring, fresh, retire, clock.now()) : ring);
    });
    await publish(by);
    return fresh.kid;
  }

  async function tend(): Promise<void> {
    const secret = await secrets.get(path);
    const ring = ringOf(secret?.value);
    const due = (seen: KeyRing): boolean => isDue(seen, clock.now(), ageMsMax);
    if (due(ring) || withoutSpent(ring, clock.now(), tokenMsMax).length < ring.length) {
      await replace("after overlap", { actor: ownActor }, due);
    } else if (secret?.version !== knownVersion) {
      await publish({ actor: ownActor });
    }
  }

  await tend();
  return {
    tend,
    rotate: async ({ actor }, retire, reason) => {
      const by = reason === undefined ? { actor } : { actor, reason };
      return { keyId: await replace(retire, by, () => true) };
    },
  };
}

async function makeKey(at: instant.Instant): Promise<RingKey> {
  const pair = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(pair.privateKey);
  return { kid: await calculateJwkThumbprint(jwk), jwk, createdAt: at };
}

interface PublishedRow {
  readonly kid: string;
  readonly retired_us: string | null;
  readonly refused_us: string | null;
}

/** Who wanted the change, and why if they said so. */
interface By {
  readonly actor: string;
  readonly reason?: string;
}

interface Change extends By {
  readonly at: instant.Instant;
}

/** Makes the table say what the ring says, and tells of each difference. */
async function follow(unit: UnitOfWork, sql: Sql, ring: KeyRing, change: Change): Promise<void> {
  const tell = (keyId: string, what: SigningKeyChanged["change"]): Promise<string> =>
    unit.events.publish(subjects.signingKeyChanged, {
      key_id: keyId,
      change: what,
      actor: change.actor,
      ...(change.reason === undefined ? {} : { reason: change.reason }),
      at: instant.format(change.at),
    });
  const found = await sql.read({ text: "select kid, retired_us, refused_us from identity_key" });
  const rows = new Map((found.rows as readonly PublishedRow[]).map((row) => [row.kid, row]));
  // Oldest first, so that the events read as it happened.
  for (const key of [...ring].reverse()) {
    const row = rows.get(key.kid);
    const retired = key.retiredAt !== undefined && (row === undefined || row.retired_us === null);
    const refused = key.refusedAt !== undefined && (row === undefined || row.refused_us === null);
    if (row !== undefined && !retired && !refused) continue;
    await sql.write({
      text: `insert into identity_key (kid, public_jwk, created_us, retired_us, refused_us) values ($1, $2, $3, $4, $5)
             on conflict (kid) do update set retired_us = excluded.retired_us, refused_us = excluded.refused_us`,
      values: [key.kid, publicPart(key), key.createdAt, key.retiredAt ?? null, key.refusedAt ?? null],
    });
    if (row === undefined) await tell(key.kid, "made");
    if (retired) await tell(key.kid, "retired");
    if (refused) await tell(key.kid, "refused");
  }
  for (const row of rows.values()) {
    if (ring.some((key) => key.kid === row.kid)) continue;
    await sql.write({ text: "delete from identity_key where kid = $1", values: [row.kid] });
    // A key that is gone is refused; those that were refused by name were reported before.
    if (row.refused_us === null) await tell(row.kid, "refused");
  }
}

// What a verifier must know of the store, read in one transaction: the embedded issuer and its keys, what is revoked, and the tokens of
// machines. A snapshot never changes; a newer one takes its place.

import { type CryptoKey, importJWK, type JWK } from "jose";
import { isOperation, type Operation } from "../../../contracts/src/authority.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { fromMicroseconds, type Instant, minusMilliseconds } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";

interface SigningKey {
  /** The key as its row has it, to see whether it is still the same one. */
  readonly text: string;
  readonly key: CryptoKey;
  readonly isRefused: boolean;
}

export interface KnownServiceToken {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the whole token. */
  readonly hash: Buffer;
  readonly operations: readonly Operation[];
  /** Absent means every fund. */
  readonly funds?: readonly string[];
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly isRevoked: boolean;
}

export interface IdentitySnapshot {
  readonly epoch: string;
  readonly readAt: Instant;
  /** The embedded issuer, once its gateway announced it. */
  readonly issuer: string | undefined;
  readonly keys: ReadonlyMap<string, SigningKey>;
  readonly revokedTokens: ReadonlySet<string>;
  readonly revokedSessions: ReadonlySet<string>;
  /** What was issued to them before that moment is refused. */
  readonly revokedSubjects: ReadonlyMap<string, Instant>;
  readonly serviceTokens: ReadonlyMap<string, KnownServiceToken>;
  /** Why this snapshot does not hold everything, so that nobody can be believed. */
  readonly complaint?: string;
}

interface SnapshotLimits {
  readonly keysMax: number;
  readonly revocationsMax: number;
  readonly serviceTokensMax: number;
}

export const snapshotLimits: SnapshotLimits = { keysMax: 1_000, revocationsMax: 100_000, serviceTokensMax: 10_000 };

/** Rows outlive their end by this much here, in case the clock of whoever wrote them is ahead of ours. */
const slackMs = 60_000;
/** For this long a machine is told that its token ran out, rather than that the token is unknown. */
const ranOutMsMax = 86_400_000;
/** Also without a change everything is read again after this time: it drops what ran out, and notices a restored database. */
const ageMsMax = 60_000;

/** Reads on behalf of the feed: the one known already when nothing changed since, else a new one. */
export type SnapshotReader = (known: IdentitySnapshot | undefined) => Promise<IdentitySnapshot>;

interface SnapshotReaderOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: SnapshotLimits;
}

export function createSnapshotReader(options: SnapshotReaderOptions): SnapshotReader {
  const { store, clock, log, limits = snapshotLimits } = options;
  return async (known) => {
    const at = clock.now();
    const isOld = known === undefined || Math.abs(at - known.readAt) > ageMsMax * 1_000;
    const epochOf = async (sql: Sql): Promise<string> => String((await sql.read(epochStatement)).rows[0]?.epoch);
    if (!isOld) {
      const newest = await store.transactSql("identity.feed", (_unit, sql) => epochOf(sql), { isOneStatement: true });
      if (newest === known.epoch) return known;
    }
    const rows = await store.transactSql("identity.feed", async (_unit, sql) => ({
      epoch: await epochOf(sql),
      ...(await readRows(sql, at, limits)),
    }));
    return snapshotOf(rows, { at, limits, log, known });
  };
}

const epochStatement = { name: "identity_epoch", text: "select epoch::text as epoch from identity_epoch" };

interface KeyRow {
  readonly kid: string;
  readonly jwk: string;
  readonly refused: boolean;
}

interface RevocationRow {
  readonly kind: "token" | "session" | "subject";
  readonly id: string;
  readonly revoked_us: string;
}

interface ServiceTokenRow {
  readonly id: string;
  readonly name: string;
  readonly secret_hash: string;
  readonly operations: readonly string[];
  readonly funds: readonly string[] | null;
  readonly created_us: string;
  readonly expires_us: string;
  readonly revoked: boolean;
}

interface Rows {
  readonly epoch: string;
  readonly issuer: string | undefined;
  readonly keys: readonly KeyRow[];
  readonly revocations: readonly RevocationRow[];
  readonly serviceTokens: readonly ServiceTokenRow[];
}

async function readRows(sql: Sql, at: Instant, limits: SnapshotLimits): Promise<Omit<Rows, "epoch">> {
  const since = minusMilliseconds(at, slackMs);
  const issuer = await sql.read({ name: "identity_issuer", text: "select issuer from identity_issuer" });
  const keys = await sql.read({
    name: "identity_keys",
    text: `select kid, public_jwk::text as jwk, refused_us is not null as refused from identity_key
           order by created_us desc limit $1`,
    values: [limits.keysMax],
  });
  // One row more than is allowed tells that there are too many.
  const revocations = await sql.read({
    name: "identity_revocations",
    text: "select kind, id, revoked_us::text from identity_revocation where until_us > $1 limit $2",
    values: [since, limits.revocationsMax + 1],
  });
  const serviceTokens = await sql.read({
    name: "identity_service_tokens",
    text: `select id, name, secret_hash, operations, funds, created_us::text, expires_us::text, revoked_us is not null as revoked
           from service_token where expires_us > $1 limit $2`,
    values: [minusMilliseconds(at, ranOutMsMax), limits.serviceTokensMax + 1],
  });
  return {
    issuer: issuer.rows[0]?.issuer,
    keys: keys.rows,
    revocations: revocations.rows,
    serviceTokens: serviceTokens.rows,
  };
}

interface Circumstances {
  readonly at: Instant;
  readonly limits: SnapshotLimits;
  readonly log: Log;
  readonly known: IdentitySnapshot | undefined;
}

async function snapshotOf(rows: Rows, about: Circumstances): Promise<IdentitySnapshot> {
  const complaint = tooMany(rows, about.limits);
  if (complaint !== undefined) about.log.error("too many rows to know who may call", { complaint });
  const revoked = (kind: RevocationRow["kind"]) => rows.revocations.filter((row) => row.kind === kind);
  return Object.freeze({
    epoch: rows.epoch,
    readAt: about.at,
    issuer: rows.issuer,
    keys: await keysOf(rows.keys, about),
    revokedTokens: new Set(revoked("token").map((row) => row.id)),
    revokedSessions: new Set(revoked("session").map((row) => row.id)),
    revokedSubjects: new Map(revoked("subject").map((row) => [row.id, fromMicroseconds(Number(row.revoked_us))])),
    serviceTokens: new Map(rows.serviceTokens.map((row) => [row.id, serviceTokenOf(row)])),
    ...(complaint === undefined ? {} : { complaint }),
  });
}

function tooMany(rows: Rows, limits: SnapshotLimits): string | undefined {
  if (rows.revocations.length > limits.revocationsMax) {
    return `more than ${limits.revocationsMax} revocations are in force: rotate the signing keys at once and remove them`;
  }
  if (rows.serviceTokens.length > limits.serviceTokensMax) {
    return `there are more than ${limits.serviceTokensMax} service tokens: remove those that are not used`;
  }
  return undefined;
}

/** Keys are imported once; a row that is no key of ours is left out, so that what it signed is refused. */
async function keysOf(rows: readonly KeyRow[], about: Circumstances): Promise<ReadonlyMap<string, SigningKey>> {
  const keys = new Map<string, SigningKey>();
  for (const row of rows) {
    const before = about.known?.keys.get(row.kid);
    if (before?.text === row.jwk) {
      keys.set(row.kid, { ...before, isRefused: row.refused });
      continue;
    }
    try {
      keys.set(row.kid, { text: row.jwk, key: await publicKey(row.jwk), isRefused: row.refused });
    } catch (thrown) {
      about.log.error("a signing key cannot be used; what it signed is refused", {
        kid: row.kid,
        error: messageOf(thrown),
      });
    }
  }
  return keys;
}

async function publicKey(text: string): Promise<CryptoKey> {
  const { kty, crv, x, y } = parseJson(text) as JWK;
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined) {
    throw new TypeError("it is not an elliptic curve key on P-256");
  }
  const key = await importJWK({ kty, crv, x, y }, "ES256");
  if (key instanceof Uint8Array) throw new TypeError("it is a symmetric key");
  return key;
}

function serviceTokenOf(row: ServiceTokenRow): KnownServiceToken {
  return {
    id: row.id,
    name: row.name,
    hash: Buffer.from(row.secret_hash, "hex"),
    operations: Object.freeze(row.operations.filter(isOperation)),
    ...(row.funds === null ? {} : { funds: Object.freeze(row.funds) }),
    createdAt: fromMicroseconds(Number(row.created_us)),
    expiresAt: fromMicroseconds(Number(row.expires_us)),
    isRevoked: row.revoked,
  };
}

// The key that signs the log's checkpoints, kept as a secret together with the log's name, the keys before it, and the next one while a rotation
// is under way. Keeping the name outside the log is what makes a log that was replaced as a whole, or emptied, show: its entry 0 can say anything.

import { Fault } from "../../../../contracts/src/fault.ts";
import { parseJson } from "../../../../contracts/src/parse-json.ts";
import { decodeBase64Of, encodeBase64 } from "../../../../core/audit/base64.ts";
import { originOfLog } from "../../../../core/audit/genesis.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { KeyRing, KeyTerm } from "../../../../core/audit/key-ring.ts";
import {
  ed25519Type,
  isKeyName,
  makeVerifierKey,
  readVerifierKey,
  type SignMessage,
  type VerifierKey,
} from "../../../../core/audit/signed-note.ts";
import type { Random } from "../../../../ports/random.ts";
import type { Secrets } from "../../../../ports/secrets.ts";
import type { Signing } from "../../../../ports/signing.ts";

/** A key that can sign. */
export interface Signer {
  readonly key: VerifierKey;
  readonly sign: SignMessage;
}

export interface LogKey extends Signer {
  readonly origin: string;
  readonly incarnation: string;
  /** Whether entry 0 became durable under this name: from then on an empty log is a log that was emptied. */
  readonly begun: boolean;
  /** Whether another log was begun in its place: then this one is never written again. */
  readonly closed: boolean;
  /** Every key that the log ever signed with, the oldest first and this one last. */
  readonly terms: readonly KeptTerm[];
  /** Made for a rotation that has not come to its end; nobody trusts it before its handover. */
  readonly next: Signer | undefined;
}

export interface KeptTerm extends KeyTerm {
  readonly revoked: boolean;
}

export interface KeyPorts {
  readonly secrets: Pick<Secrets, "get" | "put">;
  readonly random: Random;
  readonly signing: Signing;
  readonly sha256: Sha256OfBytes;
  readonly path: string;
}

interface KeptKey {
  readonly vkey: string;
  readonly from_size: number;
  /** Absent while it is in force. */
  readonly to_size?: number;
  readonly revoked?: true;
}

interface Kept {
  readonly origin: string;
  readonly seed: string;
  readonly begun: boolean;
  /** Absent while it is written. */
  readonly closed?: true;
  /** Absent until the first rotation. */
  readonly keys?: readonly KeptKey[];
  readonly next_seed?: string;
}

const seedBytes = 32;
const uuidLength = 36;
/** As many as fit into a secret, with room to spare. */
export const keysMax = 200;

/** The key that is kept; undefined when there is none. What is kept and is no key is a fault that no retry heals. */
export async function findLogKey(ports: KeyPorts): Promise<LogKey | undefined> {
  const secret = await ports.secrets.get(ports.path);
  return secret === undefined ? undefined : openKept(ports, readKept(secret.value, ports.path));
}

/** Where the key of a log is kept: each log has a secret of its own, so that what was closed stays verifiable. */
export function keyPathOf(path: string, number: number): string {
  return number === 1 ? path : `${path}-${number}`;
}

/** A new key for a new log, kept before anything is signed with it. */
export async function makeLogKey(ports: KeyPorts, number = 1): Promise<LogKey> {
  return keepKey(ports, newKept(ports, number), 0);
}

/**
 * The key of a log that shall follow another. One that was made and never used is the one. One under which a log has begun is not taken again, though
 * that log is gone: two logs of one name could be put in each other's place.
 */
export async function makeFollowingKey(ports: KeyPorts, number: number): Promise<LogKey> {
  const secret = await ports.secrets.get(ports.path);
  if (secret === undefined) return makeLogKey(ports, number);
  const kept = readKept(secret.value, ports.path);
  return kept.begun ? keepKey(ports, newKept(ports, number), secret.version) : openKept(ports, kept);
}

function newKept(ports: KeyPorts, number: number): Kept {
  return { origin: originOfLog(number, ports.random.uuid()), seed: newSeed(ports), begun: false };
}

async function keepKey(ports: KeyPorts, kept: Kept, expectedVersion: number): Promise<LogKey> {
  await ports.secrets.put(ports.path, JSON.stringify(kept), { expectedVersion });
  return openKept(ports, kept);
}

/** Remembers that the log has begun. */
export function markBegun(ports: KeyPorts): Promise<LogKey> {
  return change(ports, (kept) => (kept.begun ? kept : { ...kept, begun: true }));
}

/** Remembers that another log has begun in its place. */
export function markClosed(ports: KeyPorts): Promise<LogKey> {
  return change(ports, (kept) => (kept.closed === true ? kept : { ...kept, closed: true }));
}

/** A next key, kept before anybody hears of it. One that is kept already is the one: its rotation may stand in the log. */
export function keepNextKey(ports: KeyPorts): Promise<LogKey & { readonly next: Signer }> {
  return change(ports, (kept) =>
    kept.next_seed === undefined ? { ...kept, next_seed: newSeed(ports) } : kept,
  ) as Promise<LogKey & { readonly next: Signer }>;
}

/** The next key becomes the one that signs, from that size on; the old key's seed is not kept any longer. */
export function promoteNextKey(ports: KeyPorts, handoverSize: number): Promise<LogKey> {
  return change(ports, (kept) => {
    if (kept.next_seed === undefined) return kept;
    const { next_seed: seed, ...rest } = kept;
    const keys = keysOf(ports, kept).map((key, at, all) =>
      at === all.length - 1 ? { ...key, to_size: handoverSize } : key,
    );
    const { vkey } = signerOf(ports, kept.origin, seed).key;
    return { ...rest, seed, keys: [...keys, { vkey, from_size: handoverSize }] };
  });
}

/** Forgets a next key that never came into the log. */
export function dropNextKey(ports: KeyPorts): Promise<LogKey> {
  return change(ports, ({ next_seed: _dropped, ...rest }) => rest);
}

/** Remembers that a key was revoked, and up to which size it still counts. */
export function markRevoked(ports: KeyPorts, vkey: string, trustedSize: number): Promise<LogKey> {
  return change(ports, (kept) => ({
    ...kept,
    keys: keysOf(ports, kept).map((key) =>
      key.vkey === vkey
        ? { ...key, to_size: Math.min(key.to_size ?? trustedSize, trustedSize), revoked: true as const }
        : key,
    ),
  }));
}

/** Which key may sign which size, as the secret says: for whoever begins in the middle of the log. */
export function ringOf({ terms }: Pick<LogKey, "terms">): KeyRing {
  return { terms };
}

async function change(ports: KeyPorts, next: (kept: Kept) => Kept): Promise<LogKey> {
  const secret = await ports.secrets.get(ports.path);
  if (secret === undefined) throw unusable(ports.path, "it has gone");
  const before = readKept(secret.value, ports.path);
  const after = next(before);
  const value = JSON.stringify(after);
  if (value !== JSON.stringify(before)) {
    await ports.secrets.put(ports.path, value, { expectedVersion: secret.version });
  }
  return openKept(ports, after);
}

function newSeed({ random }: KeyPorts): string {
  return encodeBase64(random.bytes(seedBytes));
}

function keysOf(ports: KeyPorts, { origin, seed, keys }: Kept): readonly KeptKey[] {
  return keys ?? [{ vkey: signerOf(ports, origin, seed).key.vkey, from_size: 0 }];
}

function openKept(ports: KeyPorts, kept: Kept): LogKey {
  const { origin, seed, begun, closed = false, next_seed: nextSeed } = kept;
  const signer = signerOf(ports, origin, seed);
  const terms = termsOf(ports, kept);
  if (terms.at(-1)?.key.vkey !== signer.key.vkey) throw unusable(ports.path, "its list of keys ends with another key");
  const next = nextSeed === undefined ? undefined : signerOf(ports, origin, nextSeed);
  return { ...signer, origin, incarnation: origin.slice(-uuidLength), begun, closed, terms, next };
}

function signerOf({ signing, sha256, path }: KeyPorts, origin: string, seed: string): Signer {
  const bytes = decodeBase64Of(seedBytes, seed);
  if (bytes === undefined) throw unusable(path, "its seed is not 32 bytes in base64");
  const { publicKey, sign } = signing.keyOf(bytes);
  return { key: makeVerifierKey(origin, ed25519Type, publicKey, sha256), sign };
}

function termsOf(ports: KeyPorts, kept: Kept): readonly KeptTerm[] {
  let through: string | undefined;
  return keysOf(ports, kept).map(({ vkey, from_size: fromSize, to_size: toSize, revoked }) => {
    const key = readVerifierKey(vkey, ports.sha256);
    const isOurs = key?.type === ed25519Type && key.name === kept.origin;
    if (key === undefined || !isOurs || !isSize(fromSize) || !isSize(toSize ?? 0)) {
      throw unusable(ports.path, "its list of keys cannot be read");
    }
    const term = { key, fromSize, toSize: toSize ?? Number.MAX_SAFE_INTEGER, through, revoked: revoked === true };
    through = vkey;
    return term;
  });
}

function isSize(size: unknown): boolean {
  return Number.isSafeInteger(size) && Number(size) >= 0;
}

function readKept(value: string, path: string): Kept {
  let parsed: unknown;
  try {
    parsed = parseJson(value);
  } catch (thrown) {
    // The message of the parser would repeat a part of the secret.
    if (thrown instanceof SyntaxError) throw unusable(path, "it is not JSON");
    throw thrown;
  }
  const { origin, seed, begun, closed, keys, next_seed } = (parsed ?? {}) as Partial<Record<keyof Kept, unknown>>;
  if (typeof origin !== "string" || !isKeyName(origin)) throw unusable(path, "it names no log");
  if (typeof seed !== "string" || typeof begun !== "boolean") throw unusable(path, "it has no seed");
  if (keys !== undefined && (!Array.isArray(keys) || keys.length === 0 || keys.length > keysMax)) {
    throw unusable(path, "its list of keys is none");
  }
  if (next_seed !== undefined && typeof next_seed !== "string") throw unusable(path, "its next seed is none");
  return {
    origin,
    seed,
    begun,
    ...(closed === true ? { closed } : {}),
    ...(keys === undefined ? {} : { keys: keys.map((key: unknown) => ({ ...(key as KeptKey) })) }),
    ...(next_seed === undefined ? {} : { next_seed }),
  };
}

function unusable(path: string, why: string): Fault {
  return new Fault("SECRETS_CORRUPT", `The audit log's signing key (${path}) cannot be used: ${why}.`, {
    retry: "never",
  });
}

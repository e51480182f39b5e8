// The key that signs the log's checkpoints, kept as a secret together with the log's name. Keeping the name outside the log is what makes a log
// that was replaced as a whole, or emptied, show: its entry 0 can say anything.
import { Fault } from "../../../contracts/src/fault.ts";
import { decodeBase64Of, encodeBase64 } from "../../../core/audit/base64.ts";
import { defaultOrigin } from "../../../core/audit/genesis.ts";
import type { Sha256OfBytes } from "../../../core/audit/hash.ts";
import {
  ed25519Type,
  isKeyName,
  makeVerifierKey,
  type SignMessage,
  type VerifierKey,
} from "../../../core/audit/signed-note.ts";
import type { Random } from "../../../ports/random.ts";
import type { Secrets } from "../../../ports/secrets.ts";
import type { Signing } from "../../../ports/signing.ts";

export interface LogKey {
  readonly origin: string;
  readonly incarnation: string;
  readonly key: VerifierKey;
  readonly sign: SignMessage;
  /** Whether entry 0 became durable under this name: from then on an empty log is a log that was emptied. */
  readonly begun: boolean;
}

export interface KeyPorts {
  readonly secrets: Pick<Secrets, "get" | "put">;
  readonly random: Random;
  readonly signing: Signing;
  readonly sha256: Sha256OfBytes;
  readonly path: string;
}

interface Kept {
  readonly origin: string;
  readonly seed: string;
  readonly begun: boolean;
}

const seedBytes = 32;
const uuidLength = 36;

/** The key that is kept; undefined when there is none. What is kept and is no key is a fault that no retry heals. */
export async function findLogKey(ports: KeyPorts): Promise<LogKey | undefined> {
  const secret = await ports.secrets.get(ports.path);
  return secret === undefined ? undefined : openKept(ports, readKept(secret.value, ports.path));
}

/** A new key for a new log, kept before anything is signed with it. */
export async function makeLogKey(ports: KeyPorts): Promise<LogKey> {
  const origin = defaultOrigin(ports.random.uuid());
  const kept: Kept = { origin, seed: encodeBase64(ports.random.bytes(seedBytes)), begun: false };
  await ports.secrets.put(ports.path, JSON.stringify(kept), { expectedVersion: 0 });
  return openKept(ports, kept);
}

/** Remembers that the log has begun. */
export async function markBegun(ports: KeyPorts): Promise<void> {
  const secret = await ports.secrets.get(ports.path);
  if (secret === undefined) throw unusable(ports.path, "it has gone");
  const kept = readKept(secret.value, ports.path);
  if (kept.begun) return;
  await ports.secrets.put(ports.path, JSON.stringify({ ...kept, begun: true }), { expectedVersion: secret.version });
}

function openKept({ signing, sha256, path }: KeyPorts, { origin, seed, begun }: Kept): LogKey {
  const bytes = decodeBase64Of(seedBytes, seed);
  if (bytes === undefined) throw unusable(path, "its seed is not 32 bytes in base64");
  const { publicKey, sign } = signing.keyOf(bytes);
  const key = makeVerifierKey(origin, ed25519Type, publicKey, sha256);
  return { origin, incarnation: origin.slice(-uuidLength), key, sign, begun };
}

function readKept(value: string, path: string): Kept {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch (thrown) {
    // The message of the parser would repeat a part of the secret.
    if (thrown instanceof SyntaxError) throw unusable(path, "it is not JSON");
    throw thrown;
  }
  const { origin, seed, begun } = (parsed ?? {}) as Partial<Record<keyof Kept, unknown>>;
  if (typeof origin !== "string" || !isKeyName(origin)) throw unusable(path, "it names no log");
  if (typeof seed !== "string" || typeof begun !== "boolean") throw unusable(path, "it has no seed");
  return { origin, seed, begun };
}

function unusable(path: string, why: string): Fault {
  return new Fault("SECRETS_CORRUPT", `The audit log's signing key (${path}) cannot be used: ${why}.`, {
    retry: "never",
  });
}

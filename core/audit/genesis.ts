// Entry 0: says whose log this is, under which keys, and by which rules its bytes were made, so that the pieces of two logs can never be put together
// into one.
import { ValueRefused } from "./canonical/canonical-json.ts";
import { type Entry, type EntryRecord, makeEntry } from "./entry.ts";
import { type Sha256OfBytes, zeroHex } from "./hash.ts";
import { ed25519Type, isKeyName, readVerifierKey } from "./signed-note.ts";

const auditFormat = "portcullis-audit/v1";
export const genesisAction = "chain.genesis";
const genesisActor = "service:operations";
const keysMax = 16;

const canonicalization = "rfc8785";
const hashName = "sha-256";
const dataKeys = "canonicalization,format,hash,incarnation,keys,origin";
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export interface Genesis {
  readonly origin: string;
  readonly incarnation: string;
  /** As vkeys; at least one. */
  readonly keys: readonly string[];
}

interface GenesisWrong {
  readonly expected: string;
  readonly actual: string;
}

function defaultOrigin(incarnation: string): string {
  return `portcullis/audit/${incarnation}`;
}

/** The name of a log that follows others says which one it is. */
export function originOfLog(number: number, incarnation: string): string {
  return number === 1 ? defaultOrigin(incarnation) : `portcullis/audit/${number}/${incarnation}`;
}

/** Makes entry 0. Throws ValueRefused when the log could not be told from another. */
export function makeGenesis(genesis: Genesis & { readonly timestamp: string }, sha256: Sha256OfBytes): Entry {
  const { origin, incarnation, keys, timestamp } = genesis;
  const data = { canonicalization, format: auditFormat, hash: hashName, incarnation, keys: [...keys], origin };
  const wrong = dataWrong(data, sha256);
  if (wrong !== undefined) throw new ValueRefused("data", `expected ${wrong.expected}, not ${wrong.actual}`);
  const fields = { sequence: 0, timestamp, actor: genesisActor, action: genesisAction, subject_id: origin, data };
  return makeEntry({ ...fields, prev_hash: zeroHex }, sha256);
}

/** What keeps an entry from being entry 0 of a log, of the named one when an origin is given. */
export function genesisFault(
  record: EntryRecord | undefined,
  sha256: Sha256OfBytes,
  origin?: string,
): GenesisWrong | undefined {
  if (record === undefined) return { expected: "an entry", actual: "something else" };
  if (record.sequence !== 0) return { expected: "sequence 0", actual: `sequence ${record.sequence}` };
  if (record.prev_hash !== zeroHex) return { expected: zeroHex, actual: record.prev_hash };
  if (record.action !== genesisAction) return { expected: `action ${genesisAction}`, actual: record.action };
  if (record.actor !== genesisActor) return { expected: `actor ${genesisActor}`, actual: record.actor };
  const wrong = dataWrong(record.data, sha256);
  if (wrong !== undefined) return wrong;
  const stated = String(record.data["origin"]);
  if (record.subject_id !== stated) return { expected: `subject_id ${stated}`, actual: record.subject_id };
  if (origin !== undefined && stated !== origin) return { expected: `origin ${origin}`, actual: stated };
  return undefined;
}

function dataWrong(data: Readonly<Record<string, unknown>>, sha256: Sha256OfBytes): GenesisWrong | undefined {
  const { incarnation, keys, origin } = data;
  const names = Object.keys(data).sort().join();
  if (names !== dataKeys) return { expected: `data of ${dataKeys}`, actual: names };
  if (data["canonicalization"] !== canonicalization) return unlike("canonicalization", canonicalization, data);
  if (data["format"] !== auditFormat) return unlike("format", auditFormat, data);
  if (data["hash"] !== hashName) return unlike("hash", hashName, data);
  if (typeof incarnation !== "string" || !uuid.test(incarnation)) return unlike("incarnation", "a UUID", data);
  if (typeof origin !== "string" || !isKeyName(origin) || !origin.endsWith(incarnation)) {
    return unlike("origin", `a name that ends in ${incarnation}`, data);
  }
  const isKeys =
    Array.isArray(keys) && keys.length > 0 && keys.length <= keysMax && keys.every(isKeyOf(origin, sha256));
  return isKeys ? undefined : unlike("keys", `public keys of ${origin}`, data);
}

/** The origin is the name of the log's keys, and they sign with Ed25519. */
function isKeyOf(origin: string, sha256: Sha256OfBytes): (vkey: unknown) => boolean {
  return (vkey) => {
    const key = typeof vkey === "string" ? readVerifierKey(vkey, sha256) : undefined;
    return key?.name === origin && key.type === ed25519Type;
  };
}

function unlike(name: string, expected: string, data: Readonly<Record<string, unknown>>): GenesisWrong {
  return { expected: `${name} ${expected}`, actual: JSON.stringify(data[name]) ?? "nothing" };
}

// Seals what an entry says about a person under a key of that person, before it is hashed, and opens it again for those who may read it while the key
// exists. The form is the format's (docs/audit-format.md); what is sealed is the canonical JSON of the value.
//
//  1. The plain text is in the log in no form: not in the entry, not in a digest, not in what was cut.
//  2. A sealed value opens only in its place: the key's id, the entry (by its action, its subject and its event's id) and the path in the data are authenticated
//     with it. A copy in another entry opens for nobody.
//  3. The nonce is made of the key, the event, the place and the text, so the same event always becomes the same bytes, and no nonce serves two texts.
//  4. A key is used only after it is durable.
import { Fault } from "../../../../contracts/src/fault.ts";
import { parseJson } from "../../../../contracts/src/parse-json.ts";
import { decodeBase64, decodeBase64Of, encodeBase64, utf8Of } from "../../../../core/audit/base64.ts";
import { canonicalJson, type JsonObject } from "../../../../core/audit/canonical/canonical-json.ts";
import type { EntryRecord } from "../../../../core/audit/entry.ts";
import { boundedMap } from "../../../../core/state/bounded-map.ts";
import type { Random } from "../../../../ports/random.ts";
import type { Secrets } from "../../../../ports/secrets.ts";
import type { Cipher, SubjectKey, SubjectKeys } from "../../../../ports/subject-keys.ts";

export interface SealingPorts {
  readonly subjectKeys: SubjectKeys;
  readonly cipher: Cipher;
  readonly secrets: Pick<Secrets, "get" | "put">;
  readonly random: Random;
  /** Where the key is kept that wraps all others. */
  readonly masterKeyPath: string;
}

interface SealedValue {
  /** Base64 of the nonce, the ciphertext and the tag. */
  readonly sealed: string;
  readonly subject_key: string;
}

/** Where a sealed value stands: in which entry, and where in its data. */
interface Place {
  /** As the entry has them. */
  readonly action: string;
  readonly subjectId: string;
  /** As the entry's data has it: `event_id`. */
  readonly eventId: string;
  readonly path: string;
}

/** Seals with the keys that were made ready. */
export type Seal = (place: Place & { readonly person: string }, value: unknown) => SealedValue;

export interface Sealing {
  /** Makes the keys of these persons ready. */
  prepare(persons: readonly string[]): Promise<Seal>;
  /** The entry's data with sealed values opened, or with a word in their place that says why not. */
  unseal(entry: SealedEntry): Promise<JsonObject>;
  /** The person's key was destroyed: it is not used from memory either. */
  forget(): void;
}

export type SealedEntry = Pick<EntryRecord, "action" | "subject_id" | "data">;

interface OpenKey {
  readonly id: string;
  readonly key: Uint8Array;
}

export const erasedText = "[erased]";
export const keyMissingText = "[sealed: its key is missing]";
export const damagedText = "[sealed: it cannot be opened]";

const format = "portcullis-audit/v1";
const keyBytes = 32;
const nonceBytes = 12;
const personsRememberedMax = 10_000;
const sealedTextUnitsMax = 2_000;
const levelsMax = 32;
const decoder = new TextDecoder();

export function createSealing(ports: SealingPorts): Sealing {
  const { subjectKeys, cipher, random } = ports;
  const known = boundedMap<string, OpenKey>(personsRememberedMax);
  let master: Uint8Array | undefined;

  async function masterKey(): Promise<Uint8Array> {
    master ??= await findOrMakeMaster(ports);
    return master;
  }

  async function unwrap(stored: SubjectKey): Promise<OpenKey> {
    const key = cipher.open(await masterKey(), stored.wrapped, wrapping(stored));
    if (key?.length !== keyBytes) throw unusable(ports.masterKeyPath, `it does not open the subject key ${stored.id}`);
    return { id: stored.id, key };
  }

  async function make(person: string): Promise<OpenKey> {
    const id = random.uuid();
    const key = random.bytes(keyBytes);
    const wrapped = cipher.seal(await masterKey(), random.bytes(nonceBytes), wrapping({ id, person }), key);
    const kept = await subjectKeys.add({ id, person, wrapped });
    return kept.id === id ? { id, key } : unwrap(kept);
  }

  async function prepare(persons: readonly string[]): Promise<Seal> {
    const ready = new Map<string, OpenKey>();
    const asked: string[] = [];
    for (const person of new Set(persons)) {
      const key = known.get(person);
      if (key === undefined) asked.push(person);
      else ready.set(person, key);
    }
    const stored = asked.length === 0 ? new Map<string, SubjectKey>() : await subjectKeys.inForce(asked);
    for (const person of asked) {
      const kept = stored.get(person);
      const key = kept === undefined ? await make(person) : await unwrap(kept);
      known.set(person, key);
      ready.set(person, key);
    }
    return (place, value) => sealWith(cipher, ready.get(place.person), place, value);
  }

  return {
    prepare,
    forget: () => known.clear(),
    async unseal({ action, subject_id: subjectId, data }) {
      const ids = new Set<string>();
      visit(data, (sealed) => ids.add(sealed.subject_key));
      if (ids.size === 0) return data;
      const stored = await subjectKeys.find([...ids]);
      const keys = new Map<string, OpenKey | "destroyed">();
      for (const [id, key] of stored) keys.set(id, key === "destroyed" ? key : await unwrap(key));
      const eventId = String(data["event_id"] ?? "");
      return visit(data, (sealed, path) =>
        opened(cipher, keys.get(sealed.subject_key), sealed, { action, subjectId, eventId, path }),
      ) as JsonObject;
    },
  };
}

function sealWith(cipher: Cipher, key: OpenKey | undefined, place: Place, value: unknown): SealedValue {
  if (key === undefined) throw new RangeError("a value is sealed only for a person whose key was made ready");
  const whole = canonicalJson(value);
  const text = whole.length <= sealedTextUnitsMax ? whole : canonicalJson({ cut: beginningOf(whole) });
  const nonceKey = cipher.hmac(key.key, utf8Of(`${format} nonce`));
  const { action, subjectId, eventId, path } = place;
  const made = cipher.hmac(nonceKey, utf8Of(JSON.stringify([action, subjectId, eventId, path, text])));
  const sealed = cipher.seal(key.key, made.subarray(0, nonceBytes), additional(key.id, place), utf8Of(text));
  return { sealed: encodeBase64(sealed), subject_key: key.id };
}

/** Whole characters only. */
function beginningOf(text: string): string {
  return [...text].slice(0, sealedTextUnitsMax / 4).join("");
}

function opened(cipher: Cipher, key: OpenKey | "destroyed" | undefined, value: SealedValue, place: Place): unknown {
  if (key === "destroyed") return erasedText;
  if (key === undefined) return keyMissingText;
  const bytes = decodeBase64(value.sealed);
  const plain = bytes === undefined ? undefined : cipher.open(key.key, bytes, additional(key.id, place));
  return plain === undefined ? damagedText : parseJson(decoder.decode(plain));
}

/** A copy in which every sealed value is what `replace` makes of it. */
function visit(
  value: unknown,
  replace: (sealed: SealedValue, path: string) => unknown,
  path = "",
  levels = levelsMax,
): unknown {
  if (typeof value !== "object" || value === null || levels === 0) return value;
  const inside = (name: string, member: unknown): unknown =>
    visit(member, replace, path === "" ? name : `${path}/${name}`, levels - 1);
  if (Array.isArray(value)) return value.map((member, index) => inside(String(index), member));
  if (isSealed(value)) return replace(value, path);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inside(name, member)]));
}

/** Whether something in it has the form of a sealed value. */
export function hasSealed(data: Readonly<Record<string, unknown>>): boolean {
  let isFound = false;
  visit(data, () => {
    isFound = true;
    return undefined;
  });
  return isFound;
}

function isSealed(value: object): value is SealedValue {
  const { sealed, subject_key: key, ...rest } = value as Readonly<Record<string, unknown>>;
  return typeof sealed === "string" && typeof key === "string" && Object.keys(rest).length === 0;
}

/** As JSON, so that no two places are written alike. */
function additional(keyId: string, { action, subjectId, eventId, path }: Place): Uint8Array {
  return utf8Of(JSON.stringify([format, keyId, action, subjectId, eventId, path]));
}

function wrapping({ id, person }: { readonly id: string; readonly person: string }): Uint8Array {
  return utf8Of(`${format} subject key\n${id}\n${person}`);
}

async function findOrMakeMaster({ secrets, random, masterKeyPath: path }: SealingPorts): Promise<Uint8Array> {
  const found = await secrets.get(path);
  if (found !== undefined) return readMaster(found.value, path);
  const made = encodeBase64(random.bytes(keyBytes));
  try {
    return readMaster((await secrets.put(path, made, { expectedVersion: 0 })).value, path);
  } catch (thrown) {
    if (!(thrown instanceof Fault && thrown.code === "SECRETS_CONFLICT")) throw thrown;
    // Somebody else was faster: theirs counts.
    const theirs = await secrets.get(path);
    if (theirs === undefined) throw thrown;
    return readMaster(theirs.value, path);
  }
}

function readMaster(value: string, path: string): Uint8Array {
  const key = decodeBase64Of(keyBytes, value);
  if (key === undefined) throw unusable(path, "it is not 32 bytes in base64");
  return key;
}

/** Later: putting the right secret back heals it, and until then nothing is written in plain text. */
function unusable(path: string, why: string): Fault {
  return new Fault("SECRETS_CORRUPT", `The audit log's master key (${path}) cannot be used: ${why}.`, {
    retry: "later",
  });
}

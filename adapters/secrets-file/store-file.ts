// Reading and writing the whole secrets file: bytes on disk on one side, a map of secrets on the other. Only the newest value
// of a secret is kept, with its version number.

import { type FileHandle, open } from "node:fs/promises";
import { Fault } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Random } from "../../ports/random.ts";
import { errnoOf, replaceFile } from "./durable-file.ts";
import type { HeldLock } from "./file-lock.ts";
import {
  corrupt,
  decodeHeader,
  fileBytesMax,
  headerBytes,
  type KeyDerivation,
  nonceBytes,
  type StoreKeys,
  seal,
  unseal,
} from "./sealed-file.ts";
import { deriveKeys, type KeySource } from "./store-key.ts";

interface Entry {
  readonly version: number;
  readonly value: string;
}

type Entries = ReadonlyMap<string, Entry>;

/** One state of the file. The header has a fresh nonce for every write, so an equal header means an equal file. */
export interface Snapshot {
  readonly header: Buffer;
  readonly derivation: KeyDerivation;
  readonly keys: StoreKeys;
  readonly entries: Entries;
}

function encode(entries: Entries): Buffer {
  const paths = [...entries.keys()].sort();
  return Buffer.from(JSON.stringify({ secrets: Object.fromEntries(paths.map((path) => [path, entries.get(path)])) }));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(plaintext: Buffer): unknown {
  try {
    return parseJson(plaintext.toString("utf8"));
  } catch {
    // The parser's own message quotes the text, which is made of secrets, so it goes no further.
    return undefined;
  }
}

function decode(plaintext: Buffer): Entries {
  const whole = parse(plaintext);
  const secrets = isRecord(whole) ? whole["secrets"] : undefined;
  if (!isRecord(secrets)) throw corrupt("its content is not a list of secrets");
  const entries = new Map<string, Entry>();
  for (const [path, entry] of Object.entries(secrets)) {
    const version = isRecord(entry) ? entry["version"] : undefined;
    const value = isRecord(entry) ? entry["value"] : undefined;
    if (typeof version !== "number" || typeof value !== "string") throw corrupt("one of its entries is incomplete");
    entries.set(path, { version, value });
  }
  return entries;
}

async function readHeader(handle: FileHandle): Promise<Buffer> {
  const buffer = Buffer.alloc(headerBytes);
  const { bytesRead } = await handle.read(buffer, 0, headerBytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** The file as it is now, or undefined when there is none; `previous` is given back when the file has not changed. */
export async function readStore(file: string, key: KeySource, previous?: Snapshot): Promise<Snapshot | undefined> {
  const handle = await open(file, "r").catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  });
  if (handle === undefined) return undefined;
  try {
    // The file is only ever replaced, never written to, so everything read through this handle belongs together.
    const headerNow = await readHeader(handle);
    if (previous?.header.equals(headerNow)) return previous;
    const { size } = await handle.stat();
    if (size > fileBytesMax) throw corrupt(`it has ${size} bytes, and ${fileBytesMax} is the most`);
    const bytes = await handle.readFile();
    const header = decodeHeader(bytes);
    const isSameKey = previous?.derivation.salt.equals(header.derivation.salt) === true;
    const keys = previous !== undefined && isSameKey ? previous.keys : await deriveKeys(key, header.derivation);
    const entries = decode(unseal(bytes, header, keys));
    return { header: Buffer.from(bytes.subarray(0, headerBytes)), derivation: header.derivation, keys, entries };
  } finally {
    await handle.close();
  }
}

interface NewContent {
  readonly derivation: KeyDerivation;
  readonly keys: StoreKeys;
  readonly entries: Entries;
}

/** Replaces the file; only the holder of the lock may. */
export async function writeStore(file: string, content: NewContent, lock: HeldLock, random: Random): Promise<Snapshot> {
  const plaintext = encode(content.entries);
  if (plaintext.length > fileBytesMax - 1024) {
    throw new Fault("RESOURCE_EXHAUSTED", `The secrets file would grow beyond ${fileBytesMax} bytes.`, {
      retry: "never",
    });
  }
  const bytes = seal(plaintext, content.derivation, content.keys, Buffer.from(random.bytes(nonceBytes)));
  await replaceFile(file, `${file}.tmp.${lock.id}`, bytes, () => lock.assertHeld());
  return { ...content, header: Buffer.from(bytes.subarray(0, headerBytes)) };
}

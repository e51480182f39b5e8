// What a witness keeps: its key, and for every log the last checkpoint that it cosigned. Everything is in one folder of files that appear
// whole or not at all, and one program at a time has the folder.
//
//  1. A state is on the disk before `keep` resolves; a cosignature leaves after that.
//  2. What is kept never goes back: a file that is damaged is an error that a person must look at, never an empty state.

import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { base64OfHash, hashOfBase64 } from "../../core/audit/base64.ts";
import type { WitnessedState } from "../../core/audit/witness.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Signing, SigningKey } from "../../ports/signing.ts";
import { takeLock } from "../system/data-folder-lock.ts";

export interface WitnessFolder {
  readonly key: SigningKey;
  stateOf(origin: string): WitnessedState | undefined;
  keep(origin: string, state: WitnessedState): Promise<void>;
  /** Keeps two checkpoints that cannot both be true, or of which nobody has shown that they can, for whoever asks later. The same two once. */
  keepPair(kind: PairKind, pair: { readonly kept: string; readonly submitted: string }): Promise<void>;
  close(): Promise<void>;
}

/** A proof that a log misbehaved, or only the suspicion. */
type PairKind = "misbehaviour" | "suspicion";

const seedBytes = 32;
/** Of each kind, so that suspicions, which anybody can raise with a log's old checkpoints, leave room for proofs. */
const pairsMax = 100;

interface WitnessPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly signing: Signing;
}

export async function openWitnessFolder(folder: string, ports: WitnessPorts): Promise<WitnessFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await takeLock(folder, ports);
  try {
    const key = ports.signing.keyOf(await readOrMakeSeed(join(folder, "key"), ports.random));
    const states = await readStates(join(folder, "state.json"));
    const pairs = new Set((await readdir(folder)).filter((name) => pairName.test(name)));
    return {
      key,
      stateOf: (origin) => states.get(origin),
      async keep(origin, state) {
        const next = new Map(states).set(origin, state);
        await replaceFile(folder, "state.json", statesText(next));
        states.set(origin, state);
      },
      async keepPair(kind, { kept, submitted }) {
        const name = `${kind}-${digestOf(kept, submitted)}.txt`;
        const ofKind = [...pairs].filter((each) => each.startsWith(kind)).length;
        if (pairs.has(name) || ofKind >= pairsMax) return;
        await replaceFile(folder, name, `${kept}\n---\n${submitted}`);
        pairs.add(name);
      },
      close: () => lock.release(),
    };
  } catch (thrown) {
    await lock.release();
    throw thrown;
  }
}

const pairName = /^(?:misbehaviour|suspicion)-[0-9a-f]{32}\.txt$/;

/** Of what the log signed, without the signature lines: those anybody can add to. */
function digestOf(...notes: readonly string[]): string {
  const texts = notes.map((note) => note.slice(0, note.indexOf("\n\n") + 1));
  return createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 32);
}

async function readOrMakeSeed(path: string, random: Random): Promise<Uint8Array> {
  const found = await readOptional(path);
  if (found === undefined) {
    const seed = random.bytes(seedBytes);
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(`${Buffer.from(seed).toString("base64")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    return seed;
  }
  const seed = Buffer.from(found.trim(), "base64");
  if (seed.length !== seedBytes) throw damaged(path, "it is not a key of 32 bytes in base64");
  return seed;
}

async function readStates(path: string): Promise<Map<string, WitnessedState>> {
  const found = await readOptional(path);
  if (found === undefined) return new Map();
  try {
    const stored = parseJson(found) as Readonly<Record<string, { size: number; root: string; note: string }>>;
    return new Map(
      Object.entries(stored).map(([origin, { size, root, note }]) => {
        const hash = hashOfBase64(root);
        if (!Number.isSafeInteger(size) || size < 0 || hash === undefined || typeof note !== "string") {
          throw new RangeError(`the state of ${JSON.stringify(origin)} cannot be read`);
        }
        return [origin, { size, root: hash, note }];
      }),
    );
  } catch (thrown) {
    throw damaged(path, messageOf(thrown));
  }
}

function statesText(states: ReadonlyMap<string, WitnessedState>): string {
  const stored = [...states].map(([origin, { size, root, note }]) => [
    origin,
    { size, root: base64OfHash(root), note },
  ]);
  return `${JSON.stringify(Object.fromEntries(stored), undefined, 2)}\n`;
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Beside it first, to the disk, then in its place, and the folder to the disk as well. */
async function replaceFile(folder: string, name: string, content: string): Promise<void> {
  const draft = join(folder, `${name}.draft`);
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, name));
  const directory = await open(folder, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function damaged(path: string, why: string): Fault {
  return new Fault(
    "DATA_FOLDER_UNUSABLE",
    `${path} is damaged: ${why}. A witness that forgot what it cosigned must not cosign again: restore the file, or begin with a new folder and a new key.`,
    { retry: "never" },
  );
}

// Secrets in one encrypted file: the default store. Several processes may have it open; each sees what the others wrote.
//
//  1. When `put` or `rotate` resolves, the new version is on disk; when the process dies before, the old or the new file is
//     there, whole.
//  2. Writers exclude each other across processes, so no version number is given twice and no change is lost.
//  3. Every read looks at the file's header first and reads the file again when another process replaced it.
import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Fault } from "../../contracts/src/fault.ts";
import type { Secret, Secrets } from "../../ports/secrets.ts";
import { diskFault, errnoOf, makePrivateFolder } from "./durable-file.ts";
import { type FileLock, type LockPorts, openFileLock, sweepLeftovers } from "./file-lock.ts";
import {
  checkFolder,
  checkPath,
  checkValue,
  closedFault,
  conflict,
  defaultPrefix,
  rootFolder,
} from "./secret-rules.ts";
import { readStore, type Snapshot, writeStore } from "./store-file.ts";
import { deriveKeys, ensureKeyFile, type KeySource, newDerivation } from "./store-key.ts";

export interface FileSecretsOptions extends LockPorts {
  readonly file: string;
  readonly key: KeySource;
  /** Paths begin with `secret/<prefix>/`; `portcullis` when absent. */
  readonly prefix?: string;
  /** How long a write waits for other processes before it gives up. */
  readonly lockWaitMsMax?: number;
}

const lockWaitMsMaxDefault = 10_000;

/** Faults and what a caller's own function threw go through as they are; a system error becomes a fault. */
async function onDisk<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw errnoOf(thrown) === undefined ? thrown : diskFault(thrown, doing);
  }
}

interface Place {
  readonly file: string;
  readonly lock: FileLock;
}

async function findPlace(options: FileSecretsOptions): Promise<Place> {
  const named = resolve(options.file);
  await makePrivateFolder(dirname(named));
  // Renaming over a symbolic link would replace the link and leave the real file behind.
  const file = await realpath(named).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return named;
    throw thrown;
  });
  return { file, lock: await openFileLock(file, options.lockWaitMsMax ?? lockWaitMsMaxDefault, options) };
}

/** The store as it is, or a new and empty one; of several processes that start at once, one creates it. */
async function readOrCreate(place: Place, options: FileSecretsOptions): Promise<Snapshot> {
  const existing = await readStore(place.file, options.key);
  if (existing !== undefined) return existing;
  return place.lock.hold(async (lock) => {
    const created = await readStore(place.file, options.key);
    if (created !== undefined) return created;
    if (options.key.kind === "key file" && (await ensureKeyFile(options.key.path, options.random))) {
      options.log.info("Made a key file for the secrets; keep a copy of it apart from the secrets file", {
        keyFile: options.key.path,
      });
    }
    const derivation = newDerivation(options.key, options.random);
    const keys = await deriveKeys(options.key, derivation);
    const snapshot = await writeStore(place.file, { derivation, keys, entries: new Map() }, lock, options.random);
    options.log.info("Made a new secrets file", { file: place.file, lockedWith: derivation.kind });
    return snapshot;
  });
}

/** One after the other within this process; between processes the file lock does the same. */
function oneAtATime(): { run<T>(work: () => Promise<T>): Promise<T>; idle(): Promise<void> } {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(work) {
      // The next in line does not care how the one before it ended; that one's caller has been told.
      const mine = last.then(work, work);
      last = mine;
      return mine;
    },
    async idle() {
      await Promise.allSettled([last]);
    },
  };
}

function secretOf(snapshot: Snapshot, path: string): Secret | undefined {
  const entry = snapshot.entries.get(path);
  return entry === undefined ? undefined : { path, version: entry.version, value: entry.value };
}

export async function openFileSecrets(options: FileSecretsOptions): Promise<Secrets> {
  const root = rootFolder(options.prefix ?? defaultPrefix);
  const place = await onDisk("open the secrets file", () => findPlace(options));
  const turns = oneAtATime();
  let snapshot = await onDisk("open the secrets file", () => readOrCreate(place, options));
  let swept = false;
  let closed = false;

  async function refresh(): Promise<Snapshot> {
    const now = await readStore(place.file, options.key, snapshot);
    if (now === undefined) {
      throw new Fault("SECRETS_UNAVAILABLE", `The secrets file ${place.file} is gone. Restore it from a backup.`, {
        retry: "later",
        facts: { file: place.file },
      });
    }
    snapshot = now;
    return now;
  }

  function change(path: string, decide: (current: Secret | undefined) => string): Promise<Secret> {
    return turns.run(() =>
      onDisk("write the secrets file", () =>
        place.lock.hold(async (lock) => {
          if (!swept) await sweepLeftovers(place.file, lock);
          swept = true;
          const before = await refresh();
          const current = secretOf(before, path);
          const value = decide(current);
          checkValue(path, value);
          const version = (current?.version ?? 0) + 1;
          const entries = new Map(before.entries).set(path, { version, value });
          snapshot = await writeStore(place.file, { ...before, entries }, lock, options.random);
          options.log.debug("A secret was written", { path, version });
          return { path, version, value };
        }),
      ),
    );
  }

  function check(path: string): void {
    if (closed) throw closedFault();
    checkPath(path, root);
  }

  return {
    async get(path) {
      check(path);
      return secretOf(await onDisk("read the secrets file", refresh), path);
    },
    async put(path, value, { expectedVersion } = {}) {
      check(path);
      checkValue(path, value);
      return change(path, (current) => {
        const version = current?.version ?? 0;
        if (expectedVersion !== undefined && expectedVersion !== version)
          throw conflict(path, expectedVersion, version);
        return value;
      });
    },
    async list(prefix) {
      if (closed) throw closedFault();
      const folder = `${checkFolder(prefix, root)}/`;
      const now = await onDisk("read the secrets file", refresh);
      return [...now.entries.keys()].filter((path) => path.startsWith(folder)).sort();
    },
    async rotate(path, next) {
      check(path);
      return change(path, next);
    },
    async close() {
      closed = true;
      await turns.idle();
    },
  };
}

// Secrets in HashiCorp Vault's KV version 2 engine: `secret/<prefix>/a/b` is the key `<prefix>/a/b` of the engine mounted at
// `secret`, and the value is the member `value` of its data.
//
//  1. Every write is a check-and-set, so no change is lost and a mount that requires check-and-set works too.
//  2. Every write carries an id of its own. When the answer to a write was lost, that id tells whether it was ours that
//     made the next version, so a repeated write neither conflicts with itself nor counts twice.
//  3. A newest version that was deleted reads as undefined; the next write continues its count.
import { Fault } from "../../contracts/src/fault.ts";
import type { Random } from "../../ports/random.ts";
import type { Secret, Secrets } from "../../ports/secrets.ts";
import {
  checkFolder,
  checkPath,
  checkValue,
  closedFault,
  conflict,
  defaultPrefix,
  isPathBelow,
  isVersion,
  rootFolder,
} from "../secrets-file/secret-rules.ts";
import { field, textField, textsField, versionField } from "./vault-answer.ts";
import { openVaultHttp, unavailable, type VaultAnswer, type VaultHttpOptions } from "./vault-http.ts";
import { openVaultSession, type SessionPorts, type VaultLogin, type VaultSession } from "./vault-session.ts";

export interface VaultSecretsOptions extends VaultHttpOptions, SessionPorts {
  readonly login: VaultLogin;
  /** Paths begin with `secret/<prefix>/`; `portcullis` when absent. */
  readonly prefix?: string;
}

const collisionsMax = 100;
const foldersMax = 1_000;
const pathsMax = 10_000;
const closeMsMax = 2_000;
const writeIdName = "portcullis_write";
const casMismatch = "check-and-set parameter did not match the current version";

/** What the engine holds under a path: version 0 when nothing was ever written, no value when the newest was deleted. */
interface Held {
  readonly version: number;
  readonly value: string | undefined;
  readonly writeId: string | undefined;
}

function keyOf(path: string): string {
  return path.slice("secret/".length);
}

function senseless(answer: VaultAnswer, path: string): Fault {
  const sentence = `Vault's answer about ${path} makes no sense: is the engine at secret/ a KV version 2?`;
  return unavailable(sentence, "never", { status: answer.status, path, reason: "not understood" });
}

/** 404 with an empty list of errors is Vault's way to say that there is nothing; any other 404 is not about the secret. */
function isNothing(answer: VaultAnswer): boolean {
  return answer.status === 404 && textsField(answer.body, "errors")?.length === 0;
}

function engineOf(session: VaultSession, random: Random) {
  async function read(path: string, version?: number): Promise<Held> {
    const query = version === undefined ? "" : `?version=${version}`;
    const answer = await session.call({ method: "GET", path: `secret/data/${keyOf(path)}${query}` });
    if (isNothing(answer)) return { version: 0, value: undefined, writeId: undefined };
    const content = field(answer.body, "data");
    const held = versionField(field(content, "metadata"));
    if (held === undefined) throw senseless(answer, path);
    if (answer.status === 404) return { version: held, value: undefined, writeId: undefined };
    const data = field(content, "data");
    const value = textField(data, "value");
    if (answer.status !== 200 || value === undefined) throw senseless(answer, path);
    return { version: held, value, writeId: textField(data, writeIdName) };
  }

  /** The new version's number, or undefined when the newest version is no longer the expected one. */
  async function write(path: string, value: string, expectedVersion: number): Promise<number | undefined> {
    const writeId = random.uuid();
    const body = { data: { value, [writeIdName]: writeId }, options: { cas: expectedVersion } };
    const answer = await session.call({ method: "POST", path: `secret/data/${keyOf(path)}`, body });
    const isStale = answer.status === 400 && textsField(answer.body, "errors")?.includes(casMismatch) === true;
    if (isStale && answer.isRepeated) {
      const next = await read(path, expectedVersion + 1);
      return next.writeId === writeId ? next.version : undefined;
    }
    if (isStale) return undefined;
    const version = answer.status === 200 ? versionField(field(answer.body, "data")) : undefined;
    if (version === undefined) throw senseless(answer, path);
    return version;
  }

  /** Names below one folder; those of folders end in a slash. */
  async function names(folder: string): Promise<readonly string[]> {
    const answer = await session.call({ method: "GET", path: `secret/metadata/${keyOf(folder)}?list=true` });
    if (isNothing(answer)) return [];
    const keys = answer.status === 200 ? textsField(field(answer.body, "data"), "keys") : undefined;
    if (keys === undefined) throw senseless(answer, folder);
    return keys;
  }

  return { read, write, names };
}

type Engine = ReturnType<typeof engineOf>;

/** Every path below the folder. Names that our rules do not allow belong to somebody else and are passed over. */
async function pathsBelow(engine: Engine, folder: string, root: string): Promise<readonly string[]> {
  const paths: string[] = [];
  const folders = [folder];
  for (let index = 0; index < folders.length; index += 1) {
    const current = folders[index] ?? folder;
    for (const name of await engine.names(current)) {
      const isFolder = name.endsWith("/");
      const path = `${current}/${isFolder ? name.slice(0, -1) : name}`;
      if (isPathBelow(path, root)) (isFolder ? folders : paths).push(path);
    }
    if (folders.length > foldersMax || paths.length > pathsMax) {
      throw new Fault("RESOURCE_EXHAUSTED", `${folder} has too many secrets to list; list a folder below it.`, {
        retry: "never",
        facts: { foldersMax, pathsMax },
      });
    }
  }
  return paths.sort();
}

export async function openVaultSecrets(options: VaultSecretsOptions): Promise<Secrets> {
  const root = rootFolder(options.prefix ?? defaultPrefix);
  const http = openVaultHttp(options);
  const session = await openVaultSession(options.login, http, options);
  const engine = engineOf(session, options.random);
  let closed = false;

  async function written(path: string, value: string, expectedVersion: number): Promise<Secret | undefined> {
    const version = await engine.write(path, value, expectedVersion);
    if (version === undefined) return undefined;
    options.log.debug("A secret was written", { path, version });
    return { path, version, value };
  }

  /** Reads, decides and writes until nobody was faster in between. */
  async function change(path: string, decide: (current: Secret | undefined) => string): Promise<Secret> {
    let version = 0;
    for (let collisions = 0; collisions < collisionsMax; collisions += 1) {
      const held = await engine.read(path);
      version = held.version;
      const value = decide(held.value === undefined ? undefined : { path, version, value: held.value });
      checkValue(path, value);
      const secret = await written(path, value, version);
      if (secret !== undefined) return secret;
      await options.timers.sleep(((options.random.bytes(1)[0] ?? 0) / 255) * Math.min(5 * (collisions + 1), 100));
    }
    throw conflict(path, version, undefined);
  }

  async function putExpecting(path: string, value: string, expectedVersion: number): Promise<Secret> {
    const secret = isVersion(expectedVersion) ? await written(path, value, expectedVersion) : undefined;
    if (secret !== undefined) return secret;
    const held = await engine.read(path);
    // To Vault a deleted secret still is at its last version; to us it does not exist, which is what 0 asks for.
    const isDeleted = held.version > 0 && held.value === undefined;
    const again = expectedVersion === 0 && isDeleted ? await written(path, value, held.version) : undefined;
    if (again === undefined) throw conflict(path, expectedVersion, held.version);
    return again;
  }

  function check(path: string): void {
    if (closed) throw closedFault();
    checkPath(path, root);
  }

  return {
    async get(path) {
      check(path);
      const { version, value } = await engine.read(path);
      return value === undefined ? undefined : { path, version, value };
    },
    async put(path, value, { expectedVersion } = {}) {
      check(path);
      checkValue(path, value);
      return expectedVersion === undefined ? change(path, () => value) : putExpecting(path, value, expectedVersion);
    },
    async list(prefix) {
      if (closed) throw closedFault();
      return pathsBelow(engine, checkFolder(prefix, root), root);
    },
    async rotate(path, next) {
      check(path);
      return change(path, next);
    },
    async close() {
      if (closed) return;
      closed = true;
      // A Vault that does not answer must not hold up the end of the process.
      const cancel = options.timers.after(closeMsMax, () => http.close());
      await session.close();
      cancel();
      http.close();
    },
  };
}

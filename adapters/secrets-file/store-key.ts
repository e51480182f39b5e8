// Where the key of an encrypted secrets file comes from: a key file that only its owner can read, or a passphrase through
// scrypt. Neither ever appears in a message.
import { scrypt } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "../../contracts/src/fault.ts";
import type { Random } from "../../ports/random.ts";
import { errnoOf, makePrivateFolder, syncFolder, writeNewPrivateFile } from "./durable-file.ts";
import {
  defaultScryptCost,
  expandKeys,
  isScryptCostAllowed,
  type KeyDerivation,
  type ScryptCost,
  type StoreKeys,
  saltBytes,
} from "./sealed-file.ts";

export type KeySource =
  | { readonly kind: "key file"; readonly path: string }
  /** The cost is used when a store is created; an existing one carries its own. */
  | { readonly kind: "passphrase"; readonly passphrase: string; readonly scryptCost?: ScryptCost };

const materialBytes = 32;
/** Asked of a new store here, and of the configuration before anything is made. */
export const passphraseLengthMin = 12;
const keyFilePattern = /^[0-9a-f]{64}\n?$/;

function shellQuoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

function badKey(reason: "malformed" | "mode" | "missing", path: string, message: string): Fault {
  return new Fault("SECRETS_WRONG_KEY", message, { retry: "never", facts: { reason, path } });
}

function badChoice(message: string): Fault {
  return new Fault("CONFIGURATION_INVALID", message, { retry: "never" });
}

/** The 32 bytes of the key file, or undefined when there is no such file. */
async function readKeyFile(path: string): Promise<Buffer | undefined> {
  const handle = await open(path, "r").catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  });
  if (handle === undefined) return undefined;
  try {
    // The mode is asked of the open file, so that nobody can exchange it between the question and the reading.
    const stat = await handle.stat();
    const mode = stat.mode & 0o777;
    if (!stat.isFile()) throw badKey("malformed", path, `${path} is not a file, so it cannot be the key file.`);
    if ((mode & 0o077) !== 0) {
      const shown = mode.toString(8).padStart(4, "0");
      throw badKey(
        "mode",
        path,
        `The key file ${path} is open to others (mode ${shown}). Run: chmod 600 ${shellQuoted(path)}`,
      );
    }
    const text = stat.size > 1024 ? "" : await handle.readFile("latin1");
    if (!keyFilePattern.test(text))
      throw badKey("malformed", path, `The key file ${path} does not hold 64 hexadecimal digits.`);
    return Buffer.from(text.slice(0, 2 * materialBytes), "hex");
  } finally {
    await handle.close();
  }
}

/** Makes the key file unless there is one; of two processes that try at once, both end up with the same key. */
export async function ensureKeyFile(path: string, random: Random): Promise<boolean> {
  if ((await readKeyFile(path)) !== undefined) return false;
  await makePrivateFolder(dirname(path));
  const temporary = `${path}.new.${random.uuid()}`;
  const text = `${Buffer.from(random.bytes(materialBytes)).toString("hex")}\n`;
  try {
    await writeNewPrivateFile(temporary, Buffer.from(text, "latin1"));
    await link(temporary, path);
  } catch (thrown) {
    if (errnoOf(thrown) === "EEXIST") return false;
    throw thrown;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
}

/** How a new store's key shall come about: always with a salt of its own. */
export function newDerivation(source: KeySource, random: Random): KeyDerivation {
  const salt = Buffer.from(random.bytes(saltBytes));
  if (source.kind === "key file") return { kind: "key file", salt };
  if (source.passphrase.length < passphraseLengthMin) {
    throw badChoice(
      `The passphrase is too short: ${passphraseLengthMin} characters are the least for a new secrets file.`,
    );
  }
  const cost = source.scryptCost ?? defaultScryptCost;
  if (!isScryptCostAllowed(cost)) {
    throw badChoice("The scrypt cost is outside the allowed bounds (log2N 14 to 20, r 8 to 16, p 1 to 4).");
  }
  return { kind: "passphrase", salt, cost };
}

function stretch(passphrase: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  const N = 2 ** cost.log2N;
  const settings = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r };
  return new Promise((resolve, reject) => {
    // Two keyboards may compose an accented letter differently; the normal form makes them the same passphrase.
    scrypt(passphrase.normalize("NFC"), salt, materialBytes, settings, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** What to do when a store is locked with the one and was given the other. */
const otherKindAdvice: Readonly<Record<KeySource["kind"], string>> = {
  "key file":
    "unset PORTCULLIS_SECRETS_PASSPHRASE, and name the key file in PORTCULLIS_SECRETS_KEY_FILE unless it is in the data folder",
  passphrase: "set PORTCULLIS_SECRETS_PASSPHRASE, and unset PORTCULLIS_SECRETS_KEY_FILE",
};

/** The keys for a store whose header says how they come about. */
export async function deriveKeys(source: KeySource, derivation: KeyDerivation): Promise<StoreKeys> {
  if (source.kind !== derivation.kind) {
    throw new Fault(
      "SECRETS_WRONG_KEY",
      `The secrets file is locked with a ${derivation.kind}, but a ${source.kind} was given: ` +
        `${otherKindAdvice[derivation.kind]}.`,
      { retry: "never" },
    );
  }
  if (source.kind === "key file") {
    const material = await readKeyFile(source.path);
    if (material === undefined) {
      throw badKey(
        "missing",
        source.path,
        `The secrets file exists, but its key file ${source.path} does not. Restore the key file from a backup.`,
      );
    }
    return expandKeys(material, derivation.salt);
  }
  const cost = derivation.kind === "passphrase" ? derivation.cost : defaultScryptCost;
  return expandKeys(await stretch(source.passphrase, derivation.salt, cost), derivation.salt);
}

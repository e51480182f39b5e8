// The bytes of an encrypted secrets file. The layout is frozen (docs/secrets.md shows it): a file written by any version of
// the program opens in every later one.
//
//  1. Every byte of the header is authenticated together with the body (it is the additional data of AES-256-GCM).
//  2. A damaged file is never mistaken for a wrong key: a plain checksum over the header is looked at first, the key check
//     second, the body's tag last.
//  3. Every write has a fresh nonce, so two files are equal exactly when their headers are.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, timingSafeEqual } from "node:crypto";
import { Fault } from "../../contracts/src/fault.ts";

export const headerBytes = 96;
export const saltBytes = 32;
export const nonceBytes = 12;
/** Far above what a few thousand secrets need; a file beyond it is not read into memory. */
export const fileBytesMax = 32 * 1024 * 1024;

const magic = Buffer.from("PCSECRET", "latin1");
const formatVersion = 1;
const tagBytes = 16;
const checkBytes = 16;
const checksumAt = 80;

export interface ScryptCost {
  readonly log2N: number;
  readonly r: number;
  readonly p: number;
}

/** 128 MiB and about half a second: RFC 7914's memory-hard function at the strength usual for keys on disk. */
export const defaultScryptCost: ScryptCost = { log2N: 17, r: 8, p: 1 };

/** How the key comes about; part of the header. */
export type KeyDerivation =
  | { readonly kind: "key file"; readonly salt: Buffer }
  | { readonly kind: "passphrase"; readonly salt: Buffer; readonly cost: ScryptCost };

interface Header {
  readonly derivation: KeyDerivation;
  readonly keyCheck: Buffer;
  readonly nonce: Buffer;
  readonly bodyBytes: number;
}

/** What follows from the key material and the salt: the cipher's key, and a value that tells a wrong key from damage. */
export interface StoreKeys {
  readonly encryption: Buffer;
  readonly check: Buffer;
}

export function corrupt(what: string): Fault {
  return new Fault("SECRETS_CORRUPT", `The secrets file is damaged: ${what}. Restore it from a backup.`, {
    retry: "never",
    facts: { reason: "damaged" },
  });
}

function unsupported(what: string): Fault {
  return new Fault("SECRETS_CORRUPT", `The secrets file is not one that this program can read: ${what}.`, {
    retry: "never",
    facts: { reason: "unsupported" },
  });
}

/** Both keys from 32 bytes of key material. The check value says nothing about the encryption key. */
export function expandKeys(material: Buffer, salt: Buffer): StoreKeys {
  const expand = (info: string, length: number) => Buffer.from(hkdfSync("sha256", material, salt, info, length));
  return {
    encryption: expand("portcullis secrets v1 encryption", 32),
    check: expand("portcullis secrets v1 key check", checkBytes),
  };
}

/** Costs outside these bounds are refused, so that a damaged or planted header cannot ask for all memory. */
export function isScryptCostAllowed(cost: ScryptCost): boolean {
  const whole = [cost.log2N, cost.r, cost.p].every(Number.isInteger);
  return whole && cost.log2N >= 14 && cost.log2N <= 20 && cost.r >= 8 && cost.r <= 16 && cost.p >= 1 && cost.p <= 4;
}

function checksum(header: Buffer): Buffer {
  return createHash("sha256").update(header.subarray(0, checksumAt)).digest().subarray(0, 16);
}

function encodeHeader(header: Header): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  magic.copy(bytes, 0);
  bytes.writeUInt8(formatVersion, 8);
  if (header.derivation.kind === "key file") {
    bytes.writeUInt8(1, 9);
  } else {
    bytes.writeUInt8(2, 9);
    bytes.writeUInt8(header.derivation.cost.log2N, 10);
    bytes.writeUInt8(header.derivation.cost.r, 11);
    bytes.writeUInt8(header.derivation.cost.p, 12);
  }
  header.derivation.salt.copy(bytes, 16);
  header.keyCheck.copy(bytes, 48);
  header.nonce.copy(bytes, 64);
  bytes.writeUInt32BE(header.bodyBytes, 76);
  checksum(bytes).copy(bytes, checksumAt);
  return bytes;
}

export function decodeHeader(file: Buffer): Header {
  if (file.length < headerBytes) throw corrupt("it ends inside its header");
  const bytes = file.subarray(0, headerBytes);
  if (!bytes.subarray(0, magic.length).equals(magic)) throw corrupt("it does not begin like a secrets file");
  if (!bytes.subarray(checksumAt, headerBytes).equals(checksum(bytes))) throw corrupt("its header's checksum is wrong");
  const version = bytes.readUInt8(8);
  if (version !== formatVersion) throw unsupported(`its format version is ${version}`);
  const kind = bytes.readUInt8(9);
  const salt = Buffer.from(bytes.subarray(16, 48));
  const rest = {
    keyCheck: Buffer.from(bytes.subarray(48, 64)),
    nonce: Buffer.from(bytes.subarray(64, 76)),
    bodyBytes: bytes.readUInt32BE(76),
  };
  if (kind === 1) return { derivation: { kind: "key file", salt }, ...rest };
  if (kind !== 2) throw unsupported(`its key derivation is number ${kind}`);
  const cost = { log2N: bytes.readUInt8(10), r: bytes.readUInt8(11), p: bytes.readUInt8(12) };
  if (!isScryptCostAllowed(cost)) throw unsupported("its scrypt cost is outside the allowed bounds");
  return { derivation: { kind: "passphrase", salt, cost }, ...rest };
}

export function seal(plaintext: Buffer, derivation: KeyDerivation, keys: StoreKeys, nonce: Buffer): Buffer {
  const header = encodeHeader({ derivation, keyCheck: keys.check, nonce, bodyBytes: plaintext.length });
  const cipher = createCipheriv("aes-256-gcm", keys.encryption, nonce, { authTagLength: tagBytes });
  cipher.setAAD(header);
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([header, body, cipher.getAuthTag()]);
}

/** The plaintext; SECRETS_WRONG_KEY when the key is another one, SECRETS_CORRUPT when the bytes are damaged. */
export function unseal(file: Buffer, header: Header, keys: StoreKeys): Buffer {
  if (file.length !== headerBytes + header.bodyBytes + tagBytes)
    throw corrupt("its length is not what its header says");
  if (!timingSafeEqual(header.keyCheck, keys.check)) {
    const word = header.derivation.kind === "key file" ? "key file is not the one" : "passphrase is not the one";
    throw new Fault("SECRETS_WRONG_KEY", `This ${word} that the secrets file was locked with.`, { retry: "never" });
  }
  const decipher = createDecipheriv("aes-256-gcm", keys.encryption, header.nonce, { authTagLength: tagBytes });
  decipher.setAAD(file.subarray(0, headerBytes));
  decipher.setAuthTag(file.subarray(file.length - tagBytes));
  const start = decipher.update(file.subarray(headerBytes, file.length - tagBytes));
  try {
    return Buffer.concat([start, decipher.final()]);
  } catch {
    // The only thing that `final` can say is that the tag does not fit.
    throw corrupt("its content does not match its seal");
  }
}

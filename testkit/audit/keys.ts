// Keys of the audit log for tests: Ed25519 from seeds of one repeated byte, so that every signature is the same on every machine.
import { createPrivateKey, createPublicKey, hash, sign, verify } from "node:crypto";
import type { Sha256OfBytes } from "../../core/audit/hash.ts";
import {
  cosignatureType,
  ed25519Type,
  makeVerifierKey,
  type SignMessage,
  type VerifierKey,
  type VerifySignature,
} from "../../core/audit/signed-note.ts";

export const sha256: Sha256OfBytes = (content) => hash("sha256", content, "binary");

export interface Signer {
  readonly key: VerifierKey;
  readonly sign: SignMessage;
}

const privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex");
const publicPrefix = Buffer.from("302a300506032b6570032100", "hex");

export const verifySignature: VerifySignature = (publicKey, message, signature) => {
  const key = createPublicKey({ key: Buffer.concat([publicPrefix, publicKey]), format: "der", type: "spki" });
  return verify(null, message, key, signature);
};

/** The log's key of this name; `seedByte` is repeated 32 times. */
export function logSigner(name: string, seedByte: number): Signer {
  return signerOf(name, ed25519Type, Buffer.alloc(32, seedByte));
}

export function witnessSigner(name: string, seedByte: number): Signer {
  return signerOf(name, cosignatureType, Buffer.alloc(32, seedByte));
}

export function signerOf(name: string, type: VerifierKey["type"], seed: Uint8Array): Signer {
  const secret = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(secret).export({ format: "der", type: "spki" });
  const key = makeVerifierKey(name, type, Uint8Array.from(spki.subarray(publicPrefix.length)), sha256);
  return { key, sign: (message) => Uint8Array.from(sign(null, message, secret)) };
}

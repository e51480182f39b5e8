// Ed25519 and SHA-256 of bytes from Node's own library.
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";
import type { Sha256OfBytes, Signing } from "../../ports/signing.ts";

const seedBytes = 32;
const publicKeyBytes = 32;
const signatureBytes = 64;
/** What stands before the 32 bytes in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410). */
const privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex");
const publicPrefix = Buffer.from("302a300506032b6570032100", "hex");

export const systemSha256OfBytes: Sha256OfBytes = (content) => hash("sha256", content, "binary");

export function systemSigning(): Signing {
  // One key signs thousands of checkpoints in a row, and reading it takes half as long as verifying with it.
  let last: { readonly bytes: Uint8Array; readonly key: KeyObject } | undefined;

  function publicKeyOf(bytes: Uint8Array): KeyObject {
    if (last !== undefined && Buffer.compare(last.bytes, bytes) === 0) return last.key;
    const key = createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: "der", type: "spki" });
    last = { bytes: Uint8Array.from(bytes), key };
    return key;
  }

  return {
    keyOf(seed) {
      if (seed.length !== seedBytes) throw new RangeError(`a seed has ${seedBytes} bytes, not ${seed.length}`);
      const secret = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: "der", type: "pkcs8" });
      const spki = createPublicKey(secret).export({ format: "der", type: "spki" });
      return {
        publicKey: Uint8Array.from(spki.subarray(publicPrefix.length)),
        sign: (message) => Uint8Array.from(sign(null, message, secret)),
      };
    },
    verify(publicKey, message, signature) {
      if (publicKey.length !== publicKeyBytes || signature.length !== signatureBytes) return false;
      return verify(null, message, publicKeyOf(publicKey), signature);
    },
  };
}

// AES-256-GCM and HMAC-SHA-256 from Node's own library.
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import type { Cipher } from "../../ports/subject-keys.ts";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

export const systemCipher: Cipher = {
  seal(key, nonce, additional, plain) {
    if (nonce.length !== nonceBytes) throw new RangeError(`a nonce has ${nonceBytes} bytes, not ${nonce.length}`);
    const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(additional);
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Uint8Array.from(Buffer.concat([nonce, body, cipher.getAuthTag()]));
  },
  open(key, sealed, additional) {
    if (sealed.length < nonceBytes + tagBytes) return undefined;
    const end = sealed.length - tagBytes;
    const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(additional);
    decipher.setAuthTag(sealed.subarray(end));
    const plain = decipher.update(sealed.subarray(nonceBytes, end));
    try {
      return Uint8Array.from(Buffer.concat([plain, decipher.final()]));
    } catch {
      // The only thing that `final` can say is that the tag does not fit.
      return undefined;
    }
  },
  hmac: (key, content) => Uint8Array.from(createHmac("sha256", key).update(content).digest()),
};

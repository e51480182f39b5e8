// Sealing: what must be read again (a TOTP secret, the provider's state) is kept under AES-256-GCM with a key that lies in the
// secrets store, so that whoever reads the database alone has nothing. What is only compared is kept as a hash.
//
//  1. What was sealed for one context cannot be opened for another: a row's secret is useless in any other row.
//  2. Changed bytes never open; neither do bytes that were sealed under another key.
//  3. What a pseudonym stands for can be tried out by nobody who has not the key.
import { createCipheriv, createDecipheriv, createHmac, hash } from "node:crypto";
import { Fault } from "../../contracts/src/fault.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import { findOrMakeSecret } from "./shared-secret.ts";

export interface Sealing {
  /** The context says what this is and whose; the same text opens it again. */
  seal(text: string, context: string): Buffer;
  /** A fault INTERNAL when the bytes were changed, belong elsewhere or were sealed under another key. */
  open(bytes: Uint8Array, context: string): string;
  /** Twelve hexadecimal digits, the same for the same text: for records that may not keep the text. */
  pseudonym(text: string): string;
}

const formatVersion = 1;
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const headerBytes = 1 + nonceBytes;

/** SHA-256 in lower-case hexadecimal. Only for what is too random to be guessed: ids, tokens, recovery codes. */
export function hashOf(text: string): string {
  return hash("sha256", text, "hex");
}

/** Opens the sealing with the platform's key. */
export async function openSealing(secrets: Secrets, prefix: string, random: Random): Promise<Sealing> {
  const path = `secret/${prefix}/identity/sealing-key`;
  const make = () => Buffer.from(random.bytes(keyBytes)).toString("base64url");
  return createSealing(keyOf(await findOrMakeSecret(secrets, path, make), path), random);
}

export function createSealing(key: Uint8Array, random: Random): Sealing {
  // A key of its own, so that neither use says anything about the other.
  const pseudonymKey = createHmac("sha256", key).update("portcullis pseudonyms").digest();
  // The format's number is authenticated with the context, so that neither can be exchanged.
  const bound = (context: string): Buffer => Buffer.from(`portcullis sealed ${formatVersion} ${context}`, "utf8");
  return {
    seal(text, context) {
      // A random nonce of 96 bits stays unique well beyond the number of rows that one key will ever seal.
      const nonce = random.bytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(bound(context));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(formatVersion), nonce, body, cipher.getAuthTag()]);
    },
    open(bytes, context) {
      const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (sealed.length < headerBytes + tagBytes || sealed[0] !== formatVersion) throw unreadable();
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, headerBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(bound(context));
      decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
      const start = decipher.update(sealed.subarray(headerBytes, sealed.length - tagBytes));
      try {
        return Buffer.concat([start, decipher.final()]).toString("utf8");
      } catch {
        // The only thing that `final` can say is that the tag does not fit.
        throw unreadable();
      }
    },
    pseudonym: (text) => createHmac("sha256", pseudonymKey).update(text, "utf8").digest("hex").slice(0, 12),
  };
}

/** A fault, not a defect: whoever can write to the database must not be able to end the process with it. */
function unreadable(): Fault {
  return new Fault(
    "INTERNAL",
    "A sealed value in the database cannot be opened: it was changed, or the sealing key in the secrets store is another one.",
    { retry: "never" },
  );
}

function keyOf(value: string, path: string): Uint8Array {
  const key = Buffer.from(value, "base64url");
  if (key.length === keyBytes && key.toString("base64url") === value) return key;
  throw new Fault("SECRETS_CORRUPT", `The secret at ${path} is not a sealing key.`, {
    retry: "never",
    facts: { path },
  });
}

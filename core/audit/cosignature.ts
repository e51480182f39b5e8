// C2SP cosignatures, version 1: a witness says that at this time this was the largest consistent tree that it had seen of this log. The time is
// part of what is signed.
import { utf8Of } from "./base64.ts";
import {
  cosignatureType,
  ed25519SignatureBytes,
  type NoteSignature,
  type SignMessage,
  signatureLine,
  type VerifierKey,
  type VerifySignature,
} from "./signed-note.ts";

const timestampBytes = 8;

export interface CosignatureClock {
  /** Microseconds since 1970. */
  readonly nowUs: number;
  /** How far a witness's clock may be ahead of ours. */
  readonly aheadSMax?: number;
}

export const aheadSMaxDefault = 60;

type Cosignature =
  | { readonly kind: "valid"; readonly timestampS: number }
  | { readonly kind: "from the future"; readonly timestampS: number }
  | { readonly kind: "bad" };

/** The bytes that a witness signs. */
export function cosignatureMessage(noteText: string, timestampS: number): Uint8Array {
  return utf8Of(`cosignature/v1\ntime ${timestampS}\n${noteText}`);
}

/** The line, with its line feed, that a witness adds to a note of this text. */
export function cosign(
  noteText: string,
  witness: { readonly key: VerifierKey; readonly sign: SignMessage },
  timestampS: number,
): string {
  if (witness.key.type !== cosignatureType) throw new RangeError("a witness cosigns with a key of type 4");
  if (!Number.isSafeInteger(timestampS) || timestampS < 0) throw new RangeError(`${timestampS} is not a time`);
  const signature = witness.sign(cosignatureMessage(noteText, timestampS));
  if (signature.length !== ed25519SignatureBytes) throw new RangeError("an Ed25519 signature has 64 bytes");
  const stamped = new Uint8Array(timestampBytes + ed25519SignatureBytes);
  new DataView(stamped.buffer).setBigUint64(0, BigInt(timestampS));
  stamped.set(signature, timestampBytes);
  return signatureLine(witness.key, stamped);
}

/** Judges one signature of a note that carries this witness's name and key id. */
export function judgeCosignature(
  noteText: string,
  { signature }: NoteSignature,
  witness: VerifierKey,
  verifySignature: VerifySignature,
  { nowUs, aheadSMax = aheadSMaxDefault }: CosignatureClock,
): Cosignature {
  if (witness.type !== cosignatureType) return { kind: "bad" };
  if (signature.length !== timestampBytes + ed25519SignatureBytes) return { kind: "bad" };
  const stamp = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  if (stamp > BigInt(Number.MAX_SAFE_INTEGER)) return { kind: "bad" };
  const timestampS = Number(stamp);
  const message = cosignatureMessage(noteText, timestampS);
  if (!verifySignature(witness.publicKey, message, signature.subarray(timestampBytes))) return { kind: "bad" };
  const ahead = timestampS * 1_000_000 > nowUs + aheadSMax * 1_000_000;
  return { kind: ahead ? "from the future" : "valid", timestampS };
}

// Whether a checkpoint may be believed, and how far: signed by a key in force (L1), cosigned by enough witnesses (L2). A bundle and a proof of one
// entry ask the same question.
import { base64OfHash } from "./base64.ts";
import type { Checkpoint, CheckpointNote } from "./checkpoint.ts";
import { aheadSMaxDefault } from "./cosignature.ts";
import { type Refused, refused } from "./fault.ts";
import type { Hash } from "./hash.ts";
import { type KeyRing, keysInForce, keysKnown } from "./key-ring.ts";
import { countCosignatures, type Policy } from "./policy.ts";
import { openNote, type VerifierKey, type VerifySignature } from "./signed-note.ts";

export type TrustLevel = "L0" | "L1" | "L2";

export interface CheckpointTrust {
  /** Without keys nothing can be believed: the level stays L0. */
  readonly ring: KeyRing;
  readonly origin: string;
  readonly policy?: Policy | undefined;
  readonly verifySignature: VerifySignature;
  /** Microseconds since 1970, for cosignatures from the future. */
  readonly nowUs: number;
  readonly aheadSMax?: number | undefined;
}

export interface TrustedCheckpoint {
  readonly level: TrustLevel;
  readonly signedBy: readonly VerifierKey[];
  readonly cosignedBy: readonly VerifierKey[];
}

/**
 * Judges a checkpoint in the order in which its parts mean something: whose it is, who signed it, whether it is of the tree that was found
 * (`root`; undefined where the caller has none), who cosigned it.
 */
export function judgeCheckpoint(
  { checkpoint, note }: CheckpointNote,
  root: Hash | undefined,
  trust: CheckpointTrust,
): TrustedCheckpoint | Refused {
  const { ring, origin, policy, verifySignature } = trust;
  const { size } = checkpoint;
  if (checkpoint.origin !== origin) return refused("CHECKPOINT_MALFORMED", size, origin, checkpoint.origin);
  const found = root ?? checkpoint.root;
  if (ring.terms.length === 0) {
    if (policy !== undefined)
      return refused("SIGNATURE_INVALID", size, "the signature of a trusted key", "no key to trust");
    return found === checkpoint.root ? { level: "L0", signedBy: [], cosignedBy: [] } : otherRoot(checkpoint, found);
  }
  // A log signs under its own name: the key of another log says nothing about this one, though somebody trusts it.
  const known = keysKnown(ring).filter((key) => key.name === origin);
  const opened = openNote(note, known, verifySignature);
  if (opened.kind === "bad signature") {
    return refused("SIGNATURE_INVALID", size, `a valid signature of ${opened.by}`, "a signature that does not verify");
  }
  if (opened.kind === "no known key") {
    return refused("SIGNATURE_INVALID", size, "the signature of a trusted key", signersOf(note.signatures));
  }
  const inForce = new Set(keysInForce(ring, size));
  const signedBy = opened.signedBy.filter((key) => inForce.has(key));
  if (signedBy.length === 0) {
    return refused("KEY_OUT_OF_FORCE", size, namesOf([...inForce]), namesOf(opened.signedBy));
  }
  if (found !== checkpoint.root) return otherRoot(checkpoint, found);
  if (policy === undefined) return { level: "L1", signedBy, cosignedBy: [] };
  const clock = { nowUs: trust.nowUs, aheadSMax: trust.aheadSMax ?? aheadSMaxDefault };
  const cosigned = countCosignatures(note, policy, verifySignature, clock);
  if (cosigned.kind === "bad signature") {
    return refused("SIGNATURE_INVALID", size, `a valid cosignature of ${cosigned.by}`, "one that does not verify");
  }
  if (!cosigned.enough) {
    const late = cosigned.ahead.length > 0 ? `; from the future: ${namesOf(cosigned.ahead)}` : "";
    const count = `${cosigned.cosignedBy.length}${late}`;
    return refused("WITNESSES_MISSING", size, `${policy.k} of ${policy.witnesses.length} witnesses`, count);
  }
  return { level: "L2", signedBy, cosignedBy: cosigned.cosignedBy };
}

function otherRoot({ size, root }: Checkpoint, found: Hash): Refused {
  return refused("ROOT_MISMATCH", size, base64OfHash(root), base64OfHash(found));
}

function namesOf(keys: readonly VerifierKey[]): string {
  return keys.length === 0 ? "none" : keys.map((key) => `${key.name}+${key.id}`).join(", ");
}

function signersOf(signatures: readonly { readonly name: string; readonly keyId: string }[]): string {
  return signatures.map(({ name, keyId }) => `${name}+${keyId}`).join(", ");
}

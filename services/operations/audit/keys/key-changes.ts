// Follows the rotations and revocations that stand in the log while it is read, so that a checkpoint is judged by the keys that were in force at
// its size. A rotation counts only with its handover: the checkpoint of that very size, of the tree that was read, signed by both keys.
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { Frontier } from "../../../../core/audit/frontier.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import { keyChangeOf, takeTrust } from "../../../../core/audit/key-entry.ts";
import { type KeyRing, type KeyRotation, rotateKey } from "../../../../core/audit/key-ring.ts";
import { openNote, type VerifySignature } from "../../../../core/audit/signed-note.ts";
import type { StoredCheckpoint } from "../../../../ports/audit-log.ts";
import { putCheckpointsBack } from "./reported-keys.ts";

interface KeyFollower {
  readonly ports: {
    readonly origin: string;
    readonly sha256: Sha256OfBytes;
    readonly verifySignature: VerifySignature;
  };
  readonly frontier: Frontier;
  /** Checkpoints that are to come; none of a size that exists when there are no more. */
  readonly ahead: readonly Pick<StoredCheckpoint, "size">[];
  /** The keys that the secret knew when reading began: each of their handovers was signed. */
  readonly known?: KeyRing | undefined;
  ring: KeyRing;
}

/** Changes the ring when the entry changes a key. `due` is the checkpoint that ends with this entry, if there is one. */
export function followKeys(
  it: KeyFollower,
  text: Uint8Array,
  sequence: number,
  due: StoredCheckpoint | undefined,
): AuditFault | undefined {
  const change = keyChangeOf(text, sequence, it.ports.origin, it.ports.sha256);
  if (change === undefined) return undefined;
  if ("fault" in change) return change.fault;
  // After the last checkpoint nothing is signed yet, and so is no handover: what is there can take trust from a key, and give it to none.
  const isTail = due === undefined && !it.ahead.some(({ size }) => Number.isSafeInteger(size));
  const wasSigned = change.kind === "rotated" && it.known?.terms.some(({ key }) => key.vkey === change.newKey.vkey);
  if (change.kind === "revoked" || (isTail && wasSigned !== true)) {
    it.ring = takeTrust(it.ring, change);
    return undefined;
  }
  const wrong = judgeHandover(it, change, due);
  if (wrong === undefined) it.ring = rotateKey(it.ring, change);
  return wrong;
}

function judgeHandover(
  { ports, frontier }: KeyFollower,
  { sequence, oldKey, newKey }: KeyRotation,
  due: StoredCheckpoint | undefined,
): AuditFault | undefined {
  const signed = due === undefined ? undefined : readCheckpointNote(due.note);
  if (signed === undefined) {
    const actual = `none: checkpoints are missing, ${putCheckpointsBack}`;
    return handoverFault(sequence, `the handover of size ${sequence + 1}`, actual);
  }
  const size = sequence + 1;
  if ("malformed" in signed) {
    return { code: "CHECKPOINT_MALFORMED", sequence: size, expected: "a checkpoint", actual: signed.malformed };
  }
  const opened = openNote(signed.note, [oldKey, newKey], ports.verifySignature);
  if (opened.kind === "bad signature") {
    const expected = `a valid signature of ${opened.by}`;
    return { code: "SIGNATURE_INVALID", sequence: size, expected, actual: "one that does not verify" };
  }
  const signedBy = opened.kind === "opened" ? opened.signedBy.map((key) => key.id) : [];
  if (signedBy.length !== 2) {
    return handoverFault(sequence, `signatures of ${oldKey.id} and ${newKey.id}`, signedBy.join(", ") || opened.kind);
  }
  if (signed.checkpoint.root === frontier.root()) return undefined;
  return { code: "ROOT_MISMATCH", sequence: size, expected: "the root of the handover", actual: "another" };
}

function handoverFault(sequence: number, expected: string, actual: string): AuditFault {
  return { code: "HANDOVER_INVALID", sequence, expected, actual };
}

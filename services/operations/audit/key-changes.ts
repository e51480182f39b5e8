// Follows the rotations and revocations that stand in the log while it is read, so that a checkpoint is judged by the keys that were in force at
// its size. A rotation counts only with its handover: the checkpoint of that very size, of the tree that was read, signed by both keys.
import { readCheckpointNote } from "../../../core/audit/checkpoint.ts";
import { readEntry } from "../../../core/audit/entry.ts";
import type { AuditFault } from "../../../core/audit/fault.ts";
import type { Frontier } from "../../../core/audit/frontier.ts";
import type { Sha256OfBytes } from "../../../core/audit/hash.ts";
import { type KeyRing, type KeyRotation, readKeyChange, revokeKey, rotateKey } from "../../../core/audit/key-ring.ts";
import { openNote, type VerifySignature } from "../../../core/audit/signed-note.ts";
import type { StoredCheckpoint } from "../../../ports/audit-log.ts";

export interface KeyFollower {
  readonly ports: {
    readonly origin: string;
    readonly sha256: Sha256OfBytes;
    readonly verifySignature: VerifySignature;
  };
  readonly frontier: Frontier;
  ring: KeyRing;
}

const keyEntryStart: readonly number[] = [...'{"action":"key.r'].map((character) => character.charCodeAt(0));

/** Changes the ring when the entry changes a key. `due` is the checkpoint that ends with this entry, if there is one. */
export function followKeys(
  it: KeyFollower,
  text: Uint8Array,
  sequence: number,
  due: StoredCheckpoint | undefined,
): AuditFault | undefined {
  // `action` is the first member of the text, so a few bytes tell that most entries are none.
  for (let at = keyEntryStart.length - 1; at >= 0; at -= 1) if (text[at] !== keyEntryStart[at]) return undefined;
  const record = readEntry(text);
  if (record === undefined) return handoverFault(sequence, "an entry", "something else");
  const { action, subject_id: subjectId, data } = record;
  const change = readKeyChange({ action, sequence, subjectId, data }, it.ports.origin, it.ports.sha256);
  if (change === undefined) return undefined;
  if ("malformed" in change) return handoverFault(sequence, "a change of this log's keys", change.malformed);
  if (change.kind === "revoked") {
    it.ring = revokeKey(it.ring, change);
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
  if (signed === undefined) return handoverFault(sequence, `the handover of size ${sequence + 1}`, "none");
  if ("malformed" in signed) return handoverFault(sequence, "the checkpoint of a handover", signed.malformed);
  const opened = openNote(signed.note, [oldKey, newKey], ports.verifySignature);
  const signedBy = opened.kind === "opened" ? opened.signedBy.map((key) => key.id) : [];
  if (signedBy.length !== 2) {
    return handoverFault(sequence, `signatures of ${oldKey.id} and ${newKey.id}`, signedBy.join(", ") || opened.kind);
  }
  if (signed.checkpoint.root === frontier.root()) return undefined;
  return { code: "ROOT_MISMATCH", sequence: sequence + 1, expected: "the root of the handover", actual: "another" };
}

function handoverFault(sequence: number, expected: string, actual: string): AuditFault {
  return { code: "HANDOVER_INVALID", sequence, expected, actual };
}

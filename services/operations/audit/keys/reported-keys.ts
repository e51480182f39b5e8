// The log's keys as its own entries tell of them, compared with the secret. A secret that was put back to an older version, checkpoints that were
// deleted and a log that was put back each look like a broken log to whoever believes the secret alone; here they are distinguished, with what to do.

import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import { keyChangeOf } from "../../../../core/audit/key-entry.ts";
import { type KeyRing, type KeyRotation, rotateKey, startKeyRing } from "../../../../core/audit/key-ring.ts";
import { openNote, type VerifySignature } from "../../../../core/audit/signed-note.ts";
import type { AuditLog, AuditRow } from "../../../../ports/audit-log.ts";
import { keysMax, type LogKey } from "./signing-key.ts";

interface ReportedKeysPorts {
  readonly auditLog: Pick<AuditLog, "read" | "readKeyChanges" | "checkpoints">;
  readonly sha256: Sha256OfBytes;
  readonly verifySignature: VerifySignature;
  readonly origin: string;
  /** Where the secret is kept, for sentences. */
  readonly path: string;
}

interface ReportedKeys {
  /** Which key may sign which size, when the log knows more of it than the secret. */
  readonly ring: KeyRing | undefined;
  /** Why nothing may be signed, and what to do. */
  readonly complaint: string | undefined;
  /** Why nothing may be appended. */
  readonly fault: AuditFault | undefined;
}

/** What to do about checkpoints that are gone, for faults and complaints. */
export const putCheckpointsBack = "put them back from an anchor, a witness or a backup";
const changesMax = 4 * keysMax;

/** The rotations among these entries, those that the secret knows of looked up without the index. */
export async function rotationsReported(
  { auditLog, sha256, origin }: Pick<ReportedKeysPorts, "auditLog" | "sha256" | "origin">,
  terms: readonly { readonly fromSize: number }[],
  range: { readonly from: number; readonly end: number },
): Promise<readonly KeyRotation[]> {
  const isIn = (sequence: number): boolean => sequence >= range.from && sequence < range.end;
  const rows = new Map<number, AuditRow>();
  for (const row of await auditLog.readKeyChanges(range.from, changesMax)) rows.set(row.sequence, row);
  for (const { fromSize } of terms) {
    if (fromSize === 0 || !isIn(fromSize - 1) || rows.has(fromSize - 1)) continue;
    for (const row of await auditLog.read(fromSize - 1, 1)) rows.set(row.sequence, row);
  }
  return [...rows.values()]
    .filter(({ sequence }) => isIn(sequence))
    .sort((one, other) => one.sequence - other.sequence)
    .flatMap(({ text, sequence }) => {
      const change = keyChangeOf(text, sequence, origin, sha256);
      return change !== undefined && "kind" in change && change.kind === "rotated" ? [change] : [];
    });
}

export async function compareKeys(ports: ReportedKeysPorts, key: LogKey, size: number): Promise<ReportedKeys> {
  const shorter = key.terms.find(({ fromSize }) => fromSize > size);
  if (shorter !== undefined) return wrong({ code: "TRUNCATED", sequence: size, ...shorterThanSecret(shorter, size) });
  const rotations = await rotationsReported(ports, key.terms, { from: 0, end: size });
  const missing = key.terms.find(
    (term, at) =>
      at > 0 &&
      !rotations.some(({ sequence, newKey }) => sequence + 1 === term.fromSize && newKey.vkey === term.key.vkey),
  );
  if (missing !== undefined) {
    const expected = `the rotation to the key ${missing.key.id}, which the secret knows`;
    return wrong({ code: "HANDOVER_INVALID", sequence: missing.fromSize - 1, expected, actual: "another entry" });
  }
  let ring = startKeyRing(key.terms.slice(0, 1).map((term) => term.key));
  let complaint: string | undefined;
  let isBehind = false;
  for (const rotation of rotations) {
    const isHandedOver = await hasHandover(ports, rotation);
    if (isHandedOver) ring = rotateKey(ring, rotation);
    const isKnown = key.terms.some((term) => term.key.vkey === rotation.newKey.vkey);
    if (isKnown && !isHandedOver) complaint ??= handoverGone(ports, rotation);
    if (isKnown || rotation.newKey.vkey === key.next?.key.vkey) continue;
    isBehind ||= isHandedOver;
    complaint ??= isHandedOver ? olderSecret(ports, rotation) : unknownNext(ports, rotation);
  }
  return { ring: isBehind ? ring : undefined, complaint, fault: undefined };
}

/** Whether the checkpoint that ends with the rotation is stored and both keys have signed it; of which tree, verification says. */
async function hasHandover(
  { auditLog, verifySignature }: ReportedKeysPorts,
  { sequence, oldKey, newKey }: KeyRotation,
): Promise<boolean> {
  const [stored] = await auditLog.checkpoints(sequence + 1, 1);
  const signed = stored?.size === sequence + 1 ? readCheckpointNote(stored.note) : undefined;
  if (signed === undefined || "malformed" in signed) return false;
  const opened = openNote(signed.note, [oldKey, newKey], verifySignature);
  return opened.kind === "opened" && opened.signedBy.length === 2;
}

function wrong(fault: AuditFault): ReportedKeys {
  return { ring: undefined, complaint: undefined, fault };
}

function shorterThanSecret(
  { fromSize, key }: LogKey["terms"][number],
  size: number,
): Pick<AuditFault, "expected" | "actual"> {
  return { expected: `${fromSize} entries: the key ${key.id} took over after so many`, actual: `${size}` };
}

const meanwhile = "Entries are chained, and no checkpoint is signed.";

function handoverGone({ path }: ReportedKeysPorts, { sequence, newKey }: KeyRotation): string {
  return (
    `The checkpoint of ${sequence + 1} entries, which handed the audit log over to the key ${newKey.id}, is gone, and the secret ${path} knows that it was signed: ` +
    `checkpoints were deleted from the database. ${meanwhile} Leave the secret as it is; as for the checkpoints, ${putCheckpointsBack}, and start again.`
  );
}

function olderSecret({ path }: ReportedKeysPorts, { sequence, newKey }: KeyRotation): string {
  return (
    `The secret ${path} is an older version: entry ${sequence} handed the audit log over to the key ${newKey.id}, which it does not have. ${meanwhile} ` +
    "The log itself is not the reason. Put back the newest version of the secret and start again."
  );
}

/** The same for a rotation whose handover was never signed. */
export function unknownNext(
  { path }: Pick<ReportedKeysPorts, "path">,
  { sequence, newKey }: Pick<KeyRotation, "sequence" | "newKey">,
): string {
  return (
    `Entry ${sequence} hands the audit log over to the key ${newKey.id}, which the secret ${path} does not have. ${meanwhile} ` +
    "Put back the newest version of the secret and start again."
  );
}

// Verifies one log, the one that is written or one that was closed, by the key that was kept for it, and says how far it can be believed: what is wrong,
// the newest checkpoint that was signed, and the largest that its entries still lead to.
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { keysKnown } from "../../../../core/audit/key-ring.ts";
import { openNote } from "../../../../core/audit/signed-note.ts";
import type { ClosedLogReads, StoredCheckpoint } from "../../../../ports/audit-log.ts";
import { rootsOf } from "../anchors/anchored-roots.ts";
import { readAnchors } from "../anchors/anchoring.ts";
import type { AuditPorts } from "../audit-ports.ts";
import { type VerifyOptions, type VerifyReport, verifyLog } from "../checking/verify.ts";
import { compareKeys } from "../keys/reported-keys.ts";
import { findLogKey, keyPathOf, type LogKey, ringOf } from "../keys/signing-key.ts";
import { namedOtherwise } from "../log/open-log.ts";
import { originOf } from "../log/restore.ts";

export interface JudgedLog {
  readonly origin: string;
  readonly key: LogKey | undefined;
  /** What is wrong; undefined when the log verifies. */
  readonly fault: AuditFault | undefined;
  /** What verification says; undefined when it says no. */
  readonly report: VerifyReport | undefined;
  readonly signed: StoredCheckpoint | undefined;
  readonly verified: StoredCheckpoint | undefined;
}

export async function judgeLog(
  ports: AuditPorts,
  auditLog: ClosedLogReads,
  number: number,
  options: Pick<VerifyOptions, "from" | "signal"> & { readonly isWritten: boolean },
): Promise<JudgedLog> {
  const { clock, timers, sha256OfBytes: sha256, signing, secrets, random } = ports;
  const verifySignature = signing.verify;
  const path = keyPathOf(ports.auditSettings.signingKeyPath, number);
  const key = await findLogKey({ secrets, random, signing, sha256, path });
  const stated = await originOf(auditLog);
  const origin = key?.origin ?? stated ?? "";
  const ring = key === undefined ? undefined : ringOf(key);
  const first = key?.terms[0]?.key;
  let verified: StoredCheckpoint | undefined;
  const verdict = await verifyLog(
    {
      auditLog,
      clock,
      sha256,
      verifySignature,
      origin,
      ring: () => ring,
      trustedKeys: first === undefined ? [] : [first],
      anchored: async () =>
        rootsOf(await readAnchors(ports.anchors, origin, timers), { origin, ring, verifySignature }).roots,
    },
    {
      ...options,
      trusted: (checkpoint) => {
        verified = checkpoint;
      },
    },
  );
  const { size } = await auditLog.head();
  const renamed = key === undefined || !options.isWritten ? undefined : namedOtherwise(key, stated);
  const reported =
    key === undefined ? undefined : await compareKeys({ auditLog, sha256, verifySignature, origin, path }, key, size);
  const fault = "fault" in verdict ? verdict.fault : (renamed ?? reported?.fault);
  const signed = (await signedNewest(ports, auditLog, key)) ?? verified;
  return { origin, key, fault, report: "fault" in verdict ? undefined : verdict, signed, verified };
}

/** The newest checkpoint, if a key of the log has signed it. */
export async function signedNewest(
  { signing }: Pick<AuditPorts, "signing">,
  auditLog: Pick<ClosedLogReads, "newestCheckpoint">,
  key: LogKey | undefined,
): Promise<StoredCheckpoint | undefined> {
  const newest = await auditLog.newestCheckpoint();
  const read = newest === undefined ? undefined : readCheckpointNote(newest.note);
  if (key === undefined || read === undefined || "malformed" in read) return undefined;
  const isOurs = read.checkpoint.origin === key.origin && read.checkpoint.size === newest?.size;
  return isOurs && openNote(read.note, keysKnown(ringOf(key)), signing.verify).kind === "opened" ? newest : undefined;
}

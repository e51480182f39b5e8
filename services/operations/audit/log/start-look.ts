// What is found at the start: the rows are counted, the log is put together again, and compared with what was signed and with what the anchors have.
// It is quick, so old entries are not read: whether one of them was rewritten is found by the verification that comes soon after.
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { KeyRing } from "../../../../core/audit/key-ring.ts";
import type { Policy } from "../../../../core/audit/policy.ts";
import { anchorFault, rootsOf } from "../anchors/anchored-roots.ts";
import { type AnchorRead, readAnchors } from "../anchors/anchoring.ts";
import type { AuditPorts } from "../audit-ports.ts";
import { type LastVerified, lastVerifiedIn } from "../checking/self-verification.ts";
import type { VerifyPorts } from "../checking/verify.ts";
import { compareKeys } from "../keys/reported-keys.ts";
import { ringOf } from "../keys/signing-key.ts";
import type { SignedCheckpoint } from "./checkpoints.ts";
import type { OpenedLog } from "./open-log.ts";
import { type Restored, restore } from "./restore.ts";
import { rowsFault } from "./row-count.ts";

export interface FoundLog {
  readonly restored: Restored;
  /** Why nothing may be appended. */
  readonly fault: AuditFault | undefined;
  readonly anchors: readonly AnchorRead[];
  /** The newest checkpoint, when an anchor does not have it. */
  readonly unanchored: readonly SignedCheckpoint[];
  readonly verifiedBefore: LastVerified | undefined;
}

export async function lookAtLog(
  ports: AuditPorts,
  { origin, head, key, fault }: Omit<OpenedLog, "writerEpoch">,
): Promise<FoundLog> {
  const { auditLog, timers, sha256OfBytes: sha256, signing } = ports;
  const verifySignature = signing.verify;
  const { signingKeyPath: path } = ports.auditSettings;
  const reported =
    key === undefined || fault !== undefined
      ? undefined
      : await compareKeys({ auditLog, sha256, verifySignature, origin, path }, key, head.size);
  const ring = reported?.ring ?? (key === undefined ? undefined : ringOf(key));
  const restored = await restore({ auditLog, sha256, verifySignature, origin, ring, next: key?.next?.key }, head);
  const reads = await readAnchors(ports.anchors, origin, timers);
  const { roots, complaints } = rootsOf(reads, { origin, ring, verifySignature });
  const found =
    fault ??
    (await rowsFault(auditLog, head)) ??
    restored.fault ??
    reported?.fault ??
    (await anchorFault(auditLog, restored.tree, roots, head.size));
  const newest = await auditLog.newestCheckpoint();
  const isBehind = reads.some((read) => (read.newest?.size ?? 0) < (newest?.size ?? 0));
  return {
    restored: { ...restored, keyComplaint: reported?.complaint, reportedRing: reported?.ring },
    fault: found,
    anchors: reads.map((read) => ({ ...read, complaint: complaints.get(read.name) })),
    unanchored: newest !== undefined && isBehind ? [newest] : [],
    verifiedBefore: await lastVerifiedIn(auditLog, origin),
  };
}

/** What verification believes: the first key, those that the secret knows, the witnesses' policy and the anchors. */
export function verifyPortsOf(
  ports: AuditPorts,
  policy: Policy | undefined,
  { origin, key }: OpenedLog,
  ringNow: () => KeyRing | undefined,
  more: Pick<VerifyPorts, "subjects" | "writerEpoch">,
): VerifyPorts {
  const { auditLog, clock, timers, sha256OfBytes: sha256, signing } = ports;
  const verifySignature = signing.verify;
  const first = key?.terms[0]?.key;
  const ring = (): KeyRing | undefined => ringNow() ?? (key === undefined ? undefined : ringOf(key));
  return {
    auditLog,
    clock,
    sha256,
    verifySignature,
    origin,
    policy,
    ring,
    ...more,
    trustedKeys: first === undefined ? [] : [first],
    anchored: async () =>
      rootsOf(await readAnchors(ports.anchors, origin, timers), { origin, ring: ring(), verifySignature }).roots,
  };
}

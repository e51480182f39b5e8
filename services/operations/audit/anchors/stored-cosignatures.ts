// How far enough witnesses have cosigned, from what is stored: so that a restart does not forget it. Only the newest checkpoints are read; the
// verification that follows the start reads all of them.
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import type { KeyRing } from "../../../../core/audit/key-ring.ts";
import type { TreeHash } from "../../../../core/audit/merkle.ts";
import type { Policy } from "../../../../core/audit/policy.ts";
import type { VerifySignature } from "../../../../core/audit/signed-note.ts";
import { judgeCheckpoint } from "../../../../core/audit/trusted-checkpoint.ts";
import type { AuditLog, StoredCheckpoint } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import { readGrowingTree } from "../log/growing-tree.ts";

interface StoredTrust {
  readonly auditLog: Pick<AuditLog, "readTiles" | "newestCheckpoint" | "checkpoints">;
  readonly clock: Clock;
  readonly verifySignature: VerifySignature;
  readonly origin: string;
  readonly tree: TreeHash;
  /** Without one nothing is believed. */
  readonly ring: KeyRing | undefined;
  /** Undefined without witnesses. */
  readonly policy: Policy | undefined;
}

interface StoredWitnessed {
  readonly newest: StoredCheckpoint | undefined;
  /** Of the largest checkpoint among the newest that has enough cosignatures; 0 when none has. */
  readonly size: number;
}

const backEntries = 10_000;
const pageMax = 1_000;
const judgedMax = 50;

export async function storedWitnessed(trust: StoredTrust): Promise<StoredWitnessed> {
  const { auditLog, policy } = trust;
  const newest = policy === undefined ? undefined : await auditLog.newestCheckpoint();
  if (newest === undefined) return { newest, size: 0 };
  if (await isWitnessed(newest, trust)) return { newest, size: newest.size };
  const before = await auditLog.checkpoints(Math.max(0, newest.size - backEntries), pageMax);
  for (const each of [...before].reverse().slice(0, judgedMax)) {
    if (await isWitnessed(each, trust)) return { newest, size: each.size };
  }
  return { newest, size: 0 };
}

/** Signed by the log, of the tree that the tiles have, and cosigned by enough. */
async function isWitnessed(stored: StoredCheckpoint, trust: StoredTrust): Promise<boolean> {
  const { auditLog, clock, verifySignature, origin, tree, ring, policy } = trust;
  const signed = readCheckpointNote(stored.note);
  if (ring === undefined || "malformed" in signed || signed.checkpoint.size !== stored.size) return false;
  const { root } = signed.checkpoint;
  const judged = judgeCheckpoint(signed, root, { ring, origin, policy, verifySignature, nowUs: clock.now() });
  if ("fault" in judged || judged.level !== "L2") return false;
  return (await readGrowingTree(auditLog, tree, stored.size))?.root() === root;
}

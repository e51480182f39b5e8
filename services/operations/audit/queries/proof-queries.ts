// The proofs that the desk hands out: that an entry is in the log, and that the log of one size is the beginning of the log of another. Both come from
// stored tiles, and both end in a signed checkpoint.
import { Fault } from "../../../../contracts/src/fault.ts";
import type {
  AuditConsistency,
  AuditConsistencyRequest,
  AuditProof,
  AuditProofRequest,
} from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { base64OfHash } from "../../../../core/audit/base64.ts";
import { spanHash, type TreeHash } from "../../../../core/audit/merkle.ts";
import { inclusionSpans, verifyConsistency } from "../../../../core/audit/proof.ts";
import { tilesForInclusion } from "../../../../core/audit/tiles.ts";
import { writeTlogProof } from "../../../../core/audit/tlog-proof.ts";
import type { ClosedLogReads, StoredCheckpoint } from "../../../../ports/audit-log.ts";
import type { Sha256OfBytes } from "../../../../ports/signing.ts";
import type { RunningAudit } from "../audit-ports.ts";
import { putCheckpointsBack, rotationsReported } from "../keys/reported-keys.ts";
import { hashesOf, readConsistencyProof, readGrowingTree } from "../log/growing-tree.ts";
import { invalid } from "../log/reserved.ts";
import { broken } from "./audit-rpc.ts";

interface ProofQueriesPorts extends Pick<RunningAudit, "flush"> {
  readonly auditLog: ClosedLogReads;
  /** False of a log that was closed: nothing more is signed. */
  readonly isWritten?: boolean;
}

/** The newest checkpoint, after signing what is not signed yet. */
export async function anchored(
  { auditLog, flush, isWritten = true }: ProofQueriesPorts,
  size: number,
): Promise<StoredCheckpoint> {
  let newest = await auditLog.newestCheckpoint();
  if ((newest?.size ?? 0) < size && isWritten) {
    await flush();
    newest = await auditLog.newestCheckpoint();
  }
  if (newest !== undefined && newest.size >= size) return newest;
  throw new Fault("NOT_FOUND", `No checkpoint covers the first ${size} entries yet.`, { retry: "later" });
}

export async function proofOf(
  ports: ProofQueriesPorts,
  tree: TreeHash,
  { sequence }: AuditProofRequest,
): Promise<AuditProof> {
  const { auditLog } = ports;
  const [row] = await auditLog.read(sequence, 1);
  if (row === undefined) {
    throw new Fault("NOT_FOUND", `There is no entry ${sequence}: the log has ${(await auditLog.head()).size}.`, {
      retry: "later",
    });
  }
  const { size, note } = await anchored(ports, sequence + 1);
  const hashAt = await hashesOf(auditLog, tree, tilesForInclusion(sequence, size), size);
  if (hashAt === undefined) throw tilesMissing();
  const hashes = inclusionSpans(sequence, size).map((span) => spanHash(tree, span, hashAt));
  return { file: writeTlogProof({ entry: row.text, index: sequence, hashes, note }) };
}

export async function consistencyOf(
  ports: ProofQueriesPorts,
  tree: TreeHash,
  { first_size: first, second_size: asked }: AuditConsistencyRequest,
): Promise<AuditConsistency> {
  const { auditLog } = ports;
  const { size } = await auditLog.head();
  const largest = Math.max(first, asked);
  if (largest > size) throw invalid(`There is no log of ${largest} entries: it has ${size}.`);
  if (asked !== 0 && first > asked) {
    throw invalid(`first_size is ${first} and second_size ${asked}: the first is the smaller one.`);
  }
  const newest = await anchored(ports, Math.max(1, largest));
  const second = asked === 0 ? newest.size : asked;
  const signed = second === newest.size ? newest : (await auditLog.checkpoints(second, 1))[0];
  const note = signed?.size === second ? signed.note : "";
  const firstTree = await readGrowingTree(auditLog, tree, first);
  const secondTree = await readGrowingTree(auditLog, tree, second);
  const proof = await readConsistencyProof(auditLog, tree, first, second);
  if (firstTree === undefined || secondTree === undefined || proof === undefined) throw tilesMissing();
  const [firstRoot, secondRoot] = [firstTree.root(), secondTree.root()];
  // What would be refused by whoever gets it is not handed out: then the tiles are not what was signed.
  const isProof = verifyConsistency(tree, { first, firstRoot, second, secondRoot, proof });
  if (!isProof || (note !== "" && note.split("\n")[2] !== base64OfHash(secondRoot))) throw tilesWrong();
  return {
    first_size: first,
    first_root: base64OfHash(firstRoot),
    second_size: second,
    second_root: base64OfHash(secondRoot),
    proof: proof.map(base64OfHash),
    checkpoint: note,
  };
}

/**
 * The checkpoints that stand right after a rotation of keys among these entries. Which they are is read from the entries, and not only from the
 * secret, which may be older. One that is gone makes the bundle one that nobody can verify.
 */
export async function handoversIn(
  ports: Pick<ProofQueriesPorts, "auditLog"> & { readonly sha256OfBytes: Sha256OfBytes },
  { origin, keyTerms }: { readonly origin: string; readonly keyTerms: readonly { readonly fromSize: number }[] },
  { from, entries }: { readonly from: number; readonly entries: number },
): Promise<readonly string[]> {
  const { auditLog, sha256OfBytes: sha256 } = ports;
  const rotations = await rotationsReported({ auditLog, sha256, origin }, keyTerms, { from, end: from + entries });
  const notes: string[] = [];
  for (const { sequence } of rotations) {
    const size = sequence + 1;
    const [stored] = await auditLog.checkpoints(size, 1);
    if (stored?.size !== size) {
      const actual = `none: checkpoints are missing, ${putCheckpointsBack}`;
      throw broken({ code: "HANDOVER_INVALID", sequence, expected: `the handover of size ${size}`, actual });
    }
    notes.push(stored.note);
  }
  return notes;
}

export function tilesMissing(): Fault {
  return tilesFault("are missing");
}

function tilesWrong(): Fault {
  return tilesFault("are not what was signed");
}

function tilesFault(what: string): Fault {
  const repair = "`ctl operations audit fsck --rebuild` writes them anew";
  return new Fault("INTERNAL", `Tiles of the audit log's tree ${what}: ${repair}.`, { retry: "never" });
}

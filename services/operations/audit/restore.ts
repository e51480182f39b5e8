// What the log was when it was last signed, put together again at the start: the tree from its tiles, or from the entries when the tiles do not give
// the signed root; then everything that came after the checkpoint. Whatever does not fit is a reason to stand still: numbers that were signed
// must not be given a second time.
import { base64OfHash } from "../../../core/audit/base64.ts";
import { createChainCheck } from "../../../core/audit/chain-check.ts";
import { readCheckpointNote } from "../../../core/audit/checkpoint.ts";
import { readEntry } from "../../../core/audit/entry.ts";
import type { AuditFault } from "../../../core/audit/fault.ts";
import type { Sha256OfBytes } from "../../../core/audit/hash.ts";
import { createTreeHash, type TreeHash } from "../../../core/audit/merkle.ts";
import { openNote, type VerifierKey, type VerifySignature } from "../../../core/audit/signed-note.ts";
import type { AuditHead, AuditLog } from "../../../ports/audit-log.ts";
import type { SignedHead } from "./checkpoints.ts";
import { createGrowingTree, type GrowingTree, readGrowingTree } from "./growing-tree.ts";

export interface RestorePorts {
  readonly auditLog: Pick<AuditLog, "read" | "newestCheckpoint" | "readTile">;
  readonly sha256: Sha256OfBytes;
  readonly verifySignature: VerifySignature;
  readonly origin: string;
  /** Undefined when there is none: then a checkpoint is compared, and not believed. */
  readonly key: VerifierKey | undefined;
}

export interface Restored {
  readonly tree: TreeHash;
  readonly growing: GrowingTree;
  readonly last: SignedHead | undefined;
  /** Why nothing may be appended or signed. */
  readonly fault: AuditFault | undefined;
}

const pageRows = 1_000;

export async function restore(ports: RestorePorts, head: AuditHead): Promise<Restored> {
  const { auditLog, sha256 } = ports;
  const tree = createTreeHash(sha256);
  const stored = await auditLog.newestCheckpoint();
  if (stored === undefined) return after(ports, head, tree, createGrowingTree(tree), undefined);
  const signed = readCheckpointNote(stored.note);
  const broken = (code: AuditFault["code"], expected: string, actual: string): Restored => ({
    tree,
    growing: createGrowingTree(tree),
    last: undefined,
    fault: { code, sequence: stored.size, expected, actual },
  });
  if ("malformed" in signed) return broken("CHECKPOINT_MALFORMED", "a checkpoint", signed.malformed);
  const { origin, size, root } = signed.checkpoint;
  if (origin !== ports.origin) return broken("CHECKPOINT_MALFORMED", ports.origin, origin);
  if (ports.key !== undefined && openNote(signed.note, [ports.key], ports.verifySignature).kind !== "opened") {
    return broken("SIGNATURE_INVALID", `the signature of ${ports.key.id}`, "another or none");
  }
  if (size > head.size) return broken("TRUNCATED", `${size} entries`, `${head.size}`);
  const fromTiles = await readGrowingTree(auditLog, tree, size);
  const growing = fromTiles?.root() === root ? fromTiles : await fromEntries(ports, tree, size);
  if (growing.root() !== root) return broken("ROOT_MISMATCH", base64OfHash(root), base64OfHash(growing.root()));
  return after(ports, head, tree, growing, { size, root });
}

/** Every entry read again: for a log whose tiles are gone or wrong. */
async function fromEntries({ auditLog }: RestorePorts, tree: TreeHash, size: number): Promise<GrowingTree> {
  const growing = createGrowingTree(tree);
  while (growing.size < size) {
    const rows = await auditLog.read(growing.size, Math.min(pageRows, size - growing.size));
    if (rows.length === 0) return growing;
    for (const { text } of rows) growing.append(tree.leaf(text));
  }
  return growing;
}

/** The entries after the checkpoint, each as a link of the chain; the last one before it must be the leaf that was signed. */
async function after(
  { auditLog, sha256, origin }: RestorePorts,
  head: AuditHead,
  tree: TreeHash,
  growing: GrowingTree,
  last: SignedHead | undefined,
): Promise<Restored> {
  const begin = Math.max(0, growing.size - 1);
  const chain = createChainCheck({ sha256, from: begin, origin });
  const stopped = (fault: AuditFault): Restored => ({ tree, growing, last, fault });
  while (chain.sequence < head.size) {
    const rows = await auditLog.read(chain.sequence, Math.min(pageRows, head.size - chain.sequence));
    if (rows.length === 0) {
      return stopped({
        code: "TRUNCATED",
        sequence: chain.sequence,
        expected: `${head.size} entries`,
        actual: `${chain.sequence}`,
      });
    }
    for (const { text } of rows) {
      const sequence = chain.sequence;
      const fault = chain.next(text);
      if (fault !== undefined) return stopped(fault);
      const leaf = tree.leaf(text);
      if (sequence >= growing.size) growing.append(leaf);
      else if ((growing.lastLeaf() ?? leaf) !== leaf) {
        return stopped({ code: "ROOT_MISMATCH", sequence, expected: "the entry that was signed", actual: "another" });
      }
    }
  }
  if (head.size > 0 && chain.hash !== head.hash) {
    const actual = `the head says ${head.hash}`;
    return stopped({ code: "HASH_MISMATCH", sequence: head.size - 1, expected: chain.hash ?? "a hash", actual });
  }
  return { tree, growing, last, fault: undefined };
}

/** The name that entry 0 gives; undefined when it is none. */
export async function originOf(auditLog: Pick<AuditLog, "read">): Promise<string | undefined> {
  const [row] = await auditLog.read(0, 1);
  const origin = row === undefined ? undefined : readEntry(row.text)?.data["origin"];
  return typeof origin === "string" ? origin : undefined;
}

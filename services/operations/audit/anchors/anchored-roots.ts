// What anchors have, made comparable with the log. Only a checkpoint that one of the log's keys has signed says anything about it: whoever can write to
// an anchor, and nothing else, must not be able to make a whole log look broken.
import { base64OfHash } from "../../../../core/audit/base64.ts";
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { Hash } from "../../../../core/audit/hash.ts";
import { type KeyRing, keysInForce } from "../../../../core/audit/key-ring.ts";
import type { TreeHash } from "../../../../core/audit/merkle.ts";
import { openNote, type VerifySignature } from "../../../../core/audit/signed-note.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import { readGrowingTree } from "../log/growing-tree.ts";
import { treeOfEntries } from "../log/restore.ts";
import type { AnchorRead } from "./anchoring.ts";

/** A checkpoint of this log that an anchor has. */
export interface AnchoredRoot {
  readonly anchor: string;
  readonly size: number;
  readonly root: Hash;
}

interface RootTrust {
  readonly origin: string;
  /** Undefined when there is no key: then what an anchor has is compared as it is. */
  readonly ring: KeyRing | undefined;
  readonly verifySignature: VerifySignature;
}

interface RootsOf {
  readonly roots: readonly AnchoredRoot[];
  /** By the anchor's name: why what it has is no checkpoint of this log. */
  readonly complaints: ReadonlyMap<string, string>;
}

export function rootsOf(reads: readonly AnchorRead[], trust: RootTrust): RootsOf {
  const roots: AnchoredRoot[] = [];
  const complaints = new Map<string, string>();
  for (const { name, newest, complaint } of reads) {
    if (complaint !== undefined) complaints.set(name, complaint);
    if (newest === undefined) continue;
    const judged = judge(newest.note, newest.size, trust);
    if ("why" in judged) complaints.set(name, `What it has of size ${newest.size} is not this log's: ${judged.why}.`);
    else roots.push({ anchor: name, size: newest.size, root: judged.root });
  }
  return { roots, complaints };
}

function judge(
  content: string,
  size: number,
  { origin, ring, verifySignature }: RootTrust,
): { readonly root: Hash } | { readonly why: string } {
  const signed = readCheckpointNote(content);
  if ("malformed" in signed) return { why: signed.malformed };
  const { checkpoint, note } = signed;
  if (checkpoint.origin !== origin || checkpoint.size !== size) return { why: "it says another origin or size" };
  if (ring === undefined) return { root: checkpoint.root };
  const { kind } = openNote(note, keysInForce(ring, size), verifySignature);
  return kind === "opened" ? { root: checkpoint.root } : { why: "no key that was in force has signed it" };
}

/** The first anchor that the log falls short of or contradicts, by its tiles; where they disagree or are missing, by its entries. */
export async function anchorFault(
  auditLog: Pick<AuditLog, "readTiles" | "read">,
  tree: TreeHash,
  roots: readonly AnchoredRoot[],
  logSize: number,
): Promise<AuditFault | undefined> {
  for (const anchored of roots) {
    if (anchored.size > logSize) return shorterThan(anchored, logSize);
    const byTiles = (await readGrowingTree(auditLog, tree, anchored.size))?.root();
    if (byTiles === anchored.root) continue;
    const byEntries = (await treeOfEntries(auditLog, tree, anchored.size)).root();
    if (byEntries !== anchored.root) return rootOther(anchored, byEntries);
  }
  return undefined;
}

/** The fault of a log that ends before what an anchor has. */
export function shorterThan({ anchor, size }: AnchoredRoot, actualSize: number): AuditFault {
  const expected = `${size} entries, as the anchor ${anchor} has it`;
  return { code: "TRUNCATED", sequence: actualSize, expected, actual: `${actualSize}` };
}

/** The fault of a log whose tree is another than an anchor's. */
export function rootOther({ anchor, size, root }: AnchoredRoot, found: Hash): AuditFault {
  const expected = `${base64OfHash(root)}, as the anchor ${anchor} has it`;
  return { code: "ROOT_MISMATCH", sequence: size, expected, actual: base64OfHash(found) };
}

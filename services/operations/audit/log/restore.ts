// What the log was when it was last signed, put together again at the start: the tree from its tiles, or from the entries when the tiles do not give
// the signed root; then the newest entries, as far as they are signed against that root, and everything that came after the checkpoint. Whatever
// does not fit is a reason to stand still: numbers that were signed must not be given a second time.
import { base64OfHash } from "../../../../core/audit/base64.ts";
import { createChainCheck } from "../../../../core/audit/chain-check.ts";
import { type CheckpointNote, readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import { readEntry } from "../../../../core/audit/entry.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { createFrontier, type Frontier } from "../../../../core/audit/frontier.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import { keyChangeOf } from "../../../../core/audit/key-entry.ts";
import { type KeyRing, keysInForce, keysKnown } from "../../../../core/audit/key-ring.ts";
import { createTreeHash, type TreeHash } from "../../../../core/audit/merkle.ts";
import { openNote, type VerifierKey, type VerifySignature } from "../../../../core/audit/signed-note.ts";
import type { AuditHead, AuditLog } from "../../../../ports/audit-log.ts";
import type { SignedHead } from "./checkpoints.ts";
import { createGrowingTree, type GrowingTree, readGrowingTree, readLeft } from "./growing-tree.ts";

interface RestorePorts {
  readonly auditLog: Pick<AuditLog, "read" | "newestCheckpoint" | "readTiles">;
  readonly sha256: Sha256OfBytes;
  readonly verifySignature: VerifySignature;
  readonly origin: string;
  /** The keys that the secret knows. Undefined when there is none: then a checkpoint is compared, and not believed. */
  readonly ring: KeyRing | undefined;
  /** The key of a rotation that did not come to its end, if there is one. */
  readonly next: VerifierKey | undefined;
}

/** A rotation whose handover is not signed yet: the tree right after it is what both keys must sign. */
interface OpenRotation {
  readonly sequence: number;
  readonly newKey: VerifierKey;
  readonly head: SignedHead;
}

export interface Restored {
  readonly tree: TreeHash;
  readonly growing: GrowingTree;
  readonly last: SignedHead | undefined;
  /** Whether the newest checkpoint is the handover to the next key. */
  readonly handedOver: boolean;
  /** Among the entries after the newest checkpoint. */
  readonly rotation: OpenRotation | undefined;
  /** Why nothing may be appended or signed. */
  readonly fault: AuditFault | undefined;
  /** Why nothing may be signed, though the log is whole. */
  readonly keyComplaint?: string | undefined;
  /** Which key may sign which size, when the secret is older than the log. */
  readonly reportedRing?: KeyRing | undefined;
}

/** So many of the newest entries are read at every start, also when all of them are signed. */
export const recentEntries = 2_000;
const pageRows = 1_000;

export async function restore(ports: RestorePorts, head: AuditHead): Promise<Restored> {
  const { auditLog, sha256 } = ports;
  const tree = createTreeHash(sha256);
  const stored = await auditLog.newestCheckpoint();
  if (stored === undefined) return after(ports, head, { tree, growing: createGrowingTree(tree), last: undefined });
  const signed = readCheckpointNote(stored.note);
  const broken = (code: AuditFault["code"], expected: string, actual: string): Restored => ({
    tree,
    growing: createGrowingTree(tree),
    last: undefined,
    handedOver: false,
    rotation: undefined,
    fault: { code, sequence: stored.size, expected, actual },
  });
  if ("malformed" in signed) return broken("CHECKPOINT_MALFORMED", "a checkpoint", signed.malformed);
  const { origin, size, root } = signed.checkpoint;
  if (origin !== ports.origin) return broken("CHECKPOINT_MALFORMED", ports.origin, origin);
  const signers = signersOf(ports, signed);
  if ("wrong" in signers) return broken(signers.code, signers.wrong.expected, signers.wrong.actual);
  if (size > head.size) return broken("TRUNCATED", `${size} entries`, `${head.size}`);
  const fromTiles = await readGrowingTree(auditLog, tree, size);
  const isByTiles = fromTiles?.root() === root;
  const growing = isByTiles ? fromTiles : await treeOfEntries(auditLog, tree, size);
  if (growing.root() !== root) return broken("ROOT_MISMATCH", base64OfHash(root), base64OfHash(growing.root()));
  const recent = isByTiles ? await recentTree(ports, tree, { size, root }, head) : undefined;
  return after(ports, head, { tree, growing, last: { size, root } }, signers.hasNext, recent);
}

/** The tree up to the signed root a second time, its end from the entries themselves: tiles that are right say nothing about those. */
interface RecentTree {
  /** Undefined when the tiles do not have what lies before. */
  readonly frontier: Frontier | undefined;
  fault(): Promise<AuditFault | undefined>;
}

/** Where reading begins: the last signed entry is always read. */
function firstRecent(signedSize: number, head: AuditHead): number {
  return Math.max(0, Math.min(signedSize - 1, head.size - recentEntries));
}

async function recentTree(
  { auditLog }: RestorePorts,
  tree: TreeHash,
  signed: SignedHead,
  head: AuditHead,
): Promise<RecentTree> {
  const begin = firstRecent(signed.size, head);
  const hashes = await readLeft(auditLog, tree, begin, signed.size);
  const frontier = hashes === undefined ? undefined : createFrontier(tree, { size: begin, hashes });
  return {
    frontier,
    async fault() {
      if (frontier?.root() === signed.root) return undefined;
      // Tiles are derived: before the entries are blamed, all of them are asked.
      const found = (await treeOfEntries(auditLog, tree, signed.size)).root();
      if (found === signed.root) return undefined;
      const [expected, actual] = [base64OfHash(signed.root), base64OfHash(found)];
      return { code: "ROOT_MISMATCH", sequence: signed.size, expected, actual };
    },
  };
}

type Signers =
  | { readonly hasNext: boolean }
  | {
      readonly code: "SIGNATURE_INVALID" | "KEY_OUT_OF_FORCE";
      readonly wrong: { readonly expected: string; readonly actual: string };
    };

/** Whether a key that may sign a checkpoint of this size has signed it, and whether the next key has as well. */
function signersOf({ ring, next, verifySignature }: RestorePorts, { checkpoint, note }: CheckpointNote): Signers {
  if (ring === undefined) return { hasNext: false };
  const known = keysKnown(ring);
  const opened = openNote(note, next === undefined ? known : [...known, next], verifySignature);
  const inForce = keysInForce(ring, checkpoint.size);
  const expected = `the signature of ${inForce.map(({ id }) => id).join(" or ") || "a key in force"}`;
  const actual = note.signatures.map(({ keyId }) => keyId).join(", ");
  if (opened.kind !== "opened") return { code: "SIGNATURE_INVALID", wrong: { expected, actual } };
  const isInForce = opened.signedBy.some((key) => inForce.some(({ vkey }) => vkey === key.vkey));
  if (!isInForce) return { code: "KEY_OUT_OF_FORCE", wrong: { expected, actual } };
  return { hasNext: opened.signedBy.some(({ vkey }) => vkey === next?.vkey) };
}

/** Every entry read again: for a log whose tiles are gone or wrong. */
export async function treeOfEntries(
  auditLog: Pick<AuditLog, "read">,
  tree: TreeHash,
  size: number,
): Promise<GrowingTree> {
  const growing = createGrowingTree(tree);
  while (growing.size < size) {
    const rows = await auditLog.read(growing.size, Math.min(pageRows, size - growing.size));
    if (rows.length === 0) return growing;
    for (const { text } of rows) growing.append(tree.leaf(text));
  }
  return growing;
}

/** The newest entries, each as a link of the chain; those before the checkpoint must be the leaves that were signed. */
async function after(
  { auditLog, sha256, origin }: RestorePorts,
  head: AuditHead,
  signed: Pick<Restored, "tree" | "growing" | "last">,
  handedOver = false,
  recent?: RecentTree,
): Promise<Restored> {
  const { tree, growing } = signed;
  const signedSize = growing.size;
  const chain = createChainCheck({ sha256, from: firstRecent(signedSize, head), origin });
  let rotation: OpenRotation | undefined;
  const ended = (fault?: AuditFault): Restored => ({ ...signed, handedOver, rotation, fault });
  const look = (text: Uint8Array): AuditFault | undefined => {
    const sequence = chain.sequence;
    const fault = chain.next(text);
    if (fault !== undefined) return fault;
    const leaf = tree.leaf(text);
    if (sequence < signedSize) {
      recent?.frontier?.append(leaf);
      return undefined;
    }
    growing.append(leaf);
    const change = keyChangeOf(text, sequence, origin, sha256);
    if (change === undefined) return undefined;
    if ("fault" in change) return change.fault;
    const { newKey } = change.kind === "rotated" ? change : {};
    if (newKey !== undefined) rotation = { sequence, newKey, head: { size: growing.size, root: growing.root() } };
    return undefined;
  };
  while (chain.sequence < head.size) {
    const at = chain.sequence;
    const rows = await auditLog.read(at, Math.min(pageRows, head.size - at));
    if (rows.length === 0) {
      return ended({ code: "TRUNCATED", sequence: at, expected: `${head.size} entries`, actual: `${at}` });
    }
    for (const { text } of rows) {
      const fault = look(text);
      if (fault !== undefined) return ended(fault);
    }
  }
  if (head.size > 0 && chain.hash !== head.hash) {
    const actual = `the head says ${head.hash}`;
    return ended({ code: "HASH_MISMATCH", sequence: head.size - 1, expected: chain.hash ?? "a hash", actual });
  }
  return ended(await recent?.fault());
}

/** The name that entry 0 gives; undefined when it is none. */
export async function originOf(auditLog: Pick<AuditLog, "read">): Promise<string | undefined> {
  const [row] = await auditLog.read(0, 1);
  const origin = row === undefined ? undefined : readEntry(row.text)?.data["origin"];
  return typeof origin === "string" ? origin : undefined;
}

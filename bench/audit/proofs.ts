// How large the proof of one entry is and how long it takes to make one: a tree is grown to its largest size, its tiles are kept in the database as the
// service keeps them, and proofs of entries at random places are made from tiles that are read for each anew. Counted is the proof as a
// file, checkpoint included and the entry itself not.
import type { DatabaseAddress } from "../../adapters/postgres/connection.ts";
import { systemSha256OfBytes as sha256 } from "../../adapters/system/signing.ts";
import { signCheckpoint } from "../../core/audit/checkpoint.ts";
import type { Hash } from "../../core/audit/hash.ts";
import { createTreeHash, spanHash, type TreeHash } from "../../core/audit/merkle.ts";
import { inclusionSpans, verifyInclusion } from "../../core/audit/proof.ts";
import { tilesForInclusion } from "../../core/audit/tiles.ts";
import { writeTlogProof } from "../../core/audit/tlog-proof.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import { createGrowingTree, hashesOf } from "../../services/operations/audit/log/growing-tree.ts";
import { logSigner } from "../../testkit/audit/keys.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { median } from "../bus/contender.ts";
import { openLogStore } from "./fixture.ts";

export interface ProofFigure {
  readonly bytes: number;
  readonly ms: number;
}

const origin = "portcullis/audit/00000000-0000-4000-8000-000000000009";
const seed = 20_261_115;

export async function measureProofs(
  address: DatabaseAddress,
  sizes: readonly number[],
  proofsPerSize: number,
  signal: AbortSignal,
): Promise<Readonly<Record<string, ProofFigure>>> {
  const { auditLog, close } = openLogStore(address);
  try {
    const tree = createTreeHash(sha256);
    const roots = await grow(auditLog, tree, sizes, signal);
    const figures: Record<string, ProofFigure> = {};
    for (const size of sizes) {
      const root = roots.get(size);
      if (root === undefined) throw new Error(`the tree of ${size} was not grown`);
      figures[size] = await proofsOf({ auditLog, tree, size, root }, proofsPerSize, signal);
    }
    return figures;
  } finally {
    await close();
  }
}

/** The leaf of entry n: what is in it does not matter to a proof. */
function leafOf(n: number): Hash {
  return sha256(Buffer.from(`entry ${n}`)) as Hash;
}

async function grow(auditLog: AuditLog, tree: TreeHash, sizes: readonly number[], signal: AbortSignal) {
  const growing = createGrowingTree(tree);
  const roots = new Map<number, Hash>();
  const wanted = new Set(sizes);
  for (let size = 1; size <= Math.max(...sizes); size += 1) {
    growing.append(leafOf(size - 1));
    if (wanted.has(size)) roots.set(size, growing.root());
    if (size % 100_000 !== 0 && !wanted.has(size)) continue;
    signal.throwIfAborted();
    const tiles = growing.unsaved();
    await auditLog.putTiles(tiles);
    growing.saved(tiles);
  }
  return roots;
}

interface Grown {
  readonly auditLog: AuditLog;
  readonly tree: TreeHash;
  readonly size: number;
  readonly root: Hash;
}

async function proofsOf({ auditLog, tree, size, root }: Grown, count: number, signal: AbortSignal) {
  const thrown = prng(seed);
  const note = signCheckpoint({ origin, size, root }, [logSigner(origin, 9)]);
  const times: number[] = [];
  let bytes = 0;
  for (let turn = 0; turn < count; turn += 1) {
    signal.throwIfAborted();
    const index = thrown.below(size);
    const began = performance.now();
    const hashAt = await hashesOf(auditLog, tree, tilesForInclusion(index, size), size);
    if (hashAt === undefined) throw new Error("a tile is missing");
    const proof = inclusionSpans(index, size).map((span) => spanHash(tree, span, hashAt));
    const file = writeTlogProof({ index, hashes: proof, note });
    times.push(performance.now() - began);
    bytes = Math.max(bytes, Buffer.byteLength(file));
    const isGood = verifyInclusion(tree, { leaf: leafOf(index), index, size, root, proof });
    if (!isGood) throw new Error(`the proof of entry ${index} in a tree of ${size} does not verify`);
  }
  return { bytes, ms: Math.round(median(times) * 1_000) / 1_000 };
}

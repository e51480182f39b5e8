// The tree over the log as it grows, and its tiles: in memory only the right edge is kept, a partial tile for each level. What is full is handed out
// to be stored; what is stored can be read back into a tree that goes on growing.
import { createFrontier } from "../../../../core/audit/frontier.ts";
import type { Hash } from "../../../../core/audit/hash.ts";
import { type HashAt, perfectSubtrees, spanHash, type TreeHash } from "../../../../core/audit/merkle.ts";
import { consistencySpans } from "../../../../core/audit/proof.ts";
import {
  decodeTile,
  encodeTile,
  hashAtOfTiles,
  type Tile,
  tileOf,
  tilePath,
  tilesForConsistency,
  tileWidthMax,
} from "../../../../core/audit/tiles.ts";
import type { AuditLog, StoredTile } from "../../../../ports/audit-log.ts";

export interface GrowingTree {
  readonly size: number;
  append(leaf: Hash): void;
  root(): Hash;
  /** Every tile that is new or wider since `saved` was last called. */
  unsaved(): readonly StoredTile[];
  saved(tiles: readonly StoredTile[]): void;
}

const hashBytes = 32;

/** An empty tree, or one whose right edge is given: the hashes of the partial tile of each level. */
export function createGrowingTree(tree: TreeHash, size = 0, edge: readonly (readonly Hash[])[] = []): GrowingTree {
  const rows: Hash[][] = edge.map((row) => [...row]);
  const full = new Map<string, StoredTile>();
  /** How wide the last tile of each level was when it was last saved, and which it was. */
  const savedEdge = rows.map((row, level) => ({ index: indexOf(size, level), width: row.length }));
  const hashAt = hashAtOfTiles(tree, size, ({ level }) => rows[level] ?? []);
  const hashes = perfectSubtrees({ start: 0, end: size }).map(({ level, index }) => hashAt(level, index));

  const frontier = createFrontier(tree, { size, hashes }, (level, index, hash) => {
    if (level % 8 !== 0) return;
    const height = level / 8;
    while (rows.length <= height) rows.push([]);
    const row = rows[height];
    row?.push(hash);
    if (row === undefined || row.length < tileWidthMax) return;
    const tile = { level: height, index: Math.floor(index / tileWidthMax), hashes: encodeTile(row) };
    full.set(`${tile.level}/${tile.index}`, tile);
    rows[height] = [];
  });

  return {
    get size() {
      return frontier.size;
    },
    append: (leaf) => frontier.append(leaf),
    root: () => frontier.root(),
    unsaved() {
      const tiles = [...full.values()];
      for (const [level, row] of rows.entries()) {
        const index = indexOf(frontier.size, level);
        const last = savedEdge[level];
        const widthSaved = last?.index === index ? last.width : 0;
        if (row.length > widthSaved) tiles.push({ level, index, hashes: encodeTile(row) });
      }
      return tiles;
    },
    saved(tiles) {
      for (const tile of tiles) {
        const width = tile.hashes.length / hashBytes;
        if (width === tileWidthMax) full.delete(`${tile.level}/${tile.index}`);
        else savedEdge[tile.level] = { index: tile.index, width };
      }
    },
  };
}

/** The number of the last, partial tile of a level. */
function indexOf(size: number, level: number): number {
  return Math.floor(Math.floor(size / tileWidthMax ** level) / tileWidthMax);
}

/** The tree of that size from its stored tiles; undefined when one of them is missing or too narrow. */
export async function readGrowingTree(
  log: Pick<AuditLog, "readTiles">,
  tree: TreeHash,
  size: number,
): Promise<GrowingTree | undefined> {
  const edge: Hash[][] = [];
  const partial: Tile[] = [];
  for (let level = 0, count = size; count > 0; level += 1, count = Math.floor(count / tileWidthMax)) {
    const width = count % tileWidthMax;
    edge.push([]);
    if (width > 0) partial.push({ level, index: Math.floor(count / tileWidthMax), width });
  }
  const rows = await readTileHashes(log, partial);
  if (rows === undefined) return undefined;
  for (const [at, { level }] of partial.entries()) edge[level] = [...(rows[at] ?? [])];
  return createGrowingTree(tree, size, edge);
}

/**
 * The hashes of each tile; undefined when one is missing or too narrow. A stored tile may be wider than it was at the size that is asked about;
 * what it had then is its beginning.
 */
async function readTileHashes(
  log: Pick<AuditLog, "readTiles">,
  tiles: readonly Tile[],
): Promise<readonly (readonly Hash[])[] | undefined> {
  const stored = tiles.length === 0 ? [] : await log.readTiles(tiles);
  const rows: (readonly Hash[])[] = [];
  for (const [at, { width }] of tiles.entries()) {
    const hashes = stored[at];
    if (hashes === undefined || hashes.length < width * hashBytes) return undefined;
    const row = decodeTile(hashes.subarray(0, width * hashBytes), width);
    if (row === undefined) return undefined;
    rows.push(row);
  }
  return rows;
}

/** The hashes of these tiles as a function of places in the tree of that size; undefined when one cannot be read. */
export async function hashesOf(
  log: Pick<AuditLog, "readTiles">,
  tree: TreeHash,
  tiles: readonly Tile[],
  size: number,
): Promise<HashAt | undefined> {
  const rows = await readTileHashes(log, tiles);
  if (rows === undefined) return undefined;
  const read = new Map<string, readonly Hash[]>(tiles.map((tile, at) => [tilePath(tile), rows[at] ?? []]));
  return hashAtOfTiles(tree, size, (tile) => read.get(tilePath(tile)) ?? []);
}

/** The proof that the tree of `first` is the beginning of that of `second`, from stored tiles; undefined when they cannot be read. */
export async function readConsistencyProof(
  log: Pick<AuditLog, "readTiles">,
  tree: TreeHash,
  first: number,
  second: number,
): Promise<readonly Hash[] | undefined> {
  const hashAt = await hashesOf(log, tree, tilesForConsistency(first, second), second);
  if (hashAt === undefined) return undefined;
  return consistencySpans(first, second).map((span) => spanHash(tree, span, hashAt));
}

/** The hashes of the perfect subtrees that make up `[0, from)` in a tree of that size, largest first; undefined when they cannot be read. */
export async function readLeft(
  log: Pick<AuditLog, "readTiles">,
  tree: TreeHash,
  from: number,
  size: number,
): Promise<readonly Hash[] | undefined> {
  const subtrees = perfectSubtrees({ start: 0, end: from });
  const tiles = subtrees.map(({ level, index }) => tileOf(level, index, size).tile);
  const hashAt = await hashesOf(log, tree, tiles, size);
  return hashAt === undefined ? undefined : subtrees.map(({ level, index }) => hashAt(level, index));
}

/** Whether a stored tile begins with these hashes. */
export function beginsWith(stored: Uint8Array | undefined, expected: Uint8Array): boolean {
  if (stored === undefined || stored.length < expected.length) return false;
  return expected.every((byte, at) => stored[at] === byte);
}

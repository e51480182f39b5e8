// The tree cut into tiles of 256 hashes, as C2SP tlog-tiles has it: files that never change once they are full, from which anybody computes any proof.
// Tile n of level l holds the hashes of the perfect subtrees of level 8 l from number 256 n on. Of a tree that is still growing the last tile
// of a level is partial, and its width stands in its path. Entry bundles hold the texts under the same numbers.
import { textBytesMax } from "./canonical/canonical-json.ts";
import { asHash, bytesOfHash, type Hash, hashLength, textOfBytes } from "./hash.ts";
import { type HashAt, isSize, perfectSubtrees, type Span, type TreeHash } from "./merkle.ts";
import { consistencySpans, inclusionSpans } from "./proof.ts";

export const tileWidthMax = 256;
const levelsPerTile = 8;
const levelMax = 63;

export interface Tile {
  readonly level: number;
  readonly index: number;
  /** 1 to 256 hashes; fewer than 256 is a partial tile. */
  readonly width: number;
}

/** A bundle of entries has the number and the width of its tile of level 0. */
type EntryBundle = Omit<Tile, "level">;

type TilePath = ({ readonly kind: "tile" } & Tile) | ({ readonly kind: "entries" } & EntryBundle);

/** How wide a tile is in a tree of this size; 0 when there is none. */
export function tileWidth(size: number, level: number, index: number): number {
  const hashes = Math.floor(size / tileWidthMax ** level);
  return Math.max(0, Math.min(tileWidthMax, hashes - index * tileWidthMax));
}

export function tilePath({ level, index, width }: Tile): string {
  return `tile/${level}/${numberPath(index, width)}`;
}

function numberPath(index: number, width: number): string {
  if (!isSize(index)) throw new RangeError(`${index} is not the number of a tile`);
  if (!Number.isInteger(width) || width < 1 || width > tileWidthMax) throw new RangeError(`no tile is ${width} wide`);
  const groups: string[] = [String(index % 1_000).padStart(3, "0")];
  for (let rest = Math.floor(index / 1_000); rest > 0; rest = Math.floor(rest / 1_000)) {
    groups.unshift(`x${String(rest % 1_000).padStart(3, "0")}`);
  }
  return groups.join("/") + (width === tileWidthMax ? "" : `.p/${width}`);
}

const pathText = /^tile\/(entries|0|[1-9][0-9]?)\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

/** What a path asks for; undefined unless it is the one way to write it. */
export function readTilePath(path: string): TilePath | undefined {
  const [, place, number = "", partial] = pathText.exec(path) ?? [];
  if (place === undefined || number.startsWith("x000")) return undefined;
  const index = Number(number.replaceAll(/[x/]/g, ""));
  const width = partial === undefined ? tileWidthMax : Number(partial);
  if (!isSize(index) || (partial !== undefined && width >= tileWidthMax)) return undefined;
  if (place === "entries") return { kind: "entries", index, width };
  return Number(place) > levelMax ? undefined : { kind: "tile", level: Number(place), index, width };
}

export function encodeTile(hashes: readonly Hash[]): Uint8Array {
  if (hashes.length < 1 || hashes.length > tileWidthMax) throw new RangeError(`no tile is ${hashes.length} wide`);
  const bytes = new Uint8Array(hashes.length * hashLength);
  for (const [at, hash] of hashes.entries()) bytes.set(bytesOfHash(hash), at * hashLength);
  return bytes;
}

/** The hashes of a tile; undefined when it is not exactly as wide as it should be. */
export function decodeTile(bytes: Uint8Array, width: number): Hash[] | undefined {
  if (width < 1 || width > tileWidthMax || bytes.length !== width * hashLength) return undefined;
  // All at once and then cut: a text of its own for each takes four times as long.
  const whole = textOfBytes(bytes);
  return Array.from({ length: width }, (_, at) => asHash(whole.slice(at * hashLength, (at + 1) * hashLength)));
}

export function encodeEntries(texts: readonly Uint8Array[]): Uint8Array {
  if (texts.length < 1 || texts.length > tileWidthMax) throw new RangeError(`no bundle holds ${texts.length} entries`);
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + 2 + text.length, 0));
  let at = 0;
  for (const text of texts) {
    if (text.length > textBytesMax) throw new RangeError(`an entry of ${text.length} bytes`);
    bytes[at] = text.length >> 8;
    bytes[at + 1] = text.length & 0xff;
    bytes.set(text, at + 2);
    at += 2 + text.length;
  }
  return bytes;
}

/** The texts of a bundle; undefined when it does not hold exactly so many and nothing else. */
export function decodeEntries(bytes: Uint8Array, width: number): Uint8Array[] | undefined {
  if (width < 1 || width > tileWidthMax) return undefined;
  const texts: Uint8Array[] = [];
  let at = 0;
  while (texts.length < width) {
    const high = bytes[at];
    const low = bytes[at + 1];
    if (high === undefined || low === undefined) return undefined;
    // Past the end nothing is read, and the end is then not met.
    const end = at + 2 + high * 256 + low;
    texts.push(bytes.slice(at + 2, end));
    at = end;
  }
  return at === bytes.length ? texts : undefined;
}

/** Which tile of a tree of this size holds a perfect subtree, and which of its hashes make it up. */
export function tileOf(level: number, index: number, size: number): { tile: Tile; first: number; count: number } {
  const tileLevel = Math.floor(level / levelsPerTile);
  const count = 2 ** (level % levelsPerTile);
  const start = index * count;
  const tileIndex = Math.floor(start / tileWidthMax);
  const width = tileWidth(size, tileLevel, tileIndex);
  const first = start - tileIndex * tileWidthMax;
  if (!isSize(level) || !isSize(index) || first + count > width) {
    throw new RangeError(`subtree ${index} of level ${level} is not full in a tree of ${size}`);
  }
  return { tile: { level: tileLevel, index: tileIndex, width }, first, count };
}

/** Hashes of perfect subtrees, computed from the tiles of a tree of this size. `read` gives the hashes of a tile, all of them. */
export function hashAtOfTiles(tree: TreeHash, size: number, read: (tile: Tile) => readonly Hash[]): HashAt {
  return (level, index) => {
    const { tile, first, count } = tileOf(level, index, size);
    const hashes = read(tile);
    if (hashes.length !== tile.width) throw new RangeError(`${tilePath(tile)} has ${hashes.length} hashes`);
    let row = hashes.slice(first, first + count);
    while (row.length > 1) row = pairs(tree, row);
    const [hash] = row;
    if (hash === undefined) throw new RangeError(`${tilePath(tile)} has no hash ${first}`);
    return hash;
  };
}

function pairs(tree: TreeHash, row: readonly Hash[]): Hash[] {
  const above: Hash[] = [];
  for (let at = 0; at + 1 < row.length; at += 2) {
    const [left, right] = [row[at], row[at + 1]];
    if (left !== undefined && right !== undefined) above.push(tree.node(left, right));
  }
  return above;
}

/** The tiles to fetch before a proof can be computed, each once. */
export function tilesForInclusion(index: number, size: number): Tile[] {
  return tilesOfSpans(inclusionSpans(index, size), size);
}

export function tilesForConsistency(first: number, second: number): Tile[] {
  return tilesOfSpans(consistencySpans(first, second), second);
}

/** The tiles whose hashes make up any part of a tree of this size; of `[0, size)` they give the root. */
export function tilesForSpan(span: Span, size: number): Tile[] {
  return tilesOfSpans([span], size);
}

function tilesOfSpans(spans: readonly Span[], size: number): Tile[] {
  const tiles = new Map<string, Tile>();
  for (const span of spans) {
    for (const { level, index } of perfectSubtrees(span)) {
      const { tile } = tileOf(level, index, size);
      tiles.set(tilePath(tile), tile);
    }
  }
  return [...tiles.values()];
}

// Tiles against the tree they are cut from: paths, widths, bytes, and proofs that are computed from nothing but tiles.
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createFrontier } from "./frontier.ts";
import type { Hash } from "./hash.ts";
import { createTreeHash, spanHash } from "./merkle.ts";
import { consistencyProof, inclusionProof, verifyConsistency, verifyInclusion } from "./proof.ts";
import {
  decodeEntries,
  decodeTile,
  encodeEntries,
  encodeTile,
  hashAtOfTiles,
  readTilePath,
  type Tile,
  tileOf,
  tilePath,
  tilesForConsistency,
  tilesForInclusion,
  tilesForSpan,
  tileWidth,
} from "./tiles.ts";

const tree = createTreeHash((content) => hash("sha256", content, "binary"));
const sizeMax = 66_000;

const kept = new Map<string, Hash>();
const roots: Hash[] = [tree.empty];
const frontier = createFrontier(tree, undefined, (level, index, full) => kept.set(`${level}/${index}`, full));
// Leaves repeat, but never at the same place of a tile.
const leaves = Array.from({ length: 251 }, (_, index) => tree.leaf(Uint8Array.of(index)));
for (let index = 0; index < sizeMax; index += 1) {
  frontier.append(leaves[index % leaves.length] ?? tree.empty);
  if (index < 2_000) roots.push(frontier.root());
}
const keptAt = (level: number, index: number): Hash => kept.get(`${level}/${index}`) ?? tree.empty;

/** Only what the list names can be read, through its bytes. */
function reader(tiles: readonly Tile[]): (tile: Tile) => readonly Hash[] {
  const files = new Map(
    tiles.map((tile) => {
      const hashes = Array.from({ length: tile.width }, (_, at) => keptAt(8 * tile.level, tile.index * 256 + at));
      return [tilePath(tile), encodeTile(hashes)];
    }),
  );
  const read = new Map<string, readonly Hash[]>();
  return (tile) => {
    const path = tilePath(tile);
    const hashes = read.get(path) ?? decodeTile(files.get(path) ?? new Uint8Array(0), tile.width) ?? [];
    read.set(path, hashes);
    return hashes;
  };
}

describe("tiles", () => {
  it("have the widths of the published example: 70,000 entries", () => {
    expect([0, 1, 272, 273, 274].map((index) => tileWidth(70_000, 0, index))).toEqual([256, 256, 256, 112, 0]);
    expect([0, 1, 2].map((index) => tileWidth(70_000, 1, index))).toEqual([256, 17, 0]);
    expect([0, 1].map((index) => tileWidth(70_000, 2, index))).toEqual([1, 0]);
    expect(tileWidth(70_000, 3, 0)).toBe(0);
    expect([0, 1].map((level) => tileWidth(256, level, 0))).toEqual([256, 1]);
    expect(tileWidth(0, 0, 0)).toBe(0);
  });

  it("have one path each, and no other text is one", () => {
    expect(tilePath({ level: 0, index: 1_234_067, width: 256 })).toBe("tile/0/x001/x234/067");
    expect(tilePath({ level: 5, index: 67, width: 12 })).toBe("tile/5/067.p/12");
    expect(readTilePath("tile/entries/x001/067.p/255")).toEqual({ kind: "entries", index: 1_067, width: 255 });
    for (const index of [0, 7, 999, 1_000, 999_999, 1_000_000, 123_456_789, 35_184_372_088_831]) {
      for (const width of [1, 99, 255, 256]) {
        expect(readTilePath(tilePath({ level: 3, index, width }))).toEqual({ kind: "tile", level: 3, index, width });
        const entries = tilePath({ level: 3, index, width }).replace("/3/", "/entries/");
        expect(readTilePath(entries)).toEqual({ kind: "entries", index, width });
      }
    }
    const wrong = [
      "",
      "tile",
      "tile/0",
      "tile/0/",
      "tile/0/1",
      "tile/0/0001",
      "tile/00/001",
      "tile/64/001",
      "tile/100/001",
      "tile/-1/001",
      "tile/0/x001",
      "tile/0/x000/001",
      "tile/0/001/002",
      "tile/0/x1/001",
      "tile/0/001.p/0",
      "tile/0/001.p/256",
      "tile/0/001.p/01",
      "tile/0/001.p/",
      "tile/0/001.p/1/",
      "tile/0/001/",
      "/tile/0/001",
      "tile/0/001\n",
      "tile/0/ 001",
      "tile/0/../001",
      "tile/entries",
      "tile/Entries/001",
      "tile/0/x999/x999/x999/x999/x999/999",
      "tile/0/x001/x001/x001/x001/x001/x001/001",
    ];
    for (const path of wrong) expect(readTilePath(path), path).toBeUndefined();
    expect(() => tilePath({ level: 0, index: -1, width: 1 })).toThrow(RangeError);
    expect(() => tilePath({ level: 0, index: 1, width: 257 })).toThrow(RangeError);
  });

  it("decode only at their exact width", () => {
    const bytes = encodeTile([keptAt(0, 0), keptAt(0, 1)]);
    expect(decodeTile(bytes, 2)).toEqual([keptAt(0, 0), keptAt(0, 1)]);
    for (const width of [0, 1, 3]) expect(decodeTile(bytes, width)).toBeUndefined();
    expect(decodeTile(bytes.subarray(1), 2)).toBeUndefined();
    expect(() => encodeTile([])).toThrow(RangeError);
  });

  it("of entries keep every text, A27 up to 65,535 bytes, and decode only whole", () => {
    const texts = [new Uint8Array(0), Uint8Array.of(1, 2, 3), new Uint8Array(65_535).fill(7)];
    const bytes = encodeEntries(texts);
    const decoded = decodeEntries(bytes, 3) ?? [];
    expect(decoded).toHaveLength(3);
    for (const [at, text] of decoded.entries()) expect(Buffer.compare(text, texts[at] ?? text)).toBe(0);
    expect(decoded[2]).toHaveLength(65_535);
    for (const width of [0, 2, 4, 257]) expect(decodeEntries(bytes, width)).toBeUndefined();
    for (const cut of [1, 3, 65_535, 65_536])
      expect(decodeEntries(bytes.subarray(0, bytes.length - cut), 3)).toBeUndefined();
    expect(decodeEntries(Uint8Array.from([...bytes.subarray(0, 7), 0]), 2)).toBeUndefined();
    expect(() => encodeEntries([new Uint8Array(65_536)])).toThrow(RangeError);
    expect(() => encodeEntries([])).toThrow(RangeError);
  });

  it("give the same roots and proofs as the tree, from the tiles that were asked for and no others", () => {
    for (const size of [1, 2, 255, 256, 257, 511, 513, 1_999, 65_536, 65_793, sizeMax]) {
      const root = spanHash(tree, { start: 0, end: size }, keptAt);
      if (size < roots.length) expect(root).toBe(roots[size]);
      const rootTiles = tilesForSpan({ start: 0, end: size }, size);
      expect(spanHash(tree, { start: 0, end: size }, hashAtOfTiles(tree, size, reader(rootTiles)))).toBe(root);
      for (const index of [0, 1, 254, 255, 256, 1_000, 65_535, 65_792, size - 1]) {
        if (index >= size) continue;
        const fromTiles = hashAtOfTiles(tree, size, reader(tilesForInclusion(index, size)));
        const proof = inclusionProof(tree, index, size, fromTiles);
        expect(proof).toEqual(inclusionProof(tree, index, size, keptAt));
        expect(verifyInclusion(tree, { leaf: keptAt(0, index), index, size, root, proof })).toBe(true);
        const first = index + 1;
        const between = hashAtOfTiles(tree, size, reader(tilesForConsistency(first, size)));
        const firstRoot = spanHash(tree, { start: 0, end: first }, keptAt);
        const claim = { first, firstRoot, second: size, secondRoot: root };
        expect(verifyConsistency(tree, { ...claim, proof: consistencyProof(tree, first, size, between) })).toBe(true);
      }
    }
  });

  it("hold no subtree that is not full, and a tile of another width is not read", () => {
    expect(() => tileOf(0, 5, 5)).toThrow(RangeError);
    expect(() => tileOf(3, 0, 7)).toThrow(RangeError);
    expect(() => hashAtOfTiles(tree, 5, () => [keptAt(0, 0)])(0, 0)).toThrow(RangeError);
  });
});

// The tree against a definition that is as plain as RFC 6962 writes it down, for every size up to 64: roots, proofs, parts of a bundle; and every
// way to present a proof that is none.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { closeWithRight, createFrontier, rootOfParts } from "./frontier.ts";
import { asHash, bytesOfHash, type Hash, hashOfBytes, hashOfHex, hexOfHash } from "./hash.ts";
import { createTreeHash, leafHash, nodeHash, perfectSubtrees, spanHash } from "./merkle.ts";
import { consistencyProof, inclusionProof, verifyConsistency, verifyInclusion } from "./proof.ts";

const sha256 = (content: Uint8Array): string => hash("sha256", content, "binary");
const tree = createTreeHash(sha256);
const sizeMax = 64;

/** MTH of RFC 6962, word for word; a part that was computed once is looked up. */
function plainRoot(start: number, end: number): Hash {
  if (start === end) return asHash(sha256(new Uint8Array(0)));
  if (end - start === 1) return leafOf(start);
  const place = `${start}-${end}`;
  const middle = start + powerBelow(end - start);
  const found = known.get(place) ?? nodeHash(plainRoot(start, middle), plainRoot(middle, end), sha256);
  known.set(place, found);
  return found;
}

function plainPath(m: number, start: number, end: number): Hash[] {
  if (end - start <= 1) return [];
  const middle = start + powerBelow(end - start);
  return m < middle
    ? [...plainPath(m, start, middle), plainRoot(middle, end)]
    : [...plainPath(m, middle, end), plainRoot(start, middle)];
}

function plainConsistency(m: number, start: number, end: number, isWhole: boolean): Hash[] {
  if (m === end) return isWhole ? [] : [plainRoot(start, end)];
  const middle = start + powerBelow(end - start);
  return m <= middle
    ? [...plainConsistency(m, start, middle, isWhole), plainRoot(middle, end)]
    : [...plainConsistency(m, middle, end, false), plainRoot(start, middle)];
}

function powerBelow(n: number): number {
  return 2 ** Math.floor(Math.log2(n - 1));
}

const known = new Map<string, Hash>();
const leaves = Array.from({ length: sizeMax }, (_, index) => leafHash(Uint8Array.of(index, 7), sha256));
const leafOf = (index: number): Hash => leaves[index] ?? tree.empty;
const rootOf = (size: number): Hash => plainRoot(0, size);
const hashAt = (level: number, index: number): Hash => plainRoot(index * 2 ** level, (index + 1) * 2 ** level);
const other = leafHash(Uint8Array.of(1, 2, 3), sha256);

describe("the tree", () => {
  it("has the roots of RFC 6962 for sizes 0 to 8", () => {
    const golden = JSON.parse(readFileSync(new URL("golden/rfc6962.json", import.meta.url), "utf8")) as {
      leaves: string[];
      roots: string[];
    };
    const frontier = createFrontier(tree);
    const found = [hexOfHash(frontier.root())];
    for (const leaf of golden.leaves) {
      frontier.append(tree.leaf(Buffer.from(leaf, "hex")));
      found.push(hexOfHash(frontier.root()));
    }
    expect(found).toEqual(golden.roots);
  });

  it("grows leaf by leaf as defined, from any snapshot on, and tells of every full subtree once", () => {
    const reported = new Map<string, Hash>();
    const frontier = createFrontier(tree, undefined, (level, index, full) => {
      expect(reported.has(`${level}/${index}`)).toBe(false);
      reported.set(`${level}/${index}`, full);
    });
    for (let size = 0; size <= sizeMax; size += 1) {
      expect(frontier.size).toBe(size);
      expect(frontier.root()).toBe(rootOf(size));
      const restored = createFrontier(tree, frontier.snapshot());
      for (const leaf of leaves.slice(size)) restored.append(leaf);
      expect(restored.root()).toBe(rootOf(sizeMax));
      if (size < sizeMax) frontier.append(leafOf(size));
    }
    expect(reported.size).toBe(2 * sizeMax - 1);
    for (const [place, full] of reported) {
      const [level = 0, index = 0] = place.split("/").map(Number);
      expect(full).toBe(hashAt(level, index));
    }
  });

  it("refuses a snapshot that cannot be, and a subtree at a place that is not its own", () => {
    expect(() => createFrontier(tree, { size: 3, hashes: [other] })).toThrow(RangeError);
    expect(() => createFrontier(tree, { size: 2, hashes: [other, other] })).toThrow(RangeError);
    expect(() => createFrontier(tree, { size: -1, hashes: [] })).toThrow(RangeError);
    expect(() => createFrontier(tree, { size: 1, hashes: [other] }).appendSubtree(1, other)).toThrow(RangeError);
  });

  it("is made of left, entries and right, for every part of every tree, and of nothing more or less", () => {
    for (let size = 0; size <= sizeMax; size += 7) {
      for (let from = 0; from <= size; from += 3) {
        for (let end = from; end <= size; end += 5) {
          const left = perfectSubtrees({ start: 0, end: from }).map(({ level, index }) => hashAt(level, index));
          const right = perfectSubtrees({ start: end, end: size }).map(({ level, index }) => hashAt(level, index));
          const parts = { from, left, leaves: leaves.slice(from, end), right, size };
          expect(rootOfParts(tree, parts)).toBe(rootOf(size));
          expect(rootOfParts(tree, { ...parts, right: [...right, other] })).toBeUndefined();
          expect(rootOfParts(tree, { ...parts, left: [...left, other] })).toBeUndefined();
          expect(rootOfParts(tree, { ...parts, right: right.slice(1) })).toBe(
            right.length > 0 ? undefined : rootOf(size),
          );
          if (end > from)
            expect(rootOfParts(tree, { ...parts, leaves: [other, ...leaves.slice(from + 1, end)] })).not.toBe(
              rootOf(size),
            );
        }
      }
    }
    expect(
      rootOfParts(tree, { from: 2, left: [hashAt(1, 0)], leaves: leaves.slice(2, 5), right: [], size: 4 }),
    ).toBeUndefined();
    expect(rootOfParts(tree, { from: 5, left: [other, other], leaves: [], right: [], size: 4 })).toBeUndefined();
    expect(closeWithRight(createFrontier(tree), [], 1)).toBeUndefined();
    function* endless(): Generator<Hash> {
      for (let index = 0; index < 8; index += 1) yield leafOf(index);
      throw new Error("asked for more leaves than the tree has");
    }
    expect(rootOfParts(tree, { from: 0, left: [], leaves: endless(), right: [], size: 4 })).toBeUndefined();
  });

  it("knows the places of subtrees past 2^32", () => {
    expect(perfectSubtrees({ start: 0, end: 2 ** 52 + 1 })).toEqual([
      { level: 52, index: 0 },
      { level: 0, index: 2 ** 52 },
    ]);
    expect(spanHash(tree, { start: 0, end: 0 }, hashAt)).toBe(tree.empty);
    expect(() => perfectSubtrees({ start: 2, end: 1 })).toThrow(RangeError);
  });

  it("keeps hashes as they are through bytes and hex", () => {
    expect(hashOfBytes(bytesOfHash(other))).toBe(other);
    expect(hashOfHex(hexOfHash(other))).toBe(other);
    for (const wrong of ["", "A".repeat(64), "0".repeat(63), "0".repeat(65), "g".repeat(64)]) {
      expect(() => hashOfHex(wrong)).toThrow(RangeError);
    }
    expect(() => hashOfBytes(new Uint8Array(31))).toThrow(RangeError);
    expect(() => asHash("a")).toThrow(RangeError);
    expect(() => asHash("\u0100".repeat(32))).toThrow(RangeError);
  });
});

describe("proofs", () => {
  it("are those of RFC 6962 and verify, for every leaf of every tree up to 64", () => {
    for (let size = 1; size <= sizeMax; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const proof = inclusionProof(tree, index, size, hashAt);
        expect(proof).toEqual(plainPath(index, 0, size));
        const claim = { leaf: leafOf(index), index, size, root: rootOf(size), proof };
        expect(verifyInclusion(tree, claim)).toBe(true);
      }
    }
  });

  it("are those of RFC 6962 and verify, from every tree to every larger one up to 64", () => {
    for (let second = 0; second <= sizeMax; second += 1) {
      for (let first = 0; first <= second; first += 1) {
        const proof = consistencyProof(tree, first, second, hashAt);
        if (first > 0) expect(proof).toEqual(plainConsistency(first, 0, second, true));
        const claim = { first, firstRoot: rootOf(first), second, secondRoot: rootOf(second), proof };
        expect(verifyConsistency(tree, claim)).toBe(true);
      }
    }
  });

  it("A19 no other index, size, root or leaf, no hash more, less or changed", () => {
    for (let size = 1; size <= 18; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const proof = inclusionProof(tree, index, size, hashAt);
        const claim = { leaf: leafOf(index), index, size, root: rootOf(size), proof };
        for (let wrong = 0; wrong <= 18; wrong += 1) {
          if (wrong !== index && verifyInclusion(tree, { ...claim, index: wrong })) expect.fail(`index ${wrong}`);
          const sized = { ...claim, size: wrong, root: rootOf(wrong) };
          if (wrong !== size && verifyInclusion(tree, sized)) expect.fail(`size ${wrong}`);
        }
        expect(verifyInclusion(tree, { ...claim, leaf: other })).toBe(false);
        expect(verifyInclusion(tree, { ...claim, root: other })).toBe(false);
        for (let at = 0; at <= proof.length; at += 1) {
          expect(verifyInclusion(tree, { ...claim, proof: proof.toSpliced(at, 0, other) })).toBe(false);
          if (at === proof.length) continue;
          expect(verifyInclusion(tree, { ...claim, proof: proof.toSpliced(at, 1) })).toBe(false);
          expect(verifyInclusion(tree, { ...claim, proof: proof.with(at, other) })).toBe(false);
        }
      }
    }
  });

  it("A19 no other sizes or roots, no hash more, less or changed between two trees", () => {
    for (let second = 0; second <= 20; second += 1) {
      for (let first = 0; first <= second; first += 1) {
        const proof = consistencyProof(tree, first, second, hashAt);
        const claim = { first, firstRoot: rootOf(first), second, secondRoot: rootOf(second), proof };
        expect(verifyConsistency(tree, { ...claim, firstRoot: other })).toBe(false);
        expect(verifyConsistency(tree, { ...claim, secondRoot: other })).toBe(first === 0 && second > 0);
        expect(verifyConsistency(tree, { ...claim, firstRoot: other, secondRoot: other })).toBe(
          first === second && first > 0,
        );
        for (let wrong = 0; wrong <= 20; wrong += 1) {
          const isTrue = wrong === first || (wrong === second && proof.length === 0 && first === second);
          const swapped = { ...claim, first: wrong, firstRoot: rootOf(wrong) };
          if (!isTrue && !(wrong === 0 && proof.length === 0) && !(wrong === second && proof.length === 0)) {
            expect(verifyConsistency(tree, swapped)).toBe(false);
          }
        }
        for (let at = 0; at <= proof.length; at += 1) {
          expect(verifyConsistency(tree, { ...claim, proof: proof.toSpliced(at, 0, other) })).toBe(false);
          if (at === proof.length) continue;
          expect(verifyConsistency(tree, { ...claim, proof: proof.toSpliced(at, 1) })).toBe(false);
          expect(verifyConsistency(tree, { ...claim, proof: proof.with(at, other) })).toBe(false);
        }
      }
    }
    expect(
      verifyConsistency(tree, { first: 3, firstRoot: rootOf(3), second: 2, secondRoot: rootOf(2), proof: [] }),
    ).toBe(false);
  });

  it("A19 not more than 63 hashes, no numbers that are none", () => {
    const proof = Array.from({ length: 64 }, () => other);
    const sizes = [1, 2, 64, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER];
    for (const size of sizes)
      expect(verifyInclusion(tree, { leaf: other, index: 0, size, root: other, proof })).toBe(false);
    for (const size of [-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
      expect(verifyInclusion(tree, { leaf: other, index: 0, size, root: other, proof: [] })).toBe(false);
      expect(verifyInclusion(tree, { leaf: other, index: size, size: 5, root: other, proof: [] })).toBe(false);
      expect(verifyConsistency(tree, { first: size, firstRoot: other, second: 8, secondRoot: other, proof: [] })).toBe(
        false,
      );
      expect(verifyConsistency(tree, { first: 1, firstRoot: other, second: size, secondRoot: other, proof: [] })).toBe(
        false,
      );
    }
    expect(() => inclusionProof(tree, 4, 4, hashAt)).toThrow(RangeError);
    expect(() => consistencyProof(tree, 5, 4, hashAt)).toThrow(RangeError);
  });

  it("A19 no hash behind the root, whatever root is claimed then", () => {
    const [a, b] = [leafOf(0), leafOf(1)];
    expect(verifyInclusion(tree, { leaf: b, index: 0, size: 1, root: rootOf(2), proof: [a] })).toBe(false);
    const proof = [...consistencyProof(tree, 3, 4, hashAt), other];
    const [firstRoot, secondRoot] = [tree.node(other, rootOf(3)), tree.node(other, rootOf(4))];
    expect(verifyConsistency(tree, { first: 3, firstRoot, second: 4, secondRoot, proof })).toBe(false);
  });

  it("A19 a leaf is no node and a node is no leaf", () => {
    const [a, b] = [leafOf(0), leafOf(1)];
    const inner = tree.node(a, b);
    const smuggled = tree.leaf(Buffer.concat([bytesOfHash(a), bytesOfHash(b)]));
    expect(smuggled).not.toBe(inner);
    expect(verifyInclusion(tree, { leaf: smuggled, index: 0, size: 1, root: rootOf(2), proof: [] })).toBe(false);
    // An inner node in the place of a leaf passes only for another size, which the signed checkpoint names.
    expect(verifyInclusion(tree, { leaf: inner, index: 0, size: 4, root: rootOf(4), proof: [hashAt(1, 1)] })).toBe(
      false,
    );
  });
});

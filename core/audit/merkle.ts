// The tree of RFC 6962 over the texts of the entries. A part of the tree is known by the leaves it spans; every part falls apart into perfect
// subtrees, and those never change once they are full, which is why a few hashes stand for a whole log.
//
// Places and sizes are counted up to 2^53, past what bit operations hold: hence divisions.
import { asHash, bytesOfHash, type Hash, hashLength, type Sha256OfBytes } from "./hash.ts";

/** Leaf and node hashes. One is made once and used again: it keeps the bytes that it hands to SHA-256. */
export interface TreeHash {
  /** The root of the tree of no leaves. */
  readonly empty: Hash;
  leaf(text: Uint8Array): Hash;
  node(left: Hash, right: Hash): Hash;
}

/** A perfect subtree: `index` is its place among those of its level; level 0 are the leaves. */
interface Subtree {
  readonly level: number;
  readonly index: number;
}

/** Leaves from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The hash of a full perfect subtree, from wherever it is kept. */
export type HashAt = (level: number, index: number) => Hash;

export function createTreeHash(sha256: Sha256OfBytes): TreeHash {
  const pair = new Uint8Array(1 + 2 * hashLength);
  pair[0] = 1;
  let room = new Uint8Array(1_024);
  return {
    empty: asHash(sha256(new Uint8Array(0))),
    leaf(text) {
      if (room.length < text.length + 1) room = new Uint8Array(2 * (text.length + 1));
      room[0] = 0;
      room.set(text, 1);
      return asHash(sha256(room.subarray(0, text.length + 1)));
    },
    node(left, right) {
      for (let at = 0; at < hashLength; at += 1) {
        pair[1 + at] = left.charCodeAt(at);
        pair[1 + hashLength + at] = right.charCodeAt(at);
      }
      return asHash(sha256(pair));
    },
  };
}

/** The leaf of one text. */
export function leafHash(text: Uint8Array, sha256: Sha256OfBytes): Hash {
  const marked = new Uint8Array(1 + text.length);
  marked.set(text, 1);
  return asHash(sha256(marked));
}

/** The node above two hashes. */
export function nodeHash(left: Hash, right: Hash, sha256: Sha256OfBytes): Hash {
  const marked = new Uint8Array(1 + 2 * hashLength);
  marked[0] = 1;
  marked.set(bytesOfHash(left), 1);
  marked.set(bytesOfHash(right), 1 + hashLength);
  return asHash(sha256(marked));
}

export function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/**
 * The perfect subtrees that make up a span, from left to right, each as large as its place allows: at place p the largest power of two that
 * divides p and still fits. Of `[0, n)` these are the powers of two of n, the largest first.
 */
export function perfectSubtrees({ start, end }: Span): Subtree[] {
  if (!isSize(start) || !isSize(end) || start > end) throw new RangeError(`[${start}, ${end}) is not a span of leaves`);
  const subtrees: Subtree[] = [];
  let place = start;
  while (place < end) {
    let level = 0;
    let width = 1;
    while (place % (width * 2) === 0 && place + width * 2 <= end) {
      level += 1;
      width *= 2;
    }
    subtrees.push({ level, index: place / width });
    place += width;
  }
  return subtrees;
}

/** The hash of a span that is a part of a tree; of `[0, size)` it is the root. */
export function spanHash(tree: TreeHash, span: Span, hashAt: HashAt): Hash {
  const hashes = perfectSubtrees(span).map(({ level, index }) => hashAt(level, index));
  return hashes.length === 0 ? tree.empty : foldRight(tree, hashes);
}

/** Hashes of subtrees that grow smaller from left to right, joined from the right. */
export function foldRight(tree: TreeHash, hashes: readonly Hash[]): Hash {
  let joined: Hash | undefined;
  for (let at = hashes.length - 1; at >= 0; at -= 1) {
    const hash = hashes[at];
    if (hash !== undefined) joined = joined === undefined ? hash : tree.node(hash, joined);
  }
  return joined ?? tree.empty;
}

/** The largest power of two that is smaller than n, which is at least 2. */
export function splitOf(n: number): number {
  let power = 1;
  while (power * 2 < n) power *= 2;
  return power;
}

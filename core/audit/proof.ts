// Proofs of RFC 6962: that a leaf is in a tree, and that a tree is the beginning of another. A proof is first a list of spans, so that whoever
// keeps the hashes elsewhere can fetch them before anything is computed.
//
// Verifying follows the numbers, not the proof: how many hashes there must be, and on which side each stands, is fixed by index and sizes. One
// too many, one too few or one at another place is no proof.
import type { Hash } from "./hash.ts";
import { type HashAt, isSize, type Span, spanHash, splitOf, type TreeHash } from "./merkle.ts";

/** The spans whose hashes prove that leaf `index` is in the tree of `size`, in the order of the proof. */
export function inclusionSpans(index: number, size: number): Span[] {
  if (!isSize(index) || !isSize(size) || index >= size) {
    throw new RangeError(`leaf ${index} is not in a tree of ${size}`);
  }
  const spans: Span[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      spans.push({ start: middle, end });
      end = middle;
    } else {
      spans.push({ start, end: middle });
      start = middle;
    }
  }
  return spans.reverse();
}

/** The spans whose hashes prove that the tree of `first` leaves is the beginning of that of `second`. */
export function consistencySpans(first: number, second: number): Span[] {
  if (!isSize(first) || !isSize(second) || first > second) {
    throw new RangeError(`a tree of ${first} is not the beginning of a tree of ${second}`);
  }
  // Everything begins with nothing, and a tree with itself.
  if (first === 0 || first === second) return [];
  const spans: Span[] = [];
  let start = 0;
  let end = second;
  while (first !== end) {
    const middle = start + splitOf(end - start);
    if (first <= middle) {
      spans.push({ start: middle, end });
      end = middle;
    } else {
      spans.push({ start, end: middle });
      start = middle;
    }
  }
  // What is left is a part of both trees; when it is the whole first tree, its hash is known already.
  if (start > 0) spans.push({ start, end });
  return spans.reverse();
}

export function inclusionProof(tree: TreeHash, index: number, size: number, hashAt: HashAt): Hash[] {
  return inclusionSpans(index, size).map((span) => spanHash(tree, span, hashAt));
}

export function consistencyProof(tree: TreeHash, first: number, second: number, hashAt: HashAt): Hash[] {
  return consistencySpans(first, second).map((span) => spanHash(tree, span, hashAt));
}

interface InclusionClaim {
  readonly leaf: Hash;
  readonly index: number;
  readonly size: number;
  readonly root: Hash;
  readonly proof: readonly Hash[];
}

export function verifyInclusion(tree: TreeHash, { leaf, index, size, root, proof }: InclusionClaim): boolean {
  if (!isSize(index) || !isSize(size) || index >= size) return false;
  let place = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      hash = tree.node(sibling, hash);
      // A last one without a sibling on the right rises until it is somebody's right child.
      while (place % 2 === 0 && place !== 0) {
        place /= 2;
        last = half(last);
      }
    } else {
      hash = tree.node(hash, sibling);
    }
    place = half(place);
    last = half(last);
  }
  return last === 0 && hash === root;
}

interface ConsistencyClaim {
  readonly first: number;
  readonly firstRoot: Hash;
  readonly second: number;
  readonly secondRoot: Hash;
  readonly proof: readonly Hash[];
}

export function verifyConsistency(tree: TreeHash, claim: ConsistencyClaim): boolean {
  const { first, firstRoot, second, secondRoot, proof } = claim;
  if (!isSize(first) || !isSize(second) || first > second) return false;
  if (first === second) return proof.length === 0 && firstRoot === secondRoot && isRootOfSize(tree, first, firstRoot);
  if (first === 0) return proof.length === 0 && firstRoot === tree.empty;
  let place = first - 1;
  let last = second - 1;
  while (place % 2 === 1) {
    place = half(place);
    last = half(last);
  }
  // A perfect first tree is itself where the proof begins.
  const hashes = place === 0 ? [firstRoot, ...proof] : proof;
  const [begin, ...rest] = hashes;
  if (begin === undefined) return false;
  let hashFirst = begin;
  let hashSecond = begin;
  for (const sibling of rest) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      hashFirst = tree.node(sibling, hashFirst);
      hashSecond = tree.node(sibling, hashSecond);
      while (place % 2 === 0 && place !== 0) {
        place /= 2;
        last = half(last);
      }
    } else {
      hashSecond = tree.node(hashSecond, sibling);
    }
    place = half(place);
    last = half(last);
  }
  return last === 0 && hashFirst === firstRoot && hashSecond === secondRoot;
}

/** Of the trees of one size, only the empty one has a root that is known without its leaves. */
function isRootOfSize(tree: TreeHash, size: number, root: Hash): boolean {
  return size > 0 || root === tree.empty;
}

function half(value: number): number {
  return Math.floor(value / 2);
}

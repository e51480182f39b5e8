// A tree that grows: of everything appended only the hashes of the perfect subtrees are kept, one for each power of two in the size. They are
// all it takes to append, and the root is made of them.
import type { Hash } from "./hash.ts";
import { foldRight, isSize, perfectSubtrees, type TreeHash } from "./merkle.ts";

interface FrontierSnapshot {
  readonly size: number;
  /** From left to right: the largest power of two first. */
  readonly hashes: readonly Hash[];
}

/** Called with every perfect subtree when it becomes full, leaves included. */
type Completed = (level: number, index: number, hash: Hash) => void;

export interface Frontier {
  readonly size: number;
  append(leaf: Hash): void;
  /** A whole perfect subtree at once; a RangeError when it does not begin where the tree ends. */
  appendSubtree(level: number, hash: Hash): void;
  root(): Hash;
  snapshot(): FrontierSnapshot;
}

/** An empty tree, or one as it was when the snapshot was taken. A snapshot with too many or too few hashes is a RangeError. */
export function createFrontier(tree: TreeHash, from?: FrontierSnapshot, completed?: Completed): Frontier {
  let size = from?.size ?? 0;
  const hashes: Hash[] = [...(from?.hashes ?? [])];
  if (!isSize(size) || perfectSubtrees({ start: 0, end: size }).length !== hashes.length) {
    throw new RangeError(`a tree of ${size} leaves is not made of ${hashes.length} hashes`);
  }

  function appendSubtree(level: number, subtree: Hash): void {
    const width = 2 ** level;
    if (!isSize(level) || size % width !== 0 || !isSize(size + width)) {
      throw new RangeError(`a subtree of level ${level} does not begin at ${size}`);
    }
    let hash = subtree;
    let height = level;
    let index = size / width;
    completed?.(height, index, hash);
    // A subtree with an odd number has its left neighbour waiting: together they are one of the next level.
    while (index % 2 === 1) {
      const left = hashes.pop();
      if (left !== undefined) hash = tree.node(left, hash);
      height += 1;
      index = (index - 1) / 2;
      completed?.(height, index, hash);
    }
    hashes.push(hash);
    size += width;
  }

  return {
    get size() {
      return size;
    },
    append: (leaf) => appendSubtree(0, leaf),
    appendSubtree,
    root: () => foldRight(tree, hashes),
    snapshot: () => ({ size, hashes: [...hashes] }),
  };
}

/** What a bundle says of a tree: the hashes around its entries. */
interface TreeParts {
  readonly from: number;
  readonly left: readonly Hash[];
  readonly leaves: Iterable<Hash>;
  readonly right: readonly Hash[];
  readonly size: number;
}

/** The root that comes out of left, leaves and right; undefined when there are hashes too many or too few for these numbers. */
export function rootOfParts(tree: TreeHash, { from, left, leaves, right, size }: TreeParts): Hash | undefined {
  if (!isSize(from) || !isSize(size) || from > size) return undefined;
  if (perfectSubtrees({ start: 0, end: from }).length !== left.length) return undefined;
  const frontier = createFrontier(tree, { size: from, hashes: left });
  for (const leaf of leaves) {
    if (frontier.size === size) return undefined;
    frontier.append(leaf);
  }
  return closeWithRight(frontier, right, size);
}

/** The root after everything to the right was appended as well; undefined when there are hashes too many or too few. The frontier is used up. */
export function closeWithRight(frontier: Frontier, right: readonly Hash[], size: number): Hash | undefined {
  if (!isSize(size) || frontier.size > size) return undefined;
  const subtrees = perfectSubtrees({ start: frontier.size, end: size });
  if (subtrees.length !== right.length) return undefined;
  for (const [at, { level }] of subtrees.entries()) {
    const hash = right[at];
    if (hash !== undefined) frontier.appendSubtree(level, hash);
  }
  return frontier.root();
}

// Memory for plain numbers in few large pages. A typed array of its own for every fund would be three objects, each in another place; a block
// here is a page, which all share, and a number. Blocks are whole lines of the processor's cache and never move.
//
// The owner of a block may use what lies within it and nothing else: the language does not watch over that (fund-state.test.ts does).

interface CellPage {
  readonly cells: Float64Array;
  /** The same memory as whole numbers of half the size. */
  readonly words: Int32Array;
}

export interface CellBlock {
  readonly page: CellPage;
  /** Where it begins among the page's cells. */
  readonly base: number;
}

export interface CellArena {
  /** So many cells, all zero. */
  take(length: number): CellBlock;
  /** The block is free; its length is that which was asked for. */
  giveBack(block: CellBlock, length: number): void;
}

const pageLengthFirst = 4_096;
const pageLengthMax = 131_072;
/** Cells of a line of the cache. */
const lineLength = 8;

export function createCellArena(): CellArena {
  const free = new Map<number, CellBlock[]>();
  let page = createPage(pageLengthFirst);
  let used = 0;
  return {
    take(length) {
      const rounded = roundedUp(length);
      const again = free.get(rounded)?.pop();
      if (again !== undefined) {
        again.page.cells.fill(0, again.base, again.base + rounded);
        return again;
      }
      if (used + rounded > page.cells.length) {
        // What is large has a page of its own, so that little is wasted at the end of the shared ones.
        if (rounded > page.cells.length / lineLength) return { page: createPage(rounded), base: 0 };
        page = createPage(Math.min(page.cells.length * 2, pageLengthMax));
        used = 0;
      }
      const base = used;
      used += rounded;
      return { page, base };
    },
    giveBack(block, length) {
      const rounded = roundedUp(length);
      const blocks = free.get(rounded);
      if (blocks === undefined) free.set(rounded, [block]);
      else blocks.push(block);
    },
  };
}

function createPage(length: number): CellPage {
  const cells = new Float64Array(length);
  return { cells, words: new Int32Array(cells.buffer) };
}

function roundedUp(length: number): number {
  return Math.ceil(length / lineLength) * lineLength;
}

// Blocks of memory: zero when they are given, never two at one place, and given again when they came back.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type CellBlock, createCellArena } from "./cell-arena.ts";

test("whatever is taken and given back, no two blocks share a cell, and every one begins empty", () => {
  const steps = fc.array(fc.record({ length: fc.integer({ min: 1, max: 700 }), keeps: fc.boolean() }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, (all) => {
      const arena = createCellArena();
      const held: { block: CellBlock; length: number; mark: number }[] = [];
      for (const [mark, { length, keeps }] of all.entries()) {
        const block = arena.take(length);
        const { cells, words } = block.page;
        const own = cells.subarray(block.base, block.base + length);
        expect(own.length).toBe(length);
        expect(own.every((cell) => cell === 0)).toBe(true);
        expect(words.buffer).toBe(cells.buffer);
        own.fill(mark + 1);
        held.push({ block, length, mark });
        if (keeps) continue;
        const [first] = held.splice(0, 1);
        if (first !== undefined) arena.giveBack(first.block, first.length);
      }
      for (const { block, length, mark } of held) {
        const { base, page } = block;
        expect(page.cells.subarray(base, base + length).every((cell) => cell === mark + 1)).toBe(true);
      }
    }),
    { seed: 71, numRuns: 60 },
  );
});

test("what comes back is given again, also to somebody who asks for a little less", () => {
  const arena = createCellArena();
  const first = arena.take(16);
  arena.giveBack(first, 16);
  expect(arena.take(13)).toBe(first);
  expect(arena.take(13)).not.toBe(first);
});

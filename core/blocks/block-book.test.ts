// The numbered invariants of the block book, by random lives against a model that is a list.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RiskBlock, RiskBlockEnded } from "../../contracts/src/records/block.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { engineOptions, startOfDay } from "../../testkit/risk/engine-fixture.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { blocksOf, createBlockBook, endBlock, hasRoom, openBlock, symbolBlocksMax } from "./block-book.ts";
import { conditionsOn } from "./condition-book.ts";

const at = "2026-11-18T10:00:00.000000Z";
const blockOf = (block_id: string, fund_id: string, symbol: string | undefined, reason = "r"): RiskBlock => ({
  block_id,
  cause: "FILL_OUTSIDE_COLLAR",
  fund_id,
  ...(symbol !== undefined && { symbol }),
  reason,
  at,
});
const endOf = (block_id: string): RiskBlockEnded => ({
  block_id,
  cause: "FILL_OUTSIDE_COLLAR",
  fund_id: "alpha",
  ended_by: "operator:duty",
  reason: "seen",
  at,
});

function newBook() {
  const engine = createEngine(engineOptions);
  return { engine, book: engine.read(({ blockBook }) => blockBook) };
}

/** Invariant 1: the block that a check would name, and how many there are. */
function blockedBy(engine: Engine, fund_id: string, symbol: string): readonly unknown[] | undefined {
  const names = { fund_id, symbol, strategy_id: "trend" };
  const [found, ...others] = engine.read(({ conditions }) => conditionsOn(conditions, names, startOfDay));
  expect(others).toEqual([]);
  return found && [found.facts?.[0]?.[1], found.count ?? 1];
}

const ids = fc.constantFrom("b-1", "b-2", "b-3", "b-4", "b-5");
const funds = ["alpha", "beta"];
const symbols = ["AAPL", "MSFT"];
const steps = fc.array(
  fc.oneof(
    fc.record({
      open: ids,
      fund: fc.constantFrom(...funds),
      symbol: fc.constantFrom("AAPL", "MSFT", undefined),
      reason: fc.constantFrom("one", "two"),
    }),
    fc.record({ end: ids }),
    fc.record({ restart: fc.constant(true) }),
  ),
  { maxLength: 40 },
);

describe("28.5: the blocks that an operator accepts", () => {
  it("are open exactly from their opening to their end, through restarts, whatever is opened or ended twice", () => {
    fc.assert(
      fc.property(steps, (life) => {
        let { engine, book } = newBook();
        let open: readonly RiskBlock[] = [];
        const ended = new Set<string>();
        for (const step of life) {
          if ("restart" in step) {
            const kept = JSON.parse(JSON.stringify(engine.snapshot()));
            ({ engine, book } = newBook());
            engine.restore(kept);
          } else if ("open" in step) {
            const block = blockOf(step.open, step.fund, step.symbol, step.reason);
            engine.acceptance.open(block);
            if (!ended.has(step.open)) open = [...open.filter(({ block_id }) => block_id !== step.open), block];
          } else {
            const isOpen = open.some(({ block_id }) => block_id === step.end);
            expect(engine.acceptance.end(endOf(step.end))).toBe(isOpen);
            if (isOpen) ended.add(step.end);
            open = open.filter(({ block_id }) => block_id !== step.end);
          }
          for (const fund of funds) {
            expect(blocksOf(book, fund)).toEqual(open.filter((block) => block.fund_id === fund));
            for (const symbol of symbols) {
              const own = open.filter((block) => block.fund_id === fund && (block.symbol ?? symbol) === symbol);
              const wideFirst = [
                ...own.filter((block) => block.symbol === undefined),
                ...own.filter((block) => block.symbol !== undefined),
              ];
              const expected = own.length === 0 ? undefined : [wideFirst[0]?.block_id, own.length];
              expect(blockedBy(engine, fund, symbol)).toEqual(expected);
            }
          }
          expect(new Set(book.ended.keys())).toEqual(ended);
        }
      }),
      { seed: 285, numRuns: inputCount(300) },
    );
  });

  it("invariant 4: what is open stays, and above so many of a fund there is no room", () => {
    const book = createBlockBook();
    for (let n = 0; n < symbolBlocksMax; n += 1) {
      expect(hasRoom(book, "alpha")).toBe(true);
      openBlock(book, blockOf(`b-${n}`, "alpha", `S${n % 7}`));
    }
    expect([hasRoom(book, "alpha"), hasRoom(book, "beta")]).toEqual([false, true]);
    openBlock(book, blockOf("wide", "alpha", undefined));
    expect(book.open.size).toBe(symbolBlocksMax + 1);
    endBlock(book, endOf("b-1"));
    expect(hasRoom(book, "alpha")).toBe(true);
  });

  it("remembers the newest ends, and not all there ever were", () => {
    const book = createBlockBook();
    for (let n = 0; n < 2_500; n += 1) {
      openBlock(book, blockOf(`b-${n}`, "alpha", "AAPL"));
      endBlock(book, endOf(`b-${n}`));
    }
    expect([book.ended.size, book.ended.has("b-2499"), book.ended.has("b-0")]).toEqual([1_000, true, false]);
    expect([book.open.size, book.byFund.size]).toEqual([0, 0]);
  });
});

// Many funds' fund states in one memory: each holds what a map says it holds, whatever the others do, while they grow, shrink and change their sectors.
import fc from "fast-check";
import { expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { amountOf, nothing, toDecimal } from "../money/amount.ts";
import type { Plain } from "../money/plain.ts";
import { createCellArena } from "./cell-arena.ts";
import * as fundStates from "./fund-state.ts";

const quantity = fc
  .constantFrom("0", "0", "1", "-3", "1000000", "0.5", "2.00000001", "123456789012345678.5")
  .map((text) => amountOf(decimal.parse(text)));
const pending = fc.constantFrom(nothing, nothing, amountOf(decimal.parse("7")), amountOf(decimal.parse("0.25")));

test("every fund state holds what a map says, whatever happens in the fund states beside it", () => {
  const step = fc.record({
    fund: fc.nat(4),
    slot: fc.nat(40),
    held: quantity,
    buys: pending,
    sells: pending,
    sectors: fc.option(fc.integer({ min: 1, max: 12 }), { freq: 30, nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 300 }), (steps) => {
      const arena = createCellArena();
      const funds = Array.from({ length: 5 }, (_, number) => {
        const fundState = fundStates.createFundState(arena);
        fundStates.setSum(fundState, fundStates.gross, (number * 8) as Plain);
        return { fundState, lines: new Map<number, readonly bigint[]>(), number };
      });
      for (const { fund, slot, held, buys, sells, sectors } of steps) {
        const { fundState, lines } = funds[fund] ?? expect.fail("there is no such fund");
        if (sectors !== undefined) fundStates.clearSectors(fundState, sectors);
        fundStates.setLine(fundState, slot, fundStates.rowOf(fundState, slot), held, buys, sells);
        const line = [held, buys, sells].map(toDecimal);
        if (line.every((amount) => amount === 0n)) lines.delete(slot);
        else lines.set(slot, line);
      }
      for (const { fundState, lines, number } of funds) {
        expect([...fundStates.slotsOf(fundState)].sort()).toEqual([...lines.keys()].sort());
        for (const [slot, line] of lines) {
          const row = fundStates.rowOf(fundState, slot);
          const amounts = [fundStates.positionAt, fundStates.pendingBuyAt, fundStates.pendingSellAt].map((at) =>
            at(fundState, row),
          );
          expect(amounts.map(toDecimal)).toEqual(line);
        }
        const all = [...lines.values()];
        const isPlain = (line: readonly bigint[]): boolean =>
          line.every((amount) => amount % decimal.one === 0n && amount < 10n ** 33n);
        expect(fundState.pendingCount).toBeGreaterThanOrEqual(
          all.filter(([, buys, sells]) => buys !== 0n || sells !== 0n).length,
        );
        expect(fundState.unevenCount).toBe(all.filter((line) => !isPlain(line)).length);
        expect(fundStates.sumOf(fundState, fundStates.gross)).toBe(number * 8);
        expect(fundStates.rowOf(fundState, 41)).toBe(fundStates.noRow);
      }
    }),
    { seed: 72, numRuns: 60 },
  );
});

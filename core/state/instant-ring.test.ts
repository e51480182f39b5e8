// The ring of moments against a plain list, with moments that are taken back: the newest exactly, others alone.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as instant from "../../contracts/src/instant.ts";
import { inputCount } from "../../testkit/full-count.ts";
import {
  type AddedInstant,
  addInstant,
  countWithin,
  createInstantRing,
  instantsWithin,
  removeInstant,
} from "./instant-ring.ts";

const window = 1_000;
const at = (microseconds: number) => instant.fromMicroseconds(microseconds);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("add" as const), after: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("undo" as const), count: fc.integer({ min: 1, max: 12 }) }) },
);

describe("a ring of moments", () => {
  it("counts what a list counts, also after the newest were taken back", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const ring = createInstantRing();
        const list: number[] = [];
        const added: { at: number; token: AddedInstant; nowBefore: number }[] = [];
        let now = 10_000;
        for (const one of steps) {
          if (one.kind === "add") {
            const nowBefore = now;
            now += one.after;
            added.push({ at: now, token: addInstant(ring, at(now), window), nowBefore });
            list.push(now);
          } else {
            for (let count = 0; count < one.count && added.length > 0; count += 1) {
              const last = added.pop();
              if (last === undefined) continue;
              removeInstant(ring, at(last.at), last.token);
              list.pop();
              now = last.nowBefore;
            }
          }
          const expected = list.filter((moment) => now - moment < window);
          expect(instantsWithin(ring, now, window)).toEqual(expected);
          expect(countWithin(ring, now, window)).toBe(expected.length);
        }
      }),
      { seed: 42, numRuns: inputCount(400) },
    );
  });

  it("lets one go from the middle and keeps the others", () => {
    const ring = createInstantRing();
    const tokens = [1, 2, 3, 4].map((moment) => addInstant(ring, at(moment), window));
    removeInstant(ring, at(2), tokens[1] as AddedInstant);
    expect(instantsWithin(ring, 4, window)).toEqual([1, 3, 4]);
  });

  it("takes a moment before the newest as the newest", () => {
    const ring = createInstantRing();
    addInstant(ring, at(50), window);
    addInstant(ring, at(20), window);
    expect(instantsWithin(ring, 50, window)).toEqual([50, 50]);
  });
});

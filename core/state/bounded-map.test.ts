// The newest entries against a plain list of everything that was ever set.
import fc from "fast-check";
import { expect, test } from "vitest";
import { boundedMap } from "./bounded-map.ts";

test("the newest are there, what was deleted is not, and twice as many as asked for are never kept", () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 30 }), does: fc.constantFrom("set", "set", "delete") });
  const steps = fc.array(step, { minLength: 50, maxLength: 120, size: "max" });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 9 }), (lives, countMin) => {
      const map = boundedMap<string, number>(2 * countMin);
      let newestFirst: { key: string; value: number }[] = [];
      for (const [value, { key: number, does }] of lives.entries()) {
        const key = String(number);
        newestFirst = newestFirst.filter((entry) => entry.key !== key);
        if (does === "delete") map.delete(key);
        else {
          map.set(key, value);
          newestFirst.unshift({ key, value });
        }
        for (const entry of newestFirst) {
          const found = map.get(entry.key);
          const mayBeGone = value - entry.value >= countMin && found === undefined;
          if (found !== entry.value && !mayBeGone) throw new Error(`${entry.key} is not what it should be`);
        }
        const kept = Array.from({ length: 31 }, (_, each) => map.get(String(each))).filter(
          (each) => each !== undefined,
        );
        if (kept.length > 2 * countMin) throw new Error(`${kept.length} are kept`);
        if (does === "delete" && map.get(key) !== undefined) throw new Error(`${key} was deleted`);
      }
    }),
    { seed: 61, numRuns: 20 },
  );
});

test("a cleared one is empty", () => {
  const map = boundedMap<string, number>(4);
  map.set("a", 1);
  map.set("b", 2);
  map.clear();
  expect([map.get("a"), map.get("b")]).toEqual([undefined, undefined]);
});

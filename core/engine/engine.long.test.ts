// Thousands of random lives against the model; the short form is in engine.test.ts. Seeds are printed with what fails.
import { describe, expect, it } from "vitest";
import { liveOnce, nothingSeen } from "../../testkit/risk/engine-properties.ts";

const lives = 6_000;
const perTest = 500;

describe("random lives, many", () => {
  for (let first = 0; first < lives; first += perTest) {
    it(`seeds ${first} to ${first + perTest - 1}`, () => {
      const seen = nothingSeen();
      for (let seed = first; seed < first + perTest; seed += 1) {
        try {
          liveOnce(seed, 40 + (seed % 5) * 20, seen);
        } catch (thrown) {
          throw new Error(`seed ${seed} failed`, { cause: thrown });
        }
      }
      expect(seen.approvals).toBeGreaterThan(1_000);
      expect(seen.tried).toBeGreaterThan(500);
    });
  }
});

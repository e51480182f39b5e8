// The long form: two thousand worlds that are lied to, beside their twins.
import { expect, it } from "vitest";
import { describeReport } from "./report.ts";
import { simulateLiar } from "./simulate.ts";

const steps = 900;
const together = 100;

it.each(Array.from({ length: 20 }, (_unused, index) => 1_000 + index * together))(
  "45: a liar moves and loosens nothing, with a hundred seeds from %i on",
  { timeout: 7_200_000 },
  async (first) => {
    for (let seed = first; seed < first + together; seed += 1) {
      const report = await simulateLiar({ seed, steps });
      expect(report.violation, describeReport({ seed, steps }, report)).toBeUndefined();
    }
  },
);

// The long form: two thousand worlds that are lied to, beside their twins. A seed that fails is named with the call that replays it.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";
import { describeReport } from "./report.ts";
import { simulateLiar } from "./simulate.ts";

const steps = 900;
const together = 100;

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

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

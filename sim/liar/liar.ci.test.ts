// Some dozens of worlds that are lied to, beside their twins.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";
import { describeReport } from "./report.ts";
import { simulateLiar } from "./simulate.ts";

const steps = 150;

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

it.each(Array.from({ length: 20 }, (_unused, index) => 100 + index))(
  "45: a liar moves and loosens nothing, with seed %i",
  async (seed) => {
    const report = await simulateLiar({ seed, steps });
    expect(report.violation, describeReport({ seed, steps }, report)).toBeUndefined();
  },
);

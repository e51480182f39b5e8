// Some dozens of worlds that are lied to, beside their twins.
import { expect, it } from "vitest";
import { describeReport } from "./report.ts";
import { simulateLiar } from "./simulate.ts";

const steps = 150;

it.each(Array.from({ length: 36 }, (_unused, index) => 100 + index))(
  "45: a liar moves and loosens nothing, with seed %i",
  async (seed) => {
    const report = await simulateLiar({ seed, steps });
    expect(report.violation, describeReport({ seed, steps }, report)).toBeUndefined();
  },
);

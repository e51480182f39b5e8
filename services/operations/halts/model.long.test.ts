// The full count of the model test of halts.
import { expect, it } from "vitest";
import { runHaltModel } from "../../../testkit/halt-model.ts";

const seedsMax = 2_500;

it(`keeps every rule with seeds 1 to ${seedsMax}`, { timeout: 3_600_000 }, async () => {
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { complaints } = await runHaltModel(seed);
    expect({ seed, complaints }).toEqual({ seed, complaints: [] });
  }
});

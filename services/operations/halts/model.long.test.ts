// The full count of the model test of halts.
import { expect, it } from "vitest";
import { runHaltModel } from "../../../testkit/halt-model.ts";

const seedsMax = 2_500;
const sayEvery = 250;

it(`keeps every rule with seeds 1 to ${seedsMax}`, { timeout: 3_600_000 }, async () => {
  const counts = { halts: 0, lifts: 0, liftsOfAll: 0, refusals: 0, kills: 0 };
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { complaints, ...run } = await runHaltModel(seed);
    expect({ seed, complaints }).toEqual({ seed, complaints: [] });
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += run[name];
    if (seed % sayEvery === 0) process.stderr.write(`halt model: ${seed} seeds, ${JSON.stringify(counts)}\n`);
  }
});

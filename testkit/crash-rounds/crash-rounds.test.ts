// Kill -9 at random moments while events are being written: one round of it. crash-rounds.long.test.ts has the full count.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bundle, bundleProgram } from "./bundle.ts";
import { reportRounds, seedOfRun } from "./rounds.ts";

const replay = "npx vitest run testkit/crash-rounds/crash-rounds.test.ts";
const seed = seedOfRun();
let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleProgram();
});
afterAll(() => bundle.remove());

test.each(["postgres", "nats"] as const)(
  "on %s every acknowledged event is delivered and has exactly one effect, whoever was killed",
  { timeout: 180_000 },
  async (transport) => {
    const summary = await reportRounds({ transport, rounds: 1, seed, program: bundle.program }, replay);
    process.stderr.write(`${JSON.stringify(summary)}\n`);
    expect(summary.acknowledged).toBeGreaterThan(50);
  },
);

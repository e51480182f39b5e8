// The full count: 25 rounds of kill -9 at random moments on each transport, every victim struck several times.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bundle, bundleProgram } from "./bundle.ts";
import { reportRounds, seedOfRun } from "./rounds.ts";

const replay = "PORTCULLIS_TEST_LONG=1 npx vitest run testkit/crash-rounds/crash-rounds.long.test.ts";
const seed = seedOfRun();
let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleProgram();
});
afterAll(() => bundle.remove());

test.each([
  ["postgres", ["writer", "subscriber", "keeper", "postgres", "backend"]],
  ["nats", ["writer", "subscriber", "keeper", "postgres", "backend", "relay", "nats-server"]],
] as const)("25 rounds on %s", { timeout: 900_000 }, async (transport, victims) => {
  const summary = await reportRounds({ transport, rounds: 25, seed, program: bundle.program }, replay);
  process.stderr.write(`${JSON.stringify(summary)}\n`);
  expect(Object.keys(summary.kills).sort()).toEqual([...victims].sort());
  expect(summary.acknowledged).toBeGreaterThan(1_000);
});

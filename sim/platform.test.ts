// The simulated platform starts a killed service again, and leaves a retired one down.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { faults } from "./faults.ts";
import { platform } from "./platform.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

/** A service comes back within a second. */
const restartedMs = 1_000;

async function killedResearch() {
  const time = scheduler({ seed: 6_923 });
  const made = platform({ time, faults: faults(time.prng.fork("faults")), settings: testSettings });
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  made.start();
  await pass(100);
  made.crash("research");
  return { made, pass };
}

it("starts a killed service again", async () => {
  const { made, pass } = await killedResearch();
  expect(made.running()).not.toContain("research");
  await pass(restartedMs);
  expect(made.running()).toContain("research");
});

it("leaves a service down that is retired while it waits for its restart", async () => {
  const { made, pass } = await killedResearch();
  made.retire("research");
  await pass(restartedMs);
  expect(made.running()).not.toContain("research");
});

// Kill -9 of the risk engine and its database under load: one round of it. riskengine-crash.long.test.ts has the full count.
import { expect, test } from "vitest";
import { reportEngineRounds } from "./testkit/crash-rounds/engine-rounds.ts";
import { seedOfRun } from "./testkit/crash-rounds/rounds.ts";

const replay = "npx vitest run riskengine-crash.test.ts";

test("no approval without its record, no key accepted twice, books equal to their recomputation, whoever was killed", {
  timeout: 180_000,
}, async () => {
  const summary = await reportEngineRounds(
    { seed: seedOfRun(), blows: ["part and postgres"], loadMsMax: 900, haltShare: 0.4 },
    replay,
  );
  expect(summary.approvalsAcknowledged).toBeGreaterThan(20);
  expect(summary.outcomesUnknown).toBeGreaterThan(0);
  expect(summary.engineStarts).toBeGreaterThanOrEqual(2);
});

// The full count: 25 rounds under load in which the risk engine, its database, both, or the supervisor are killed, a backend stands still,
// or the answer to a commit is lost.
import { expect, test } from "vitest";
import { reportEngineRounds } from "../testkit/crash-rounds/engine-rounds.ts";
import { dealt } from "../testkit/crash-rounds/kills.ts";
import { seedOfRun } from "../testkit/crash-rounds/rounds.ts";

const replay = "PORTCULLIS_TEST_LONG=1 npx vitest run acceptance/riskengine-crash.long.test.ts";
const rounds = 25;

test("25 rounds of kill -9 under load", { timeout: 900_000 }, async () => {
  const seed = seedOfRun();
  const summary = await reportEngineRounds({ seed, kills: dealt(seed), loadMsMax: 2_500, haltShare: 0.4 }, replay);
  expect(summary.rounds).toBe(rounds);
  expect(summary.approvalsAcknowledged).toBeGreaterThan(1_000);
  expect(summary.outcomesUnknown).toBeGreaterThan(50);
  expect(summary.booksVerifiedByEngine).toBeGreaterThan(5);
});

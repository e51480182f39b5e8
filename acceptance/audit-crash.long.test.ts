// The full count: 25 rounds under load in which the program that keeps the audit log, its database, both, or the supervisor are killed, a backend
// stands still, or the answer to a commit is lost.
import { expect, test } from "vitest";
import { reportAuditRounds } from "../testkit/crash-rounds/audit-rounds.ts";
import { dealt } from "../testkit/crash-rounds/kills.ts";
import { seedOfRun } from "../testkit/crash-rounds/rounds.ts";

const replay = "PORTCULLIS_TEST_LONG=1 npx vitest run acceptance/audit-crash.long.test.ts";

test("25 rounds of kill -9 under load", { timeout: 900_000 }, async () => {
  const seed = seedOfRun();
  const summary = await reportAuditRounds({ seed, kills: dealt(seed), loadMsMax: 2_500 }, replay);
  expect(summary.rounds).toBe(25);
  expect(summary.appendsAcknowledged).toBeGreaterThan(5_000);
  expect(summary.appendsRepeated).toBeGreaterThan(50);
});

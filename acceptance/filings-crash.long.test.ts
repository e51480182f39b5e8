// The full count of kill -9 of operations and PostgreSQL while events for a regulator arrive by call and by themselves: 25 rounds.
import { expect, test } from "vitest";
import { runFilingRounds } from "../testkit/crash-rounds/filing-rounds.ts";

test("every acknowledged record is there once, files are their records, and nothing is missing, after 25 kills", {
  timeout: 1_800_000,
}, async () => {
  const summary = await runFilingRounds(25, ["operations", "database", "operations"]);
  expect(summary.acknowledged).toBeGreaterThan(50);
  expect(summary.reconciled.recorded).toBe(summary.reconciled.expected);
});

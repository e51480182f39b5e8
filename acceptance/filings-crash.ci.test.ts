// Kill -9 of operations and PostgreSQL while events for a regulator arrive by call and by themselves: 10 rounds. acceptance/filings-crash.long.test.ts has 25.
import { expect, test } from "vitest";
import { runFilingRounds } from "../testkit/crash-rounds/filing-rounds.ts";

test("every acknowledged record is there once, files are their records, and nothing is missing, after 10 kills", {
  timeout: 590_000,
}, async () => {
  const summary = await runFilingRounds(10, ["operations", "database"]);
  expect(summary.acknowledged).toBeGreaterThan(20);
  expect(summary.reconciled.recorded).toBe(summary.reconciled.expected);
});

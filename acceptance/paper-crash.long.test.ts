// The full count: 25 rounds in which order management, treasury, the risk engine and the database are killed in turn while the platform trades.
import { expect, test } from "vitest";
import { paperVictims, reportPaperRounds } from "../testkit/crash-rounds/paper-rounds.ts";
import { seedOfRun } from "../testkit/crash-rounds/rounds.ts";

const replay = "PORTCULLIS_TEST_LONG=1 npx vitest run acceptance/paper-crash.long.test.ts";
const rounds = 25;

test("25 rounds of kill -9 while trading", { timeout: 2_400_000 }, async () => {
  const victims = Array.from({ length: rounds }, (_, round) => paperVictims[round % paperVictims.length] ?? "oms");
  const summary = await reportPaperRounds({ seed: seedOfRun(), victims, loadMsMax: 4_000 }, replay);
  expect(summary.rounds).toBe(rounds);
  expect(summary.fills).toBeGreaterThan(200);
  expect(summary.acknowledged).toBeGreaterThan(100);
  // Nothing was ever wrong for two looks, and nobody said so.
  expect(summary.alarms).not.toHaveProperty("BOOKS_DIFFER");
});

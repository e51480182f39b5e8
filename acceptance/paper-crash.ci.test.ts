// Kill -9 of order management while the platform trades: one round of it. acceptance/paper-crash.long.test.ts has the full count.
import { expect, test } from "vitest";
import { reportPaperRounds } from "../testkit/crash-rounds/paper-rounds.ts";
import { seedOfRun } from "../testkit/crash-rounds/rounds.ts";

const replay = "npx vitest run acceptance/paper-crash.ci.test.ts";

test("no order lost, no trade doubled, and the books agree, after order management was killed", {
  timeout: 240_000,
}, async () => {
  const summary = await reportPaperRounds({ seed: seedOfRun(), victims: ["oms"], loadMsMax: 2_000 }, replay);
  expect(summary.acknowledged).toBeGreaterThan(3);
  expect(summary.fills).toBeGreaterThan(6);
  expect(summary.booksCompared).toBeGreaterThan(50);
  // Nothing was ever wrong for two looks, and nobody said so.
  expect(summary.alarms).not.toHaveProperty("BOOKS_DIFFER");
});

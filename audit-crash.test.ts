// Kill -9 of the program that keeps the audit log, under load: one round of it. audit-crash.long.test.ts has the full count.
import { expect, test } from "vitest";
import { reportAuditRounds } from "./testkit/crash-rounds/audit-rounds.ts";
import { seedOfRun } from "./testkit/crash-rounds/rounds.ts";

const replay = "npx vitest run audit-crash.test.ts";

test("what was acknowledged is in the log, exactly once, and chain and tree verify, whoever was killed", {
  timeout: 180_000,
}, async () => {
  const summary = await reportAuditRounds({ seed: seedOfRun(), blows: ["part and postgres"], loadMsMax: 900 }, replay);
  expect(summary.appendsAcknowledged).toBeGreaterThan(50);
  expect(summary.appendsRepeated).toBeGreaterThan(0);
  expect(summary.verifiedOffline).toBeGreaterThan(50);
});

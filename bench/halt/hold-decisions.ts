// The test of halts at random moments, for any number of them: drives them, then compares from the database alone, and sees to it that the comparison had
// something to compare.
import { randomInt } from "node:crypto";
import { expect } from "vitest";
import { openClient } from "../../adapters/postgres/connection.ts";
import { compareWithHalts, type HaltComparison } from "../../testkit/halt-records.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../bus/ticket.ts";
import { haltAtRandom, type RandomHaltsDone, type RandomHaltsOptions } from "./random-halts.ts";

type Options = Pick<RandomHaltsOptions, "halts" | "halters" | "traders" | "planted">;

/** Drives them and compares. */
export async function compareRandomHalts(options: Options): Promise<HaltComparison & RandomHaltsDone> {
  const seed = Number(process.env["PORTCULLIS_TEST_SEED"] ?? randomInt(1_000_000));
  process.stdout.write(`seed ${seed}\n`);
  const database = await testDatabase();
  try {
    const done = await haltAtRandom({ ...options, database: database.address, seed });
    const client = await openClient(database.address.owner, { log: quietLog, applicationName: "comparison" });
    const compared = await compareWithHalts(client).finally(() => client.end());
    const counts = { ...done, ...compared, violations: compared.violations.length };
    process.stdout.write(`seed ${seed}: ${JSON.stringify(counts)}\n`);
    return { ...done, ...compared };
  } finally {
    await database.drop();
  }
}

export async function holdDecisionsAgainstHalts(options: Options): Promise<void> {
  const { violations, ...counts } = await compareRandomHalts(options);
  expect(violations).toEqual([]);
  expect(counts.approvedAfterwards).toBe(0);
  expect(counts.halts).toBe(options.halts);
  expect(counts.decisions).toBeGreaterThanOrEqual(counts.orders);
  expect(counts.approvals).toBeGreaterThan(0);
  expect(counts.deniedByHalt).toBeGreaterThan(0);
  // Else there was nothing that could have been broken.
  expect(counts.testedHalts).toBeGreaterThan(options.halts / 4);
  expect(counts.provenHalts).toBeGreaterThan(0);
}

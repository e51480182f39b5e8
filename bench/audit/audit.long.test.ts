// The bench in small: it must keep running, keep its keys and leave nothing behind; its figures mean nothing at this size.
import { expect, test } from "vitest";
import { runAudit } from "./audit.ts";

test("the audit bench measures appends, verification and proofs", { timeout: 30_000 }, async () => {
  const said: string[] = [];
  const small = {
    appendRounds: 1,
    windowMs: 30,
    inFlight: [1, 40],
    rawBatchEntries: 20,
    verifyRounds: 1,
    bundleEntries: 200,
    databaseEntries: 200,
    proofSizes: [10, 1_000],
    proofsPerSize: 2,
  };
  const { figures, table } = await runAudit(small, (line) => said.push(line));
  const above = expect.toSatisfy((value: unknown) => typeof value === "number" && value > 0);
  expect(figures).toMatchObject({
    raw: { appends_per_s: above },
    appends: { "1": above, "40": above },
    verify_bundle_per_s: above,
    raw_hash_per_s: above,
    verify_database_per_s: above,
    raw_read_per_s: above,
    proof: { "10": { bytes: above, ms: above }, "1000": { bytes: above, ms: above } },
    ratios: { appends: { "1": above, "40": above }, verify_bundle: above, verify_database: above },
    fsync: "on",
    synchronous_commit: "on",
  });
  for (const name of ["raw limit", "40 in flight", "of a bundle", "from the database", "of one in 1000"]) {
    expect(table).toContain(name);
  }
  expect(said.join("\n")).toContain("appends, round 1 of 1");
  expect(process.listenerCount("SIGHUP")).toBe(0);
});

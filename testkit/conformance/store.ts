// The suite that every store passes: one list of checks, each named after the promise of ports/store.ts that it holds the
// store to. The checks are exported one by one as well, so that a store can plant a fault and show that it is noticed.
import { describe, it } from "vitest";
import { flattenRecordChecks } from "./flatten-records.ts";
import { haltRecordChecks } from "./halt-records.ts";
import { ledgerChecks } from "./ledger-records.ts";
import { lossRecordChecks } from "./loss-records.ts";
import { omsRecordChecks } from "./oms-records.ts";
import { researchRecordChecks } from "./research-records.ts";
import { restrictionRecordChecks } from "./restriction-records.ts";
import { conflictChecks } from "./store-conflicts.ts";
import type { StoreCheck, StoreFixture } from "./store-fixture.ts";
import { lifeChecks } from "./store-life.ts";
import { recordChecks } from "./store-records.ts";
import { transactionChecks } from "./store-transactions.ts";
import { workerRecordChecks } from "./worker-records.ts";

export const storeChecks: readonly StoreCheck[] = [
  ...transactionChecks,
  ...conflictChecks,
  ...recordChecks,
  ...researchRecordChecks,
  ...ledgerChecks,
  ...haltRecordChecks,
  ...flattenRecordChecks,
  ...lossRecordChecks,
  ...omsRecordChecks,
  ...workerRecordChecks,
  ...restrictionRecordChecks,
  ...lifeChecks,
];

/** Runs one check on a fixture of its own; rejects when the store does not keep the promise. */
export async function runStoreCheck(check: StoreCheck, open: () => Promise<StoreFixture>): Promise<void> {
  const fixture = await open();
  try {
    await check.run(fixture);
  } finally {
    await fixture.close();
  }
}

/** `together`: several checks wait at once, each on a fixture of its own; in real time most of a check is waiting. */
export function storeConformance(name: string, open: () => Promise<StoreFixture>, together = false): void {
  const options = together ? { concurrent: true, timeout: 120_000 } : {};
  describe(`store conformance: ${name}`, options, () => {
    for (const check of storeChecks) {
      it(`promise ${check.promise}: ${check.sentence}`, () => runStoreCheck(check, open));
    }
  });
}

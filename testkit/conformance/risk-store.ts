// The suite that every store of the risk engine passes: one list of checks, each named after the promise of ports/risk-store.ts that it
// holds the store to. That decisions are heard on the bus (promise 6) is shown where the buses are.
import { describe, it } from "vitest";
import { journalChecks } from "./risk-store-journal.ts";
import { readChecks } from "./risk-store-reads.ts";
import type { RiskStoreCheck, RiskStoreRig } from "./risk-store-rig.ts";

export const riskStoreChecks: readonly RiskStoreCheck[] = [...journalChecks, ...readChecks];

/** Runs one check on a rig of its own; rejects when the store does not keep the promise. */
export async function runRiskStoreCheck(check: RiskStoreCheck, open: () => Promise<RiskStoreRig>): Promise<void> {
  const rig = await open();
  try {
    await check.run(rig);
  } finally {
    await rig.close();
  }
}

export function riskStoreConformance(name: string, open: () => Promise<RiskStoreRig>): void {
  describe(`risk store conformance: ${name}`, () => {
    for (const check of riskStoreChecks) {
      it(`promise ${check.promise}: ${check.sentence}`, () => runRiskStoreCheck(check, open));
    }
  });
}

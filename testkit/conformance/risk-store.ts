// The suite that every store of the risk engine passes: one list of checks, each named after the promise of ports/risk-store.ts that it
// holds the store to. That decisions are heard on the bus (promise 6) is shown where the buses are.
import { describe, it } from "vitest";
import type { RiskStoreCheck, RiskStoreFixture } from "./risk-store-fixture.ts";
import { journalChecks } from "./risk-store-journal.ts";
import { readChecks } from "./risk-store-reads.ts";

export const riskStoreChecks: readonly RiskStoreCheck[] = [...journalChecks, ...readChecks];

/** Runs one check on a fixture of its own; rejects when the store does not keep the promise. */
export async function runRiskStoreCheck(check: RiskStoreCheck, open: () => Promise<RiskStoreFixture>): Promise<void> {
  const fixture = await open();
  try {
    await check.run(fixture);
  } finally {
    await fixture.close();
  }
}

/** `together`: several checks wait at once, each on a fixture of its own; in real time most of a check is waiting. */
export function riskStoreConformance(name: string, open: () => Promise<RiskStoreFixture>, together = false): void {
  const options = together ? { concurrent: true, timeout: 120_000 } : {};
  describe(`risk store conformance: ${name}`, options, () => {
    for (const check of riskStoreChecks) {
      it(`promise ${check.promise}: ${check.sentence}`, () => runRiskStoreCheck(check, open));
    }
  });
}

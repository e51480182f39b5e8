// The suite that every verifier passes, whoever signs for people: one list of checks, each named after the promise of ports/identity.ts
// that it holds the verifier to.
import { afterAll, beforeAll, describe, it } from "vitest";
import type { VerifierCheck, VerifierFixture } from "./verifier-fixture.ts";
import { machineChecks } from "./verifier-machines.ts";
import { personChecks } from "./verifier-people.ts";
import { revocationChecks } from "./verifier-revocations.ts";
import { signatureChecks } from "./verifier-signatures.ts";

export const verifierChecks: readonly VerifierCheck[] = [
  ...personChecks,
  ...signatureChecks,
  ...revocationChecks,
  ...machineChecks,
];

export function verifierConformance(name: string, open: () => Promise<VerifierFixture>): void {
  describe(`verifier conformance: ${name}`, () => {
    let fixture: VerifierFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    for (const check of verifierChecks) {
      it(`promise ${check.promise}: ${check.sentence}`, () => check.run(fixture));
    }
  });
}

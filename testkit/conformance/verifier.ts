// The suite that every verifier passes, whoever signs for people: one list of checks, each named after the promise of ports/identity.ts
// that it holds the verifier to.
import { afterAll, beforeAll, describe, it } from "vitest";
import { machineChecks } from "./verifier-machines.ts";
import { personChecks } from "./verifier-people.ts";
import { revocationChecks } from "./verifier-revocations.ts";
import type { VerifierCheck, VerifierRig } from "./verifier-rig.ts";
import { signatureChecks } from "./verifier-signatures.ts";

export const verifierChecks: readonly VerifierCheck[] = [
  ...personChecks,
  ...signatureChecks,
  ...revocationChecks,
  ...machineChecks,
];

export function verifierConformance(name: string, open: () => Promise<VerifierRig>): void {
  describe(`verifier conformance: ${name}`, () => {
    let rig: VerifierRig;
    beforeAll(async () => {
      rig = await open();
    });
    afterAll(() => rig.close());
    for (const check of verifierChecks) {
      it(`promise ${check.promise}: ${check.sentence}`, () => check.run(rig));
    }
  });
}

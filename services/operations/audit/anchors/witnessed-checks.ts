// Verification and inspection, and what they have to do with the witnesses: what enough have cosigned counts from then on, and while one of them
// contradicts the log nothing is called witnessed.
import type { Findings } from "../checking/findings.ts";
import { type FsckOptions, type FsckReport, fsckLog } from "../checking/fsck.ts";
import { type Verdict, type VerifyOptions, type VerifyPorts, verifyLog } from "../checking/verify.ts";
import type { Witnessing } from "./witnessing.ts";

export interface WitnessedChecks {
  verify(options: VerifyOptions): Promise<Verdict>;
  fsck(options?: FsckOptions): Promise<FsckReport>;
}

export function witnessedChecks(
  ports: VerifyPorts,
  findings: Pick<Findings, "contradictions">,
  witnessing: Pick<Witnessing, "verified">,
): WitnessedChecks {
  /** Without a policy the level ends at L1. */
  const portsNow = (): VerifyPorts =>
    findings.contradictions().length === 0 ? ports : { ...ports, policy: undefined };
  return {
    async verify(options) {
      const verdict = await verifyLog(portsNow(), options);
      if (!("fault" in verdict)) witnessing.verified(verdict);
      return verdict;
    },
    async fsck(options) {
      const report = await fsckLog(portsNow(), options);
      if (report.verified !== undefined) witnessing.verified(report.verified);
      return report;
    },
  };
}

// What verifications found, whoever asked for them: a log that one of them says is broken is broken for everybody. The alarm is raised, the status
// and the health say so, until a later verification of the whole log finds nothing.
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { AuditAlarms } from "./alarms.ts";
import { sentenceOf } from "./self-verification.ts";

/** What a verification looks at: some entries; all of them; all of them and the index. */
export type Reach = "part" | "entries" | "everything";

export interface Findings {
  /** To be called when a verification begins; what it gives, with what that one found. */
  begin(reach: Reach): (fault: AuditFault | undefined) => void;
  /** What the newest verification that failed found, while no later one has taken it back. */
  broken(): AuditFault | undefined;
}

export function createFindings(alarms: Pick<AuditAlarms, "raise" | "clear">): Findings {
  let found: AuditFault | undefined;
  let isIndexWrong = false;
  let failures = 0;
  return {
    begin(reach) {
      const failuresBefore = failures;
      return (fault) => {
        if (fault !== undefined) {
          found = fault;
          isIndexWrong ||= fault.code === "INDEX_MISMATCH";
          failures += 1;
          alarms.raise("AUDIT_CHAIN_BROKEN", sentenceOf(fault));
          return;
        }
        // One that began before another failed may have read what was there before.
        if (reach === "part" || failures !== failuresBefore || (isIndexWrong && reach !== "everything")) return;
        found = undefined;
        isIndexWrong = false;
        alarms.clear("AUDIT_CHAIN_BROKEN");
      };
    },
    broken: () => found,
  };
}

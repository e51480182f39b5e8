// What is known to be wrong with the log, whoever found it. A log that one verification says is broken is broken for everybody: the alarm is raised,
// the status and the health say so, until a later verification of the whole log finds nothing. A witness that knows another history of the log is a
// finding of its own: no verification of what is stored can take it back, only that witness, by cosigning again.
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { AlarmFacts, AuditAlarms } from "./alarms.ts";
import { sentenceOf } from "./finding-sentence.ts";

/** What a verification reads: some entries; all of them; all of them and the index. */
type Reach = "part" | "entries" | "everything";

/** A witness's word against the log. */
export interface Contradiction {
  readonly vkey: string;
  readonly sentence: string;
  readonly facts: AlarmFacts;
}

export interface Findings {
  /** To be called when a verification begins; what it gives, with what that one found. */
  begin(reach: Reach): (fault: AuditFault | undefined) => void;
  /** What the newest verification that failed found, while no later one has taken it back. */
  broken(): AuditFault | undefined;
  contradicted(by: Contradiction): void;
  /** The witness has cosigned, so what it said before no longer stands. */
  agreed(vkey: string): void;
  contradictions(): readonly Contradiction[];
}

export function createFindings(alarms: Pick<AuditAlarms, "raise" | "clear">): Findings {
  let found: AuditFault | undefined;
  let isIndexWrong = false;
  let failures = 0;
  /** By vkey; there are only as many as witnesses. */
  const contradictions = new Map<string, Contradiction>();
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
    contradicted(by) {
      contradictions.set(by.vkey, by);
      alarms.raise("AUDIT_WITNESS_CONTRADICTS", by.sentence, by.facts);
    },
    agreed(vkey) {
      contradictions.delete(vkey);
      if (contradictions.size === 0) alarms.clear("AUDIT_WITNESS_CONTRADICTS");
    },
    contradictions: () => [...contradictions.values()],
  };
}

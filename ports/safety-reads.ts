// What a risk engine must know all the time, read in one go: the epoch of the halts, and beside it what else is due. Each of these can be read alone as well,
// and is where this read fails. A platform in memory has none: there every read costs the same.
import type { Restriction } from "../contracts/src/records/restriction.ts";
import type { AuditStanding } from "./audit-standing.ts";
import type { StoredAction } from "./corporate-actions.ts";
import type { StoredDifference } from "./reconcile-records.ts";
import type { UnauditedChange } from "./unaudited-changes.ts";

export interface SafetyFacts {
  /** As RestrictionRecords.listOpen. */
  readonly restrictions: readonly Restriction[];
  /** As AuditStandingRecords.read. */
  readonly audit: AuditStanding | undefined;
  /** As UnauditedChanges.list, the first few. */
  readonly unaudited: readonly UnauditedChange[];
  /** As ReconcileRecords.confirmed and CorporateActionRecords.underWay. */
  readonly blocks: { readonly confirmed: readonly StoredDifference[]; readonly underWay: readonly StoredAction[] };
}

export type SafetyQuestion = keyof SafetyFacts;

export interface SafetyAnswer {
  readonly haltEpoch: number;
  /** What was asked for. */
  readonly facts: Partial<SafetyFacts>;
}

export interface SafetyReads {
  read(questions: readonly SafetyQuestion[]): Promise<SafetyAnswer>;
}

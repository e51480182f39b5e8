// What must hold after every step of a simulated run of the platform, whatever fails: one list.
import type { Evidence } from "./evidence.ts";
import { actionsKeepValue } from "./invariants/actions.ts";
import { chainVerifies, noAuditNoNewRisk, oneEntryPerChange } from "./invariants/audit.ts";
import { booksAgree, fillsReachEveryBook, navIsSumOfParts, positionIsSumOfFills } from "./invariants/books.ts";
import { breachesAreActedOn, withdrawalsKeepLimits } from "./invariants/breaches.ts";
import { crossesArePairs } from "./invariants/crosses.ts";
import {
  noApprovalInAHalt,
  noKeyApprovedTwice,
  reservedWhileAlive,
  unacceptedFillsBlock,
  unsentApprovalsExpire,
  worstCaseWithinEnvelope,
} from "./invariants/decisions.ts";
import { exitsAreProven, haltsLetExitsOut, haltsSpareExits } from "./invariants/exits.ts";
import {
  firmNeedsTwo,
  haltsAreSticky,
  latchReportedOnce,
  liftedByPeople,
  liftLeavesHigher,
  unknownIsHalted,
} from "./invariants/halts.ts";
import type { Invariant } from "./invariants/invariant.ts";
import { canary, nobodyDiesOfADefect, nothingIsParked } from "./invariants/life.ts";
import { baselinesWrittenOnce, limitsAreJudged, lossesHalt } from "./invariants/losses.ts";
import { optionsCountTheirUnderlying } from "./invariants/options.ts";
import { acknowledgedIsKept, changesAreAudited, oneLife, routedWithApproval } from "./invariants/orders.ts";
import { alertsInOrder, alertsTradeOnce } from "./invariants/signals.ts";
import { marketWithinApproved, standingKeepsReference } from "./invariants/standing.ts";
import { stopsExitOnce } from "./invariants/stops.ts";

export const invariants: readonly Invariant[] = [
  noApprovalInAHalt,
  unknownIsHalted,
  exitsAreProven,
  haltsLetExitsOut,
  haltsSpareExits,
  liftLeavesHigher,
  haltsAreSticky,
  liftedByPeople,
  firmNeedsTwo,
  latchReportedOnce,
  optionsCountTheirUnderlying,
  actionsKeepValue,
  lossesHalt,
  limitsAreJudged,
  breachesAreActedOn,
  withdrawalsKeepLimits,
  baselinesWrittenOnce,
  noKeyApprovedTwice,
  worstCaseWithinEnvelope,
  reservedWhileAlive,
  unsentApprovalsExpire,
  unacceptedFillsBlock,
  routedWithApproval,
  marketWithinApproved,
  standingKeepsReference,
  oneLife,
  changesAreAudited,
  acknowledgedIsKept,
  positionIsSumOfFills,
  navIsSumOfParts,
  fillsReachEveryBook,
  booksAgree,
  oneEntryPerChange,
  chainVerifies,
  noAuditNoNewRisk,
  stopsExitOnce,
  crossesArePairs,
  alertsTradeOnce,
  alertsInOrder,
  nobodyDiesOfADefect,
  nothingIsParked,
];

export interface Violation {
  readonly invariant: Pick<Invariant, "name" | "sentence">;
  readonly complaint: string;
}

export function firstViolation(evidence: Evidence, withCanary: boolean): Violation | undefined {
  for (const invariant of withCanary ? [...invariants, canary] : invariants) {
    const complaint = invariant.violated(evidence);
    if (complaint !== undefined) return { invariant, complaint };
  }
  return undefined;
}

// Everything that the engine is told, and from which operations it follows: whatever a gate reads came in by one of these. A method that is added to the engine
// is either asked (it is in `Asked`) or has to get its word here, and the operations have theirs in loosening-words.ts. So nothing reaches a gate that
// is not classified.
import type { ChangingOperation } from "../../contracts/src/authority.ts";
import type { Engine } from "../../core/engine/engine.ts";

/** Those that change nothing that a gate reads, beside the order itself. */
type Asked =
  | "heldSymbols"
  | "conclude"
  | "unsent"
  | "approvals"
  | "approval"
  | "throttle"
  | "headroom"
  | "read"
  | "blocks"
  | "snapshot"
  | "facts"
  | "exposure"
  | "lines"
  | "ownerOf";

/** What no operation says: the engine's own clock, journal and store. */
type Own = "OUR CLOCK" | "OUR JOURNAL" | "OUR STORE";

export const inputOperations: Readonly<Record<Exclude<keyof Engine, Asked>, readonly ChangingOperation[] | Own>> = {
  setReference: ["SetReferenceData", "CosignReferenceData"],
  setEnvelope: ["UpdateEnvelope"],
  setNav: ["Publish", "PublishValues", "BookFlow", "RebuildLedger"],
  values: ["Publish", "PublishValues", "AcceptBlock"],
  setMark: ["Publish", "PublishPrices", "SetPaperWeather"],
  compareMark: ["Publish", "PublishPrices", "SetPaperWeather"],
  noteClock: "OUR CLOCK",
  setHalts: ["RequestHalt", "AnnounceHalt", "ConfirmHalts", "ResumeHalt", "RunDrill"],
  setConditions: [
    "Reconcile",
    "InspectAudit",
    "BeginAuditInspection",
    "BeginAuditAnew",
    "CosignAuditAnew",
    "AcceptUnauditedChange",
    "CosignUnauditedChange",
    "BookFlow",
  ],
  setHeldSymbols: ["BookCorporateAction"],
  setRestrictions: [
    "EndRestriction",
    "SetWatchdogConfig",
    "PauseWatchdog",
    "ResumeWatchdog",
    "JudgeWatchdog",
    "InjectObservations",
  ],
  check: ["CheckOrder", "CheckOrders", "SubmitOrder", "AmendOrder", "ReceiveSignal", "ReceiveTradingviewAlert"],
  withdraw: "OUR JOURNAL",
  applyFill: ["Publish", "PublishOrders", "AdjustPosition", "CrossPositions", "BookCorporateAction", "FlattenPaper"],
  applyReversal: ["Publish", "PublishOrders"],
  applyTransition: ["Publish", "PublishOrders", "CancelOrder", "CancelAll"],
  sweepUnsent: "OUR CLOCK",
  setHandOvers: ["HandOverSource"],
  endOrder: ["EndApproval"],
  expire: ["ReleaseApproval"],
  unexpire: "OUR JOURNAL",
  confirmSent: ["ConfirmSent"],
  releaseThrottle: ["ReleaseThrottle"],
  adoptDecision: "OUR JOURNAL",
  rememberKey: "OUR JOURNAL",
  rememberOrder: "OUR JOURNAL",
  reserveWithdrawal: ["ReserveWithdrawal"],
  acceptance: ["AcceptBlock", "RetryParked", "DiscardParked"],
  restore: "OUR JOURNAL",
};

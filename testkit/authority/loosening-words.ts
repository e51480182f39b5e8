// What every operation that changes something does to what the gates read, declared once: docs/authority.md shows it. An operation that is added has to get
// its word here, or it does not compile. What loosens field by field has a declaration of its own (contracts/src/records/reference-fields.ts, envelope-words.ts).
import type { ChangingOperation } from "../../contracts/src/authority.ts";

type Loosens =
  /** No gate reads it. */
  | "NOTHING"
  /** It only takes room away. */
  | "TIGHTENS"
  | "LOOSENS"
  /** Fields have words of their own. */
  | "FIELD BY FIELD"
  /** What a system outside says counts in full where it tightens, and where it loosens when it is vouched for. */
  | "WHEN VOUCHED FOR";

interface LooseningWord {
  readonly loosens: Loosens;
  /** What a gate reads of it. */
  readonly what?: string;
  readonly secondFactor?: "YES" | "WHERE IT LOOSENS" | string;
  /** While a halt covers the fund. */
  readonly inHalt?: string;
}

const nothing: LooseningWord = { loosens: "NOTHING" };
const asEver = "as without one";
const tightens = (what: string): LooseningWord => ({ loosens: "TIGHTENS", what, inHalt: asEver });
const loosens = (what: string, secondFactor = "no", inHalt = asEver): LooseningWord => ({
  loosens: "LOOSENS",
  what,
  secondFactor,
  inHalt,
});
const said = (what: string): LooseningWord => ({
  loosens: "WHEN VOUCHED FOR",
  what,
  secondFactor: "no",
  inHalt: asEver,
});

export const looseningWords: Readonly<Record<ChangingOperation, LooseningWord>> = {
  SetReferenceData: {
    loosens: "FIELD BY FIELD",
    what: "reference data",
    secondFactor: "where it loosens",
    inHalt: "where it loosens a second person signs",
  },
  CosignReferenceData: loosens("reference data that somebody else asked for", "yes", "that is what it is for"),
  UpdateEnvelope: {
    loosens: "FIELD BY FIELD",
    what: "the fund's limits",
    secondFactor: "where it loosens, and where it says how exits get out",
    inHalt: "refused where it loosens",
  },
  ResumeHalt: loosens(
    "halts",
    "of every halt at once, and where losses begin anew",
    "it ends it; of every halt at once a second person signs",
  ),
  AcceptBlock: loosens(
    "figures that nobody vouched for",
    "yes, but for a fill beyond its collar or its order, and fills that are held",
  ),
  ReleaseThrottle: loosens("the throttle of a strategy"),
  EndRestriction: loosens("what a watchdog restricts"),
  SetWatchdogConfig: loosens("when watchdogs restrict and halt"),
  PauseWatchdog: loosens("when watchdogs restrict and halt"),
  ReleaseApproval: loosens("what is reserved for an order that was not sent"),
  EndApproval: loosens("what is reserved for an order that another program manages", "yes"),
  HandOverSource: loosens("who may speak of an order, and report its end", "yes"),
  RetryParked: said("events that were put aside"),
  DiscardParked: loosens("fills that are held", "yes, of what is held"),
  AcceptUnauditedChange: loosens("changes that have no event", "yes; a second person signs"),
  CosignUnauditedChange: loosens("changes that have no event", "yes"),
  BeginAuditAnew: loosens("an audit log that does not verify", "yes; a second person signs"),
  CosignAuditAnew: loosens("an audit log that does not verify", "yes"),
  BookFlow: loosens("the fund's value", "yes", "a withdrawal is refused"),
  BookCorporateAction: loosens("quantities, prices and cash of the paper funds"),
  RebuildLedger: loosens("the value of a paper fund", "yes"),
  Publish: said("orders, fills, values and prices"),
  PublishOrders: said("orders and fills"),
  PublishValues: said("the value of a fund that names the source (valued_by)"),
  PublishPrices: said("prices, of whoever may price the symbol"),
  AdjustPosition: loosens("a position of ours, by the broker's own evidence"),
  CrossPositions: loosens("positions of two strategies, which together stay as they are"),
  ResumeWatchdog: tightens("when watchdogs restrict and halt"),
  RequestHalt: tightens("halts"),
  AnnounceHalt: tightens("halts"),
  ConfirmHalts: tightens("halts"),
  RunDrill: tightens("halts of the drill scope"),
  FlattenPaper: tightens("positions of the paper funds, by exits that are checked like every order"),
  ReserveWithdrawal: tightens("the fund's value, less what may leave it"),
  ConfirmSent: tightens("what is reserved, which no longer expires"),
  CheckOrder: tightens("what is reserved"),
  CheckOrders: tightens("what is reserved"),
  SubmitOrder: tightens("what is reserved, for an order that is checked"),
  AmendOrder: tightens("what is reserved, for a change that is checked like a new order"),
  CancelOrder: said("what is reserved, once the broker reports the end"),
  CancelAll: said("what is reserved, once the broker reports the end"),
  Reconcile: tightens("whether our positions and the broker's agree"),
  InspectAudit: tightens("whether the audit log is whole"),
  BeginAuditInspection: tightens("whether the audit log is whole"),
  InjectObservations: tightens("what watchdogs of the paper platform see"),
  JudgeWatchdog: tightens("what watchdogs restrict and halt"),
  SetPaperWeather: said("prices and fills of the paper platform"),
  ReceiveSignal: tightens("what is reserved, for an order that is checked"),
  ReceiveTradingviewAlert: tightens("what is reserved, for an order that is checked"),
  RestartAll: nothing,
  AppendAudit: nothing,
  RotateAuditKey: nothing,
  RevokeAuditKey: nothing,
  EraseAuditSubject: nothing,
  ReportRegulatoryEvent: nothing,
  SealFilings: nothing,
  UploadFilings: nothing,
  TakeFilingFeedback: nothing,
  CorrectFilingRecord: nothing,
  RepairFilings: nothing,
  ReviewFilings: nothing,
  RebuildFilings: nothing,
  RecordRefusedSignal: nothing,
  MakeReport: nothing,
  SetStrategy: nothing,
  EndStop: nothing,
  ProveFlat: nothing,
  LogOut: nothing,
  EnrolSecondFactor: nothing,
  StepUp: nothing,
  IssueServiceToken: nothing,
  RotateServiceToken: nothing,
  ReceiveGithubDelivery: nothing,
  InstallGithubbot: nothing,
  UninstallGithubbot: nothing,
  PauseGithubbot: nothing,
  ResumeGithubbot: nothing,
  RotateWebhookSecret: nothing,
  RevokeServiceToken: nothing,
  PutSecret: nothing,
  RevokeSessions: nothing,
  AddOperator: nothing,
  ChangeOperatorRoles: nothing,
  DisableOperator: nothing,
  ResetOperatorFactor: nothing,
  CosignIdentityRequest: nothing,
  RotateSigningKeys: nothing,
};

// Who may do what: one table of operations and roles, used by gRPC, HTTP and the bus alike and printed into docs/authority.md.
// A remote procedure's operation carries the procedure's name; an HTTP route names its operation; a subject names the
// services that may publish it. What is not in a table is not allowed.
import { subjects } from "./subjects.ts";

export const roles = ["viewer", "operator", "risk_officer", "admin", "service"] as const;
export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}

/** "anyone" needs no proof of who they are, "authenticated" needs that and no role. */
export type Allowed = "anyone" | "authenticated" | readonly Role[];

interface OperationRule {
  readonly sentence: string;
  readonly allowed: Allowed;
}

const people = ["viewer", "operator", "risk_officer", "admin"] as const;
const readers = ["viewer", "operator", "risk_officer", "admin", "service"] as const;

const rule = (allowed: Allowed, sentence: string): OperationRule => ({ sentence, allowed });

// biome-ignore format: one operation, one line
export const operations = {
  // The risk engine.
  CheckOrder: rule(["service"], "Ask whether an order may be sent."),
  CheckOrders: rule(["service"], "Ask for many orders over one stream."),
  GetEnvelope: rule(readers, "Read a fund's limits."),
  UpdateEnvelope: rule(["risk_officer"], "Change a fund's limits."),
  GetHeadroom: rule(readers, "Ask how much more of a symbol a fund may trade."),
  ReleaseThrottle: rule(["operator"], "Let a strategy trade again after its throttle tripped."),
  ConfirmSent: rule(["service"], "Say that an approved order was sent."),
  ReleaseApproval: rule(["operator", "service"], "Free what is reserved for an approval that was not sent."),
  ListApprovals: rule(readers, "See what is reserved, order by order."),
  ListExposures: rule(readers, "See what the risk engine believes every fund to hold."),
  ListBlocks: rule(readers, "See which standing conditions deny new risk, and what ends them."),
  ListRejections: rule(readers, "Read a fund's denied orders."),
  GetDecisions: rule(readers, "Read why an order was approved or denied."),
  ListEnvelopes: rule(readers, "Read the history of a fund's limits."),
  DiffEnvelopes: rule(readers, "Compare two versions of a fund's limits."),
  ReplayEnvelope: rule(["operator", "risk_officer", "admin"], "Run recorded orders against proposed limits."),

  // Halts.
  RequestHalt: rule(["operator", "risk_officer", "admin", "service"], "Halt a strategy, a fund or the firm."),
  ResumeHalt: rule(["operator"], "Lift a halt, or ask for a second operator to lift all of them."),
  ListActiveHalts: rule(readers, "See every halt in force."),
  GetHaltStatus: rule(readers, "See what halts a fund or strategy."),
  AnnounceHalt: rule(["service"], "Have the risk engine block what the halt manager is about to latch."),
  ConfirmHalts: rule(["service"], "Have the risk engine read the halts now, for the halt manager."),
  ReserveWithdrawal: rule(["service"], "Ask the risk engine whether money may leave a fund, for treasury."),
  ListLosses: rule(readers, "See losses against their baselines and limits."),
  FlattenPaper: rule(["operator"], "Close every position of the paper funds."),
  GetFlatten: rule(readers, "See how far a flatten has come."),
  RunDrill: rule(["operator", "risk_officer"], "Trip a halt of the drill scope and measure what follows."),
  ListDrills: rule(readers, "See what drills measured."),
  RestartAll: rule(["operator"], "Restart the platform's five services in place."),

  // The record of what happened.
  AppendAudit: rule(["service"], "Append an entry to the audit chain; its actor is the caller."),
  GetAuditTrail: rule(readers, "Read the entries about one subject."),
  VerifyAudit: rule(readers, "Verify the audit chain."),
  ReadAudit: rule(readers, "Read the audit chain entry by entry."),
  GetAuditProof: rule(readers, "Get the proof that an entry is in the audit chain."),
  GetAuditConsistency: rule(readers, "Get the proof that the audit chain only grew between two sizes."),
  TailAudit: rule(readers, "Follow the audit chain as it grows."),
  GetAuditBundleHead: rule(readers, "Export a part of the audit chain for somebody who verifies it offline."),
  GetAuditStatus: rule(readers, "See how far the audit chain reaches and who vouches for it."),
  InspectAudit: rule(["operator", "admin"], "Derive chain, tree and index of the audit log anew, and repair what can be derived."),
  GetAuditTile: rule(readers, "Read checkpoints, tiles and entries of the audit log as static files."),
  BeginAuditVerification: rule(readers, "Verify the audit chain however long it takes."),
  BeginAuditInspection: rule(["operator", "admin"], "Inspect the audit log however long it takes."),
  WatchAuditRun: rule(readers, "See how far a long verification or inspection is, and what came of it."),
  RotateAuditKey: rule(["admin"], "Give the audit log a new key that signs its checkpoints."),
  RevokeAuditKey: rule(["admin"], "Take a key of the audit log out of force for good."),
  BeginAuditAnew: rule(["admin"], "Ask for a broken audit log to be closed and another to be begun; a second person signs."),
  CosignAuditAnew: rule(["operator", "risk_officer", "admin"], "Sign somebody else's request to begin the audit log anew."),
  EraseAuditSubject: rule(["admin"], "Destroy the key of what the audit log holds sealed about a person."),
  ReadPersonalData: rule(["risk_officer", "admin"], "Read what the audit log holds sealed about persons."),
  ListParked: rule(readers, "See the events that a subscription put aside."),
  RetryParked: rule(["operator", "admin"], "Have an event that was put aside tried again."),
  DiscardParked: rule(["admin"], "Decide that an event that was put aside is never handled."),
  ReportRegulatoryEvent: rule(["service"], "Report an event to the regulators of a fund."),

  // Orders, positions, funds and strategies.
  SubmitOrder: rule(["operator", "service"], "Hand in an order; it is checked like every other."),
  CancelOrder: rule(["operator", "service"], "Cancel an open order."),
  AmendOrder: rule(["operator", "service"], "Change an open order; the change is checked like a new one."),
  CancelAll: rule(["operator"], "Cancel every open order."),
  GetOrder: rule(readers, "Read one order."),
  ListOrders: rule(readers, "Read a fund's orders."),
  ListPositions: rule(readers, "Read a fund's positions."),
  ListFills: rule(readers, "Read a fund's trades."),
  AdjustPosition: rule(["service"], "Set a position of ours to what the broker has, for the reconciler."),
  CrossPositions: rule(["service"], "Close opposite positions of two strategies of a fund against each other, for a stop."),
  GetPaperWeather: rule(readers, "See what the paper broker and market are made to suffer."),
  SetPaperWeather: rule(["operator"], "Make the paper broker and market suffer, for a drill."),
  ListFunds: rule(readers, "List the funds."),
  ListNavs: rule(readers, "Read what a fund was worth over time."),
  ListLedger: rule(readers, "Read a fund's cash ledger."),
  RebuildLedger: rule(["admin"], "Rebuild a paper fund's positions and cash from its trades and entries."),
  BookCorporateAction: rule(["risk_officer", "admin"], "Book a cash dividend, a split or a change of symbol to the paper funds."),
  BookFlow: rule(["risk_officer", "admin"], "Book a deposit into a paper fund or a withdrawal from it."),
  ListInstruments: rule(readers, "List the instruments that may be traded."),
  ListStrategies: rule(readers, "List the strategies."),
  SetStrategy: rule(["operator", "risk_officer"], "Change a strategy's status or allocation."),
  GetBacktest: rule(readers, "Read a strategy's backtest."),
  ListSignals: rule(readers, "Read a strategy's signals and what came of them."),
  ListQuotes: rule(readers, "Read the newest prices."),
  ListBars: rule(readers, "Read how prices moved."),
  ReadMarketData: rule("anyone", "Read prices, the funds' values and halts on the public port."),
  ListNews: rule(readers, "Read news on symbols."),
  GetBooks: rule(readers, "See whether orders, positions, cash and exposure agree."),
  ListStops: rule(readers, "See the synthetic stops."),
  EndStop: rule(["operator"], "End a stop that fired without its exit."),
  Reconcile: rule(["operator", "risk_officer"], "Compare our positions with the broker's now."),
  ListDifferences: rule(readers, "See where our positions and the broker's differ."),
  ProveFlat: rule(["operator", "risk_officer"], "Ask the broker whether a fund is flat, and record the answer."),
  GetReferenceData: rule(readers, "Read instruments, funds, rates, borrow, the restricted list and calendars."),
  SetReferenceData: rule(["risk_officer", "admin"], "Replace one kind of reference data."),

  // The platform about itself.
  ReadHealth: rule("anyone", "Ask whether the platform can do its work."),
  ReadSchema: rule("anyone", "Read the descriptions of our own interfaces: gRPC reflection, OpenAPI."),
  ReadMetrics: rule(readers, "Read the figures of every process."),
  InspectInstance: rule(["service"], "Ask one process for its health and figures."),

  // Who is calling.
  LogIn: rule("anyone", "Reach the login pages, the token endpoints and the published keys."),
  ReadIdentity: rule("authenticated", "See who the platform takes you for."),
  LogOut: rule("authenticated", "End your own session and its tokens."),
  EnrolSecondFactor: rule(people, "Set up your own second factor."),
  StepUp: rule(people, "Prove your second factor for one named action."),
  ListServiceTokens: rule(["admin"], "List the tokens of machines; never their values."),
  IssueServiceToken: rule(["admin"], "Give a machine a token for named operations."),
  RotateServiceToken: rule(["admin"], "Replace a machine's token by a new one."),
  RevokeServiceToken: rule(["admin"], "Take a machine's token away."),
  RevokeSessions: rule(["admin"], "End every session of a person."),
  RotateSigningKeys: rule(["admin"], "Replace the key that signs tokens."),
} as const satisfies Readonly<Record<string, OperationRule>>;

export type Operation = keyof typeof operations;

export function isOperation(text: string): text is Operation {
  return Object.hasOwn(operations, text);
}

/** The part of an identity that authority looks at. */
export interface Caller {
  readonly roles: readonly Role[];
  /** A machine's token is narrowed to these; absent means that the roles alone decide. */
  readonly operations?: readonly Operation[];
}

/** Whether this caller may; undefined is a caller who proved nothing. */
export function mayCall(operation: Operation, caller: Caller | undefined): boolean {
  const { allowed }: OperationRule = operations[operation];
  if (allowed === "anyone") return true;
  if (caller === undefined) return false;
  // Whoever holds a token may see and give up what it says of them, however narrow it is.
  if (allowed === "authenticated") return true;
  if (caller.operations !== undefined && !caller.operations.includes(operation)) return false;
  return caller.roles.some((role) => allowed.includes(role));
}

/** Between our own processes: whoever else had them could stop every engine, or a fund's trading, without a word in the record. */
const ownOperations: ReadonlySet<Operation> = new Set(["AnnounceHalt", "ConfirmHalts", "ReserveWithdrawal"]);

/** Why not, in one sentence that says what would be needed. */
export function whyNot(operation: Operation): string {
  const { allowed }: OperationRule = operations[operation];
  if (ownOperations.has(operation))
    return `${operation} is between the platform's own processes; no token that is issued may name it.`;
  if (typeof allowed === "string") return `${operation} needs a login.`;
  const needed = allowed.length === 1 ? `the role ${allowed[0]}` : `one of the roles ${allowed.join(", ")}`;
  return `${operation} needs ${needed}${allowed.includes("service") ? "; a service token must name it" : ""}.`;
}

/** The operations that a machine's token may name. */
export const serviceOperations: readonly Operation[] = (Object.keys(operations) as Operation[]).filter((name) => {
  const { allowed }: OperationRule = operations[name];
  return typeof allowed !== "string" && allowed.includes("service") && !ownOperations.has(name);
});

/** A revocation reaches every process within this time; documented, and measured by a test. */
export const revocationMsMax = 2_000;

export const platformServices = ["riskengine", "operations", "oms", "treasury", "research", "gateway"] as const;
export type PlatformService = (typeof platformServices)[number];

/** What each of our own processes may ask of the others, with the token that it shows them. */
export const platformOperations: Readonly<Record<PlatformService, readonly Operation[]>> = {
  riskengine: ["InspectInstance"],
  // Stops hand in their exits, and the reconciler corrects positions.
  operations: [
    "InspectInstance",
    "GetEnvelope",
    "ListExposures",
    "ListApprovals",
    "SubmitOrder",
    "CancelOrder",
    "GetOrder",
    "AdjustPosition",
    "CrossPositions",
    // The halt manager.
    "AnnounceHalt",
    "ConfirmHalts",
  ],
  // What the risk engine believes to be held and open is asked before a corporate action is applied.
  oms: ["InspectInstance", "CheckOrder", "GetEnvelope", "ListExposures"],
  // What the risk engine believes to be held and open is asked before reference data is taken away, and before money leaves.
  treasury: ["InspectInstance", "ListExposures", "ReserveWithdrawal"],
  // Strategies come through the front door.
  research: ["InspectInstance", "GetEnvelope", "SubmitOrder", "CancelOrder", "GetOrder"],
  // What it tells the public, where nobody logs in, and whether a name that is to be halted is a fund's or a strategy's.
  gateway: ["InspectInstance", "ListQuotes", "ListBars", "ListFunds", "ListActiveHalts", "GetHaltStatus"],
};

type SubjectKey = keyof typeof subjects;

const everyService: readonly PlatformService[] = platformServices;
const watchdogs: readonly PlatformService[] = ["operations"];

// biome-ignore format: one subject, one line
export const publishers: Readonly<Record<SubjectKey, readonly PlatformService[]>> = {
  ordersCreated: ["oms"],
  ordersAccepted: ["oms"],
  ordersRejected: ["oms"],
  ordersUpdated: ["oms"],
  ordersCancelled: ["oms"],
  ordersExpired: ["oms"],
  fillsCreated: ["oms"],
  paperWeather: ["oms"],
  ledgerBooked: ["treasury"],
  ledgerRebuilt: ["treasury"],
  corporateActionChanged: ["oms", "treasury"],
  strategyChanged: ["research"],
  seedImported: ["treasury"],
  navUpdated: ["treasury"],
  referenceChanged: ["oms", "treasury"],
  throttleReleased: ["riskengine"],
  approvalExpired: ["riskengine"],
  approvalSent: ["riskengine"],
  envelopeUpdated: ["riskengine"],
  gatePassed: ["riskengine"],
  gateFailed: ["riskengine"],
  riskHaltRequested: ["riskengine"],
  lossBaseline: ["riskengine", "operations"],
  lossesUnjudged: ["riskengine"],
  decisionMade: ["riskengine"],
  // The risk engine's two workers run beside operations, so that the engine's event loop is its own.
  stopTriggered: ["operations"],
  stopAttempted: ["operations"],
  stopEnded: ["operations"],
  flatProved: ["operations"],
  reconcileDifference: ["operations"],
  auditAppended: ["operations"],
  haltRequested: ["operations"],
  // Whichever of the two was asked: both run the same ladder.
  haltLifted: ["riskengine", "operations"],
  resumeRequested: ["riskengine", "operations"],
  resumeEnded: ["riskengine", "operations"],
  auditProgress: ["operations"],
  auditAnewRequested: ["operations"],
  haltStep: ["operations"],
  flattenRequested: ["operations"],
  flattenLine: ["operations"],
  drillMeasured: ["operations"],
  restartRequested: ["gateway"],
  watchdogHealth: watchdogs,
  watchdogDrift: watchdogs,
  watchdogVpin: watchdogs,
  watchdogNews: watchdogs,
  watchdogPosition: watchdogs,
  watchdogDb: watchdogs,
  watchdogStrategy: watchdogs,
  watchdogTheta: watchdogs,
  watchdogDependency: watchdogs,
  watchdogVolDd: watchdogs,
  alarmRaised: everyService,
  busParked: everyService,
  busRetried: everyService,
  busDiscarded: ["operations"],
  configurationChanged: everyService,
  secretChanged: everyService,
  operatorAttempted: everyService,
  sessionOpened: ["gateway"],
  sessionClosed: ["gateway"],
  sessionRefused: ["gateway"],
  operatorChanged: ["gateway"],
  factorChanged: ["gateway"],
  // The ladder's two ends are shown codes as well.
  stepUpGranted: ["riskengine", "operations", "gateway"],
  // Whoever redeems a proof may find that it does not fit.
  stepUpRefused: everyService,
  stepUpRedeemed: everyService,
  serviceTokenChanged: ["gateway"],
  signingKeyChanged: ["gateway"],
  serviceStarted: everyService,
  serviceStopped: everyService,
  // Declared by whoever noticed that its lease ran out.
  serviceLost: ["operations"],
  marketMarks: ["operations"],
};

const publishersByName: ReadonlyMap<string, readonly PlatformService[]> = new Map(
  (Object.keys(subjects) as SubjectKey[]).map((key) => [subjects[key].name, publishers[key]]),
);

/** Whether a service may publish under that name. A subject that is not ours has no publisher. */
export function mayPublish(service: string, subjectName: string): boolean {
  return (publishersByName.get(subjectName) as readonly string[] | undefined)?.includes(service) ?? false;
}

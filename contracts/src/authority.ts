// Who may do what: one table of operations and roles, used by gRPC, HTTP and the bus alike and printed into docs/authority.md.
// The rows of procedures are declared with them in the protos, the gateway's own in gateway-operations.ts; a subject names the
// services that may publish it. What is not in a table is not allowed.
import { gatewayOperations } from "./gateway-operations.ts";
import { procedureOperations } from "./generated/authority.ts";
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
  /** It changes nothing. Of any other a refused attempt becomes an audit entry. */
  readonly reads: boolean;
  /** Between our own processes: whoever else had it could stop every engine, or a fund's trading, without a word in the record. */
  readonly internal?: true;
}

export const operations = {
  ...procedureOperations,
  ...gatewayOperations,
} as const satisfies Readonly<Record<string, OperationRule>>;

export type Operation = keyof typeof operations;

/** Those that may change something; sim/operations.ts says of each how the simulator does it. */
export type ChangingOperation = {
  [Name in Operation]: (typeof operations)[Name]["reads"] extends true ? never : Name;
}[Operation];

export function changesState(operation: Operation): operation is ChangingOperation {
  return !operations[operation].reads;
}

/** The gateway does it by itself, and records who was refused it. */
export function isGatewayOperation(operation: Operation): boolean {
  return "auditsRefusals" in operations[operation];
}

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

/** Why not, in one sentence that says what would be needed. */
export function whyNot(operation: Operation): string {
  const { allowed, internal }: OperationRule = operations[operation];
  if (internal === true)
    return `${operation} is between the platform's own processes; no token that is issued may name it.`;
  if (typeof allowed === "string") return `${operation} needs a login.`;
  const needed = allowed.length === 1 ? `the role ${allowed[0]}` : `one of the roles ${allowed.join(", ")}`;
  return `${operation} needs ${needed}${allowed.includes("service") ? "; a service token must name it" : ""}.`;
}

/** The operations that a machine's token may name. */
export const serviceOperations: readonly Operation[] = (Object.keys(operations) as Operation[]).filter((name) => {
  const { allowed, internal }: OperationRule = operations[name];
  return typeof allowed !== "string" && allowed.includes("service") && internal !== true;
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

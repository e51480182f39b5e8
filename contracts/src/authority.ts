// Who may do what: one table of operations and roles, used by gRPC, HTTP and the bus alike and printed into docs/authority.md.
// The rows of procedures are declared with them in the protos, the gateway's own in gateway-operations.ts; a subject names the
// services that may publish it. What is not in a table is not allowed.
import type { CostWithoutToken } from "./doors/open-shares.ts";
import { gatewayOperations } from "./gateway-operations.ts";
import { procedureOperations } from "./generated/authority.ts";
import { everyFundRefusal, type TokenFunds, type Whose } from "./ownership/whose.ts";
import type { OwnProcess, StoreProcess } from "./platform-services.ts";
import { eventByName, subjects } from "./subjects.ts";

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
  /** Whose that must be which it names. */
  readonly whose?: readonly Whose[];
  /** "always", "if MEMBER" or "unless MEMBER": a person is not refused for what cannot be seen in the text that they typed. */
  readonly tightens?: string;
  /** Of what anyone may ask: the share that a caller without a token asks it of, and what that costs. */
  readonly withoutToken?: CostWithoutToken;
}

export const operations = {
  ...procedureOperations,
  ...gatewayOperations,
} as const satisfies Readonly<Record<string, OperationRule>>;

export type Operation = keyof typeof operations;

/** Undefined for what takes a token. */
export function costWithoutToken(operation: Operation): CostWithoutToken | undefined {
  const { withoutToken }: OperationRule = operations[operation];
  return withoutToken;
}

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

/** The part of an identity that authority reads. */
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

/** Whose that must be which the operation names. */
export function whoseOf(operation: Operation): readonly Whose[] {
  const { whose = [] }: OperationRule = operations[operation];
  return whose;
}

/** Why a token that names funds may not call it at all, whatever it asks; undefined when it may. */
export function whyNotOfFunds(operation: Operation, caller: { readonly funds?: TokenFunds }): string | undefined {
  const sentence = everyFundRefusal(whoseOf(operation), caller.funds);
  return sentence === undefined ? undefined : `${operation}: ${sentence}`;
}

/** The operations that a machine's token may name. */
export const serviceOperations: readonly Operation[] = (Object.keys(operations) as Operation[]).filter((name) => {
  const { allowed, internal }: OperationRule = operations[name];
  return typeof allowed !== "string" && allowed.includes("service") && internal !== true;
});

/** A revocation reaches every process within this time; documented, and measured by a test. */
export const revocationMsMax = 2_000;

/** What each of our own processes may ask of the others, with the token that it shows them. */
export const platformOperations: Readonly<Record<OwnProcess, readonly Operation[]>> = {
  riskengine: ["InspectInstance"],
  // Stops hand in their exits, and the reconciler corrects positions.
  operations: [
    "InspectInstance",
    "GetEnvelope",
    "ListExposures",
    "ListApprovals",
    // How large the exposure is that a watchdog limits.
    "GetLimitUse",
    // What a dry run of limits, or of reference data without treasury, would make of them.
    "PreviewLimits",
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
  treasury: ["InspectInstance", "ListExposures", "ReserveWithdrawal", "PreviewLimits"],
  // Strategies come through the front door.
  research: ["InspectInstance", "GetEnvelope", "SubmitOrder", "CancelOrder", "GetOrder"],
  // What it tells the public, where nobody logs in, and whether a name that is to be halted is a fund's or a strategy's.
  gateway: [
    "InspectInstance",
    "ListQuotes",
    "ListBars",
    "ListInstruments",
    "ListFunds",
    "ListNavs",
    "ListHaltChanges",
    "GetHaltStatus",
    // Alerts at the webhook, where nobody logs in.
    "ReceiveSignal",
    "RecordRefusedSignal",
  ],
  // What a report is made of (edges/ctl/report); every role that may have one made may read each of these.
  reports: [
    "GetAuditStatus",
    "GetBacktest",
    "GetEnvelope",
    "GetLimitUse",
    "GetReferenceData",
    "ListBars",
    "ListEnvelopes",
    "ListFills",
    "ListInstruments",
    "ListLedger",
    "ListNavs",
    "ListOrders",
    "ListRejections",
    "ListSignals",
    "ListStrategies",
    "ReadAudit",
    "ReplayEnvelope",
  ],
  // What acts at GitHub reads and writes its own rows, and asks nobody for anything.
  bots: [],
};

type SubjectKey = keyof typeof subjects;

export const publishers = Object.fromEntries(
  Object.entries(subjects).map(([key, event]) => [key, event.publishers]),
) as Readonly<Record<SubjectKey, readonly StoreProcess[]>>;

/** Whether a service may publish under that name. A subject that is not ours has no publisher. */
export function mayPublish(service: string, subjectName: string): boolean {
  return (eventByName(subjectName)?.publishers as readonly string[] | undefined)?.includes(service) ?? false;
}

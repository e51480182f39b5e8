// What becomes an entry of the audit log: for every subject on the bus its action, the thing it is about and who did it, or the reason why it is no
// entry. An entry's action is a promise to whoever searches the log: it may be added, never renamed.
import type { z } from "zod";
import { personalFieldsOf } from "./records/fields.ts";
import { type ApprovalExpired, unsentEndOf } from "./records/order.ts";
import type { Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

/** The part of an event that decides about its entry. */
export interface AuditedEvent {
  readonly subject: string;
  readonly key: string;
  /** The publishing service, or "foreign". */
  readonly source: string;
  readonly payload: unknown;
  /** Set when nobody could read it. */
  readonly unread?: { readonly kind: "unknown subject" | "malformed" };
}

export interface AuditedAs {
  /** Every action that an event of the subject may become; nearly always one. */
  readonly actions: readonly string[];
  actionOf(payload: unknown): string;
  subjectIdOf(payload: unknown): string;
  /** As proved: a payload is believed about its actor only when one of our own services wrote it. */
  actorOf(event: AuditedEvent): string;
  /** Members of the payload that are about a person: sealed under that person's key before they are hashed. */
  readonly personal: readonly string[];
  /** Whom those are about. */
  personOf(payload: unknown): string;
}

export interface NotAudited {
  /** Why, in one sentence. */
  readonly notAudited: string;
}

export type AuditRule = AuditedAs | NotAudited;

/** What programs outside the platform do is recorded under this name, whatever they say in the payload. */
export const foreignActor = "foreign";

type SubjectKey = keyof typeof subjects;
type PayloadOf<Key extends SubjectKey> = (typeof subjects)[Key] extends Subject<infer Payload> ? Payload : never;

function publisherOf({ source }: AuditedEvent): string {
  return source === foreignActor ? foreignActor : `service:${source}`;
}

/** Which of several actions an event becomes, from what it says. */
interface OneOf<Payload> {
  readonly actions: readonly string[];
  of(payload: Payload): string;
}

function audited<Key extends SubjectKey>(
  key: Key,
  action: string | OneOf<PayloadOf<Key>>,
  subjectIdOf: (payload: PayloadOf<Key>) => string,
  actorOf?: (payload: PayloadOf<Key>) => string | undefined,
  personOf: (payload: PayloadOf<Key>) => string = subjectIdOf,
): AuditedAs {
  const schema = subjects[key].schema as z.ZodType<PayloadOf<Key>>;
  // The bus hands over only what matched the schema; asking again costs more than it could find.
  const payloadOf = (payload: unknown): PayloadOf<Key> => payload as z.infer<typeof schema>;
  return {
    actions: typeof action === "string" ? [action] : action.actions,
    actionOf: typeof action === "string" ? () => action : (payload) => action.of(payloadOf(payload)),
    subjectIdOf: (payload) => subjectIdOf(payloadOf(payload)),
    actorOf(event) {
      const publisher = publisherOf(event);
      if (actorOf === undefined || publisher === foreignActor) return publisher;
      return named(actorOf(payloadOf(event.payload))) ?? publisher;
    },
    personal: personalFieldsOf(schema),
    personOf: (payload) => personOf(payloadOf(payload)),
  };
}

/** Records name people and services with their kind; a bare name is a service's. */
function named(actor: string | undefined): string | undefined {
  if (actor === undefined || actor === "") return undefined;
  return actor.includes(":") ? actor : `service:${actor}`;
}

/** Somebody who was not yet known to be who they say. */
function principal(of: { readonly principal: string }): string {
  return of.principal.includes(":") ? of.principal : `principal:${of.principal}`;
}

const firm = "firm";
const byOrder = (of: { readonly order_id: string }): string => of.order_id;
const byFund = (of: { readonly fund_id: string }): string => of.fund_id;
const byScope = (of: { readonly fund_id: string; readonly strategy_id?: string | undefined }): string =>
  of.strategy_id ?? (of.fund_id === "" ? firm : of.fund_id);
const byService = (of: { readonly service: string }): string => `service:${of.service}`;
const byOperator = (of: { readonly operator: string }): string => of.operator;
const byWatched = (of: { readonly watchdog: string; readonly fund_id?: string | undefined }): string =>
  of.fund_id ?? of.watchdog;
const operator = (of: { readonly operator: string }): string => of.operator;
const requestedBy = (of: { readonly requested_by: string }): string => of.requested_by;
const actor = (of: { readonly actor?: string | undefined }): string | undefined => of.actor;

const unsentEnds: OneOf<ApprovalExpired> = {
  actions: ["approval.expired", "approval.released"],
  of: (ended) => (unsentEndOf(ended) === "RELEASED" ? "approval.released" : "approval.expired"),
};
const insideDecision = "It is inside the entry of the decision, which has every gate's figures.";

// biome-ignore format: one subject, one line
export const auditActions: Readonly<Record<SubjectKey, AuditRule>> = {
  // An order's `actor` is free text of whoever wants it: the record says who published it.
  ordersCreated: audited("ordersCreated", "order.created", byOrder),
  ordersAccepted: audited("ordersAccepted", "order.accepted", byOrder),
  ordersRejected: audited("ordersRejected", "order.rejected", byOrder),
  ordersUpdated: audited("ordersUpdated", "order.updated", byOrder),
  ordersCancelled: audited("ordersCancelled", "order.cancelled", byOrder),
  ordersExpired: audited("ordersExpired", "order.expired", byOrder),
  fillsCreated: audited("fillsCreated", "fill.created", byOrder),
  paperWeather: audited("paperWeather", "paper.weather", () => "paper", (of) => of.set_by),
  ledgerBooked: audited("ledgerBooked", "ledger.booked", byFund, (of) => of.booked_by),
  ledgerRebuilt: audited("ledgerRebuilt", "ledger.rebuilt", byFund, (of) => of.rebuilt_by),
  corporateActionChanged: audited("corporateActionChanged", "corporate_action.changed", (of) => of.symbol, (of) => of.booked_by),
  strategyChanged: audited("strategyChanged", "strategy.changed", (of) => of.strategy_id, (of) => of.changed_by),
  seedImported: audited("seedImported", "seed.imported", (of) => of.name, (of) => of.imported_by),
  navUpdated: { notAudited: "A valuation follows from fills and prices; what was decided on it stands in the decision." },
  referenceChanged: audited("referenceChanged", "reference.changed", (of) => `reference:${of.kind}`, (of) => of.set_by),

  envelopeUpdated: audited("envelopeUpdated", "envelope.updated", byFund, (of) => of.updated_by),
  gatePassed: { notAudited: insideDecision },
  gateFailed: { notAudited: insideDecision },
  riskHaltRequested: audited("riskHaltRequested", "halt.latched", byScope, requestedBy),
  lossBaseline: audited("lossBaseline", "loss.baseline", byScope, (of) => of.set_by),
  lossesUnjudged: audited("lossesUnjudged", "loss.unjudged", byFund),
  decisionMade: audited("decisionMade", "order.decided", (of) => of.decision.order_id),
  throttleReleased: audited("throttleReleased", "throttle.released", (of) => of.strategy_id, (of) => of.released_by),
  approvalExpired: audited("approvalExpired", unsentEnds, (of) => of.order_id, (of) => of.released_by),
  approvalSent: audited("approvalSent", "approval.sent", (of) => of.order_id, (of) => of.confirmed_by),
  stopTriggered: audited("stopTriggered", "stop.triggered", (of) => of.stop_id),
  stopAttempted: audited("stopAttempted", "stop.attempted", (of) => of.stop_id),
  stopEnded: audited("stopEnded", "stop.ended", (of) => of.stop_id, (of) => of.ended_by),
  flatProved: audited("flatProved", "reconcile.flat", byFund, (of) => of.asked_by),
  reconcileDifference: audited("reconcileDifference", "reconcile.difference", (of) => of.difference_id),

  auditAppended: { notAudited: "It tells of an entry: an entry about it would never end." },
  auditProgress: { notAudited: "It changes nothing: it measures how far the log is behind." },
  auditAnewRequested: audited("auditAnewRequested", "anew.requested", (of) => of.request_id, requestedBy),
  haltRequested: audited("haltRequested", "halt.requested", byScope, requestedBy),
  haltLifted: audited("haltLifted", "halt.lifted", byScope, (of) => of.cosigned_by),
  haltStep: audited("haltStep", "halt.step", (of) => of.halt_id),
  resumeRequested: audited("resumeRequested", "resume.requested", (of) => of.request_id, requestedBy),
  resumeEnded: audited("resumeEnded", "resume.ended", (of) => of.request_id, (of) => of.ended_by),
  flattenRequested: audited("flattenRequested", "flatten.requested", (of) => of.flatten_id, requestedBy),
  flattenLine: audited("flattenLine", "flatten.line", (of) => of.flatten_id),
  drillMeasured: audited("drillMeasured", "drill.measured", (of) => of.drill_id, requestedBy),
  restartRequested: audited("restartRequested", "restart.requested", () => "platform", requestedBy),
  watchdogHealth: audited("watchdogHealth", "watchdog.health", byWatched),
  watchdogDrift: audited("watchdogDrift", "watchdog.drift", byWatched),
  watchdogVpin: audited("watchdogVpin", "watchdog.vpin", byWatched),
  watchdogNews: audited("watchdogNews", "watchdog.news", byWatched),
  watchdogPosition: audited("watchdogPosition", "watchdog.position", byWatched),
  watchdogDb: audited("watchdogDb", "watchdog.db", byWatched),
  watchdogStrategy: audited("watchdogStrategy", "watchdog.strategy", byWatched),
  watchdogTheta: audited("watchdogTheta", "watchdog.theta", byWatched),
  watchdogDependency: audited("watchdogDependency", "watchdog.dependency", byWatched),
  watchdogVolDd: audited("watchdogVolDd", "watchdog.vol_dd", byWatched),
  alarmRaised: audited("alarmRaised", "alarm.raised", byService),
  busParked: audited("busParked", "bus.parked", (of) => of.subscription),
  busRetried: audited("busRetried", "bus.retried", (of) => of.subscription, (of) => of.asked_by),
  busDiscarded: audited("busDiscarded", "bus.discarded", (of) => of.subscription, (of) => of.discarded_by),
  configurationChanged: audited("configurationChanged", "configuration.changed", (of) => `${of.service}:${of.path}`, actor),
  secretChanged: audited("secretChanged", "secret.changed", (of) => of.path, actor),
  operatorAttempted: audited("operatorAttempted", "operator.attempted", (of) => (of.target === "" ? firm : of.target), operator),

  sessionOpened: audited("sessionOpened", "session.opened", principal, principal),
  sessionClosed: audited("sessionClosed", "session.closed", principal, (of) => of.actor ?? principal(of)),
  sessionRefused: audited("sessionRefused", "session.refused", principal),
  operatorChanged: audited("operatorChanged", "operator.changed", byOperator, actor),
  factorChanged: audited("factorChanged", "factor.changed", byOperator, operator),
  stepUpGranted: audited("stepUpGranted", "stepup.granted", byOperator, operator),
  stepUpRefused: audited("stepUpRefused", "stepup.refused", byOperator, operator),
  stepUpRedeemed: audited("stepUpRedeemed", "stepup.redeemed", byOperator, operator),
  serviceTokenChanged: audited("serviceTokenChanged", "token.changed", (of) => of.token_id, actor),
  signingKeyChanged: audited("signingKeyChanged", "signing_key.changed", (of) => of.key_id, actor),
  serviceStarted: audited("serviceStarted", "service.started", byService),
  serviceStopped: audited("serviceStopped", "service.stopped", byService),
  serviceLost: audited("serviceLost", "service.lost", byService),

  marketMarks: { notAudited: "A price changes no state of ours; what a decision used of it is in the decision." },
};

const bySubjectName: ReadonlyMap<string, AuditRule> = new Map(
  (Object.keys(subjects) as SubjectKey[]).map((key) => [subjects[key].name, auditActions[key]]),
);

/** Actions of events that nobody here can read: recorded as what they are, because too much can be read over and too little cannot. */
export const unreadActions = {
  "event.observed": "An event of a subject that we do not know.",
  "event.malformed": "An event that does not match the schema of its subject.",
} as const;

/** The rule of an event: that of its subject, unless nobody can read it. */
export function auditRuleOf(event: AuditedEvent): AuditRule {
  const rule = bySubjectName.get(event.subject);
  if (rule === undefined) return unreadRule("event.observed", event, []);
  if (event.unread === undefined || "notAudited" in rule) return rule;
  return unreadRule("event.malformed", event, rule.personal);
}

/** About whatever it says that it is about, or else about its subject; nothing of its payload is believed. */
function unreadRule(
  action: keyof typeof unreadActions,
  { key, subject }: AuditedEvent,
  personal: readonly string[],
): AuditedAs {
  const subjectId = key === "" ? subject : key;
  return {
    actions: [action],
    actionOf: () => action,
    subjectIdOf: () => subjectId,
    actorOf: publisherOf,
    personal,
    personOf: () => subjectId,
  };
}

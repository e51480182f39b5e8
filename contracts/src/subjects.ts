// Every subject on the bus, one entry each: its name, the schema of its payload, the key within which order is kept, and
// when it is published. No other file spells a subject's name. Patterns over names are as NATS has them: words separated
// by dots, `*` stands for exactly one word, a closing `>` for one or more.
import type { z } from "zod";
import { Fault } from "./fault.ts";
import { corporateActionChanged } from "./records/corporate-action.ts";
import { riskEnvelope } from "./records/envelope.ts";
import {
  ledgerBooked,
  ledgerRebuilt,
  navUpdated,
  paperWeather,
  seedImported,
  strategyChanged,
} from "./records/fund.ts";
import {
  activeHalt,
  drillMeasured,
  flattenLine,
  flattenRequested,
  haltLifted,
  haltRequest,
  haltStep,
  lossBaseline,
  lossesUnjudged,
  restartRequested,
  resumeEnded,
  resumeRequested,
} from "./records/halt.ts";
import { mark } from "./records/market.ts";
import {
  auditAnewRequested,
  auditEntry,
  auditProgress,
  flatProved,
  reconcileDifference,
  stopAttempted,
  stopEnded,
  stopTriggered,
  type WatchdogAlarm,
  watchdogAlarm,
} from "./records/operations.ts";
import {
  approvalExpired,
  approvalSent,
  decisionMade,
  fill,
  gatePassed,
  orderCreated,
  orderRejection,
  orderTransition,
  throttleReleased,
} from "./records/order.ts";
import {
  alarmRaised,
  configurationChanged,
  discardedEvent,
  factorChanged,
  operatorAttempted,
  operatorChanged,
  parkedEvent,
  retriedEvent,
  secretChanged,
  serviceEvent,
  serviceTokenChanged,
  sessionEvent,
  signingKeyChanged,
  stepUpEvent,
} from "./records/platform.ts";
import { referenceChanged } from "./records/reference.ts";
import type { Delivery, Subject } from "./subject.ts";

/** The pattern that covers all of them; operations and the audit chain listen to it. */
export const everySubject = "svc.v1.>";

function subject<Payload>(
  name: string,
  schema: z.ZodType<Payload>,
  key: (payload: Payload) => string,
  sentence: string,
  delivery: Delivery = "durable",
): Subject<Payload> {
  return { name, schema, key, sentence, delivery };
}

const byOrder = (of: { readonly order_id: string }): string => of.order_id;
const byFund = (of: { readonly fund_id: string }): string => of.fund_id;
const byService = (of: { readonly service: string }): string => of.service;
/** Halts are one sequence of epochs over the whole firm, so all of them share one key. */
const byFirm = (): string => "firm";
const byWatchdog = (of: WatchdogAlarm): string => `${of.watchdog}/${of.fund_id ?? ""}`;

// biome-ignore format: one subject, one line
export const subjects = {
  // Order management and treasury, or a foreign system in their place.
  ordersCreated: subject("svc.v1.oms.orders.created", orderCreated, byOrder, "An order was taken in; nothing was decided yet."),
  ordersAccepted: subject("svc.v1.oms.orders.accepted", orderTransition, byOrder, "An order passed its check and may be routed."),
  ordersRejected: subject("svc.v1.oms.orders.rejected", orderTransition, byOrder, "An order was refused, by us or by the broker."),
  ordersUpdated: subject("svc.v1.oms.orders.updated", orderTransition, byOrder, "An order moved on: routed, working, filled, unknown or amended."),
  ordersCancelled: subject("svc.v1.oms.orders.cancelled", orderTransition, byOrder, "An order was cancelled; what had filled stays filled."),
  ordersExpired: subject("svc.v1.oms.orders.expired", orderTransition, byOrder, "An order's time in force ran out."),
  fillsCreated: subject("svc.v1.oms.fills.created", fill, byOrder, "An order traded, in whole or in part."),
  paperWeather: subject("svc.v1.oms.paper.weather", paperWeather, () => "paper", "Somebody changed what the paper broker and the paper market suffer."),
  ledgerBooked: subject("svc.v1.treasury.ledger.booked", ledgerBooked, byFund, "Cash moved that no fill moved: capital, a flow, a fee for borrowed shares."),
  ledgerRebuilt: subject("svc.v1.treasury.ledger.rebuilt", ledgerRebuilt, byFund, "What is kept of a fund's positions and cash was put right from its trades and entries."),
  corporateActionChanged: subject("svc.v1.treasury.corporate_action.changed", corporateActionChanged, (action) => action.symbol, "A split or a change of symbol was announced, applied, done or aborted."),
  strategyChanged: subject("svc.v1.research.strategy.changed", strategyChanged, (changed) => changed.strategy_id, "A strategy's status or allocation changed."),
  seedImported: subject("svc.v1.treasury.seed.imported", seedImported, (seed) => seed.name, "The paper platform's history was put in."),
  navUpdated: subject("svc.v1.treasury.nav.updated", navUpdated, byFund, "A fund was valued."),
  referenceChanged: subject("svc.v1.treasury.reference.changed", referenceChanged, (changed) => changed.kind, "One kind of reference data got a new version."),

  // The risk engine.
  envelopeUpdated: subject("svc.v1.risk.envelope.updated", riskEnvelope, byFund, "A fund's limits changed; the payload is what applies now."),
  gatePassed: subject("svc.v1.risk.gate.passed", gatePassed, byOrder, "A gate let an order through."),
  gateFailed: subject("svc.v1.risk.gate.failed", orderRejection, byOrder, "A gate denied an order."),
  riskHaltRequested: subject("svc.v1.risk.halt.requested", haltRequest, byFirm, "The risk engine latched a halt; operations adopts it."),
  lossBaseline: subject("svc.v1.risk.loss.baseline", lossBaseline, byFund, "From where on a loss is counted was written down."),
  lossesUnjudged: subject("svc.v1.risk.loss.unjudged", lossesUnjudged, byFund, "A fund's losses could not be judged in full for a minute; order management cancels what rests and adds risk."),
  decisionMade: subject("svc.v1.risk.decision.made", decisionMade, (made) => made.decision.order_id, "An order was approved or denied, with every gate's figures."),
  throttleReleased: subject("svc.v1.risk.throttle.released", throttleReleased, byFund, "An operator let a strategy trade again after its throttle tripped."),
  approvalExpired: subject("svc.v1.risk.approval.expired", approvalExpired, byOrder, "Nothing showed that an approval was sent, or it was released: what was reserved for it is free."),
  approvalSent: subject("svc.v1.risk.approval.sent", approvalSent, byOrder, "Its owner said that an approved order was sent."),
  stopTriggered: subject("svc.v1.risk.stop.triggered", stopTriggered, byFund, "A price crossed a synthetic stop; the exit is now owed."),
  stopAttempted: subject("svc.v1.risk.stop.attempted", stopAttempted, byFund, "An exit was handed in for a stop that fired."),
  stopEnded: subject("svc.v1.risk.stop.ended", stopEnded, byFund, "A stop that fired is over."),
  flatProved: subject("svc.v1.risk.reconcile.flat", flatProved, byFund, "After a flatten: what the broker says is left."),
  reconcileDifference: subject("svc.v1.risk.reconcile.difference", reconcileDifference, byFund, "Our position and the broker's differ, or no longer do."),

  // Operations.
  auditAppended: subject("svc.v1.operations.audit.appended", auditEntry, () => "audit", "An audit entry was appended."),
  auditProgress: subject("svc.v1.operations.audit.progress", auditProgress, () => "audit", "When the audit log has heard this, everything published before it is an entry."),
  auditAnewRequested: subject("svc.v1.operations.audit.anew_requested", auditAnewRequested, () => "audit", "An admin asked for the broken audit log to be closed and another to be begun; a second person must sign."),
  haltRequested: subject("svc.v1.operations.halt.requested", activeHalt, byFirm, "A halt is in force; order management stops accepting matching orders."),
  haltLifted: subject("svc.v1.operations.halt.lifted", haltLifted, byFirm, "An operator lifted a halt."),
  haltStep: subject("svc.v1.operations.halt.step", haltStep, byFirm, "What follows a latch was proven: blocked, cancelled or notified."),
  resumeRequested: subject("svc.v1.operations.resume.requested", resumeRequested, byFirm, "An operator asked to lift every halt; a second one must sign."),
  resumeEnded: subject("svc.v1.operations.resume.ended", resumeEnded, byFirm, "A request to lift every halt was signed, replaced, or is void."),
  flattenRequested: subject("svc.v1.operations.flatten.requested", flattenRequested, (of) => of.flatten_id, "An operator asked for every position of the paper funds to be closed."),
  flattenLine: subject("svc.v1.operations.flatten.line", flattenLine, (of) => of.flatten_id, "One position of a flatten moved on."),
  drillMeasured: subject("svc.v1.operations.drill.measured", drillMeasured, () => "drill", "A halt of the drill scope was tripped and measured."),
  restartRequested: subject("svc.v1.operations.restart.requested", restartRequested, () => "platform", "An operator had the five services restarted."),
  watchdogHealth: subject("svc.v1.operations.watchdog.health", watchdogAlarm, byWatchdog, "predictive_health: NAV left its confidence interval."),
  watchdogDrift: subject("svc.v1.operations.watchdog.drift", watchdogAlarm, byWatchdog, "drift_monitor: a strategy's live skill fell behind its backtest."),
  watchdogVpin: subject("svc.v1.operations.watchdog.vpin", watchdogAlarm, byWatchdog, "vpin: informed trading is likely."),
  watchdogNews: subject("svc.v1.operations.watchdog.news", watchdogAlarm, byWatchdog, "news_spike: news volume on held names is extraordinary."),
  watchdogPosition: subject("svc.v1.operations.watchdog.position", watchdogAlarm, byWatchdog, "position_anomaly: a position changed by an untypical size."),
  watchdogDb: subject("svc.v1.operations.watchdog.db", watchdogAlarm, byWatchdog, "db_watchdog: row counts disagree or queries are slow."),
  watchdogStrategy: subject("svc.v1.operations.watchdog.strategy", watchdogAlarm, byWatchdog, "strategy_watchdog: profit or loss left its expected interval."),
  watchdogTheta: subject("svc.v1.operations.watchdog.theta", watchdogAlarm, byWatchdog, "theta_watchdog: net option theta is above its threshold."),
  watchdogDependency: subject("svc.v1.operations.watchdog.dependency", watchdogAlarm, byWatchdog, "dependency_watchdog: an upstream was unhealthy three polls in a row."),
  watchdogVolDd: subject("svc.v1.operations.watchdog.vol_dd", watchdogAlarm, byWatchdog, "portfolio_vol_dd: realised volatility is far above its target."),
  alarmRaised: subject("svc.v1.operations.alarm.raised", alarmRaised, byService, "A part of the platform wants a person to know something."),
  busParked: subject("svc.v1.operations.bus.parked", parkedEvent, (parked) => parked.subscription, "A subscription could not handle an event and put it aside."),
  busRetried: subject("svc.v1.operations.bus.retried", retriedEvent, (retried) => retried.subscription, "An event that was put aside was tried again, with what came of it."),
  busDiscarded: subject("svc.v1.operations.bus.discarded", discardedEvent, (discarded) => discarded.subscription, "Somebody decided that an event that was put aside is never handled."),
  configurationChanged: subject("svc.v1.operations.configuration.changed", configurationChanged, byService, "A configuration value took effect that differs from the one before."),
  secretChanged: subject("svc.v1.operations.secret.changed", secretChanged, (changed) => changed.path, "A secret got a new version; its value is never told."),
  operatorAttempted: subject("svc.v1.operations.operator.attempted", operatorAttempted, (tried) => tried.operator, "An operator tried a state-changing verb, allowed or not."),

  // Who is there, and which processes run.
  sessionOpened: subject("svc.v1.identity.session.opened", sessionEvent, (session) => session.principal, "Somebody proved who they are."),
  sessionClosed: subject("svc.v1.identity.session.closed", sessionEvent, (session) => session.principal, "Somebody logged out or their session ended."),
  sessionRefused: subject("svc.v1.identity.session.refused", sessionEvent, (session) => session.principal, "Somebody failed to prove who they are."),
  operatorChanged: subject("svc.v1.identity.operator.changed", operatorChanged, (changed) => changed.operator, "A person who may log in was made, changed or removed."),
  factorChanged: subject("svc.v1.identity.factor.changed", factorChanged, (changed) => changed.operator, "A person's second factor was set up, replaced or used up."),
  stepUpGranted: subject("svc.v1.identity.stepup.granted", stepUpEvent, (tried) => tried.operator, "A second factor was proved for one named action."),
  stepUpRefused: subject("svc.v1.identity.stepup.refused", stepUpEvent, (tried) => tried.operator, "A second factor was asked for and not proved."),
  stepUpRedeemed: subject("svc.v1.identity.stepup.redeemed", stepUpEvent, (tried) => tried.operator, "The proof of a second factor was used for its action."),
  serviceTokenChanged: subject("svc.v1.identity.token.changed", serviceTokenChanged, (changed) => changed.token_id, "A machine got, changed or lost its token."),
  signingKeyChanged: subject("svc.v1.identity.key.changed", signingKeyChanged, () => "keys", "The key that signs tokens was made, replaced or withdrawn."),
  serviceStarted: subject("svc.v1.platform.service.started", serviceEvent, byService, "A service's process is ready."),
  serviceStopped: subject("svc.v1.platform.service.stopped", serviceEvent, byService, "A service's process ended as it was told to."),
  serviceLost: subject("svc.v1.platform.service.lost", serviceEvent, byService, "A service's process ended or fell silent without being told to."),

  // Prices: the only subject that may lose messages.
  marketMarks: subject("svc.v1.market.marks", mark, (price) => price.symbol, "A price moved; only the newest per symbol matters.", "conflated"),
};

const byName: ReadonlyMap<string, Subject<unknown>> = new Map(Object.values(subjects).map((each) => [each.name, each]));

/** The subject of that exact name, or undefined for one that we do not know. */
export function subjectByName(name: string): Subject<unknown> | undefined {
  return byName.get(name);
}

/** A bound on names from outside. */
export const subjectLengthMax = 255;

/** Printable ASCII without the dot and the wildcards: NATS forbids white space, and what lies beyond ASCII invites look-alikes. */
const word = /^[!-)+\-,/-=?-~]+$/;

/** What is wrong with a subject's name, in one sentence, or undefined when nothing is. */
export function complaintAboutName(name: string): string | undefined {
  if (name.length === 0) return "it is empty";
  if (name.length > subjectLengthMax) return `it is longer than ${subjectLengthMax} characters`;
  if (isLeftOut(name)) return "it begins with !, which leaves a subject out of a durable subscription's patterns";
  for (const part of name.split(".")) {
    if (part === "") return "it has an empty word";
    if (!word.test(part)) return `its word ${JSON.stringify(part)} has a character that a subject may not have`;
  }
  return undefined;
}

/** What is wrong with a pattern, in one sentence, or undefined when nothing is. */
export function complaintAboutPattern(pattern: string): string | undefined {
  const words = pattern.split(".");
  if (words.slice(0, -1).includes(">")) return "its > is not the last word";
  return complaintAboutName(words.map((part) => (part === "*" || part === ">" ? "x" : part)).join("."));
}

/** Among the patterns of a durable subscription: hears nothing of the subject of that exact name. */
export const leftOut = (name: string): string => `!${name}`;

export function isLeftOut(pattern: string): boolean {
  return pattern.startsWith("!");
}

/** The same for what a durable subscription asks for, which may leave subjects out. */
export function validatePatterns(patterns: readonly string[]): void {
  for (const pattern of patterns) {
    if (!isLeftOut(pattern)) validatePattern(pattern);
    else if (complaintAboutName(pattern.slice(1)) !== undefined)
      refusePattern(pattern, "only a whole name can be left out");
  }
  const [first] = patterns;
  if (first !== undefined && patterns.every(isLeftOut))
    refusePattern(first, "nothing is asked for that it could be left out of");
}

/** Whether one of the patterns covers the subject and none leaves it out. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  let isCovered = false;
  for (const pattern of patterns) {
    if (isLeftOut(pattern)) {
      if (pattern.length === name.length + 1 && pattern.endsWith(name)) return false;
    } else if (!isCovered) isCovered = matches(pattern, name);
  }
  return isCovered;
}

/** Refuses a pattern that a server would refuse or that could never match, before anything is subscribed. */
export function validatePattern(pattern: string): void {
  const complaint = complaintAboutPattern(pattern);
  if (complaint !== undefined) refusePattern(pattern, complaint);
}

function refusePattern(pattern: string, complaint: string): never {
  const shown = JSON.stringify(pattern.slice(0, subjectLengthMax));
  throw new Fault("INVALID_ARGUMENT", `${shown} is not a subject pattern: ${complaint}`, { retry: "never" });
}

/** Whether a subject's name falls under a pattern. `a.>` covers `a.b` and `a.b.c`, but not `a`. */
export function matches(pattern: string, name: string): boolean {
  const wanted = pattern.split(".");
  const given = name.split(".");
  for (const [index, part] of wanted.entries()) {
    const found = given[index];
    if (found === undefined || found === "") return false;
    if (part === ">") return index === wanted.length - 1;
    if (part !== "*" && part !== found) return false;
  }
  return given.length === wanted.length;
}

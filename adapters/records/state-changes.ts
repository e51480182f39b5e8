// Every unit of work of the platform, and which events tell of what it changed. The rule is simple: a unit that changes a record publishes, in the
// same transaction, an event that becomes an entry of the audit log. What need not is written down here with its reason, and nothing else
// is let through: the store asks `unauditedChange` before every commit.
import { auditActions } from "../../contracts/src/audit-actions.ts";
import type { AuditRule } from "../../contracts/src/events/event.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { unauditedRecords } from "./unaudited-records.ts";

type SubjectKey = keyof typeof subjects;

/** A unit of work changes records and tells it by one of these, or it has a reason why the audit log need not know. */
export type UnitRule = { readonly tells: readonly SubjectKey[] } | { readonly unaudited: string };

const tells = (...keys: readonly SubjectKey[]): UnitRule => ({ tells: keys });
const unaudited = (reason: string): UnitRule => ({ unaudited: reason });

const onlyReads = unaudited("It only reads.");
const spent = unaudited("It removes what had ended before; that it ended was reported then.");
const loginDialogue = unaudited(
  "It is the memory of a login that is under way; that it succeeded or failed is reported.",
);

/** By the name that is given to `transact`. */
export const unitsOfWork: Readonly<Record<string, UnitRule>> = {
  // Services.
  "oms.seed": tells("fillsCreated"),
  "oms.look": onlyReads,
  "oms.submit": tells("ordersCreated"),
  "oms.decide": tells("ordersAccepted", "ordersRejected", "ordersCancelled"),
  "oms.route": tells("ordersUpdated", "ordersRejected"),
  "oms.resend": tells("ordersUpdated", "ordersRejected"),
  "oms.withdraw": tells("ordersRejected"),
  "oms.unknown": tells("ordersUpdated"),
  "oms.learn": tells("ordersUpdated", "ordersRejected", "ordersCancelled", "ordersExpired"),
  "oms.cancel": tells("ordersUpdated", "ordersCancelled"),
  "oms.cancel-all": tells("operatorAttempted"),
  "oms.attempt": tells("operatorAttempted"),
  "oms.cancelled": tells("ordersUpdated", "ordersRejected", "ordersCancelled", "ordersExpired"),
  "oms.amend": tells("ordersUpdated"),
  "oms.slice": tells("ordersCreated", "ordersUpdated", "ordersRejected", "ordersCancelled", "ordersExpired"),
  "oms.report": tells("fillsCreated", "ordersUpdated", "ordersRejected", "ordersCancelled", "ordersExpired"),
  "oms.adjust": tells("fillsCreated"),
  "oms.cross": tells("fillsCreated"),
  "oms.settle": tells("fillsCreated"),
  "oms.alarm": tells("alarmRaised"),
  "oms.quote": unaudited(
    "What the market quoted 300 seconds after a fill; prices are not audited, the fill was reported.",
  ),
  "oms.trim": unaudited(
    "Forgets idempotency keys that count no more, and alerts that ended long ago; orders and audited events stay.",
  ),
  "oms.action": tells("corporateActionChanged"),
  "oms.signal": tells("signalReceived", "signalRefused"),
  "oms.signal-failed": tells("signalFailed"),
  "oms.signal-submitted": unaudited("That its order was created is reported by the order."),
  "oms.weather": tells("paperFaults"),
  "oms.weather-read": onlyReads,
  "treasury.seed": tells("referenceChanged", "ledgerBooked"),
  "treasury.paper-feed": tells("referenceChanged"),
  "treasury.waiting": unaudited(
    "Each fill is an entry of its own; that one waits is reported by an alarm in the same unit.",
  ),
  "treasury.fill": unaudited("Holdings are the sum of fills, and each fill is an entry."),
  "treasury.bust": unaudited("Takes a busted fill back; each bust is an entry."),
  "treasury.value": unaudited("A valuation follows from fills and prices."),
  "treasury.alarm": tells("alarmRaised"),
  "treasury.flow": tells("ledgerBooked"),
  "treasury.borrow": tells("ledgerBooked"),
  "treasury.dividend": tells("corporateActionChanged", "ledgerBooked"),
  "treasury.rebuild": tells("ledgerRebuilt"),
  "treasury.action": tells("corporateActionChanged"),
  "treasury.look": onlyReads,
  "treasury.history": tells("seedImported"),
  "treasury.thin": unaudited("It removes values whose minute, hour or day keeps a later one."),
  "oms.history": unaudited("Trades of a past that was made up; seed.imported tells of the whole with its hash."),
  "research.seed": tells("strategyChanged"),
  "research.strategy": tells("strategyChanged"),
  "research.look": onlyReads,
  "research.decide": unaudited(
    "Opinions, and the number that keeps orders' ids apart; what is done about them is reported by orders.",
  ),
  "research.realised": unaudited("What came of opinions follows from prices."),
  "research.daily": unaudited(
    "Opinions at a day's end and what came of them; what is done about them is reported by orders.",
  ),
  "research.backtest": unaudited("A backtest follows from the market's seed and the code."),
  "reference.get": onlyReads,
  "reference.standing": onlyReads,
  "reference.value-sources": onlyReads,
  "reference.set": tells("referenceChanged", "referenceRequested"),
  "riskengine.seed": tells("envelopeUpdated"),
  "risk.envelope": tells("envelopeUpdated"),
  "risk.accept": tells("stepUpRedeemed", "stepUpRefused"),
  "riskengine.actions": onlyReads,
  "risk.halt": tells("riskHaltRequested"),
  "halts.latch": tells("haltRequested"),
  "halts.adopt": tells("haltRequested"),
  "halts.step": tells("haltStep"),
  "halts.look": onlyReads,
  "halts.resume": tells("haltLifted", "resumeRequested", "resumeEnded"),
  "halts.attempt": tells("operatorAttempted"),
  "flatten.request": tells("flattenRequested"),
  "flatten.drive": tells("flattenLine"),
  "flatten.look": onlyReads,
  "drill.measure": tells("drillMeasured", "haltLifted"),
  "drill.look": onlyReads,
  "risk.losses": onlyReads,
  "platform.restart": tells("restartRequested"),
  "platform.instances": onlyReads,
  "report.ask": unaudited("What was asked for changes nothing; what comes of it is reported when it is made."),
  "report.progress": unaudited("How far a report is, or why it failed; one that is made is reported."),
  "report.look": onlyReads,
  "report.made": tells("reportMade"),
  "report.trim": spent,
  "report.run": tells("reportRunRecorded"),
  "report.run-step": unaudited(
    "How far a run is; that it was due, what was made, and where it was delivered is reported.",
  ),
  "report.run-ended": tells("reportRunRecorded"),
  "report.run-look": onlyReads,
  "githubbot.install": tells("githubbotInstalled"),
  "githubbot.uninstall": tells("githubbotUninstalled"),
  "githubbot.attempt": tells("operatorAttempted"),
  "githubbot.pause": tells("githubbotPaused", "githubbotResumed"),
  "githubbot.look": onlyReads,
  "githubbot.deliver": unaudited("What GitHub delivered; the runs that come of it are reported when they end."),
  "bots.look": onlyReads,
  "bots.take": unaudited("Runs that are to be done, or that a process begins; how each ends is reported."),
  "bots.end": tells("botRunEnded"),
  "bots.work": unaudited("How far a run is and what it spent; how it ends is reported."),
  "bots.spend": unaudited("What a run reserved; how it ends is reported, and so is a budget that is reached."),
  "bots.forget": spent,
  "bots.sweep": unaudited("Which deliveries GitHub was asked for again."),
  "report.deliver": unaudited("That an attempt begins, or failed and is tried again; how it ends is reported."),
  "report.delivered": tells("reportDelivered"),
  "request.begin": unaudited("What is done under an idempotency key is reported by what does it."),
  "request.end": unaudited("What was answered; what was done is reported."),
  "risk.foreign": unaudited(
    "Counts a foreign publisher's events, each of which is an entry; what is refused is an alarm in the same unit.",
  ),
  "risk.foreign-look": onlyReads,
  "risk.earlier-rates": onlyReads,
  "risk.price-turns": unaudited(
    "Who prices a symbol for which nobody is named; a source that takes over raises an alarm.",
  ),
  "prices.turns": onlyReads,
  "risk.release": tells("throttleReleased"),
  "risk.approval": tells("approvalExpired", "approvalSent", "approvalEnded", "blockOpened", "blockEnded"),
  "risk.approval-note": unaudited(
    "It only keeps order management from sending what is about to be released; the release is reported, and so is the order's end.",
  ),
  "risk.hand-over": tells("ordersHandedOver", "stepUpRedeemed", "stepUpRefused", "operatorAttempted"),
  "risk.attempt": tells("operatorAttempted"),
  "risk.alarm": tells("alarmRaised"),
  "risk.unjudged": tells("lossesUnjudged"),
  "risk.nav": tells("lossBaseline", "riskHaltRequested"),
  "risk.roll": tells("lossBaseline", "riskHaltRequested"),
  "secret.put": tells("operatorAttempted"),
  "webhook.rotate-secret": tells("operatorAttempted"),
  "audit.key": tells("operatorAttempted"),
  "audit.erase": tells("operatorAttempted"),
  "audit.anew": tells("operatorAttempted", "auditAnewRequested"),
  "audit.anew.look": onlyReads,
  "audit.alarm": tells("alarmRaised"),
  "marks.alarm": tells("alarmRaised"),
  "market.keep": unaudited(
    "The market as it was heard; prices and news are not audited, what a decision used is in it.",
  ),
  "market.forget": unaudited("Forgets minutes and news of long ago; hours stay."),
  "filings.record": tells("filingRecorded"),
  "filings.hear": tells("filingRecorded"),
  "filings.review": tells("filingReviewed"),
  "filings.repair": tells("filingRecorded", "operatorAttempted"),
  "filings.rebuild": tells("operatorAttempted"),
  "filings.switch": tells("filingSwitched"),
  "filings.settings": unaudited("It keeps what the configuration says, which has entries of its own."),
  "filings.look": onlyReads,
  "filings.close": unaudited("That a file takes no more lines; that it is sealed is reported."),
  "filings.seal": tells("filingSealed"),
  "filings.sent": tells("filingUploaded"),
  "filings.feedback": tells("filingFeedback"),
  "filings.correct": tells("filingCorrected"),
  "replay.look": onlyReads,
  "audit.standing": unaudited("How far the log has come follows from the log; when it fails that is an alarm."),
  "audit.kept": onlyReads,
  "riskengine.audit": onlyReads,
  "workers.alarm": tells("alarmRaised"),
  "workers.seen": unaudited("When something was seen first; that it stands is an alarm."),
  "workers.attempt": tells("operatorAttempted"),
  "watchdogs.look": onlyReads,
  "watchdogs.judged": unaudited(
    "What a watchdog remembers follows from what it read; a change of its state is reported.",
  ),
  "watchdogs.change": tells(
    "watchdogHealth",
    "watchdogDrift",
    "watchdogVpin",
    "watchdogNews",
    "watchdogPosition",
    "watchdogDb",
    "watchdogStrategy",
    "watchdogTheta",
    "watchdogDependency",
    "watchdogVolDd",
  ),
  "watchdogs.forget": unaudited(
    "It removes the memory of what is not watched any more; its episode was reported to its end.",
  ),
  "watchdogs.pnl": unaudited("Profit or loss by the day follows from valuations."),
  "watchdogs.pause": tells("operatorAttempted"),
  "watchdogs.configure": tells("operatorAttempted"),
  "watchdogs.inject": tells("operatorAttempted"),
  "stops.look": onlyReads,
  "stops.trigger": tells("stopTriggered"),
  "stops.drive": tells("stopAttempted", "stopEnded"),
  "stops.refused": unaudited(
    "Order management reported what it refused; the next attempt is reported when it is made.",
  ),
  "stops.end": tells("stopEnded"),
  "stops.list": onlyReads,
  "reconcile.read": onlyReads,
  "reconcile.orders": onlyReads,
  "reconcile.look": tells("reconcileDifference"),
  "reconcile.adjusting": unaudited(
    "It only remembers that an adjustment is about to be handed in; what comes of it is reported.",
  ),
  "reconcile.flat": tells("flatProved"),
  "reconcile.list": onlyReads,
  "riskengine.blocks": onlyReads,
  "riskengine.restrictions": onlyReads,
  "restrictions.look": onlyReads,
  "unaudited.accept": tells("unauditedAccepted"),
  "restrictions.end": tells("restrictionEnded"),
  "leases.look": tells("serviceLost"),
  "standby.look": onlyReads,
  "lease.register": tells("serviceStarted"),
  "lease.look": onlyReads,
  "lease.renew": tells("serviceStarted"),
  "lease.retire": tells("serviceStopped"),
  "secret.changed": tells("secretChanged"),
  "configuration.start": tells("configurationChanged"),
  "attempt.refused": tells("operatorAttempted"),

  // The bus.
  "bus.alarm": tells("alarmRaised"),
  "bus.park": unaudited(
    "Tells bus.parked, unless that is the very event that is put aside: it would never end; what waits behind a held one is reported by that one.",
  ),
  "bus.retry": unaudited(
    "Tells bus.retried of what failed before or somebody asked for; what only waited is reported by its own entry.",
  ),
  "foreign.publish": unaudited("What it publishes for a program outside is an entry of its own, as every event is."),
  "foreign.dry-run": unaudited("It is rolled back: nothing of it stays."),
  "foreign.look": onlyReads,
  "foreign.heard": unaudited("What a foreign event said under its id; the event is an entry."),
  "parked.look": onlyReads,
  "parked.retry": tells("operatorAttempted"),
  "parked.withdraw": unaudited("Takes back a request that no service took; the operator who asked is told so."),
  "parked.discard": tells("busDiscarded"),

  // Who is there.
  "identity.session_refused": tells("sessionRefused"),
  "identity.log_out": tells("sessionClosed", "serviceTokenChanged", "alarmRaised"),
  "identity.revoke_all": tells("sessionClosed"),
  "identity.revoke_session": unaudited("The first half of the end of a login; oidc_end_session tells it."),
  "identity.token_issue": tells("serviceTokenChanged", "identityRequested", "operatorAttempted", "stepUpRefused"),
  "identity.token_rotate": tells("serviceTokenChanged", "identityRequested", "operatorAttempted", "stepUpRefused"),
  "identity.token_used": unaudited("Only that a token was shown; what was done with it has events of its own."),
  "identity.token_ending": tells("alarmRaised"),
  "identity.operator_change": tells(
    "operatorChanged",
    "factorChanged",
    "identityRequested",
    "operatorAttempted",
    "stepUpRefused",
  ),
  "identity.accept_request": tells("identityRequested", "operatorAttempted", "stepUpRefused"),
  "identity.request_cosign": tells("identityRequestEnded", "operatorAttempted", "stepUpRefused"),
  "identity.request_overdue": tells("identityRequestEnded"),
  "identity.local_admin": tells("operatorChanged"),
  "identity.token_revoke": tells("serviceTokenChanged"),
  "identity.factor_begin": tells("factorChanged", "stepUpRefused"),
  "identity.factor_confirm": tells("factorChanged", "stepUpRefused"),
  "identity.step_up": tells("stepUpGranted", "stepUpRefused", "factorChanged"),
  "identity.log_in_factor": tells("stepUpGranted", "stepUpRefused", "factorChanged"),
  "identity.code_ask": unaudited("A code on its way to whoever judges it; how it was judged is reported."),
  "identity.code_look": onlyReads,
  "identity.code_answer": tells("stepUpGranted", "stepUpRefused"),
  "identity.step_up_redeem": tells("stepUpRedeemed", "stepUpRefused"),
  "identity.development_operators": tells("operatorChanged", "factorChanged", "serviceTokenChanged"),
  "identity.development_remove": tells("operatorChanged", "serviceTokenChanged"),
  signing_keys_publish: tells("signingKeyChanged"),
  identity_issuer: tells("configurationChanged"),
  oidc_upsert: loginDialogue,
  oidc_consume: loginDialogue,
  oidc_remove: loginDialogue,
  oidc_end_session: tells("sessionClosed"),
  "identity.purge_oidc_state": spent,
  "identity.purge_step_up_proof": spent,
  "identity.purge_identity_revocation": spent,
  "identity.purge_service_token": spent,
  "identity.purge_second_factor": spent,
  "identity.purge_identity_request": spent,
  "identity.purge_code_answer": spent,
  oidc_find: onlyReads,
  "identity.is_revoked": onlyReads,
  "identity.factor_status": onlyReads,
  "identity.token_list": onlyReads,
  "identity.token_endings_look": onlyReads,
  "identity.operator_list": onlyReads,
  "identity.request_list": onlyReads,
  "identity.request_look": onlyReads,
  "identity.request_overdue_look": onlyReads,
  "identity.operator_find": onlyReads,
  "identity.development_look": onlyReads,
  "identity.development_token": onlyReads,
  "identity.issuer_before": onlyReads,
  "identity.people_look": onlyReads,
  "identity.feed": onlyReads,
};

const audited: ReadonlySet<string> = new Set(
  (Object.keys(subjects) as SubjectKey[]).flatMap((key) => (isAudited(auditActions[key]) ? [subjects[key].name] : [])),
);

function isAudited(rule: AuditRule): boolean {
  return "actions" in rule;
}

/**
 * What is wrong with a unit of work that is about to be committed; undefined when nothing is. A record is the verb and the table: `insert halt`.
 * Subjects are those that it published.
 */
export function unauditedChange(
  unit: string,
  records: ReadonlySet<string>,
  published: ReadonlySet<string>,
): string | undefined {
  const changed = [...records].filter((record) => !isUnaudited(record));
  if (changed.length === 0) return undefined;
  const rule = Object.hasOwn(unitsOfWork, unit) ? unitsOfWork[unit] : undefined;
  if (rule === undefined) {
    return `${unit} changes ${changed.join(", ")} and is not in adapters/records/state-changes.ts: say there how it is reported`;
  }
  if ("unaudited" in rule) return undefined;
  const isReported = rule.tells.some((key) => audited.has(subjects[key].name) && published.has(subjects[key].name));
  if (isReported) return undefined;
  return `${unit} changes ${changed.join(", ")} and publishes none of ${rule.tells.join(", ")}: the audit log would not know`;
}

function isUnaudited(record: string): boolean {
  const table = record.slice(record.indexOf(" ") + 1);
  return Object.hasOwn(unauditedRecords, record) || Object.hasOwn(unauditedRecords, table);
}

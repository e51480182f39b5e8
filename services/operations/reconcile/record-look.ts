// Writes down what a look at an account made of its differences: one transaction with everything that is told of it, so that nothing is alerted
// twice and nothing is left out, whatever dies in between.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { ReconcileDifference } from "../../../contracts/src/records/operations.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { classify, judgeLook, type KnownDifference, type LookVerdict } from "../../../core/reconcile/reconcile.ts";
import type { DifferenceLook, StoredDifference } from "../../../ports/reconcile-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { shortHash } from "../short-hash.ts";
import { alarmOf } from "../worker-alarms.ts";
import type { AccountFacts } from "./gather-account.ts";

interface LookedAt {
  /** Open ones, and those that this look ended. */
  readonly differences: readonly StoredDifference[];
  /** Confirmed ones of which ours may be set to the broker's. */
  readonly correctable: readonly StoredDifference[];
  /** Some wait for a second look. */
  readonly hasSuspected: boolean;
}

interface RecordLookOptions {
  readonly ports: Pick<ServicePorts, "clock" | "sha256" | "settings">;
  readonly fundId: string;
  readonly broker: string;
  readonly facts: AccountFacts;
}

export async function recordLook(unit: UnitOfWork, given: RecordLookOptions): Promise<LookedAt> {
  const options = { ...given, facts: await comparable(unit, given.facts) };
  const { ports, fundId, broker, facts } = options;
  const at = ports.clock.now();
  const open = await unit.reconcile.lockOpen(broker, fundId);
  const looks = await unit.reconcile.looks(open.map(({ differenceId }) => differenceId));
  const bySymbol = new Map(open.map((one) => [one.symbol, one]));
  const symbols = [...new Set([...facts.mismatches.map(({ symbol }) => symbol), ...bySymbol.keys()])].sort();
  const isAlert = facts.mismatches.length >= ports.settings.reconcile.alertThreshold;
  const differences: StoredDifference[] = [];
  const correctable: StoredDifference[] = [];
  for (const symbol of symbols) {
    const before = bySymbol.get(symbol);
    const last = looks.find(({ differenceId }) => differenceId === before?.differenceId);
    const judged = judgeSymbol(options, symbol, before, last);
    const next = differenceAfter(options, symbol, before, judged.verdict, isAlert, at);
    if (next === undefined) continue;
    const isOpen = next.status === "SUSPECTED" || next.status === "CONFIRMED";
    // Whoever asks sees the figures of this look.
    differences.push(isOpen ? { ...next, ourQuantity: judged.ours, brokerQuantity: judged.brokers } : next);
    if (next !== before) await tell(unit, next, at);
    if (judged.verdict.verdict === "stay" && judged.verdict.isStuck) await tellStuck(unit, next, at);
    if (!isOpen) continue;
    await unit.reconcile.putLook(lookAfter(next, last, judged));
    if ("mayCorrect" in judged.verdict && judged.verdict.mayCorrect && facts.isCaughtUp) correctable.push(next);
  }
  if (facts.mismatches.length === 0) {
    await unit.reconcile.putAgreement({ broker, account: fundId, cursor: facts.cursor, at });
  }
  return { differences, correctable, hasSuspected: differences.some(({ status }) => status === "SUSPECTED") };
}

/** While a corporate action is under way, one side has it before the other: of its symbols nothing is compared that the broker said before it was done. */
async function comparable(unit: UnitOfWork, facts: AccountFacts): Promise<AccountFacts> {
  const actions = [...(await unit.corporateActions.underWay()), ...(await unit.corporateActions.applied())];
  const legs = actions.filter(({ doneAt }) => doneAt === undefined || doneAt > facts.asOf).flatMap((one) => one.legs);
  if (legs.length === 0) return facts;
  const isMoving = (symbol: string): boolean => legs.some((leg) => leg.symbol === symbol || leg.new_symbol === symbol);
  const ours = new Map(facts.ours);
  for (const symbol of new Set([...ours.keys(), ...facts.brokers.keys()])) {
    if (isMoving(symbol)) ours.set(symbol, facts.brokers.get(symbol) ?? decimal.zero);
  }
  return { ...facts, ours, mismatches: facts.mismatches.filter(({ symbol }) => !isMoving(symbol)) };
}

interface Judged {
  readonly ours: Decimal;
  readonly brokers: Decimal;
  readonly brokerAsOf: Instant;
  readonly verdict: LookVerdict;
}

function judgeSymbol(
  { facts, ports }: RecordLookOptions,
  symbol: string,
  before: StoredDifference | undefined,
  last: DifferenceLook | undefined,
): Judged {
  const ours = facts.ours.get(symbol) ?? decimal.zero;
  const brokers = facts.brokers.get(symbol) ?? decimal.zero;
  const look = { ours, brokers, brokerAsOf: facts.asOf };
  const known = before === undefined ? undefined : knownOf(before, last);
  return { ...look, verdict: judgeLook(known, look, ports.settings.reconcile.confirmAfterMs) };
}

function knownOf(before: StoredDifference, last: DifferenceLook | undefined): KnownDifference {
  return {
    status: before.status === "CONFIRMED" ? "CONFIRMED" : "SUSPECTED",
    looks: last?.looks ?? 1,
    ours: last?.ourQuantity ?? before.ourQuantity,
    brokers: last?.brokerQuantity ?? before.brokerQuantity,
    brokerAsOf: last?.brokerAsOf ?? before.firstSeenAt,
    isAdjusting: last?.adjustmentId !== undefined,
  };
}

/** The same object when nothing about it is news. */
function differenceAfter(
  { ports, fundId, broker, facts }: RecordLookOptions,
  symbol: string,
  before: StoredDifference | undefined,
  { verdict }: LookVerdict,
  isAlert: boolean,
  at: Instant,
): StoredDifference | undefined {
  const ours = facts.ours.get(symbol) ?? decimal.zero;
  const brokers = facts.brokers.get(symbol) ?? decimal.zero;
  const seen = { ourQuantity: ours, brokerQuantity: brokers, at };
  if (before !== undefined && (verdict === "clear" || verdict === "corrected")) {
    const how = verdict === "clear" ? "agree again" : "agree, because ours was set to the broker's";
    const evidence = `Both sides ${how} at ${decimal.format(brokers)}. Before: ${before.evidence}`;
    const status = verdict === "clear" ? "CLEARED" : "CORRECTED";
    return { ...before, ...seen, status, evidence: line(evidence, 2_000) };
  }
  if (verdict !== "suspect" && verdict !== "confirm" && verdict !== "change") {
    return alertedNow(before, isAlert && ours !== brokers, seen);
  }
  const explained = classify(
    { symbol, ours, brokers },
    facts.evidence.get(symbol) ?? { gaps: [], booked: [], isWhole: false },
  );
  const found = { ...seen, class: explained.class, evidence: line(explained.evidence, 2_000) };
  if (before !== undefined) {
    return { ...before, ...found, status: "CONFIRMED", isAlerted: before.isAlerted || isAlert };
  }
  const name = [
    broker,
    fundId,
    symbol,
    String(facts.cursor),
    decimal.format(ours),
    decimal.format(brokers),
    format(at),
  ];
  return {
    differenceId: `difference-${shortHash(ports.sha256, name)}`,
    fundId,
    account: fundId,
    broker,
    symbol,
    ...found,
    status: "SUSPECTED",
    isAlerted: isAlert,
    firstSeenAt: at,
  };
}

/** At the look that reaches the threshold, also what was seen before and not alerted then is. */
function alertedNow(
  before: StoredDifference | undefined,
  isAlert: boolean,
  seen: Pick<StoredDifference, "ourQuantity" | "brokerQuantity" | "at">,
): StoredDifference | undefined {
  return before === undefined || before.isAlerted || !isAlert ? before : { ...before, ...seen, isAlerted: true };
}

function lookAfter(difference: StoredDifference, last: DifferenceLook | undefined, judged: Judged): DifferenceLook {
  const { ours, brokers, brokerAsOf, verdict } = judged;
  if (verdict.verdict === "early" && last !== undefined) return last;
  const isNews = verdict.verdict === "suspect" || last === undefined || brokerAsOf > last.brokerAsOf;
  return {
    differenceId: difference.differenceId,
    looks: (last?.looks ?? 0) + 1,
    ourQuantity: isNews ? ours : last.ourQuantity,
    brokerQuantity: isNews ? brokers : last.brokerQuantity,
    brokerAsOf: isNews ? brokerAsOf : last.brokerAsOf,
    ...(last?.adjustmentId !== undefined && { adjustmentId: last.adjustmentId }),
  };
}

async function tell(unit: UnitOfWork, difference: StoredDifference, at: Instant): Promise<void> {
  await unit.reconcile.put(difference);
  await unit.events.publish(subjects.reconcileDifference, recordOf(difference));
  if (!difference.isAlerted) return;
  if (difference.status === "SUSPECTED") await alarm(unit, "RECONCILE_SUSPECTED", difference, at);
  if (difference.status === "CONFIRMED") await alarm(unit, "RECONCILE_CONFIRMED", difference, at);
}

function recordOf(difference: StoredDifference): ReconcileDifference {
  const { differenceId, fundId, account, broker, symbol, status, evidence } = difference;
  return {
    difference_id: differenceId,
    fund_id: fundId,
    account,
    broker,
    symbol,
    our_quantity: decimal.format(difference.ourQuantity),
    broker_quantity: decimal.format(difference.brokerQuantity),
    class: difference.class,
    status,
    evidence,
    alerted: difference.isAlerted,
    at: format(difference.at),
  };
}

const tellStuck = (unit: UnitOfWork, difference: StoredDifference, at: Instant): Promise<void> =>
  alarm(unit, "RECONCILE_STUCK", difference, at);

async function alarm(
  unit: UnitOfWork,
  code: "RECONCILE_SUSPECTED" | "RECONCILE_CONFIRMED" | "RECONCILE_STUCK",
  { differenceId, fundId, symbol, evidence, class: kind }: StoredDifference,
  at: Instant,
): Promise<void> {
  const facts = { about: differenceId, fund_id: fundId, symbol, class: kind };
  await unit.events.publish(
    subjects.alarmRaised,
    alarmOf(code, `${fundId}, ${symbol}: ${evidence}`, facts, format(at)),
  );
}

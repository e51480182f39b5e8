// Watches what a unit of work changes and what it tells, and refuses one that changes records behind the audit log's back. Used by every store, so
// that a publication that somebody forgot is found by whatever test runs that code first, and never becomes durable.
import { Defect } from "../../contracts/src/fault.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { UnitOfWork } from "../../ports/store.ts";

/** The complaint about a unit of work, or undefined; `unauditedChange` of adapters/records/state-changes.ts. */
export type UnauditedChange = (
  unit: string,
  records: ReadonlySet<string>,
  published: ReadonlySet<string>,
) => string | undefined;

export interface ChangeWatch {
  /** The verb and the table: `insert halt`. */
  wrote(record: string): void;
  published(subject: Subject<never>): void;
  /** A Defect when something was changed and not reported. */
  judge(): void;
}

export function watchChanges(unit: string, unaudited: UnauditedChange): ChangeWatch {
  const records = new Set<string>();
  const published = new Set<string>();
  return {
    wrote: (record) => void records.add(record),
    published: (subject) => void published.add(subject.name),
    judge() {
      const complaint = unaudited(unit, records, published);
      if (complaint !== undefined) throw new Defect(complaint);
    },
  };
}

/** The same unit of work, watched. What a call did not change is not noted. */
export function watchedUnit(unit: UnitOfWork, watch: ChangeWatch): UnitOfWork {
  const {
    events,
    handled,
    instances,
    risk,
    reference,
    treasury,
    research,
    ledger,
    configuration,
    oms,
    paperFaults,
    reconcile,
  } = unit;
  const after: After = async (doing, record, isChange = () => true) => {
    const done = await doing;
    if (isChange(done)) watch.wrote(record);
    return done;
  };
  return {
    events: watchedEvents(events, watch),
    handled: {
      firstTime: (subscription, id) =>
        after(handled.firstTime(subscription, id), "insert handled_event", (first) => first),
      firstTimes: (subscription, ids) =>
        after(handled.firstTimes(subscription, ids), "insert handled_event", (first) => first.size > 0),
    },
    instances: {
      ...instances,
      register: (instance) => after(instances.register(instance), "insert service_instance"),
      renew: (incarnation, until) =>
        after(instances.renew(incarnation, until), "update service_instance", (done) => done),
      retire: (incarnation) => after(instances.retire(incarnation), "delete service_instance"),
      declareLost: (at) => after(instances.declareLost(at), "delete service_instance", (lost) => lost.length > 0),
    },
    risk: {
      ...risk,
      putEnvelope: (envelope) => after(risk.putEnvelope(envelope), "insert risk_envelope"),
      latchHalt: (halt) => after(risk.latchHalt(halt), "insert halt"),
      liftHalts: (haltIds, at) => after(risk.liftHalts(haltIds, at), "update halt"),
      putNav: (nav, believedUntil) => after(risk.putNav(nav, believedUntil), "insert risk_nav", (isNewer) => isNewer),
    },
    halts: watchedHalts(unit.halts, after),
    flattens: watchedFlattens(unit.flattens, after),
    drills: watchedDrills(unit.drills, after),
    losses: watchedLosses(unit.losses, after),
    reference: { ...reference, put: (version) => after(reference.put(version), "insert reference_version") },
    treasury: {
      ...treasury,
      add: (fundId, symbol, quantity) => after(treasury.add(fundId, symbol, quantity), "insert treasury_holding"),
    },
    ledger: watchedLedger(ledger, after),
    configuration: watchedConfiguration(configuration, after),
    research: watchedResearch(research, after),
    stops: watchedStops(unit.stops, after),
    reconcile: {
      ...reconcile,
      put: (difference) => after(reconcile.put(difference), "insert reconcile_difference"),
      putLook: (look) => after(reconcile.putLook(look), "insert reconcile_look"),
      putAgreement: (agreement) => after(reconcile.putAgreement(agreement), "insert reconcile_agreement"),
    },
    oms: watchedOms(oms, after),
    paperFaults: { ...paperFaults, put: (faults) => after(paperFaults.put(faults), "insert paper_weather") },
    restrictions: watchedRestrictions(unit.restrictions, after),
    corporateActions: watchedActions(unit.corporateActions, after),
    stepUps: watchedStepUps(unit.stepUps, watch),
    auditStanding: watchedStanding(unit.auditStanding, after),
    auditAnew: watchedAnew(unit.auditAnew, after),
    firstSeen: watchedFirstSeen(unit.firstSeen, after),
    parked: watchedParked(unit.parked, after),
    watchdogs: watchedWatchdogs(unit.watchdogs, after),
  };
}

type After = <T>(doing: Promise<T>, record: string, isChange?: (done: T) => boolean) => Promise<T>;

/** It tells of the use itself, in the same transaction, past the events that are watched here. */
function watchedStepUps(stepUps: UnitOfWork["stepUps"], watch: ChangeWatch): UnitOfWork["stepUps"] {
  return {
    async redeem(shown) {
      const denial = await stepUps.redeem(shown);
      if (denial !== undefined) return denial;
      watch.wrote("update step_up_proof");
      watch.published(subjects.stepUpRedeemed as unknown as Subject<never>);
      return undefined;
    },
  };
}

/** One that its episode opened before is no change. */
function watchedRestrictions(records: UnitOfWork["restrictions"], after: After): UnitOfWork["restrictions"] {
  return {
    ...records,
    open: (restriction) =>
      after(
        records.open(restriction),
        "insert restriction",
        ({ restrictionId, since }) => restrictionId === restriction.restrictionId && since === restriction.since,
      ),
    end: (ids, ending) => after(records.end(ids, ending), "update restriction", (ended) => ended.length > 0),
  };
}

function watchedActions(records: UnitOfWork["corporateActions"], after: After): UnitOfWork["corporateActions"] {
  return { ...records, put: (action) => after(records.put(action), "insert corporate_action") };
}

function watchedAnew(records: UnitOfWork["auditAnew"], after: After): UnitOfWork["auditAnew"] {
  return { ...records, put: (request) => after(records.put(request), "insert audit_anew_request") };
}

function watchedFirstSeen(records: UnitOfWork["firstSeen"], after: After): UnitOfWork["firstSeen"] {
  return {
    ...records,
    put: (kind, seen) => after(records.put(kind, seen), "insert first_seen"),
    remove: (kind, abouts) => after(records.remove(kind, abouts), "delete first_seen"),
  };
}

function watchedWatchdogs(records: UnitOfWork["watchdogs"], after: After): UnitOfWork["watchdogs"] {
  return {
    ...records,
    putWatches: (watches) => after(records.putWatches(watches), "insert watchdog_watch"),
    removeWatches: (watches) => after(records.removeWatches(watches), "delete watchdog_watch"),
    putEpisode: (episode) => after(records.putEpisode(episode), "insert watchdog_episode"),
    putPause: (pause) => after(records.putPause(pause), "insert watchdog_pause"),
    removePause: (watchdog, fundId) =>
      after(records.removePause(watchdog, fundId), "delete watchdog_pause", (isRemoved) => isRemoved),
    putPnl: (days) => after(records.putPnl(days), "insert watchdog_pnl"),
    putInjection: (injection) => after(records.putInjection(injection), "insert paper_injection"),
    clearInjections: () => after(records.clearInjections(), "delete paper_injection", (count) => count > 0),
  };
}

function watchedStops(stops: UnitOfWork["stops"], after: After): UnitOfWork["stops"] {
  return {
    ...stops,
    insert: (stop) => after(stops.insert(stop), "insert stop", (isFirst) => isFirst),
    update: (stop) => after(stops.update(stop), "update stop"),
  };
}

function watchedParked(parked: UnitOfWork["parked"], after: After): UnitOfWork["parked"] {
  const update = "update parked_event";
  return {
    ...parked,
    put: (event) => after(parked.put(event), "insert parked_event", (isNew) => isNew),
    askRetry: (of, id, asked) => after(parked.askRetry(of, id, asked), update),
    withdrawRetry: (of, id) => after(parked.withdrawRetry(of, id), update, (done) => done),
    discard: (of, id, how) => after(parked.discard(of, id, how), update),
    take: (of, id, at) => after(parked.take(of, id, at), update, (done) => done),
    failed: (of, id, error, at) => after(parked.failed(of, id, error, at), update),
    remove: (of, id) => after(parked.remove(of, id), "delete parked_event"),
  };
}

function watchedStanding(records: UnitOfWork["auditStanding"], after: After): UnitOfWork["auditStanding"] {
  return {
    ...records,
    report: (standing) => after(records.report(standing), "insert audit_standing", (isNewest) => isNewest),
  };
}

function watchedLedger(ledger: UnitOfWork["ledger"], after: After): UnitOfWork["ledger"] {
  return {
    ...ledger,
    book: (entry, moves) => after(ledger.book(entry, moves), "insert treasury_entry", (isNew) => isNew),
    correct: (fundId, by) => after(ledger.correct(fundId, by), "update treasury_holding"),
    putFund: (fundId, fund) => after(ledger.putFund(fundId, fund), "insert treasury_fund"),
    putNav: (point) => after(ledger.putNav(point), "insert treasury_nav"),
    importNavs: (points) => after(ledger.importNavs(points), "insert treasury_nav", (count) => count > 0),
    firstImport: (name, hash, at) => after(ledger.firstImport(name, hash, at), "insert treasury_import", (is) => is),
    thinNavs: (every, before, countMax) =>
      after(ledger.thinNavs(every, before, countMax), "delete treasury_nav", (count) => count > 0),
  };
}

function watchedResearch(research: UnitOfWork["research"], after: After): UnitOfWork["research"] {
  return {
    ...research,
    putStrategy: (strategy) => after(research.putStrategy(strategy), "insert research_strategy"),
    takeDecision: (strategyId) => after(research.takeDecision(strategyId), "update research_strategy"),
    insertSignals: (signals) => after(research.insertSignals(signals), "insert research_signal"),
    setRealised: (signals) => after(research.setRealised(signals), "update research_signal"),
    addSkill: (strategyId, day, coefficient) =>
      after(research.addSkill(strategyId, day, coefficient), "insert research_skill"),
    forgetSignals: (before, countMax) =>
      after(research.forgetSignals(before, countMax), "delete research_signal", (count) => count > 0),
    putDailySignals: (signals) => after(research.putDailySignals(signals), "insert research_daily_signal"),
    setDailyRealised: (signals) => after(research.setDailyRealised(signals), "update research_daily_signal"),
    putBacktest: (backtest) => after(research.putBacktest(backtest), "insert research_backtest"),
  };
}

function watchedConfiguration(configuration: UnitOfWork["configuration"], after: After): UnitOfWork["configuration"] {
  return {
    ...configuration,
    put: (service, values) => after(configuration.put(service, values), "insert configuration_value"),
    remove: (service, paths) => after(configuration.remove(service, paths), "delete configuration_value"),
  };
}

export function watchedEvents(events: UnitOfWork["events"], watch: ChangeWatch): UnitOfWork["events"] {
  return {
    async publish(subject, payload) {
      const id = await events.publish(subject, payload);
      watch.published(subject as Subject<never>);
      return id;
    },
  };
}

/** `for update`, `do update` and `no key update` are no verbs of their own. */
const change = /\b(insert\s+into|delete\s+from|(?<!\b(?:for|do|key)\s+)update)\s+(?:only\s+)?([a-z_]+)/gi;
const textsMax = 1_000;

/** The verbs and tables of statements; the same texts come again and again. */
export function statementReader(): (text: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const records = [...text.matchAll(change)].map(([, verb = "", table = ""]) => {
      return `${verb.slice(0, 6).toLowerCase()} ${table.toLowerCase()}`;
    });
    if (known.size >= textsMax) known.clear();
    known.set(text, records);
    return records;
  };
}

function watchedLosses(losses: UnitOfWork["losses"], after: After): UnitOfWork["losses"] {
  return {
    ...losses,
    put: (fundId, state) => after(losses.put(fundId, state), "update loss_state"),
    putBaseline: (fundId, baseline) =>
      after(losses.putBaseline(fundId, baseline), "insert loss_baseline", (isFirst) => isFirst),
    putSample: (fundId, sample, from) => after(losses.putSample(fundId, sample, from), "insert loss_sample"),
  };
}

function watchedHalts(halts: UnitOfWork["halts"], after: After): UnitOfWork["halts"] {
  return {
    ...halts,
    tell: (reported) => after(halts.tell(reported), "insert halt_told", (isFirst) => isFirst),
    prove: (step) => after(halts.prove(step), "insert halt_step", (isFirst) => isFirst),
    putResume: (resume) => after(halts.putResume(resume), "insert resume_request"),
  };
}

function watchedFlattens(flattens: UnitOfWork["flattens"], after: After): UnitOfWork["flattens"] {
  return {
    ...flattens,
    insert: (flatten) => after(flattens.insert(flatten), "insert flatten", (isFirst) => isFirst),
    update: (flatten) => after(flattens.update(flatten), "update flatten"),
    insertLine: (line) => after(flattens.insertLine(line), "insert flatten_line"),
    updateLine: (line) => after(flattens.updateLine(line), "update flatten_line"),
  };
}

function watchedDrills(drills: UnitOfWork["drills"], after: After): UnitOfWork["drills"] {
  return { ...drills, insert: (drill) => after(drills.insert(drill), "insert drill", (isFirst) => isFirst) };
}

function watchedOms(oms: UnitOfWork["oms"], after: After): UnitOfWork["oms"] {
  return {
    ...oms,
    insertOrder: (order) => after(oms.insertOrder(order), "insert oms_order"),
    updateOrder: (order) => after(oms.updateOrder(order), "update oms_order"),
    insertFill: (fill) => after(oms.insertFill(fill), "insert oms_fill", (booked) => booked !== false),
    importFills: (fills) => after(oms.importFills(fills), "insert oms_fill", (count) => count > 0),
    putPosition: (position) => after(oms.putPosition(position), "insert oms_position"),
  };
}

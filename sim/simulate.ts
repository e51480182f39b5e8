// One simulated run from one seed: the whole platform under faults, with crashes and restarts, people and markets; after every step the
// invariants, and at the end it goes on without faults until nothing is left to do.

import { createHash } from "node:crypto";
import { parse } from "../contracts/src/instant.ts";
import { strategies, strategiesVersion } from "../core/strategies/index.ts";
import type { Settings } from "../ports/settings.ts";
import { seedPositions } from "../services/oms/seed-positions.ts";
import { seedEnvelopes } from "../services/riskengine/seed-envelopes.ts";
import { seedTreasury } from "../services/treasury/seed-treasury.ts";
import { haltOver } from "../testkit/halt-judge.ts";
import { type Scheduler, scheduler } from "../testkit/virtual/scheduler.ts";
import { amender, amendInCalm } from "./amender.ts";
import { whatIsStuck } from "./at-rest.ts";
import { audited } from "./audited-subjects.ts";
import { chart, hasCharts } from "./chart.ts";
import { type Witness, witness } from "./evidence.ts";
import { type Faults, faults } from "./faults.ts";
import { isExitOf, isOver, positionKey } from "./history.ts";
import { booksApart } from "./invariants/books.ts";

import { whatIsOwed } from "./invariants/halts.ts";
import { isExcused } from "./invariants/stops.ts";
import { firstViolation, type Violation } from "./invariants.ts";
import { damagedOneIn, damageLog } from "./log-damage.ts";
import { officers } from "./operations.ts";
import { changeLimits, funds, operators, symbolsOf, thinLimits } from "./operators.ts";
import { opposeStrategies } from "./opposed-strategies.ts";
import { optionWriter } from "./option-writer.ts";
import { firstHoldings } from "./outside.ts";
import { crashingClient, notePromises, one, type PeopleParts, trader } from "./people.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { type Answered, operatorIdentity, type Platform, platform } from "./platform.ts";
import { simSettings } from "./sim-settings.ts";
import { storms } from "./storms.ts";

export interface SimOptions {
  readonly seed: number;
  /** Steps with faults; the run is then brought to its end without them. */
  readonly steps: number;
  /** Adds an invariant that does not hold, to show that they can fail. */
  readonly canary?: boolean;
  /** Whether it is brought to its end without faults, where everything has to come true; default yes. If not, a run takes half as long. */
  readonly rests?: boolean;
  /** Shown the platform before it starts, for whoever looks for the reason of a complaint. */
  readonly watch?: (platform: Platform) => void;
  /** The operation that it is about: half of what officers ask is this. Drawn unless it is named. */
  readonly about?: string;
  /** A mistake that is built in beside the product. */
  readonly plantedBug?: PlantedBug | undefined;
}

export interface SimReport {
  readonly steps: number;
  readonly elapsedMs: number;
  readonly crashes: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly fates: readonly (readonly [fate: string, count: number])[];
  /** How often each operation was accepted and refused. */
  readonly answered: ReadonlyMap<string, Answered>;
  /** One hash of everything that was committed, in order: equal runs have equal ones. */
  readonly trace: string;
  readonly violation?: Violation;
}

interface Run {
  readonly options: SimOptions;
  readonly time: Scheduler;
  readonly faults: Faults;
  readonly platform: Platform;
  readonly witness: Witness;
  readonly settings: Settings;
}

const beforeMidnight = parse("2026-01-02T04:59:58.2Z");
/** The run without faults lasts at most this long; whatever is not done by then never will be. */
const restMs = 90_000;
const unsentRestMs = 15_000;
const amendingMs = 4_000;

export async function simulate(options: SimOptions): Promise<SimReport> {
  // Some runs begin a moment before the trading day of New York does.
  const time = scheduler({ seed: options.seed, ...(options.seed % 4 === 3 && { startAt: beforeMidnight }) });
  const sky = faults(time.prng.fork("weather"));
  const prng = time.prng.fork("what kind of run");
  const settings = simSettings({
    seed: options.seed % 1_000_000,
    autoCorrect: prng.chance(0.5),
    lossConfirmations: prng.chance(0.3) ? 1 : 2,
    lossConfirmMs: 150 + prng.below(500),
  });
  let note: (service: string, method: string, answer: unknown) => void = () => undefined;
  const { plantedBug } = options;
  const made = platform({ time, faults: sky, settings, plantedBug, onAnswer: (...answer) => note(...answer) });
  options.watch?.(made);
  const seen = witness(made);
  note = notePromises(seen.promises);
  const run: Run = { options, time, faults: sky, platform: made, witness: seen, settings };
  await time.finish("the setup", setUp(run));
  made.start();
  const thinFund = prng.chance(0.4) ? one(prng, funds) : undefined;
  if (thinFund !== undefined) void loseMoney(run, thinFund);
  // What comes first is that everybody has begun: a platform that never was there cannot be lost.
  await time.run({ untilMs: time.elapsedMs() + 1_300 });
  const early = (await throughDamage(run)) ?? (await throughAmendments(run));
  if (early !== undefined) return { ...reportOf(run), violation: early };
  sky.turnFoul();
  const isStopping = (): boolean => !sky.isFoul();
  const parts: PeopleParts = { time, platform: made, promises: seen.promises, isStopping };
  if (!prng.chance(0.3)) made.retire("research");
  for (const name of ["a", "b"]) void trader(parts, name, 45);
  if (time.prng.fork("does somebody write options").chance(0.3)) void optionWriter(parts, 60);
  // In some runs only: what it asks takes room and steps from everything else that a run is to meet.
  const crashed: string[] = [];
  if (time.prng.fork("does a client crash").chance(0.25)) void crashingClient(parts, { everyMs: 120, crashed });
  if (time.prng.fork("does somebody amend").chance(0.4)) void amender(parts, 30);
  if (hasCharts(time)) void chart(parts, 25);
  void officers(parts, { everyMs: 80, crashed, about: options.about });
  operators(parts, { everyMs: 90, thinFund });
  void storms({ time, platform: made, isStopping, everyMs: 90, offSystem: prng.chance(0.5) });
  const violation = (await stepThrough(run)) ?? (options.rests === false ? undefined : await comeToRest(run));
  return { ...reportOf(run), ...(violation === undefined ? {} : { violation }) };
}

/** In some runs the audit log is damaged before the faults end, and put right again. */
async function throughDamage(run: Run): Promise<Violation | undefined> {
  const { time, platform: made, faults: sky, witness: seen } = run;
  if (!time.prng.fork("is the log damaged").chance(1 / damagedOneIn)) return undefined;
  let violation: Violation | undefined;
  const step = async (): Promise<boolean> => {
    await time.step();
    violation = look(run, false);
    return violation === undefined;
  };
  await damageLog({ time, platform: made, faults: sky, promises: seen.promises, step });
  return violation;
}

/** In some runs a client amends an order of its own before the faults end. */
async function throughAmendments(run: Run): Promise<Violation | undefined> {
  const { time, platform: made, witness: seen } = run;
  if (!time.prng.fork("does somebody amend in calm").chance(0.1)) return undefined;
  const parts: PeopleParts = { time, platform: made, promises: seen.promises, isStopping: () => false };
  let isDone = false;
  void amendInCalm(parts).finally(() => {
    isDone = true;
  });
  for (const endMs = time.elapsedMs() + amendingMs; !isDone && time.elapsedMs() < endMs; ) {
    await time.step();
    const violation = look(run, false);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/** Before the faults end one fund has small limits and sees its prices fall, so that the next valuations show a loss above them. */
async function loseMoney({ time, platform: made, witness: { promises } }: Run, fundId: string): Promise<void> {
  const prng = time.prng.fork("losses");
  await time.timers.sleep(300);
  const parts: PeopleParts = { time, platform: made, promises, isStopping: () => false };
  await changeLimits(parts, "duty", { fundId, limits: thinLimits(prng) });
  for (const symbol of symbolsOf[fundId] ?? []) made.outside.gap(symbol, -(0.03 + prng.below(60) / 1_000));
}

/** The funds, their limits, capital and first positions, on both sides, before anything may fail. */
async function setUp({ platform: made, time, settings }: Run): Promise<void> {
  const ports = { ...made.bystander("oms"), settings: { ...settings, seedPaperPlatform: true } };
  await seedTreasury(ports);
  await seedEnvelopes(ports);
  await seedPositions(ports);
  const prng = time.prng.fork("do strategies oppose each other");
  if (prng.chance(0.25)) await opposeStrategies(ports, prng);
  await made.outside.connect().begin(firstHoldings());
  // Backtests compute a year of prices, which takes longer than a run: they are there already, and empty.
  await ports.store.transact("backtests", async (unit) => {
    for (const { name } of strategies) {
      const madeOf = `seed ${settings.market.seed}, version ${strategiesVersion}`;
      const empty = {
        from: "2025-01-01",
        to: "2025-01-01",
        annualReturn: 0,
        annualVolatility: 0,
        drawdownMax: 0,
        days: [],
      };
      await unit.research.putBacktest({ strategyId: name, madeOf, ...empty });
    }
  });
  await time.timers.sleep(1);
}

function look({ witness: seen, options, time }: Run, settled: boolean): Violation | undefined {
  return seen.look(time.elapsedMs(), settled, (evidence) => firstViolation(evidence, options.canary === true));
}

async function stepThrough(run: Run): Promise<Violation | undefined> {
  for (let step = 0; step < run.options.steps; step += 1) {
    await run.time.step();
    const violation = look(run, false);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/** Everybody runs, nobody hands anything new in, every open order is cancelled: then whatever was promised has to come true. */
async function comeToRest(run: Run): Promise<Violation | undefined> {
  const { time, platform: made } = run;
  run.faults.clearUp();
  run.faults.stopEntries(false);
  made.outside.clearUp();
  made.retire("research");
  const endMs = time.elapsedMs() + restMs;
  const unsentMs = time.elapsedMs() + unsentRestMs;
  let nextCancelMs = time.elapsedMs() + 200;
  let isOwed = true;
  while (time.elapsedMs() < endMs) {
    if (time.elapsedMs() >= nextCancelMs && isOwed) {
      nextCancelMs += 2_500;
      cancelAll(run);
    }
    await time.step();
    const violation = look(run, false);
    if (violation !== undefined) return violation;
    isOwed = openOrders(run) > 0;
    if (isOwed || undone(run) !== undefined) continue;
    // An approval that no client sent has so long to run out; then it is looked at as it is.
    if (time.elapsedMs() < unsentMs && run.witness.reserved.unsent.size > 0) continue;
    return look(run, true) ?? (await leaveAll(run));
  }
  const sentence = "Once the faults are over everything comes to its end, because late is allowed and never is not.";
  return {
    invariant: { name: "comes_to_rest", sentence },
    complaint: undone(run) ?? `${openOrders(run)} orders are still open`,
  };
}

/** Whether everything that is held could be valued and left; the services are asked, and go on meanwhile. */
async function leaveAll(run: Run): Promise<Violation | undefined> {
  const { time, platform: made, witness: seen } = run;
  const rest = { platform: made, witness: seen, nowUs: () => time.clock.now() as number };
  let isDone = false;
  const pause = (): Promise<void> => {
    // What somebody asked for again and again may have been taken only now.
    cancelAll(run);
    return time.timers.sleep(500);
  };
  const asked = whatIsStuck(rest, pause).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await time.step();
    const violation = look(run, false);
    if (violation !== undefined) return violation;
  }
  return asked;
}

/** Everything but the exits of stops, which are to come to their own end. */
function cancelAll({ platform: made, witness: { past } }: Run): void {
  const ask = made.ask(operatorIdentity("duty"));
  const isExit = (id: string): boolean => [...past.stops.keys()].some((stopId) => isExitOf(stopId, id));
  for (const [id, { state }] of made.tables.oms.orders) {
    if (isOver(state) || isExit(id)) continue;
    // Nobody waits: the order's end is what is looked for, and it is asked for again.
    void ask("Oms", "CancelOrder", { order_id: id, reason: "the end" }).catch(() => undefined);
  }
}

function openOrders({ platform: { tables } }: Run): number {
  return [...tables.oms.orders.values()].filter(({ state }) => !isOver(state)).length;
}

/** What is still to be done; undefined when nothing is. */
function undone(run: Run): string | undefined {
  const {
    platform: made,
    witness: { past },
  } = run;
  const { tables, audit } = made;
  if (made.running().length < 4) return "not everybody runs";
  const owed = [...past.stops.values()].find((stop) => stop.ended === undefined && !isExcused(past, stop));
  if (owed !== undefined) return `the exit of ${owed.triggered.stop_id} is owed`;
  const moving = [...tables.corporateActions.values()].find(
    ({ state }) => state === "ANNOUNCED" || state === "APPLIED",
  );
  if (moving !== undefined) return `the corporate action ${moving.actionId} is ${moving.state}`;
  const waiting = [...tables.losses.states.values()].find(({ state }) => state.pending.length > 0);
  if (waiting !== undefined) return `a loss of ${waiting.fundId} waits for its confirmation`;
  const alert = [...tables.signals.signals.values()].find(({ status }) => status === "ACCEPTED");
  if (alert !== undefined) return `the alert ${alert.signalId} waits`;
  for (const halt of past.halts) {
    const what = whatIsOwed(halt);
    if (what !== undefined) return what;
  }
  const apart = booksApart({ past, platform: made });
  if (apart !== undefined) return apart;
  const cursor = tables.oms.cursors.get("paper") ?? 0;
  if (cursor < made.outside.reports()) return "not every report of the broker is booked";
  const unseen = differing(run);
  if (unseen !== undefined) return unseen;
  const broken = tables.auditStanding.current?.broken;
  if (broken !== undefined) return `the audit log is said to be broken: ${broken.reason}`;
  const missing = tables.log.find(({ id, subject }) => audited.has(subject) && !audit.byEvent.has(id));
  return missing === undefined ? undefined : `${missing.subject} at ${missing.position} is not in the audit log`;
}

/** What the broker holds and we do not, and no reconciler has said so; where it may correct, it has to have done that. */
function differing({ platform: { outside, tables }, settings, witness: { past } }: Run): string | undefined {
  const known = new Set(
    [...tables.reconcile.differences.values()]
      .filter(({ status }) => status === "CONFIRMED")
      .map(({ fundId, symbol }) => positionKey(fundId, symbol)),
  );
  for (const { account, symbol, quantity } of outside.held.values()) {
    const key = positionKey(account, symbol);
    if ((past.positions.get(key) ?? 0n) === quantity) continue;
    if (settings.reconcile.autoCorrect) return `${key} is not corrected yet`;
    if (!known.has(key)) return `${key} differs and is not confirmed yet`;
  }
  return undefined;
}

function reportOf({ time, platform: made, faults: sky, witness: { past } }: Run): SimReport {
  const hash = createHash("sha256");
  for (const { id, subject, bytes } of made.tables.log) hash.update(`${id} ${subject} `).update(bytes).update("\n");
  const { tables } = made;
  const traded = [...past.fills.values()].filter(({ kind }) => kind === "TRADE").length;
  return {
    steps: time.steps(),
    elapsedMs: time.elapsedMs(),
    crashes: made.crashes(),
    counts: {
      messages: tables.log.length,
      orders: past.orders.size,
      approvals: past.approvals.size,
      fills: traded,
      crosses: past.crossedAt.size,
      adjustments: [...past.fills.values()].filter(({ kind }) => kind === "ADJUSTMENT").length,
      halts: past.halts.length,
      "losses that halted": past.halts.filter(({ evidence }) => evidence?.["limit"] !== undefined).length,
      lifts: past.halts.filter(({ lift }) => lift !== undefined).length,
      "requests to lift all": past.resumes.size,
      signatures: [...past.resumes.values()].filter(({ ended }) => ended?.outcome === "lifted").length,
      "exits in a halt": [...past.approvals.values()].filter(
        ({ decision, order }) => haltOver(past.halts, order, decision.halt_epoch) !== undefined,
      ).length,
      "corporate actions": [...past.actions.values()].filter(({ reported }) => reported.state === "DONE").length,
      limits: past.envelopes.size,
      stops: past.stops.size,
      alerts: past.alerts.size,
      "orders of alerts": [...past.alerts.keys()].filter((id) => past.orders.has(id)).length,
      differences: tables.reconcile.differences.size,
      entries: made.audit.rows.length,
    },
    fates: sky.fates(),
    answered: made.answered,
    trace: hash.digest("hex"),
  };
}

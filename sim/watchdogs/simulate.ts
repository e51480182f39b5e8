// One seed, one run of the watchdogs' shell alone: readings that come and go, a process that is killed before or after any commit, people who end
// restrictions and change allocations, and strategies that read what they may use. The runner, the episodes, the commit of a change and what a
// strategy may use are the product's; only readings, people and kills are made here.
//
// Invariants, asked after every step:
//  1. no_restriction_without_episode: every open restriction belongs to an episode that is open.
//  2. one_open_episode: a watchdog has at most one open episode about one scope, and each was opened by one event.
//  3. factors_apply_once: what a strategy uses is what people set, times the factor of every watchdog that has a confirmed reading and was not overruled.
//  4. ends_with_its_episode: when every reading is ordinary again, nothing is restricted (asked at the end).
//  5. no_watchdog_lifts_a_halt: what was latched is in force from then on, also when its episode has cleared; an episode has one halt at most.

import * as decimal from "../../contracts/src/decimal.ts";
import type { WatchdogAlarm } from "../../contracts/src/records/operations.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { effectiveStrategy } from "../../core/blocks/effective-strategy.ts";
import { driftMonitor } from "../../core/watchdogs/drift-monitor.ts";
import { portfolioVolDd } from "../../core/watchdogs/portfolio-vol-dd.ts";
import { strategyWatchdog } from "../../core/watchdogs/strategy-watchdog.ts";
import { type RungEffect, stateOf, type WatchdogName } from "../../core/watchdogs/watchdog.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { AskedHalt } from "../../services/halts/halt-request.ts";
import { createLatch } from "../../services/halts/latch-halt.ts";
import { restrictionHandlers } from "../../services/operations/restrictions.ts";
import { type Assigned, assign, type ToJudge } from "../../services/operations/watchdogs/assigned.ts";
import { type Board, openBoard } from "../../services/operations/watchdogs/board.ts";
import { type CarryOut, createCarryOut } from "../../services/operations/watchdogs/carry-out.ts";
import type { Configuration } from "../../services/operations/watchdogs/configuration.ts";
import { type RunningWatchdog, runWatchdog } from "../../services/operations/watchdogs/run-watchdog.ts";
import { createAttempts } from "../../services/shared/attempts.ts";
import type { Prng } from "../../testkit/virtual/prng.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";

/** A mistake that is built in beside the product: it changes what the store of one process does. */
export type PlantedWatchdogBug = (store: Store) => Store;

export interface WatchdogRun {
  readonly seed: number;
  readonly steps: number;
  readonly plantedBug?: PlantedWatchdogBug;
}

export interface WatchdogReport {
  readonly kills: number;
  readonly opened: number;
  readonly ended: number;
  /** Halts that were latched. */
  readonly halts: number;
  readonly violation?: string;
}

const fundId = "alpha";
const strategyIds = ["alpha-momentum", "alpha-meanrev"] as const;
const watchdogs = [driftMonitor, strategyWatchdog, portfolioVolDd] as const;

const wanted: Readonly<Partial<Record<WatchdogName, readonly RungEffect[]>>> = {
  drift_monitor: [
    { rung: 1, effect: { kind: "restriction", restriction: "ALLOCATION", factor: 0.5 } },
    { rung: 2, effect: { kind: "cross_post" } },
    { rung: 2, effect: { kind: "halt", level: "STRATEGY_HALT" } },
  ],
  strategy_watchdog: [{ rung: 1, effect: { kind: "restriction", restriction: "SHADOW", factor: null } }],
  portfolio_vol_dd: [
    { rung: 1, effect: { kind: "restriction", restriction: "GROSS", factor: 0.25 } },
    { rung: 1, effect: { kind: "restriction", restriction: "ALLOCATION", factor: 0.25 } },
  ],
};

interface Scoped {
  readonly watchdog: WatchdogName;
  readonly strategyId?: string;
}
const scopes: readonly Scoped[] = [
  ...strategyIds.flatMap((strategyId): Scoped[] => [
    { watchdog: "drift_monitor", strategyId },
    { watchdog: "strategy_watchdog", strategyId },
  ]),
  { watchdog: "portfolio_vol_dd" },
];

/** What the world shows of one scope: its newest observation, and how far that is off. */
interface Reading {
  number: number;
  rung: number;
}

interface Life {
  readonly runners: readonly RunningWatchdog[];
  readonly isDead: () => boolean;
}

class Killed extends Error {}

/** The process dies at some commits of its watchdogs, before or after them, and does nothing any more. */
function mortal(store: Store, prng: Prng, chance: () => number): { readonly store: Store; isDead(): boolean } {
  let dead = false;
  return {
    store: {
      ...store,
      async transact(name, work) {
        if (dead) throw new Killed("killed");
        const isOwn = name.startsWith("watchdogs.") || name === "halts.latch";
        if (!isOwn || !prng.chance(chance())) return store.transact(name, work);
        dead = true;
        if (prng.chance(0.5)) await store.transact(name, work);
        throw new Killed("killed");
      },
    },
    isDead: () => dead,
  };
}

const configuration = (): Configuration => {
  const of: Configuration["of"] = (name) => {
    const found = watchdogs.find((one) => one.name === name);
    const read = assign((found ?? driftMonitor) as typeof driftMonitor, { read: async () => [] }).readConfig({});
    if (!read.ok) throw new Error(`the defaults of ${name} are not valid`);
    return { ...read.config, persistence: 1, clear_after: 2, mode: "act" };
  };
  const done = async (): Promise<void> => undefined;
  return { of, problem: () => undefined, refresh: done, change: done, check: done, version: async () => 0 };
};

function assignedOf(watchdog: (typeof watchdogs)[number], readings: ReadonlyMap<string, Reading>): Assigned {
  const real = assign(watchdog as typeof driftMonitor, { read: async () => [] });
  return {
    ...real,
    async read({ at }) {
      return scopes
        .filter((one) => one.watchdog === watchdog.name)
        .map(({ strategyId }): ToJudge => {
          const reading = readings.get(keyOf(watchdog.name, strategyId)) ?? { number: 0, rung: 0 };
          const { number, rung } = { ...reading };
          const effects = wanted[watchdog.name] ?? [];
          const judgement = {
            state: stateOf(rung, effects),
            value: -rung,
            threshold: -1,
            unit: "z",
            sampleCount: number,
            reason: null,
            asOf: at,
            observation: `${number}`,
            rung,
            clears: rung === 0,
            effects,
            figures: {},
          };
          return {
            scope: { fundId, ...(strategyId === undefined ? {} : { strategyId }) },
            grossNow: async () => decimal.parse("1000000"),
            judge: () => ({ judgement, memory: null }),
          };
        });
    },
  };
}

const keyOf = (watchdog: string, strategyId = ""): string => `${watchdog} ${strategyId}`;

export async function simulateWatchdogs({ seed, steps, plantedBug }: WatchdogRun): Promise<WatchdogReport> {
  const fixture = serviceFixture(seed);
  const prng = fixture.time.prng.fork("watchdogs");
  const ports = fixture.portsOf("operations");
  const people = restrictionHandlers(ports);
  const call = { identity: { kind: "operator", actor: "operator:duty" } } as RpcCall;
  const readings = new Map(scopes.map((one) => [keyOf(one.watchdog, one.strategyId), { number: 1, rung: 0 }]));
  const bases = new Map<string, number>();
  const halts = new Set<string>();
  let isFair = false;
  let kills = 0;
  let ended = 0;
  let life: Life | undefined;

  function setBase(strategyId: string, allocationPct: number): void {
    bases.set(strategyId, allocationPct);
    fixture.tables.research.strategies.set(strategyId, { strategyId, fundId, status: "live", allocationPct });
  }

  async function begin(): Promise<Life> {
    const own = mortal(ports.store, prng, () => (isFair ? 0 : 0.06));
    const store = plantedBug?.(own.store) ?? own.store;
    const board = await openBoard({ store });
    const runners = watchdogs.map((watchdog) =>
      runWatchdog({
        ports: { ...ports, store },
        assigned: assignedOf(watchdog, readings),
        board,
        configuration: configuration(),
        carryOut: carryOutOf(fixture, store, board),
        chat: { name: "sim", send: async () => undefined, close: async () => undefined },
        fundIds: () => [fundId],
      }),
    );
    return { runners, isDead: own.isDead };
  }

  async function judgeAll(): Promise<void> {
    try {
      life ??= await begin();
      for (const runner of life.runners) await runner.judge();
    } catch (thrown) {
      if (!(thrown instanceof Killed)) throw thrown;
    }
    if (life?.isDead() !== true) return;
    kills += 1;
    for (const runner of life.runners) await runner.stop();
    life = undefined;
  }

  async function endOne(): Promise<void> {
    const open = [...fixture.tables.restrictions.values()].filter((one) => one.ended === undefined);
    const one = open[prng.below(Math.max(1, open.length))];
    if (one === undefined) return;
    await people.EndRestriction({ restriction_id: one.restrictionId, reason: "drawn" }, call);
    ended += 1;
  }

  for (const strategyId of strategyIds) setBase(strategyId, 0.1);
  let violation: string | undefined;
  for (let step = 0; step < steps + 8 && violation === undefined; step += 1) {
    isFair = step >= steps;
    for (const reading of readings.values()) {
      if (!isFair && prng.chance(0.5)) continue;
      reading.number += 1;
      reading.rung = isFair ? 0 : prng.chance(0.6) ? 0 : 1 + prng.below(2);
    }
    if (!isFair && prng.chance(0.1)) await endOne();
    if (!isFair && prng.chance(0.1)) setBase(strategyIds[prng.below(2)] ?? strategyIds[0], (1 + prng.below(20)) / 100);
    await judgeAll();
    const latched = (await ports.riskStore.halts()).active.map(({ halt_id: id }) => id);
    violation =
      (await firstViolation(fixture, bases, isFair && step === steps + 7)) ?? haltViolation(fixture, halts, latched);
    for (const id of latched) halts.add(id);
  }
  for (const runner of life?.runners ?? []) await runner.stop();
  const opened = openings(fixture).size;
  await fixture.close();
  return { kills, opened, ended, halts: halts.size, ...(violation === undefined ? {} : { violation }) };
}

/** The product's, with the product's latch; nobody here can lift. */
function carryOutOf(fixture: ServiceFixture, store: Store, board: Board): CarryOut {
  const ports = { ...fixture.portsOf("operations"), store };
  const transact = <Value>(work: (unit: UnitOfWork) => Promise<Value>) => store.transact("halts.latch", work);
  const latch = createLatch({
    transact,
    publisher: "operations",
    subject: subjects.haltRequested,
    attempts: createAttempts(ports, "halts"),
  });
  const trip = async (halt: AskedHalt) => {
    const latched = await latch(halt, undefined);
    if ("denial" in latched) return latched;
    const { halt_id, epoch, since } = latched.halt;
    return { halt_id, epoch, since, acknowledged: true, audit_id: latched.auditId };
  };
  const alarms = { raise: async () => undefined, clear: () => undefined };
  return createCarryOut({
    ports,
    board,
    halts: { trip },
    alarms,
    databaseCare: undefined,
    holdingBroker: async () => undefined,
  });
}

function haltViolation(
  fixture: ServiceFixture,
  before: ReadonlySet<string>,
  latched: readonly string[],
): string | undefined {
  const lifted = [...before].find((id) => !latched.includes(id));
  if (lifted !== undefined) return `no_watchdog_lifts_a_halt: ${lifted} is in force no more`;
  const episodes = openings(fixture);
  const strange = latched.find((id) => !episodes.has(id.replace(/-strategy-halt$/, "")));
  return strange === undefined ? undefined : `no_watchdog_lifts_a_halt: ${strange} has no episode`;
}

function openings(fixture: ServiceFixture): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { subject } of watchdogs) {
    for (const { event, episode_id: id } of fixture.reported<WatchdogAlarm>(subject)) {
      if (event === "OPENED") counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}

async function firstViolation(
  fixture: ServiceFixture,
  bases: ReadonlyMap<string, number>,
  isSettled: boolean,
): Promise<string | undefined> {
  const { restrictions, watchdogs: kept, research } = fixture.tables;
  const open = [...restrictions.values()].filter(({ ended }) => ended === undefined);
  const episodes = [...kept.episodes.values()].filter(({ clearedAt }) => clearedAt === undefined);
  const orphan = open.find(({ episodeId }) => !episodes.some((one) => one.episodeId === episodeId));
  if (orphan !== undefined) return `no_restriction_without_episode: ${orphan.restrictionId}`;
  const watched = episodes.map(({ watchdog, scope }) => keyOf(watchdog, scope.strategyId));
  const twice = watched.find((key, index) => watched.indexOf(key) !== index);
  if (twice !== undefined) return `one_open_episode: ${twice} has two`;
  const again = [...openings(fixture)].find(([, count]) => count !== 1);
  if (again !== undefined) return `one_open_episode: ${again[0]} was opened ${again[1]} times`;
  for (const [strategyId, base] of bases) {
    const stored = research.strategies.get(strategyId);
    if (stored === undefined) return `factors_apply_once: ${strategyId} is gone`;
    const used = effectiveStrategy(stored, open).allocationPct;
    const drifts = open.some((one) => one.kind === "ALLOCATION" && one.strategyId === strategyId);
    const swings = open.some((one) => one.kind === "ALLOCATION" && one.strategyId === undefined);
    const expected = base * (drifts ? 0.5 : 1) * (swings ? 0.25 : 1);
    if (Math.abs(used - expected) > 1e-9) return `factors_apply_once: ${strategyId} uses ${used}, not ${expected}`;
  }
  const left = isSettled ? open[0] : undefined;
  return left === undefined ? undefined : `ends_with_its_episode: ${left.restrictionId} is still open`;
}

// Judges every valuation in the unit of work that keeps it, and looks at the clock in between: baselines are written before the first order of
// their period, and a confirmed loss is latched as a halt together with the valuation that confirmed it.
//
//  1. The engine denies new risk from the moment in which a breach is seen, before anything is durable, and what it is told afterwards
//     is what was committed.
//  2. Whoever may latch locks the halts first.
//  3. One fund at a time: what is told to the engine is told in the order in which it was committed.
//  4. A valuation that was made from prices older than new risk may be decided on is kept and not judged: it halts nothing and confirms or
//     clears nothing. What it would halt is alarmed, and until a fresh one comes the fund takes no new risk.
import { type TradingCalendar, tradingCalendar } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween, minusMilliseconds, parse } from "../../contracts/src/instant.ts";
import type { Baseline, FundValuation, LossState } from "../../contracts/src/losses.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { believedUntil } from "../../core/dated.ts";
import {
  judgeValuation,
  type LossOutcome,
  type LossRules,
  lossesKnownUntil,
  nextDeadline,
  passTime,
  suspectedLosses,
} from "../../core/drawdown.ts";
import type { Engine } from "../../core/engine.ts";
import {
  type LossFractions,
  lossFractions,
  type WindowSamples,
  windowLimits,
  windowMs,
} from "../../core/loss-figures.ts";
import { createLossClock } from "../../core/loss-periods.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { transactToKnownEnd } from "../known-end.ts";
import { writeLosses } from "../loss-writing.ts";
import type { ServicePorts } from "../service.ts";
import type { Alarms } from "./alarms.ts";
import type { Envelopes } from "./envelopes.ts";
import type { HaltWatch } from "./halt-watch.ts";
import { haltOf } from "./loss-halt.ts";
import type { ReferenceWatch } from "./reference-watch.ts";

/** Between two looks at the clock; a period's end and a deadline are met more closely. */
const lookEveryMs = 1_000;

export interface DrawdownOptions {
  readonly ports: Pick<
    ServicePorts,
    "store" | "riskStore" | "timers" | "clock" | "random" | "log" | "crash" | "settings"
  >;
  readonly engine: Engine;
  readonly envelopes: Pick<Envelopes, "current">;
  readonly reference: Pick<ReferenceWatch, "calendarOf">;
  readonly watch: Pick<HaltWatch, "latched" | "inForce">;
  readonly alarms: Alarms;
}

export interface Drawdown {
  /** Keeps the valuation and judges it; false when it is not newer than what is known. */
  heard(nav: NavUpdated): Promise<boolean>;
  /** Ends the looks at the clock. */
  stop(): Promise<void>;
}

interface Judged {
  readonly isNewer: boolean;
  readonly state: LossState | undefined;
  readonly latched: readonly ActiveHalt[];
  /** What a valuation from old prices would halt; absent when none was judged. */
  readonly suspected?: readonly string[];
}

/** A valuation, and whether its prices are too old to judge it by. */
interface Heard {
  readonly valuation: FundValuation;
  readonly isOld: boolean;
}

const utc: TradingCalendar = tradingCalendar({
  ...{ name: "utc", zone: "UTC", sessions: "always", holidays: [], earlyCloses: {} },
});

/** Resolves when the engine knows how the losses of every fund stand; its valuations are told to it afterwards. */
export async function createDrawdown(options: DrawdownOptions): Promise<Drawdown> {
  const { ports, engine, envelopes, reference, watch, alarms } = options;
  const { clock, timers, log, random } = ports;
  const { lossConfirmations: confirmations, lossConfirmMs: confirmMs } = ports.settings.risk;
  const hearingSince = clock.now();
  const clockOf = createLossClock();
  /** As they were committed last; the store's are read again under their lock. */
  const states = new Map<string, LossState>();
  const lanes = new Map<string, Promise<unknown>>();
  const unjudged = new Set<string>();
  /** By fund: what its newest valuation would halt, if its prices were not old. */
  const suspected = new Map<string, readonly string[]>();
  const ending = new AbortController();
  let troubled = false;

  function rulesOf(fundId: string, at: Instant, fractions: LossFractions, windows: WindowSamples): LossRules {
    const calendar = reference.calendarOf(fundId) ?? utc;
    return {
      ...{ fractions, confirmations, confirmMs, at, hearingSince, windows },
      dayAt: (moment) => clockOf(calendar, moment),
      haltsInForce: watch.inForce(),
      newHaltId: () => random.uuid(),
    };
  }

  const heardOf = (nav: NavUpdated): Heard => ({
    valuation: valuationOf(nav),
    isOld: (nav.oldest_price_age_ms ?? 0) > ports.settings.risk.navAgeMsMax,
  });

  function tell(fundId: string, state: LossState): void {
    const day = clockOf(reference.calendarOf(fundId) ?? utc, clock.now());
    const doubted = suspected.get(fundId) ?? [];
    const isPending = state.pending.length > 0 || doubted.length > 0;
    const knownUntil = unjudged.has(fundId) ? undefined : lossesKnownUntil(state, day);
    engine.setLosses({ fundId, knownUntil, isPending });
    if (!isPending) {
      alarms.clear("LOSS_PENDING", fundId);
      return;
    }
    const waiting = [...new Set([...state.pending.map(({ baseline }) => nameOf(baseline)), ...doubted])].join(", ");
    const isDoubted = doubted.length > 0;
    const why = isDoubted ? "waits, because its newest valuation is made from old prices" : "waits";
    alarms.raise("LOSS_PENDING", fundId, `A loss of ${fundId} is above its limit and ${why}: ${waiting}.`);
  }

  async function judgeIn(unit: UnitOfWork, fundId: string, heard?: Heard): Promise<Judged> {
    const known = await unit.losses.lock(fundId);
    const valuation = heard?.valuation;
    const fractions = lossFractions(envelopes.current(fundId));
    const at = clock.now();
    const windows =
      known === undefined || valuation === undefined
        ? {}
        : await windowsOf(unit, fundId, known, valuation.at, fractions);
    const rules = rulesOf(fundId, at, fractions, windows);
    if (heard?.isOld === true) {
      const figures = known === undefined ? [] : suspectedLosses(known, heard.valuation, rules);
      const names = figures.map(({ baseline }) => nameOf(baseline));
      return { isNewer: true, state: known, latched: [], suspected: names };
    }
    const outcome = outcomeOf(fundId, known, valuation, rules);
    if (outcome === undefined) return { isNewer: true, state: known, latched: [] };
    const { state, breaches } = outcome;
    if (state.pending.length > 0 || breaches.length > 0) {
      engine.setLosses({ fundId, knownUntil: lossesKnownUntil(state, rules.dayAt(at)), isPending: true });
    }
    await writeLosses(unit, fundId, outcome);
    return { isNewer: true, state, latched: await latchAll(unit, fundId, outcome, at) };
  }

  /** A value that cannot be reckoned with is not judged, and what is not judged takes no new risk. */
  function outcomeOf(
    fundId: string,
    known: LossState | undefined,
    valuation: FundValuation | undefined,
    rules: LossRules,
  ): LossOutcome | undefined {
    try {
      const outcome =
        valuation === undefined ? known && passTime(known, rules) : judgeValuation(known, valuation, rules);
      unjudged.delete(fundId);
      return outcome;
    } catch (thrown) {
      if (!(thrown instanceof decimal.DecimalError)) throw thrown;
      if (!unjudged.has(fundId)) log.error("losses cannot be judged", { fund_id: fundId, error: thrown.message });
      unjudged.add(fundId);
      return undefined;
    }
  }

  async function latchAll(
    unit: UnitOfWork,
    fundId: string,
    { breaches }: LossOutcome,
    at: Instant,
  ): Promise<readonly ActiveHalt[]> {
    const latched: ActiveHalt[] = [];
    for (const breach of breaches) {
      const halt = await unit.risk.latchHalt(haltOf(fundId, breach, at));
      await unit.events.publish(subjects.riskHaltRequested, halt);
      latched.push(halt);
    }
    return latched;
  }

  /** Whether the next look may latch, as far as is known here; when it is not, the store settles who waits for whom. */
  const mayLatch = (fundId: string): boolean => confirmations <= 1 || (states.get(fundId)?.pending.length ?? 0) > 0;

  function adopt(fundId: string, { state, latched, suspected: names }: Judged, isFresh: boolean): void {
    if (names !== undefined) suspected.set(fundId, names);
    else if (isFresh) suspected.delete(fundId);
    for (const halt of latched) {
      watch.latched(halt);
      log.error("a loss halted", { fund_id: fundId, halt_id: halt.halt_id, reason: halt.reason });
    }
    if (state === undefined) {
      if (unjudged.has(fundId)) engine.setLosses({ fundId, knownUntil: undefined, isPending: false });
      return;
    }
    states.set(fundId, state);
    tell(fundId, state);
  }

  async function inLane<Value>(fundId: string, work: () => Promise<Value>): Promise<Value> {
    const before = lanes.get(fundId) ?? Promise.resolve();
    const mine = before.then(work, work);
    const quiet = mine.catch(() => undefined);
    lanes.set(fundId, quiet);
    try {
      return await mine;
    } finally {
      if (lanes.get(fundId) === quiet) lanes.delete(fundId);
    }
  }

  const heard = (nav: NavUpdated): Promise<boolean> =>
    inLane(nav.fund_id, async () => {
      const valued = heardOf(nav);
      const judged = await transactToKnownEnd(ports, "risk.nav", async (unit): Promise<Judged> => {
        if (mayLatch(nav.fund_id)) await unit.risk.lockHalts();
        const isNewer = await unit.risk.putNav(nav, believedUntil(clock.now()));
        if (!isNewer) return { isNewer: false, state: undefined, latched: [] };
        return judgeIn(unit, nav.fund_id, valued);
      });
      adopt(nav.fund_id, judged, judged.isNewer);
      return judged.isNewer;
    });

  const look = (fundId: string, first?: NavUpdated): Promise<void> =>
    inLane(fundId, async () => {
      const judged = await transactToKnownEnd(ports, "risk.roll", async (unit) => {
        if (mayLatch(fundId)) await unit.risk.lockHalts();
        return judgeIn(unit, fundId, first === undefined ? undefined : heardOf(first));
      });
      adopt(fundId, judged, first !== undefined);
    });

  async function lookAtAll(): Promise<void> {
    for (const [fundId, state] of states) {
      tell(fundId, state);
      const rules = rulesOf(fundId, clock.now(), lossFractions(envelopes.current(fundId)), {});
      if (passTime(state, rules) !== undefined) await look(fundId);
    }
  }

  function waitMs(): number {
    const now = clock.now();
    let ms = lookEveryMs;
    for (const [fundId, state] of states) {
      const { until } = clockOf(reference.calendarOf(fundId) ?? utc, now);
      const deadline = nextDeadline(state, hearingSince, confirmMs);
      ms = Math.min(ms, millisecondsBetween(now, until));
      if (deadline !== undefined) ms = Math.min(ms, millisecondsBetween(now, deadline));
    }
    return Math.max(ms, 10);
  }

  async function watchClock(): Promise<void> {
    while (!ending.signal.aborted) {
      await timers.sleep(waitMs(), ending.signal);
      if (ending.signal.aborted) return;
      try {
        await lookAtAll();
        troubled = false;
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        if (!troubled) log.warn("losses cannot be written", { error: messageOf(thrown) });
        troubled = true;
      }
    }
  }

  for (const { fundId, state } of await ports.store.transact("risk.losses", (unit) => unit.losses.all())) {
    states.set(fundId, state);
    tell(fundId, state);
  }
  // A fund that was valued before anybody counted its losses: they are counted from its newest valuation on.
  for (const nav of await ports.riskStore.navs()) if (!states.has(nav.fund_id)) await look(nav.fund_id, nav);
  await lookAtAll();
  const watching = watchClock();
  return {
    heard,
    stop: async () => {
      ending.abort();
      await watching;
      await Promise.all(lanes.values());
    },
  };
}

function nameOf({ limit, strategyId }: Pick<Baseline, "limit" | "strategyId">): string {
  return `${limit} ${strategyId ?? ""}`.trim();
}

/** What the windows that are on begin with. */
export async function windowsOf(
  unit: UnitOfWork,
  fundId: string,
  { windowsFrom }: LossState,
  at: Instant,
  fractions: LossFractions,
): Promise<WindowSamples> {
  const found: { -readonly [Limit in keyof WindowSamples]: WindowSamples[Limit] } = {};
  for (const limit of windowLimits) {
    if (fractions[limit] === undefined) continue;
    const begins = minusMilliseconds(at, windowMs[limit]);
    found[limit] = await unit.losses.sampleAt(fundId, begins > windowsFrom ? begins : windowsFrom);
  }
  return found;
}

function valuationOf(nav: NavUpdated): FundValuation {
  const profits = nav.strategy_pnl;
  return {
    at: parse(nav.as_of),
    currency: nav.currency,
    value: decimal.parse(nav.nav),
    netFlows: decimal.parse(nav.net_flows ?? "0"),
    ...(profits !== undefined && {
      strategies: Object.entries(profits).map(([strategyId, profit]) => ({
        strategyId,
        profit: decimal.parse(profit),
      })),
    }),
  };
}

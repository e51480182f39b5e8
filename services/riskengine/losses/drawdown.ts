// Judges every valuation in the unit of work that keeps it, and looks at the clock in between: baselines are written before the first order of
// their period, and a confirmed loss is latched as a halt together with the valuation that confirmed it.
//
//  1. The engine denies new risk from the moment in which a breach is seen, before anything is durable, and what it is told afterwards
//     is what was committed.
//  2. Whoever may latch locks the halts first.
//  3. One fund at a time: what the engine is told it is told in the order in which it was committed.
//  4. A valuation that was made from old prices is judged by them, and halts. Until a fresh one comes the fund takes no new risk, also after a restart.
//  5. Nothing is counted before the fund's calendar is known. A valuation that is heard before is kept, and judged as soon as it is.
//  6. What keeps a valuation from being judged is told to the engine, which denies new risk meanwhile (loss-watch.ts).
import * as decimal from "../../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween, minusMilliseconds, parse } from "../../../contracts/src/instant.ts";
import type { FundValuation, LossState } from "../../../contracts/src/losses.ts";
import type { JudgedNav, NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import {
  judgeValuation,
  type LossOutcome,
  type LossRules,
  nextDeadline,
  passTime,
} from "../../../core/losses/drawdown.ts";
import {
  type LossFractions,
  lossFractions,
  type WindowSamples,
  windowLimits,
  windowMs,
} from "../../../core/losses/loss-figures.ts";
import type { LossDay } from "../../../core/losses/loss-periods.ts";
import type { LossLook } from "../../../core/losses/loss-standing.ts";
import { judgeUnvouched } from "../../../core/losses/unvouched-losses.ts";
import { believedUntil, isAhead } from "../../../core/state/dated.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import { writeLosses } from "../../shared/record-losses.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import type { Alarms } from "../alarms.ts";
import type { Envelopes } from "../envelopes.ts";
import type { HaltWatch } from "../halt-watch.ts";
import type { ReferenceWatch } from "../reference-watch.ts";
import { haltOf } from "./loss-halt.ts";
import { type KnownLosses, watchLosses } from "./loss-watch.ts";
import { createUnjudgedLosses } from "./unjudged-losses.ts";

/** Between two looks at the clock; a period's end and a deadline are met more closely. */
const lookEveryMs = 1_000;
/** A deadline is not missed by more, while the store is in trouble for a moment. */
const troubleMs = 100;

interface DrawdownOptions {
  readonly ports: Pick<
    ServicePorts,
    "store" | "riskStore" | "timers" | "clock" | "random" | "log" | "crash" | "settings"
  >;
  readonly engine: Engine;
  readonly envelopes: Pick<Envelopes, "current" | "onTaken">;
  readonly reference: Pick<ReferenceWatch, "calendarOf" | "fund" | "tradingCalendarOf">;
  readonly watch: Pick<HaltWatch, "latched" | "inForce">;
  readonly alarms: Alarms;
}

export interface Drawdown {
  /**
   * Keeps the valuation and judges it; false when it is not newer than what is known. Where nobody vouches for it, losses are judged by `worst` instead of
   * its value, and nothing is counted from it.
   */
  heard(nav: JudgedNav, worst?: WorstEnd): Promise<boolean>;
  /** What decides how a fund's limits stand, with the state and the windows that were just read; for whoever shows it. */
  lookAt(fundId: string, read: Pick<KnownLosses, "state" | "windows">, haltsInForce: ReadonlySet<string>): LossLook;
  /** Whether a baseline was taken since then: that moment is of another trading day, or nobody can tell. */
  hasBaselineSince(fundId: string, at: Instant): boolean;
  /** Ends the looks at the clock. */
  stop(): Promise<void>;
}

/** What losses are judged by, and the other end while a price is not believed yet. */
export interface WorstEnd {
  readonly value: decimal.Decimal;
  readonly best?: decimal.Decimal;
}

/** A valuation, and its worse end where nobody vouches for it. */
interface Heard {
  readonly nav: JudgedNav;
  readonly worst?: WorstEnd | undefined;
}

interface Judged {
  readonly isNewer: boolean;
  readonly known: KnownLosses;
  readonly latched: readonly ActiveHalt[];
  /** It is kept until the fund's calendar is known. */
  readonly isKept?: boolean;
}

/** Resolves when the engine knows how the losses of every fund stand; it is told its valuations afterwards. */
export async function createDrawdown(options: DrawdownOptions): Promise<Drawdown> {
  const { ports, engine, envelopes, reference, watch, alarms } = options;
  const { clock, log, random } = ports;
  const { lossConfirmations: confirmations, lossConfirmMs: confirmMs } = ports.settings.risk;
  const hearingSince = clock.now();
  const losses = watchLosses({ ports, engine, envelopes, reference, halts: watch, alarms });
  const unjudged = createUnjudgedLosses(ports);
  const lanes = new Map<string, Promise<unknown>>();
  /** The newest valuation of each fund that waits for its calendar. */
  const kept = new Map<string, Heard>();
  let telling: Promise<void> | undefined;

  /** Undefined while there is no calendar to count by. */
  function rulesOf(
    fundId: string,
    at: Instant,
    fractions: LossFractions,
    windows: WindowSamples,
  ): LossRules | undefined {
    const today = losses.dayOf(fundId, at);
    if (today === undefined) return undefined;
    return {
      fractions,
      confirmations,
      confirmMs,
      at,
      hearingSince,
      windows,
      dayAt: (moment): LossDay => losses.dayOf(fundId, moment) ?? today,
      haltsInForce: watch.inForce(),
      newHaltId: () => random.uuid(),
    };
  }

  async function judgeIn(unit: UnitOfWork, fundId: string, heard?: Heard): Promise<Judged> {
    const { nav, worst } = heard ?? {};
    const state = await unit.losses.lock(fundId);
    const valuation = nav && valuationOf(nav, worst);
    const fractions = lossFractions(envelopes.current(fundId));
    const at = clock.now();
    const moment = valuation?.at ?? state?.newest.at ?? at;
    const windows = state === undefined ? {} : await windowsOf(unit, fundId, state, moment, fractions);
    const rules = rulesOf(fundId, at, fractions, windows);
    const before = losses.known(fundId);
    // Without a valuation nothing has become of the trouble with the last one.
    const unchanged: KnownLosses = { ...(nav === undefined ? before : { nav }), ...(state && { state }), windows };
    if (rules === undefined) return { isNewer: true, known: unchanged, latched: [], isKept: nav !== undefined };
    const { outcome, trouble } = outcomeOf(state, valuation, rules, worst === undefined);
    if (outcome === undefined) {
      return { isNewer: true, known: { ...unchanged, ...(trouble !== undefined && { trouble }) }, latched: [] };
    }
    if (outcome.state.pending.length > 0 || outcome.breaches.length > 0) losses.blocks(fundId);
    await writeLosses(unit, fundId, outcome);
    // What a first valuation begins, its windows begin with too.
    const begun = state === undefined ? await windowsOf(unit, fundId, outcome.state, moment, fractions) : windows;
    const known = { ...unchanged, state: outcome.state, windows: begun };
    return { isNewer: true, known, latched: await latchAll(unit, fundId, outcome, at) };
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
  const mayLatch = (fundId: string): boolean =>
    confirmations <= 1 || (losses.known(fundId).state?.pending.length ?? 0) > 0;

  function adopt(fundId: string, { known, latched, isKept }: Judged, heard?: Heard): void {
    if (isKept === true && heard !== undefined) kept.set(fundId, heard);
    else if (heard !== undefined) kept.delete(fundId);
    for (const halt of latched) {
      watch.latched(halt);
      log.error("a loss halted", { fund_id: fundId, halt_id: halt.halt_id, reason: halt.reason });
    }
    if (known.trouble !== undefined && known.trouble !== losses.known(fundId).trouble) {
      log.warn("a valuation is not judged", { fund_id: fundId, reason: known.trouble });
    }
    losses.learns(fundId, known);
  }

  async function inLane<Value>(fundId: string, work: () => Promise<Value>): Promise<Value> {
    const before = lanes.get(fundId) ?? Promise.resolve();
    const mine = before.then(work, work);
    const quiet = mine.catch(() => undefined);
    lanes.set(fundId, quiet);
    try {
      return await mine;
    } catch (thrown) {
      // What was seen and could not be written is not what is known.
      losses.tells(fundId);
      throw thrown;
    } finally {
      if (lanes.get(fundId) === quiet) lanes.delete(fundId);
    }
  }

  function heard(nav: JudgedNav, worst?: WorstEnd): Promise<boolean> {
    const fundId = nav.fund_id;
    losses.hears(fundId);
    return inLane(fundId, async () => {
      losses.hears(fundId);
      const judged = await transactToKnownEnd(ports, "risk.nav", async (unit): Promise<Judged> => {
        if (mayLatch(fundId)) await unit.risk.lockHalts();
        const isNewer = await unit.risk.putNav(nav, believedUntil(clock.now()));
        // One that is not newer was judged when it came first, perhaps without anybody here hearing of it.
        return isNewer ? judgeIn(unit, fundId, { nav, worst }) : { ...(await judgeIn(unit, fundId)), isNewer };
      });
      adopt(fundId, judged, judged.isNewer ? { nav, worst } : undefined);
      return judged.isNewer;
    });
  }

  const look = (fundId: string, heardLast?: Heard): Promise<void> =>
    inLane(fundId, async () => {
      const judged = await transactToKnownEnd(ports, "risk.roll", async (unit) => {
        if (mayLatch(fundId)) await unit.risk.lockHalts();
        return judgeIn(unit, fundId, heardLast);
      });
      adopt(fundId, judged, heardLast);
    });

  /** Whether a look at the store would change anything. */
  function isDue(fundId: string, { state, windows }: KnownLosses): boolean {
    const fractions = lossFractions(envelopes.current(fundId));
    const rules = state && rulesOf(fundId, clock.now(), fractions, {});
    if (state === undefined || rules === undefined) return false;
    const isUnread = windowLimits.some((limit) => fractions[limit] !== undefined && windows[limit] === undefined);
    return isUnread || passTime(state, rules) !== undefined;
  }

  async function lookAtAll(): Promise<number> {
    for (const [fundId, one] of [...kept]) {
      if (losses.dayOf(fundId, clock.now()) !== undefined) await look(fundId, kept.get(fundId) ?? one);
    }
    for (const [fundId, known] of losses.all()) if (isDue(fundId, known)) await look(fundId);
    return waitMs();
  }

  function waitMs(): number {
    const now = clock.now();
    let ms = lookEveryMs;
    for (const [fundId, { state }] of losses.all()) {
      const day = losses.dayOf(fundId, now);
      const deadline = state && nextDeadline(state, hearingSince, confirmMs);
      if (day !== undefined) ms = Math.min(ms, millisecondsBetween(now, day.until));
      if (deadline !== undefined) ms = Math.min(ms, millisecondsBetween(now, deadline));
    }
    return Math.max(ms, 10);
  }

  async function lookAtStandings(): Promise<number> {
    losses.looks();
    telling ??= unjudged.look(losses.oldSpells()).finally(() => {
      telling = undefined;
    });
    return lookEveryMs;
  }

  const navs = await ports.riskStore.navs();
  for (const { fundId, ...read } of await readAll(ports, envelopes)) {
    const nav = navs.find(({ fund_id: id }) => id === fundId);
    losses.learns(fundId, { ...read, ...(nav !== undefined && { nav }) });
  }
  // A valuation that nobody judged: losses are counted from it on, or it is judged now.
  for (const nav of navs) {
    const { state } = losses.known(nav.fund_id);
    const isNewer = state === undefined || parse(nav.as_of) > state.newest.at;
    if (isNewer && !isAhead(parse(nav.as_of), clock.now())) await look(nav.fund_id, { nav });
  }
  await lookAtAll();
  const loops = watchTime(ports, waitMs(), lookAtAll, lookAtStandings);
  return {
    heard,
    lookAt: (fundId, read, inForce) => losses.lookAt(fundId, { ...losses.known(fundId), ...read }, inForce),
    hasBaselineSince(fundId, at) {
      const [then, today] = [losses.dayOf(fundId, at), losses.dayOf(fundId, clock.now())];
      return then === undefined || then.daily !== today?.daily;
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await telling;
      await Promise.all(lanes.values());
    },
  };
}

/** Beside the judging, which waits for the store, the standings are handed on. */
function watchTime(
  ports: DrawdownOptions["ports"],
  firstAfterMs: number,
  judging: () => Promise<number>,
  standings: () => Promise<number>,
): readonly Loop[] {
  const what = { failing: "losses cannot be written", working: "losses can be written again" };
  const troubleMsMax = lookEveryMs;
  return [
    startLoop({ ports, what, firstAfterMs, run: judging, troubleMsMin: troubleMs, troubleMsMax }),
    startLoop({ ports, what: "the watch over losses", firstAfterMs: 0, run: standings, troubleMsMax }),
  ];
}

/** Every fund whose losses are counted, with what its windows begin with. */
export function readAll(ports: Pick<ServicePorts, "store">, envelopes: Pick<Envelopes, "current">) {
  return ports.store.transact("risk.losses", async (unit) => {
    const all: { readonly fundId: string; readonly state: LossState; readonly windows: WindowSamples }[] = [];
    for (const { fundId, state } of await unit.losses.all()) {
      const fractions = lossFractions(envelopes.current(fundId));
      all.push({ fundId, state, windows: await windowsOf(unit, fundId, state, state.newest.at, fractions) });
    }
    return all;
  });
}

/** What becomes of it, or why nothing does. */
function outcomeOf(
  state: LossState | undefined,
  valuation: FundValuation | undefined,
  rules: LossRules,
  isVouched: boolean,
): { readonly outcome?: LossOutcome | undefined; readonly trouble?: string } {
  try {
    if (valuation === undefined) return { outcome: state && passTime(state, rules) };
    if (!isVouched && state !== undefined) {
      const judged = judgeUnvouched(state, valuation, rules);
      if (judged !== undefined || valuation.at <= state.newest.at) return { outcome: judged };
      return { trouble: "the newest value is in another currency, and nobody vouches for it; this ends when one does" };
    }
    const outcome = judgeValuation(state, valuation, rules);
    if (outcome !== undefined || state === undefined || valuation.at <= state.newest.at) return { outcome };
    return { trouble: "all of the fund's money was withdrawn; this ends when other money comes" };
  } catch (thrown) {
    if (!(thrown instanceof decimal.DecimalError)) throw thrown;
    const trouble = `the newest value cannot be reckoned with (${thrown.message}); this ends with one that can be`;
    return { trouble };
  }
}

/** What the windows that are on begin with. */
async function windowsOf(
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

function valuationOf(nav: NavUpdated, worst?: WorstEnd): FundValuation {
  const profits = nav.strategy_pnl;
  const holds = isHolding(nav);
  return {
    at: parse(nav.as_of),
    currency: nav.currency,
    value: worst?.value ?? decimal.parse(nav.nav),
    ...(worst?.best !== undefined && { best: worst.best }),
    netFlows: decimal.parse(nav.net_flows ?? "0"),
    ...(holds !== undefined && { holds }),
    ...(profits !== undefined && {
      strategies: Object.entries(profits).map(([strategyId, profit]) => ({
        strategyId,
        profit: decimal.parse(profit),
      })),
    }),
  };
}

/** Undefined when the valuation does not say. Positions can be worth nothing together, so their value alone denies nothing. */
function isHolding({ prices, positions_value: value }: NavUpdated): boolean | undefined {
  if (value !== undefined && decimal.parse(value) !== decimal.zero) return true;
  return prices && Object.values(prices).some(({ quantity }) => decimal.parse(quantity) !== decimal.zero);
}

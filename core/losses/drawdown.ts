// Losses against their limits: what one more valuation, or the passing of time, makes of what is remembered of a fund. A pure function of the
// state, the valuation, the limits, the calendar and the moment; the shell keeps the next state and latches what it says.
//
// Invariants (drawdown.test.ts names them):
//  1. A period's baseline is written once, from the last steady valuation before it, or from the first in it when there is none that is young
//     enough. No restart, clock or late valuation writes it again; only a person's choice adds another version.
//  2. Deposits and withdrawals are neither profit nor loss, and the share that was lost before them stays what it was (loss-units.ts).
//  3. A loss equal to its limit is a breach.
//  4. A breach is confirmed by so many valuations in a row, or by the time in which no other valuation says otherwise; one bad mark
//     halts nothing, and while a breach waits the fund takes no new risk.
//  5. A breach that waits is judged from the baseline that it was found with, also when the next day has begun.
//  6. One bad mark becomes neither a baseline nor a sample nor the highest value: a jump by a whole daily limit, and every new high,
//     needs the same confirmation.
//  7. What has halted halts once for its limit, period and version while that halt is in force. After a person lifted it and kept the
//     baseline, it halts again when the loss has grown by a tenth of the limit beyond what it was then, or when it had fallen below
//     nine tenths of the limit and reaches the limit anew.
//  8. A valuation that is not newer changes nothing, unless the newest is from the future because the clock was set back. One that was made from
//     old prices is judged like any other, by the last price of what is not traded: it is the best that is known.
//  9. What is remembered is bounded, and the same calls give the same state.
// 10. A breach that was seen does not go away because the fund is valued in another currency, because somebody rebases with the lifting of another
//     halt, or because of a restart: it is judged on, from where it was found (loss-currency.ts).
// 11. A fund that holds positions and is worth nothing, or less, is halted whatever it was worth before, and again whenever that is lifted.
// 12. A value that nobody vouches for becomes no baseline, sample or highest value, and counts no units. Its worse end is judged like any other,
//     and halts (unvouched-losses.ts).
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import {
  fromMicroseconds,
  type Instant,
  later,
  millisecondsBetween,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";
import type { Baseline, FundValuation, LossSample, LossState, PendingLoss } from "../../contracts/src/losses.ts";
import { isAhead } from "../state/dated.ts";
import { redate, roll } from "./loss-baselines.ts";
import { inCurrencyOf } from "./loss-currency.ts";
import {
  always,
  baselinesAt,
  type Counted,
  figureOf,
  type LossFigure,
  type LossFractions,
  lossKey,
  type WindowSamples,
} from "./loss-figures.ts";
import type { LossDay } from "./loss-periods.ts";
import { hasGrown, isRemembered, tripAfter } from "./loss-trips.ts";
import { countUnits, unitCount, withFlows } from "./loss-units.ts";

export interface LossRules {
  readonly fractions: LossFractions;
  /** The trading day of a moment by the fund's calendar. */
  readonly dayAt: (at: Instant) => LossDay;
  /** Valuations in a row that confirm a breach, and how long it waits for them at most. */
  readonly confirmations: number;
  readonly confirmMs: number;
  /** Now; and since when valuations have been heard: before that nobody could have said otherwise. */
  readonly at: Instant;
  readonly hearingSince: Instant;
  readonly windows: WindowSamples;
  readonly haltsInForce: ReadonlySet<string>;
  readonly newHaltId: () => string;
}

/** A confirmed breach, and the halt that follows. */
export interface LossBreach {
  readonly figure: LossFigure;
  readonly haltId: string;
  readonly valuation: FundValuation;
}

export interface LossOutcome {
  readonly state: LossState;
  /** To be written down and reported. */
  readonly baselines: readonly Baseline[];
  readonly sample: LossSample | undefined;
  readonly breaches: readonly LossBreach[];
}

const sampleEveryMs = 5 * 60_000;
/** A price that jumped is confirmed in 5 s, and the next valuation has it. */
const priceMsMax = 8_000;
const machine = "riskengine";

/** What one more valuation makes of it; undefined when it changes nothing (invariant 8). */
export function judgeValuation(
  before: LossState | undefined,
  heard: FundValuation,
  rules: LossRules,
): LossOutcome | undefined {
  if (before === undefined) return begin(heard, rules);
  if (heard.at <= before.newest.at && !isAhead(before.newest.at, rules.at)) return undefined;
  // What nobody vouched for is as if it had never been.
  const { vouched, ...rest } = before;
  const known: LossState = vouched === undefined ? before : { ...rest, newest: vouched };
  if (heard.currency !== known.newest.currency) return judgeInOther(known, heard, rules);
  const redated = redate(known, rules.dayAt(rules.at), rules.at);
  const counted = countUnits(redated.state, heard, rules.fractions.daily);
  if (counted === undefined) return undefined;
  const { state: restated, valuation } = counted;
  const periods = rules.dayAt(valuation.at);
  const rolled = roll(restated, periods, valuation, rules.at);
  const judged = judgeAll(rolled.state, valuation, rules, baselinesAt(rolled.state, periods, rules.windows));
  const higher = raisePeak(judged.state, valuation, rules);
  const settled = settle(higher, valuation, rules);
  const state = { ...settled, newest: valuation };
  const isDue = state.steady.at === valuation.at && millisecondsBetween(state.sampledAt, valuation.at) >= sampleEveryMs;
  return {
    state: isDue ? { ...state, sampledAt: valuation.at } : state,
    baselines: [...redated.baselines, ...rolled.baselines],
    sample: isDue ? sampleOf(valuation) : undefined,
    breaches: judged.breaches,
  };
}

/** In another currency than before: restated, and judged (invariant 10). */
function judgeInOther(known: LossState, heard: FundValuation, rules: LossRules): LossOutcome | undefined {
  const restated = inCurrencyOf(known, heard, rules.windows, rules.at);
  if (restated === undefined) return beginAnew(known, heard, rules);
  const { state, sample } = restated;
  const { rolling_24h: day, rolling_5d: days } = rules.windows;
  const windows = {
    ...(day !== undefined && { rolling_24h: sample }),
    ...(days !== undefined && { rolling_5d: sample }),
  };
  const outcome = judgeValuation(state, heard, { ...rules, windows });
  if (outcome === undefined) return undefined;
  // What the same valuation replaces again needs no version of its own.
  const isKept = (one: Baseline): boolean => outcome.state.baselines.some((kept) => lossKey(kept) === lossKey(one));
  return { ...outcome, baselines: [...restated.baselines.filter(isKept), ...outcome.baselines], sample };
}

/** What the passing of time makes of it: another period, a breach that nobody contradicted; undefined when nothing does. */
export function passTime(known: LossState, rules: LossRules): LossOutcome | undefined {
  const day = rules.dayAt(rules.at);
  const redated = redate(known, day, rules.at);
  const rolled = roll(redated.state, day, undefined, rules.at);
  const baselines = [...redated.baselines, ...rolled.baselines];
  const { newest, jump, higher, datedBy } = known;
  const patient = { ...rules, confirmMs: confirmMsOf(known, rules.confirmMs) };
  const due = redated.state.pending.filter((pending) => isOverdue(pending, patient));
  const jumped = jump !== undefined && isOverdue(jump, rules);
  const raised = higher !== undefined && isOverdue(higher, rules);
  const isSame = datedBy === day.by && baselines.length === 0;
  if (isSame && due.length === 0 && !jumped && !raised) return undefined;
  const judged = judgeAll(rolled.state, newest, rules, due, due);
  let { state } = judged;
  if (jumped) state = without({ ...state, steady: known.vouched ?? newest }, "jump");
  if (raised) state = without({ ...state, peak: peakOf(higher) }, "higher");
  return { state, baselines, sample: undefined, breaches: judged.breaches };
}

/** When `passTime` has something to do at the latest, as far as what waits is concerned. */
export function nextDeadline(state: LossState, hearingSince: Instant, confirmMs: number): Instant | undefined {
  const waits = [...state.pending, ...(state.jump ? [state.jump] : []), ...(state.higher ? [state.higher] : [])];
  if (waits.length === 0) return undefined;
  const since = Math.min(...waits.map((wait) => wait.since));
  return plusMilliseconds(later(fromMicroseconds(since), hearingSince), confirmMsOf(state, confirmMs));
}

export interface Rebase {
  /** Whose: the fund's own limits and no strategy's, one strategy's, or both and every strategy's. */
  readonly of: "everything" | "fund" | { readonly strategyId: string };
  readonly setBy: string;
  readonly reason: string;
  readonly at: Instant;
}

/** A person's choice to count losses anew, from the last steady valuation on; what waits is judged on from where it was found (invariant 10). */
export function rebase(known: LossState, { of, setBy, reason, at }: Rebase): LossOutcome {
  const { steady } = known;
  const isMeant = ({ strategyId }: { readonly strategyId?: string }): boolean => {
    if (of === "everything") return true;
    return of === "fund" ? strategyId === undefined : strategyId === of.strategyId;
  };
  const profitOf = (id: string): Decimal | undefined =>
    steady.strategies?.find((profit) => profit.strategyId === id)?.profit;
  const by = { setBy, reason, setAt: at };
  const anew = (baseline: Baseline): Baseline => {
    const value =
      baseline.limit === "strategy" ? (profitOf(baseline.strategyId ?? "") ?? baseline.value) : steady.value;
    const from = { value, netFlows: steady.netFlows, ...unitCount(steady), valuedAt: steady.at };
    return { ...withoutUnits(baseline), version: baseline.version + 1, ...from, ...by };
  };
  const baselines = known.baselines.map((baseline) => (isMeant(baseline) ? anew(baseline) : baseline));
  const trips = known.trips.filter((trip) => !isMeant(trip));
  const written = baselines.filter(isMeant);
  const state: LossState = {
    ...known,
    baselines,
    trips,
    before: known.before.filter((baseline) => !isMeant(baseline)),
  };
  if (typeof of === "object") return { state, baselines: written, sample: undefined, breaches: [] };
  const windowsVersion = known.windowsVersion + 1;
  const windows = (["rolling_24h", "rolling_5d"] as const).map((limit): Baseline => {
    const from = { value: steady.value, netFlows: steady.netFlows, ...unitCount(steady), valuedAt: steady.at };
    return { limit, period: always, version: windowsVersion, ...from, ...by };
  });
  const fresh = { peak: peakOf(steady), windowsFrom: steady.at, sampledAt: steady.at, windowsVersion };
  return {
    state: without({ ...state, ...fresh }, "higher"),
    baselines: [...written, ...windows],
    sample: sampleOf(steady),
    breaches: [],
  };
}

function begin(valuation: FundValuation, rules: LossRules): LossOutcome {
  const from = { value: valuation.value, netFlows: valuation.netFlows, valuedAt: valuation.at };
  const highWater: Baseline = {
    limit: "high_water",
    period: always,
    version: 0,
    ...from,
    setBy: machine,
    reason: "The first valuation.",
    setAt: rules.at,
  };
  const empty: LossState = {
    newest: valuation,
    steady: valuation,
    baselines: [highWater],
    before: [],
    peak: peakOf(valuation),
    sampledAt: valuation.at,
    windowsFrom: valuation.at,
    windowsVersion: 0,
    pending: [],
    trips: [],
    datedBy: rules.dayAt(rules.at).by,
  };
  const rolled = roll(empty, rules.dayAt(valuation.at), valuation, rules.at);
  const { state, breaches } = judgeAll(rolled.state, valuation, rules, equityOf(rolled.state, valuation, rules));
  return { state, baselines: [highWater, ...rolled.baselines], sample: sampleOf(valuation), breaches };
}

/** Where no ratio restates it: everything is counted from the first value in the new currency, and what was breached halts now. */
function beginAnew(known: LossState, valuation: FundValuation, rules: LossRules): LossOutcome {
  const redated = redate(known, rules.dayAt(rules.at), rules.at);
  const { pending, trips, newest } = redated.state;
  const lifted = trips.filter(({ haltId }) => !rules.haltsInForce.has(haltId)).map(lossKey);
  const counted = baselinesAt(redated.state, rules.dayAt(newest.at), rules.windows);
  const breached = [...pending, ...counted.filter(({ baseline }) => lifted.includes(lossKey(baseline)))];
  const breaches = breached.flatMap((one): LossBreach[] => {
    const figure = figureOf(one, newest, rules.fractions);
    return figure === undefined ? [] : [{ figure, haltId: rules.newHaltId(), valuation: newest }];
  });
  const moved = without({ ...redated.state, newest: valuation, steady: valuation, pending: [] }, "jump");
  const reason = `The fund is valued in ${valuation.currency} from now on.`;
  const rebased = rebase(moved, { of: "everything", setBy: machine, reason, at: rules.at });
  const rolled = roll(rebased.state, rules.dayAt(valuation.at), valuation, rules.at);
  const judged = judgeAll(rolled.state, valuation, rules, equityOf(rolled.state, valuation, rules));
  const baselines = [...redated.baselines, ...rebased.baselines, ...rolled.baselines];
  return { ...rebased, state: judged.state, baselines, breaches: [...breaches, ...judged.breaches] };
}

/** The only limit that the first valuation of a count can break. */
function equityOf(state: LossState, { at }: FundValuation, { dayAt }: LossRules): readonly Counted[] {
  return baselinesAt(state, dayAt(at), {}).filter(({ baseline }) => baseline.limit === "equity");
}

/** Every baseline, and every breach that waits, against one valuation; those in `overdue` are confirmed by the time alone. */
export function judgeAll(
  state: LossState,
  valuation: FundValuation,
  rules: LossRules,
  current: readonly Counted[],
  overdue?: readonly PendingLoss[],
): { readonly state: LossState; readonly breaches: readonly LossBreach[] } {
  const keys = new Set(current.map(({ baseline }) => lossKey(baseline)));
  const older = state.pending.filter(({ baseline }) => !keys.has(lossKey(baseline)));
  // What only time is asked about leaves the others as they are.
  const pending: PendingLoss[] = overdue === undefined ? [] : [...older];
  const breaches: LossBreach[] = [];
  let trips = state.trips.filter((trip) => isRemembered(trip, state, rules.haltsInForce));
  for (const judged of overdue === undefined ? [...current, ...older] : current) {
    const key = lossKey(judged.baseline);
    const waiting = state.pending.find(({ baseline }) => lossKey(baseline) === key);
    const figure = figureOf(judged, valuation, rules.fractions);
    if (figure === undefined) {
      if (waiting !== undefined) pending.push(waiting);
      continue;
    }
    const trip = trips.find((one) => lossKey(one) === key);
    const kept = trip === undefined ? undefined : tripAfter(trip, figure, rules.haltsInForce);
    if (trip !== undefined) trips = trips.flatMap((one) => (one !== trip ? [one] : kept === undefined ? [] : [kept]));
    if (!figure.isBreach || (kept !== undefined && !hasGrown(kept, figure, rules.haltsInForce))) continue;
    const seen = (waiting?.seen ?? 0) + (overdue === undefined ? 1 : 0);
    const since = waiting?.since ?? rules.at;
    const isConfirmed = seen >= rules.confirmations || isOverdue({ since }, rules);
    if (!isConfirmed || mayBePrice(judged, valuation, since, rules)) {
      const { baseline, shareOf } = judged;
      pending.push({ baseline, ...(shareOf !== undefined && { shareOf }), seen, since });
      continue;
    }
    const haltId = rules.newHaltId();
    breaches.push({ figure, haltId, valuation });
    const { limit, strategyId, period, version } = judged.baseline;
    const named = strategyId === undefined ? { limit } : { limit, strategyId };
    trips = [...trips.filter((one) => lossKey(one) !== key), { ...named, period, version, haltId, loss: figure.loss }];
  }
  return { state: { ...state, pending, trips }, breaches };
}

/** Whether only prices that are not believed yet make it a breach. Their own confirmation takes less than this, and nobody who makes prices jump keeps a loss away. */
function mayBePrice(judged: Counted, valuation: FundValuation, since: Instant, { fractions, at }: LossRules): boolean {
  const { best } = valuation;
  if (best === undefined || millisecondsBetween(since, at) >= priceMsMax) return false;
  return (
    judged.baseline.limit === "strategy" ||
    figureOf(judged, { ...valuation, value: best }, fractions)?.isBreach !== true
  );
}

/** What waits for its confirmation by time. */
function confirmMsOf({ newest }: LossState, confirmMs: number): number {
  return newest.best === undefined ? confirmMs : Math.max(confirmMs, priceMsMax);
}

function isOverdue({ since }: { readonly since: Instant }, { at, hearingSince, confirmMs }: LossRules): boolean {
  return millisecondsBetween(since > hearingSince ? since : hearingSince, at) >= confirmMs;
}

/** Which valuation counts as steady after this one (invariant 6). */
function settle(state: LossState, valuation: FundValuation, rules: LossRules): LossState {
  const { steady, jump } = state;
  const before = withFlows(steady, valuation);
  const move = decimal.subtract(valuation.value, before);
  const bound = decimal.multiply(rules.fractions.daily ?? decimal.zero, before, "ceiling");
  const isJump = bound > 0n && decimal.abs(move) >= bound;
  if (!isJump) return without({ ...state, steady: valuation }, "jump");
  const isUp = move > 0n;
  const same = jump?.isUp === isUp ? jump : undefined;
  const seen = (same?.seen ?? 0) + 1;
  const since = same?.since ?? rules.at;
  if (seen >= rules.confirmations || isOverdue({ since }, rules))
    return without({ ...state, steady: valuation }, "jump");
  return { ...state, jump: { isUp, seen, since } };
}

/** The highest value, flows left out, rises to the lowest of so many valuations in a row that were above it (invariant 6). */
function raisePeak(state: LossState, valuation: FundValuation, rules: LossRules): LossState {
  const above = (one: LossSample, other: LossSample): boolean =>
    withFlows(one, valuation) > withFlows(other, valuation);
  if (!above(valuation, state.peak)) return without(state, "higher");
  const { higher } = state;
  const lowest = higher !== undefined && above(valuation, higher) ? peakOf(higher) : peakOf(valuation);
  const seen = (higher?.seen ?? 0) + 1;
  const since = higher?.since ?? rules.at;
  if (seen < rules.confirmations && !isOverdue({ since }, rules))
    return { ...state, higher: { ...lowest, seen, since } };
  const raised = { ...state, peak: lowest };
  // What lies above even that has been seen once.
  if (!above(valuation, lowest)) return without(raised, "higher");
  return { ...raised, higher: { ...peakOf(valuation), seen: 1, since: rules.at } };
}

function peakOf(of: LossSample): LossSample {
  return { value: of.value, netFlows: of.netFlows, at: of.at, ...unitCount(of) };
}

function sampleOf(of: FundValuation): LossSample {
  return { at: of.at, value: of.value, netFlows: of.netFlows, ...unitCount(of) };
}

function withoutUnits({ units: _, shift: __, ...rest }: Baseline): Baseline {
  return rest;
}

function without(state: LossState, member: "jump" | "higher"): LossState {
  const { [member]: _, ...rest } = state;
  return rest;
}

// The baselines of a new period: written when the first valuation or the clock reaches it, and never again. Where another calendar dates the
// same moment later, what was counted so far is counted on under the new date: a changed calendar forgives no loss.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Baseline, FundValuation, LossState } from "../../contracts/src/losses.ts";
import { calendarLimits, lossKey } from "./loss-figures.ts";
import type { LossDay, LossPeriods } from "./loss-periods.ts";
import { unitCount } from "./loss-units.ts";

const dayMs = 86_400_000;
/**
 * An older value says nothing about where the period began: a platform that stood still for a month has not lost a month's loss in its first
 * day. Windows and the highest value know no such bound.
 */
const ageMsMax = { daily: 7 * dayMs, weekly: 14 * dayMs, monthly: 35 * dayMs } as const;

interface Rolled {
  readonly state: LossState;
  /** To be written down. */
  readonly baselines: readonly Baseline[];
}

/** Dates what is counted by the calendar of that day, when it was dated by another one; `day` is that of now. */
export function redate(state: LossState, day: LossDay, at: Instant): Rolled {
  if (state.datedBy === day.by) return { state, baselines: [] };
  const dated = { ...state, datedBy: day.by };
  if (state.datedBy === undefined) return { state: dated, baselines: [] };
  const reason = `Counted on: the calendar is ${day.by} now, and was ${state.datedBy}.`;
  const moved = new Map<Baseline, Baseline>();
  for (const baseline of state.baselines) {
    const { limit } = baseline;
    const kind = limit === "strategy" ? "daily" : calendarLimits.find((one) => one === limit);
    if (kind === undefined) continue;
    const isYoung = millisecondsBetween(baseline.valuedAt, at) <= ageMsMax[kind];
    if (baseline.period >= day[kind] || !isYoung) continue;
    moved.set(baseline, { ...baseline, period: day[kind], version: 0, setBy: "riskengine", reason, setAt: at });
  }
  if (moved.size === 0) return { state: dated, baselines: [] };
  const sameAs = (of: Pick<Baseline, "limit" | "strategyId" | "period" | "version">): Baseline | undefined =>
    [...moved].find(([from]) => lossKey(from) === lossKey(of))?.[1];
  return {
    state: {
      ...dated,
      baselines: state.baselines.map((baseline) => moved.get(baseline) ?? baseline),
      before: [
        ...state.before.filter((one) => ![...moved.keys()].some(({ limit }) => limit === one.limit)),
        ...moved.keys(),
      ],
      pending: state.pending.map((pending) => ({
        ...pending,
        baseline: sameAs(pending.baseline) ?? pending.baseline,
        ...(pending.shareOf !== undefined && { shareOf: sameAs(pending.shareOf) ?? pending.shareOf }),
      })),
      trips: state.trips.map((trip) => {
        const to = sameAs(trip);
        return to === undefined ? trip : { ...trip, period: to.period, version: to.version };
      }),
    },
    baselines: [...moved.values()],
  };
}

/** Where the periods are newer than those that have baselines; from the last steady valuation, or from the one that has just come. */
export function roll(
  state: LossState,
  periods: LossPeriods,
  valuation: FundValuation | undefined,
  at: Instant,
): Rolled {
  const moment = valuation?.at ?? at;
  const young = (limit: (typeof calendarLimits)[number]): FundValuation | undefined =>
    millisecondsBetween(state.steady.at, moment) <= ageMsMax[limit] ? state.steady : undefined;
  const made: Baseline[] = [];
  for (const limit of calendarLimits) {
    const before = state.baselines.find((baseline) => baseline.limit === limit);
    if (before !== undefined && before.period >= periods[limit]) continue;
    const from = young(limit) ?? valuation;
    if (from === undefined) continue;
    made.push(baselineOf({ limit, period: periods[limit], value: from.value }, from, at));
  }
  made.push(...strategyBaselines(state, periods.daily, young("daily"), valuation, at));
  if (made.length === 0) return { state, baselines: [] };
  const isReplaced = (baseline: Baseline): boolean =>
    made.some(({ limit, strategyId }) => limit === baseline.limit && strategyId === baseline.strategyId);
  const replaced = state.baselines.filter((baseline) => isReplaced(baseline) || isOver(baseline, periods));
  const isNewDay = made.some(({ limit }) => limit === "daily");
  const isKept = (baseline: Baseline): boolean =>
    baseline.limit === "strategy" ? !isNewDay : !replaced.some(({ limit }) => limit === baseline.limit);
  return {
    state: {
      ...state,
      baselines: [...state.baselines.filter((baseline) => !replaced.includes(baseline)), ...made],
      before: [...state.before.filter(isKept), ...replaced],
    },
    baselines: made,
  };
}

/** A strategy of which nothing is heard any more. */
function isOver({ limit, period }: Baseline, periods: LossPeriods): boolean {
  return limit === "strategy" && period < periods.daily;
}

function strategyBaselines(
  state: LossState,
  day: string,
  steady: FundValuation | undefined,
  valuation: FundValuation | undefined,
  at: Instant,
): readonly Baseline[] {
  const known = (valuation ?? steady)?.strategies ?? [];
  return known.flatMap(({ strategyId, profit }) => {
    const before = state.baselines.find(
      (baseline) => baseline.limit === "strategy" && baseline.strategyId === strategyId,
    );
    if (before !== undefined && before.period >= day) return [];
    const from = steady?.strategies === undefined ? valuation : steady;
    if (from === undefined) return [];
    // A strategy that the valuation before did not name had made nothing yet.
    const value =
      from === valuation
        ? profit
        : (from.strategies?.find((one) => one.strategyId === strategyId)?.profit ?? decimal.zero);
    return [baselineOf({ limit: "strategy", strategyId, period: day, value }, from, at)];
  });
}

function baselineOf(
  of: Pick<Baseline, "limit" | "strategyId" | "period"> & { readonly value: Decimal },
  from: FundValuation,
  at: Instant,
): Baseline {
  const counted = { netFlows: from.netFlows, ...unitCount(from), valuedAt: from.at };
  return { ...of, version: 0, ...counted, setBy: "riskengine", reason: "A period began.", setAt: at };
}

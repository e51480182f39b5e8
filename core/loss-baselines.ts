// The baselines of a new period: written when the first valuation or the clock reaches it, and never again.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween } from "../contracts/src/instant.ts";
import type { Baseline, FundValuation, LossState } from "../contracts/src/losses.ts";
import { calendarLimits } from "./loss-figures.ts";
import type { LossPeriods } from "./loss-periods.ts";
import { unitCount } from "./loss-units.ts";

const dayMs = 86_400_000;
/**
 * An older value says nothing about where the period began: a platform that stood still for a month has not lost a month's loss in its first
 * day. Windows and the highest value know no such bound.
 */
const ageMsMax = { daily: 7 * dayMs, weekly: 14 * dayMs, monthly: 35 * dayMs } as const;

/** Where the periods are newer than those that have baselines; from the last steady valuation, or from the one that has just come. */
export function roll(
  state: LossState,
  periods: LossPeriods,
  valuation: FundValuation | undefined,
  at: Instant,
): { readonly state: LossState; readonly baselines: readonly Baseline[] } {
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

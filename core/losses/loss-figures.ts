// One loss as figures: from where it is counted, what it comes to, and whether it reaches its limit. Flows are neither profit nor loss, so
// the baseline is restated with those since then before the two values are compared.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type {
  Baseline,
  EnvelopeLossLimit,
  FundValuation,
  LossLimit,
  LossSample,
  LossState,
} from "../../contracts/src/losses.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { daysBetween, type LossPeriods } from "./loss-periods.ts";
import { unitCount, withFlows } from "./loss-units.ts";

/** Fractions of the value that losses are counted from; what is not there is off. */
export type LossFractions = Readonly<Partial<Record<LossLimit, Decimal>>>;

export interface LossFigure {
  readonly baseline: Baseline;
  /** The daily baseline that a strategy's loss is a share of. */
  readonly shareOf?: Baseline;
  /** The baseline restated with the flows since then; of a strategy its profit at the baseline, restated likewise. */
  readonly base: Decimal;
  /** The value, or the strategy's profit. */
  readonly value: Decimal;
  /** Never below zero. */
  readonly loss: Decimal;
  /** What the limit is a fraction of: the fund's own base. */
  readonly whole: Decimal;
  readonly fraction: Decimal | undefined;
  /** The smallest loss that halts. */
  readonly bound: Decimal | undefined;
  readonly isBreach: boolean;
}

/** The values that the two windows begin with, as far as they are on. */
export interface WindowSamples {
  readonly rolling_24h?: LossSample | undefined;
  readonly rolling_5d?: LossSample | undefined;
}

export const windowMs = { rolling_24h: 24 * 3_600_000, rolling_5d: 5 * 24 * 3_600_000 } as const;
export const windowLimits = ["rolling_24h", "rolling_5d"] as const;
export const calendarLimits = ["daily", "weekly", "monthly"] as const;
/** The period of what has none. */
export const always = "always";

export function lossFractions(envelope: RiskEnvelope | undefined): LossFractions {
  if (envelope === undefined) return {};
  const fields: Readonly<Record<EnvelopeLossLimit, number | undefined>> = {
    daily: envelope.daily_loss_halt_pct,
    weekly: envelope.weekly_loss_halt_pct,
    monthly: envelope.monthly_loss_halt_pct,
    rolling_24h: envelope.rolling_24h_loss_halt_pct,
    rolling_5d: envelope.rolling_5d_loss_halt_pct,
    high_water: envelope.high_water_loss_halt_pct,
    strategy: envelope.strategy_loss_halt_pct,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([limit, pct]) => (pct === undefined ? [] : [[limit, decimal.fromNumber(pct)]])),
  );
}

/** Undefined when the valuation says nothing about it. */
export function figureOf(
  { baseline, shareOf }: { readonly baseline: Baseline; readonly shareOf?: Baseline | undefined },
  valuation: FundValuation,
  fractions: LossFractions,
): LossFigure | undefined {
  if (baseline.limit === "equity") return equityFigure(baseline, valuation);
  const isStrategy = baseline.limit === "strategy";
  const profit = valuation.strategies?.find(({ strategyId }) => strategyId === baseline.strategyId)?.profit;
  if (isStrategy && (profit === undefined || shareOf === undefined)) return undefined;
  const base = isStrategy ? baseline.value : withFlows(baseline, valuation);
  const value = isStrategy ? (profit ?? decimal.zero) : valuation.value;
  const whole = shareOf === undefined ? base : withFlows(shareOf, valuation);
  const loss = decimal.max(decimal.subtract(base, value), decimal.zero);
  const fraction = fractions[baseline.limit];
  // A loss is a whole number of the smallest places, so rounding its bound up compares exactly.
  const bound = fraction === undefined ? undefined : decimal.multiply(fraction, whole, "ceiling");
  return {
    baseline,
    ...(shareOf !== undefined && { shareOf }),
    base,
    value,
    loss,
    whole,
    fraction,
    bound,
    // Of a value that was not above zero every loss is too much.
    isBreach: bound !== undefined && loss > 0n && loss >= bound,
  };
}

/** A fund that holds positions and is worth nothing, or less. Where nobody says what is held, a debt is evidence enough. */
function equityFigure(baseline: Baseline, { value, holds }: FundValuation): LossFigure {
  const isBreach = holds === true ? value <= 0n : holds === undefined && value < 0n;
  const loss = decimal.max(decimal.negate(value), decimal.zero);
  const zero = decimal.zero;
  return { baseline, base: zero, value, loss, whole: zero, fraction: undefined, bound: zero, isBreach };
}

/** What a loss is counted from, and for a strategy's own the daily baseline that it is a share of. */
export interface Counted {
  readonly baseline: Baseline;
  readonly shareOf?: Baseline;
}

/** So many days may a baseline be dated ahead: zones, weekends and holidays differ by less, and only a wrong clock by more. */
const aheadDaysMax = { daily: 10, weekly: 14, monthly: 31, strategy: 10 } as const;

/**
 * The baseline of a period: its own, or else the first one after it. Dates go back when a calendar is replaced by one of another zone or with
 * more holidays; losses are then counted on from where they were until the dates meet again. An older baseline never fits.
 */
function baselineOf(
  kept: readonly Baseline[],
  limit: keyof typeof aheadDaysMax,
  strategyId: string | undefined,
  period: string,
): Baseline | undefined {
  let found: Baseline | undefined;
  for (const one of kept) {
    if (one.limit !== limit || one.strategyId !== strategyId) continue;
    if (one.period === period) return one;
    if (one.period < period || (found !== undefined && one.period >= found.period)) continue;
    if (daysBetween(period, one.period) <= aheadDaysMax[limit]) found = one;
  }
  return found;
}

/** Everything that losses are counted from at present, of the periods that are given. */
export function baselinesAt(state: LossState, periods: LossPeriods, windows: WindowSamples): readonly Counted[] {
  const kept = [...state.baselines, ...state.before];
  const daily = baselineOf(kept, "daily", undefined, periods.daily);
  const calendar = calendarLimits.flatMap((limit) => {
    const baseline = limit === "daily" ? daily : baselineOf(kept, limit, undefined, periods[limit]);
    return baseline === undefined ? [] : [{ baseline }];
  });
  const names = new Set(kept.flatMap(({ limit, strategyId }) => (limit === "strategy" ? [strategyId] : [])));
  const strategies = [...names].flatMap((strategyId) => {
    const baseline = baselineOf(kept, "strategy", strategyId, periods.daily);
    return baseline === undefined || daily === undefined ? [] : [{ baseline, shareOf: daily }];
  });
  const moving = windowLimits.flatMap((limit) => {
    const sample = windows[limit];
    return sample === undefined ? [] : [{ baseline: windowBaseline(state, limit, sample) }];
  });
  return [
    ...calendar,
    ...moving,
    { baseline: peakBaseline(state) },
    ...strategies,
    { baseline: equityBaseline(state) },
  ];
}

/** What the fund must stay above while it holds anything. */
function equityBaseline({ windowsVersion, windowsFrom }: LossState): Baseline {
  return {
    limit: "equity",
    period: always,
    version: windowsVersion,
    value: decimal.zero,
    netFlows: decimal.zero,
    valuedAt: windowsFrom,
    setBy: "riskengine",
    reason: "",
    setAt: windowsFrom,
  };
}

function windowBaseline(state: LossState, limit: LossLimit, sample: LossSample): Baseline {
  const { at, value, netFlows } = sample;
  return {
    limit,
    period: always,
    version: state.windowsVersion,
    value,
    netFlows,
    valuedAt: at,
    ...unitCount(sample),
    setBy: "riskengine",
    reason: "",
    setAt: at,
  };
}

/** The highest value so far, with the version that the last choice to rebase gave it. */
function peakBaseline({ baselines, peak }: LossState): Baseline {
  const first = baselines.find(({ limit }) => limit === "high_water");
  return {
    limit: "high_water",
    period: always,
    version: first?.version ?? 0,
    value: peak.value,
    netFlows: peak.netFlows,
    valuedAt: peak.at,
    ...unitCount(peak),
    setBy: first?.setBy ?? "riskengine",
    reason: first?.reason ?? "",
    setAt: first?.setAt ?? peak.at,
  };
}

/** Says whether two are about the same loss. */
export function lossKey(of: Pick<Baseline, "limit" | "strategyId" | "period" | "version">): string {
  return `${of.limit} ${of.strategyId ?? ""} ${of.period} ${of.version}`;
}

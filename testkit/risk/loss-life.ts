// A fund's losses through time, without a store: valuations and looks at the clock go in, baselines and breaches come out. What would be written
// twice is an error here as it would be there.
import { type CalendarDefinition, tradingCalendar } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, minusMilliseconds, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Baseline, FundValuation, LossSample, LossState } from "../../contracts/src/losses.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import {
  judgeValuation,
  type LossBreach,
  type LossOutcome,
  type LossRules,
  passTime,
  type Rebase,
  rebase,
} from "../../core/losses/drawdown.ts";
import { lossFractions, lossKey, windowMs } from "../../core/losses/loss-figures.ts";
import { createLossClock } from "../../core/losses/loss-periods.ts";
import { judgeUnvouched } from "../../core/losses/unvouched-losses.ts";

export const newYork: CalendarDefinition = {
  name: "new-york",
  zone: "America/New_York",
  sessions: [1, 2, 3, 4, 5].map((weekday) => ({ weekday: weekday as 1, open: "09:30", close: "16:00" })),
  holidays: ["2026-01-01", "2026-11-26", "2026-12-25", "2027-01-01", "2027-01-18"],
  earlyCloses: { "2026-11-27": "13:00" },
};
export const aroundTheClock: CalendarDefinition = {
  name: "utc",
  zone: "UTC",
  sessions: "always",
  holidays: [],
  earlyCloses: {},
};

export interface LifeOptions {
  readonly calendar?: CalendarDefinition;
  readonly limits?: Partial<RiskEnvelope>;
  readonly confirmations?: number;
  readonly confirmMs?: number;
}

export interface Said {
  readonly flows?: string;
  readonly strategies?: Readonly<Record<string, string>>;
  /** When it is heard, if not at its own moment. */
  readonly heard?: string;
  readonly currency?: string;
  readonly holds?: boolean;
  /** Nobody vouches for it: the value is its worse end. */
  readonly unvouched?: true;
}

/** What a test asks of it; the newest come last. */
export type LossLife = ReturnType<typeof lossLife>;

export function lossLife(options: LifeOptions = {}) {
  const calendar = tradingCalendar(options.calendar ?? aroundTheClock);
  const limits = { daily_loss_halt_pct: 0.02, weekly_loss_halt_pct: 0.04, monthly_loss_halt_pct: 0.06 };
  const fractions = lossFractions({ ...limits, ...options.limits } as RiskEnvelope);
  let state: LossState | undefined;
  let samples: readonly LossSample[] = [];
  const dayOf = createLossClock();
  let haltCount = 0;
  let hearingSince: Instant = parse("2000-01-01T00:00:00Z");
  const baselines: Baseline[] = [];
  const breaches: LossBreach[] = [];
  const haltsInForce = new Set<string>();

  const rulesAt = (at: Instant, moment: Instant): LossRules => {
    const sampleAt = (ms: number): LossSample | undefined => {
      const begins = Math.max(minusMilliseconds(moment, ms), state?.windowsFrom ?? 0);
      return samples.findLast((sample) => sample.at <= begins) ?? samples[0];
    };
    return {
      fractions,
      at,
      hearingSince,
      haltsInForce,
      confirmations: options.confirmations ?? 2,
      confirmMs: options.confirmMs ?? 5_000,
      dayAt: (when) => dayOf(calendar, when),
      windows: {
        rolling_24h: fractions.rolling_24h === undefined ? undefined : sampleAt(windowMs.rolling_24h),
        rolling_5d: fractions.rolling_5d === undefined ? undefined : sampleAt(windowMs.rolling_5d),
      },
      newHaltId: () => {
        haltCount += 1;
        return `halt-${haltCount}`;
      },
    };
  };

  function adopt(outcome: LossOutcome | undefined): readonly string[] {
    if (outcome === undefined) return [];
    for (const baseline of outcome.baselines) {
      const again = baselines.some((one) => lossKey(one) === lossKey(baseline));
      if (again) throw new Error(`the baseline ${lossKey(baseline)} was written twice`);
      baselines.push(baseline);
    }
    state = structuredClone(outcome.state);
    if (outcome.sample !== undefined) samples = [...samples, outcome.sample].sort((one, other) => one.at - other.at);
    for (const breach of outcome.breaches) {
      breaches.push(breach);
      haltsInForce.add(breach.haltId);
    }
    return outcome.breaches.map(nameOf);
  }

  return {
    /** A valuation; answers which limits it tripped. */
    value(at: string, value: string, said: Said = {}): readonly string[] {
      const valuation: FundValuation = {
        at: parse(at),
        currency: said.currency ?? "USD",
        value: decimal.parse(value),
        netFlows: decimal.parse(said.flows ?? "0"),
        ...(said.holds !== undefined && { holds: said.holds }),
        ...(said.strategies !== undefined && {
          strategies: Object.entries(said.strategies).map(([strategyId, profit]) => ({
            strategyId,
            profit: decimal.parse(profit),
          })),
        }),
      };
      const rules = rulesAt(parse(said.heard ?? at), valuation.at);
      if (said.unvouched !== true || state === undefined) return adopt(judgeValuation(state, valuation, rules));
      return adopt(judgeUnvouched(state, valuation, rules));
    },
    /** A look at the clock. */
    tick: (at: string): readonly string[] =>
      state === undefined ? [] : adopt(passTime(state, rulesAt(parse(at), parse(at)))),
    rebase(at: string, of: Rebase["of"] = "fund"): void {
      if (state === undefined) throw new Error("nothing to rebase");
      adopt(rebase(state, { of, setBy: "operator:duty", reason: "a choice", at: parse(at) }));
    },
    /** As after a kill: what is remembered comes back from the store, and nobody has been heard yet. */
    restart(at: string): void {
      hearingSince = parse(at);
      state = structuredClone(state);
    },
    lift: () => haltsInForce.clear(),
    /** `limit` or `limit strategy`. */
    pending: (): readonly string[] => (state?.pending ?? []).map(nameOf),
    baseline: (limit: string, strategyId?: string): string | undefined => {
      const found = state?.baselines.find((one) => one.limit === limit && one.strategyId === strategyId);
      return found && `${found.period} ${decimal.format(found.value)} v${found.version}`;
    },
    isKnown: (at: string): boolean => {
      const day = dayOf(calendar, parse(at));
      return (["daily", "weekly", "monthly"] as const).every((limit) =>
        state?.baselines.some((one) => one.limit === limit && one.period >= day[limit]),
      );
    },
    peak: (): string | undefined => state && decimal.format(decimal.subtract(state.peak.value, state.peak.netFlows)),
    state: (): LossState | undefined => state,
    baselines,
    breaches,
    samples: () => samples,
  };
}

function nameOf(of: Pick<LossBreach, "figure"> | { readonly baseline: Baseline }): string {
  const { limit, strategyId } = "figure" in of ? of.figure.baseline : of.baseline;
  return strategyId === undefined ? limit : `${limit} ${strategyId}`;
}

/** Seconds after a moment, as text. */
export const secondsAfter = (at: string, seconds: number): string =>
  new Date(plusMilliseconds(parse(at), seconds * 1_000) / 1_000).toISOString();

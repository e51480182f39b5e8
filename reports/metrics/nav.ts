// A fund's value with its flows taken out, and the band that its backtests predict for it.
import { criticalValue, sampleOf } from "../../core/stats/prediction-interval.ts";
import { envelopeDay } from "../../core/watchdogs/predictive-health.ts";
import { unitReturns } from "../../core/watchdogs/unit-nav.ts";
import { compounded } from "./linking.ts";

interface UnitNav {
  readonly returns: readonly number[];
  /** From 100 on. */
  readonly levels: readonly number[];
  readonly twr: number;
}

/** Flows arrive at the end of their day: a deposit is no return. */
export function unitNav(navs: readonly number[], flows: readonly number[]): UnitNav {
  const returns = unitReturns(navs, flows);
  const levels = [100];
  for (const each of returns) levels.push((levels.at(-1) ?? 0) * (1 + each));
  return { returns, levels, twr: compounded(returns) };
}

interface NavBand {
  readonly mean: number;
  readonly deviation: number;
  readonly criticalValue: number;
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  readonly deviations: readonly (number | null)[];
  /** The first day after the start is 1. */
  readonly breaches: readonly number[];
}

/** Of every day after the start; null with fewer than two backtest returns. */
export function navBand(
  backtestLogReturns: readonly number[],
  navs: readonly number[],
  start: number,
  confidence: number,
): NavBand | null {
  const sample = sampleOf(backtestLogReturns);
  if (sample === null) return null;
  const days = navs.slice(1).map((nav, index) => envelopeDay(sample, index + 1, nav / start, confidence));
  const lower = days.map((day) => start * day.lower);
  const upper = days.map((day) => start * day.upper);
  const breaches = navs.slice(1).flatMap((nav, index) => {
    const inside = nav >= (lower[index] ?? 0) && nav <= (upper[index] ?? 0);
    return inside ? [] : [index + 1];
  });
  return {
    mean: sample.mean,
    deviation: sample.deviation,
    criticalValue: criticalValue(sample, confidence),
    lower,
    upper,
    deviations: days.map((day) => day.z),
    breaches,
  };
}

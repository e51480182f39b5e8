// Inputs of drift_monitor: the daily skill of a strategy, live and in its backtest, compared like with like: the signal at a day's close with the return
// to the next close. With fewer than five symbols there is no order of a day, and the correlation over time stands in for it.
import { acrossSymbols, symbolsMin } from "../../../../core/stats/information-coefficient.ts";
import { mean } from "../../../../core/stats/moments.ts";
import { rankCorrelation } from "../../../../core/stats/rank-correlation.ts";
import { strategyByName } from "../../../../core/strategies/index.ts";
import { type DriftMonitorInput, driftOf, type SeriesSkill } from "../../../../core/watchdogs/drift-monitor.ts";
import type { Dated } from "../../../../core/watchdogs/watchdog.ts";
import type { DailySignal, StoredBacktest } from "../../../../ports/research-records.ts";
import type { StoredInjection } from "../../../../ports/watchdog-records.ts";
import type { Reader, ReadRequest, Watched } from "../assigned.ts";
import type { Facts } from "./facts.ts";
import { daysUntil } from "./injected-days.ts";

interface SkillConfig {
  readonly window: number;
  readonly persistence: number;
  readonly variance: string;
}

export function driftReader<Config extends SkillConfig>(facts: Facts): Reader<DriftMonitorInput, Config> {
  async function live(strategyId: string, window: number): Promise<readonly DailySignal[]> {
    return facts.ports.store.transact("watchdogs.look", (unit) => unit.research.dailySignals(strategyId, window + 1));
  }

  async function one(
    strategyId: string,
    fundId: string,
    request: ReadRequest<Config>,
    injected: StoredInjection | undefined,
  ): Promise<readonly Watched<DriftMonitorInput>[]> {
    const config = request.config(fundId);
    const backtest = await facts.backtest(strategyId);
    const signals = await live(strategyId, config.window);
    const scope = { fundId, strategyId };
    if (injected?.z !== undefined && backtest !== undefined) {
      return injectedSkill(backtest, injected.z, config, request).map((input) => ({ scope, input, isInjected: true }));
    }
    return [{ scope, input: inputOf(strategyId, backtest, signals, request) }];
  }

  return {
    async read(request) {
      const injected = (await facts.injections()).find(({ kind }) => kind === "skill");
      const watched: Watched<DriftMonitorInput>[] = [];
      for (const { strategyId, fundId } of await facts.strategies()) {
        if (!request.isDue(fundId)) continue;
        const own = injected?.strategyId === strategyId ? injected : undefined;
        watched.push(...(await one(strategyId, fundId, request, own)));
      }
      return watched;
    },
  };
}

function inputOf(
  strategyId: string,
  backtest: StoredBacktest | undefined,
  signals: readonly DailySignal[],
  { at }: Pick<ReadRequest<unknown>, "at">,
): DriftMonitorInput {
  const known = signals.filter(({ realisedReturn }) => realisedReturn !== undefined);
  const newest = known[0];
  const base = { day: newest?.day ?? null, asOf: newest?.at ?? at };
  const skills = (backtest?.days ?? []).flatMap(({ informationCoefficient: skill }) => skill ?? []);
  if ((strategyByName(strategyId)?.signalled.length ?? symbolsMin) < symbolsMin) {
    // A backtest's coefficient over time rests on the sixty days before it: the newest, and those that do not overlap with it.
    const apart = skills.filter((_skill, place) => (skills.length - 1 - place) % 60 === 0);
    const correlation = mean(apart);
    const past: SeriesSkill | null = correlation === null ? null : { correlation, pairs: apart.length * 60 };
    return { ...base, kind: "series", backtest: backtest === undefined ? null : past, live: overDays(known) };
  }
  const days = [...new Set(known.map(({ day }) => day))].sort();
  const live = days.flatMap((day): Dated[] => {
    const reported = known.filter((signal) => signal.day === day);
    const value = acrossSymbols(reported.map((one) => ({ ...one, realised: one.realisedReturn ?? Number.NaN })));
    return value === null ? [] : [{ day, value }];
  });
  return { ...base, kind: "cross_section", backtest: backtest === undefined ? null : skills, live, horizonDays: 1 };
}

function overDays(signals: readonly DailySignal[]): SeriesSkill | null {
  const bySymbol = new Map<string, DailySignal[]>();
  for (const signal of signals) bySymbol.set(signal.symbol, [...(bySymbol.get(signal.symbol) ?? []), signal]);
  const found = [...bySymbol.values()].flatMap((own) => {
    const correlation = rankCorrelation(
      own.map(({ value }) => value),
      own.map(({ realisedReturn }) => realisedReturn ?? Number.NaN),
    );
    return correlation === null ? [] : [{ correlation, pairs: own.length }];
  });
  const correlation = mean(found.map((one) => one.correlation));
  return correlation === null ? null : { correlation, pairs: Math.min(...found.map(({ pairs }) => pairs)) };
}

/** As many days as persistence needs, each with a whole window whose mean is as far off as was asked for. */
function injectedSkill<Config extends SkillConfig>(
  { days: past }: StoredBacktest,
  z: number,
  { window, persistence, variance }: Config,
  { at }: ReadRequest<Config>,
): readonly DriftMonitorInput[] {
  const backtest = past.flatMap(({ informationCoefficient: skill }) => skill ?? []);
  const days = daysUntil(at, window + persistence);
  const flat = driftOf(
    backtest,
    days.slice(0, window).map(() => 0),
  );
  if (flat === null) return [];
  const spread =
    variance === "hac" && flat.longRunVariance > 0 ? Math.sqrt(flat.longRunVariance) : flat.backtestDeviation;
  const value = flat.backtestMean + flat.direction * z * spread * Math.sqrt(1 / window + 1 / backtest.length);
  return Array.from({ length: persistence }, (_unused, place) => {
    const live = days.slice(place + 1, place + 1 + window).map((day) => ({ day, value }));
    return { kind: "cross_section", backtest, live, horizonDays: 1, day: live.at(-1)?.day ?? null, asOf: at };
  });
}

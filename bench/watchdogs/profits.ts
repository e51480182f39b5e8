// Trials of the watchdogs of NAV, skill, profit and volatility: a fresh backtest and fresh live days from one distribution, and live days from a worse one.
import { chiSquaredSf } from "../../core/stats/distributions.ts";
import { type ConfigOf, defaultsOf } from "../../core/watchdogs/config.ts";
import { driftMonitor } from "../../core/watchdogs/drift-monitor.ts";
import { portfolioVolDd } from "../../core/watchdogs/portfolio-vol-dd.ts";
import { predictiveHealth } from "../../core/watchdogs/predictive-health.ts";
import { strategyWatchdog } from "../../core/watchdogs/strategy-watchdog.ts";
import type { Dated } from "../../core/watchdogs/watchdog.ts";
import { normals } from "./random.ts";
import { countRange, faultOf, rateRange, round, type Scenario } from "./scenario.ts";
import { type Alarm, alarmsOf, atDay, nameOfDay, type Observed, opened } from "./trial.ts";

const yearDays = 252;

const dated = (values: readonly number[]): readonly Dated[] =>
  values.map((value, day) => ({ day: nameOfDay(day), value }));

const navOf = (returns: readonly number[]): readonly number[] => {
  const levels = [1];
  for (const each of returns) levels.push((levels.at(-1) ?? 1) * Math.exp(each));
  return levels;
};

function healthAlarms(
  backtest: readonly number[],
  live: readonly number[],
  config: ConfigOf<typeof predictiveHealth.config>,
): readonly Alarm[] {
  const nav = dated(navOf(live));
  const observations = live.map((_each, index) => ({
    at: atDay(index + 1),
    input: { backtest, unitNav: nav.slice(0, index + 2), asOf: atDay(index + 1) },
  }));
  return alarmsOf(predictiveHealth, config, observations);
}

export const healthTrial: Scenario = {
  name: "predictive_health",
  healthy(random, scale) {
    const years = Math.ceil(400 * scale);
    let [alarming, episodes] = [0, 0];
    for (let year = 0; year < years; year += 1) {
      const backtest = normals(random, yearDays, 0.0004, 0.01);
      const alarms = healthAlarms(
        backtest,
        normals(random, yearDays, 0.0004, 0.01),
        defaultsOf(predictiveHealth.config),
      );
      alarming += alarms.length > 0 ? 1 : 0;
      episodes += opened(alarms);
    }
    return {
      years,
      false_alarms: alarming,
      ...countRange(years, 0.117, 0.137),
      counted: "first years with any alarm, pointwise 99 %, backtest of 252 days: 12.7 % predicted",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const trial = () => {
      const backtest = normals(random, yearDays, 0.0004, 0.01);
      return healthAlarms(backtest, normals(random, 126, 0.0004 - 0.005, 0.01), defaultsOf(predictiveHealth.config))[0]
        ?.index;
    };
    return faultOf("mean return half a deviation lower a day", "days", 200 * scale, trial);
  },
};

/** Skill with a mean of 0.045 and a deviation of 0.115, as the prediction has it. */
const [skillMean, skillDeviation, skillWindow] = [0.045, 0.115, 60];

function driftAlarms(backtest: readonly number[], live: readonly number[], every: number): readonly Alarm[] {
  const days = dated(live);
  const observations: Observed<Parameters<typeof driftMonitor.judge>[0]>[] = [];
  for (let day = skillWindow; day <= live.length; day += every) {
    const at = atDay(day);
    const recent = days.slice(day - skillWindow, day);
    const input = {
      kind: "cross_section",
      backtest,
      live: recent,
      horizonDays: 1,
      day: nameOfDay(day),
      asOf: at,
    } as const;
    observations.push({ at, input });
  }
  return alarmsOf(driftMonitor, defaultsOf(driftMonitor.config), observations);
}

export const driftTrial: Scenario = {
  name: "drift_monitor",
  healthy(random, scale) {
    const years = Math.ceil(500 * scale);
    let [alarming, episodes, halved, halted] = [0, 0, 0, 0];
    for (let year = 0; year < years; year += 1) {
      const backtest = normals(random, 500, skillMean, skillDeviation);
      const live = normals(random, skillWindow + yearDays, skillMean, skillDeviation);
      alarming += driftAlarms(backtest, live, 5).length > 0 ? 1 : 0;
      const daily = driftAlarms(backtest, live, 1);
      episodes += opened(daily);
      halved += daily.length > 0 ? 1 : 0;
      halted += daily.some(({ rung }) => rung === 3) ? 1 : 0;
    }
    return {
      years,
      false_alarms: alarming,
      ...countRange(years, 0.69, 0.73),
      counted: "years with any z < -1, window 60, HAC, weekly, twice in a row: 69 to 73 % predicted",
      episodes_per_year: round(episodes / years),
      halved_share: round(halved / years),
      halted_share: round(halted / years),
    };
  },
  fault(random, scale) {
    const trial = () => {
      const backtest = normals(random, 500, skillMean, skillDeviation);
      const live = [
        ...normals(random, skillWindow, skillMean, skillDeviation),
        ...normals(random, 120, 0, skillDeviation),
      ];
      return driftAlarms(backtest, live, 1)[0]?.index;
    };
    return faultOf("skill of 0.045 falls to 0", "days", 400 * scale, trial);
  },
};

function profitAlarms(backtest: readonly number[], live: readonly number[], persistence: number): readonly Alarm[] {
  const days = dated(live);
  const observations = Array.from({ length: live.length - 29 }, (_unused, index) => ({
    at: atDay(index + 30),
    input: { backtest, live: days.slice(index, index + 30), asOf: atDay(index + 30) },
  }));
  return alarmsOf(strategyWatchdog, { ...defaultsOf(strategyWatchdog.config), persistence }, observations);
}

export const profitTrial: Scenario = {
  name: "strategy_watchdog",
  healthy(random, scale) {
    const years = Math.ceil(400 * scale);
    let [alarming, episodes] = [0, 0];
    for (let year = 0; year < years; year += 1) {
      const backtest = normals(random, yearDays, 20, 1_000);
      const live = normals(random, 29 + yearDays, 20, 1_000);
      alarming += profitAlarms(backtest, live, 1).some(({ rung }) => rung === 2) ? 1 : 0;
      episodes += opened(profitAlarms(backtest, live, 3));
    }
    return {
      years,
      false_alarms: alarming,
      ...countRange(years, 0.51, 0.55),
      counted: "years with any day below the 95 % interval, without persistence: 51 to 55 % predicted",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const trial = () => {
      const live = [...normals(random, 29, 20, 1_000), ...normals(random, 60, 20 - 800, 1_000)];
      const alarms = profitAlarms(normals(random, yearDays, 20, 1_000), live, 3);
      return alarms.find(({ rung }) => rung === 2)?.index;
    };
    return faultOf("0.8 deviations less profit a day", "days", 200 * scale, trial);
  },
};

/** Days that the exponentially weighted estimator is good for. */
const weightedDays = 1.94 / 0.06;

function volatilityAlarms(returns: readonly number[], from: number): readonly Alarm[] {
  const days = dated(returns);
  const observations = Array.from({ length: returns.length - from }, (_unused, index) => ({
    at: atDay(from + index),
    input: {
      // A year is enough: what is older weighs less than one in a million.
      returns: days.slice(Math.max(0, from + index + 1 - yearDays), from + index + 1),
      backtestVolatility: 0.1,
      periodsPerYear: yearDays,
      asOf: atDay(from + index),
    },
  }));
  return alarmsOf(portfolioVolDd, defaultsOf(portfolioVolDd.config), observations);
}

export const volatilityTrial: Scenario = {
  name: "portfolio_vol_dd",
  healthy(random, scale) {
    const years = Math.ceil(300 * scale);
    const deviation = 0.1 / Math.sqrt(yearDays);
    let episodes = 0;
    for (let year = 0; year < years; year += 1) {
      episodes += opened(volatilityAlarms(normals(random, 2 * yearDays, 0, deviation), yearDays));
    }
    // Both must be past 1.5: no more often than the rarer of the two is on any day.
    const simple = chiSquaredSf(19 * 2.25, 19);
    const weighted = chiSquaredSf(weightedDays * 2.25, weightedDays);
    return {
      years,
      false_alarms: episodes,
      ...rateRange(0, years * yearDays * Math.min(simple, weighted)),
      counted: "episodes of normal returns on target: at most the days on which the rarer estimator is past 1.5",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const deviation = 0.1 / Math.sqrt(yearDays);
    const trial = () => {
      const returns = [...normals(random, yearDays, 0, deviation), ...normals(random, 40, 0, 2 * deviation)];
      return volatilityAlarms(returns, yearDays)[0]?.index;
    };
    return faultOf("volatility doubles", "days", 400 * scale, trial);
  },
};

// What judging costs for 100 funds with 10 strategies each over 500 symbols: every watchdog in its own period, from memory as text to memory as text,
// without queries and commits. A position is judged when its observation is new: the same one again would count for nothing.
import * as instant from "../../contracts/src/instant.ts";
import type { CommonConfig, CommonKeys, ConfigKeys, ConfigOf } from "../../core/watchdogs/config.ts";
import { defaultsOf } from "../../core/watchdogs/config.ts";
import { dbWatchdog } from "../../core/watchdogs/db-watchdog.ts";
import { dependencyWatchdog } from "../../core/watchdogs/dependency-watchdog.ts";
import { driftMonitor } from "../../core/watchdogs/drift-monitor.ts";
import { newStanding, step } from "../../core/watchdogs/episodes.ts";
import { newsSpike } from "../../core/watchdogs/news-spike.ts";
import { portfolioVolDd } from "../../core/watchdogs/portfolio-vol-dd.ts";
import { positionAnomaly } from "../../core/watchdogs/position-anomaly.ts";
import { predictiveHealth } from "../../core/watchdogs/predictive-health.ts";
import { strategyWatchdog } from "../../core/watchdogs/strategy-watchdog.ts";
import { thetaWatchdog } from "../../core/watchdogs/theta-watchdog.ts";
import { vpin } from "../../core/watchdogs/vpin.ts";
import type { Watchdog } from "../../core/watchdogs/watchdog.ts";
import { type Draws, normals } from "./random.ts";
import { round } from "./scenario.ts";
import { epoch, nameOfDay } from "./trial.ts";

const fundsWhole = 100;
const strategiesPerFund = 10;
const symbols = 500;
const minutesPerDay = 1_440;
const historyDays = 60;
const warmMinutes = 5;

export interface Load {
  readonly core_share: number;
  readonly rss_mb: number;
  readonly judgements_per_minute: number;
  /** Share of a core by watchdog. */
  readonly by_watchdog: Readonly<Record<string, number>>;
}

/** One watchdog over its subjects: judges those that are due in a minute. */
interface Worker {
  readonly name: string;
  minute(minute: number, at: instant.Instant): number;
}

function worker<Input, Keys extends ConfigKeys, Memory>(
  watchdog: Watchdog<Input, Keys, Memory>,
  subjects: number,
  inputOf: (subject: number, at: instant.Instant) => NoInfer<Input>,
  due: (minute: number) => Iterable<number> = () => Array.from({ length: subjects }, (_unused, index) => index),
): Worker {
  const config = defaultsOf(watchdog.config) as ConfigOf<Keys & CommonKeys>;
  const { persistence, clear_after } = config as CommonConfig;
  const rules = { persistence, clearAfter: clear_after, acting: true };
  const kept: string[] = Array.from({ length: subjects }, () => "");
  const first = { standing: newStanding(epoch), memory: watchdog.emptyMemory };
  return {
    name: watchdog.name,
    minute(minute, at) {
      let judgements = 0;
      for (const subject of due(minute)) {
        const text = kept[subject] ?? "";
        const { standing, memory } = text === "" ? first : (JSON.parse(text) as typeof first);
        const now = { at, openedAt: standing.episode?.openedAt ?? null };
        const judged = watchdog.judge(inputOf(subject, at), config, memory, now);
        const next = step(standing, judged.judgement, rules, at, "e").standing;
        kept[subject] = JSON.stringify({ standing: next, memory: judged.memory });
        judgements += 1;
      }
      return judgements;
    },
  };
}

const dated = (values: readonly number[]) => values.map((value, day) => ({ day: nameOfDay(day), value }));

function workers(random: Draws, funds: number): readonly Worker[] {
  const strategies = funds * strategiesPerFund;
  const backtests = Array.from({ length: funds }, () => normals(random, 252, 0, 0.01));
  const skills = Array.from({ length: strategies }, () => normals(random, 500, 0.05, 0.1));
  const liveSkills = Array.from({ length: strategies }, () => dated(normals(random, historyDays, 0.05, 0.1)));
  const profits = Array.from({ length: strategies }, () => normals(random, 252, 0, 1_000));
  const liveProfits = Array.from({ length: strategies }, () => dated(normals(random, 30, 0, 1_000)));
  const navs = Array.from({ length: funds }, () => dated(normals(random, 253, 1, 0.01)));
  const returns = Array.from({ length: funds }, () => dated(normals(random, 252, 0, 0.006)));
  const options = Array.from({ length: 20 }, (_unused, index) => ({
    symbol: `O${index}`,
    strategyId: "S",
    closing: 0,
    contracts: index % 2 === 0 ? 10 : -10,
    multiplier: 100,
    thetaPerDay: -0.1,
    gamma: 0.01,
  }));
  // The first minute brings the bars before it, so that the windows are full.
  const history = Array.from({ length: 2_000 }, (_unused, bar) => ({
    at: instant.minusMilliseconds(epoch, (2_000 - bar) * 60_000),
    close: 100 + random.normal(),
    volume: 125,
  }));
  const counts = Array.from({ length: symbols + 1 }, () => Array.from({ length: 31 }, () => random.poisson(4)));
  return [
    worker(predictiveHealth, funds, (fund, asOf) => ({
      backtest: backtests[fund] ?? [],
      unitNav: navs[fund] ?? [],
      asOf,
    })),
    worker(portfolioVolDd, funds, (fund, asOf) => ({
      returns: returns[fund] ?? [],
      backtestVolatility: 0.1,
      periodsPerYear: 252,
      asOf,
    })),
    worker(thetaWatchdog, funds, (_fund, asOf) => ({ positions: options, nav: 1e6, asOf })),
    worker(driftMonitor, strategies, (strategy, asOf) => ({
      kind: "cross_section" as const,
      backtest: skills[strategy] ?? [],
      live: liveSkills[strategy] ?? [],
      horizonDays: 1,
      day: nameOfDay(historyDays),
      asOf,
    })),
    worker(strategyWatchdog, strategies, (strategy, asOf) => ({
      backtest: profits[strategy] ?? [],
      live: liveProfits[strategy] ?? [],
      asOf,
    })),
    worker(vpin, symbols, (_symbol, at) => ({
      bars: at === epoch ? history : [{ at, close: 100 + random.normal(), volume: 100 + 50 * random.uniform() }],
      dailyVolume: 100 * minutesPerDay,
      quotedAt: at,
    })),
    worker(newsSpike, symbols + 1, (symbol, asOf) => {
      const windows = counts[symbol] ?? [];
      if (symbol < symbols)
        return { kind: "symbol" as const, count: windows[30] ?? 0, windows: windows.slice(0, 30), asOf };
      return {
        kind: "firm" as const,
        count: windows[30] ?? 0,
        windows: windows.slice(0, 30),
        alerting: 0,
        tracked: symbols,
        asOf,
      };
    }),
    positions(random, strategies * symbols),
    worker(dependencyWatchdog, 120, (dependency, at) => ({
      dependency: `d${dependency}`,
      poll: `${at}`,
      result: "green" as const,
      polledAt: at,
      detail: "",
    })),
    worker(dbWatchdog, 30, (item, asOf) => ({ kind: "rows" as const, name: `l${item}`, left: 10, right: 10, asOf })),
  ];
}

/** Every strategy in every symbol, each with its history; a day's observations end spread over the day. */
function positions(random: Draws, pairs: number): Worker {
  const deltas = new Float32Array(pairs * (historyDays + 1)).map(() => 0.01 * random.normal());
  const inputOf = (pair: number, asOf: instant.Instant) => ({
    changes: Array.from({ length: historyDays + 1 }, (_unused, day) => {
      const delta = deltas[pair * (historyDays + 1) + day] ?? 0;
      return { id: nameOfDay(day), delta, notional: 1e6 * delta, adjusted: false };
    }),
    liveCount: historyDays,
    asOf,
  });
  return worker(positionAnomaly, pairs, inputOf, function* (minute) {
    for (let pair = minute % minutesPerDay; pair < pairs; pair += minutesPerDay) yield pair;
  });
}

export function measureLoad(random: Draws, minutes: number, scale: number): Load {
  const all = workers(random, Math.ceil(fundsWhole * scale));
  const run = (from: number, to: number) => {
    const spentUs = new Map<string, number>();
    let judgements = 0;
    for (let minute = from; minute < to; minute += 1) {
      const at = instant.plusMilliseconds(epoch, minute * 60_000);
      for (const each of all) {
        const before = process.cpuUsage();
        judgements += each.minute(minute, at);
        const { user, system } = process.cpuUsage(before);
        spentUs.set(each.name, (spentUs.get(each.name) ?? 0) + user + system);
      }
    }
    return { spentUs, judgements };
  };
  // The code becomes warm.
  run(0, warmMinutes);
  const { spentUs, judgements } = run(warmMinutes, warmMinutes + minutes);
  const share = (us: number): number => round(us / 1e6 / (minutes * 60));
  return {
    core_share: share([...spentUs.values()].reduce((total, each) => total + each, 0)),
    rss_mb: Math.round(process.memoryUsage().rss / 1_048_576),
    judgements_per_minute: Math.round(judgements / minutes),
    by_watchdog: Object.fromEntries([...spentUs].map(([name, us]) => [name, share(us)])),
  };
}

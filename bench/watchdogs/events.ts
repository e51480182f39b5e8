// Trials of the watchdogs of flow, news, positions, options, dependencies and the database.
import * as instant from "../../contracts/src/instant.ts";
import { studentCdf } from "../../core/stats/distributions.ts";
import { defaultsOf } from "../../core/watchdogs/config.ts";
import { dbWatchdog } from "../../core/watchdogs/db-watchdog.ts";
import { dependencyWatchdog } from "../../core/watchdogs/dependency-watchdog.ts";
import { newsSpike } from "../../core/watchdogs/news-spike.ts";
import { positionAnomaly } from "../../core/watchdogs/position-anomaly.ts";
import { thetaWatchdog } from "../../core/watchdogs/theta-watchdog.ts";
import { vpin } from "../../core/watchdogs/vpin.ts";
import type { Draws } from "./random.ts";
import { countRange, faultOf, rateRange, round, type Scenario } from "./scenario.ts";
import { type Alarm, alarmsOf, atDay, epoch, opened } from "./trial.ts";

const yearDays = 252;
const barsPerBucket = 5;
const bucketsPerDay = 50;

/** Bars of equal volume, one bucket's worth judged at a time; from a bucket on, prices are pushed up by `push` deviations a bar. */
function flowAlarms(random: Draws, buckets: number, pushFrom: number, push: number): readonly Alarm[] {
  const barMs = 300_000;
  const config = { ...defaultsOf(vpin.config), bar_s: barMs / 1_000 };
  let price = 10_000;
  let bar = 0;
  const observations = Array.from({ length: buckets }, (_unused, bucket) => {
    const bars = Array.from({ length: barsPerBucket }, () => {
      price += random.normal() + (bucket >= pushFrom ? push : 0);
      bar += 1;
      return { at: instant.plusMilliseconds(epoch, bar * barMs), close: price, volume: 100 };
    });
    const at = instant.plusMilliseconds(epoch, bar * barMs);
    return { at, input: { bars, dailyVolume: bucketsPerDay * barsPerBucket * 100, quotedAt: at } };
  });
  return alarmsOf(vpin, config, observations);
}

export const flowTrial: Scenario = {
  name: "vpin",
  healthy(random, scale) {
    const years = Math.ceil(scale);
    let episodes = 0;
    for (let year = 0; year < years; year += 1) {
      episodes += opened(flowAlarms(random, yearDays * bucketsPerDay, Number.POSITIVE_INFINITY, 0));
    }
    return {
      years,
      false_alarms: episodes,
      // 0.208 with a deviation of 0.022: the threshold is 8.7 of them away.
      expected_low: 0,
      expected_high: 0,
      counted: "episodes with five bars a bucket, where chance gives 0.208 and 0.4 is 8.7 deviations away",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const from = 100;
    const trial = () => {
      const found = flowAlarms(random, from + 100, from, 1).find(({ index }) => index >= from);
      return found === undefined ? undefined : found.index - from + 1;
    };
    return faultOf("every bar pushed by one deviation", "buckets", 60 * scale, trial);
  },
};

function newsAlarms(counts: readonly number[], from: number): readonly Alarm[] {
  const observations = Array.from({ length: counts.length - from }, (_unused, index) => ({
    at: atDay(from + index),
    input: {
      kind: "symbol",
      count: counts[from + index] ?? 0,
      windows: counts.slice(from + index - 30, from + index),
      asOf: atDay(from + index),
    } as const,
  }));
  return alarmsOf(newsSpike, defaultsOf(newsSpike.config), observations);
}

export const newsTrial: Scenario = {
  name: "news_spike",
  healthy(random, scale) {
    const years = Math.ceil(400 * scale);
    let episodes = 0;
    for (let year = 0; year < years; year += 1) {
      const counts = Array.from({ length: 30 + yearDays }, () => random.poisson(0.5));
      episodes += opened(newsAlarms(counts, 30));
    }
    // With half a story a day the floor of one story decides: six stories or more, 1.4 in 100,000 days.
    const sixOrMore = 1.417e-5;
    return {
      years,
      false_alarms: episodes,
      ...rateRange(0, years * yearDays * sixOrMore),
      counted: "episodes at half a story a day: none to six or more stories, 1.4 in 100,000 days",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const trial = () => {
      const counts = [...Array.from({ length: 30 }, () => random.poisson(0.5)), 8 + random.poisson(0.5)];
      return newsAlarms(counts, 30)[0] === undefined ? undefined : 1;
    };
    return faultOf("eight stories more in a day, at half a story a day", "windows", 500 * scale, trial);
  },
};

function positionAlarms(deltas: readonly number[], from: number): readonly Alarm[] {
  const changes = deltas.map((delta, index) => ({ id: `o${index}`, delta, notional: 1e6, adjusted: false }));
  const observations = Array.from({ length: deltas.length - from }, (_unused, index) => ({
    at: atDay(from + index),
    input: { changes: changes.slice(from + index - 60, from + index + 1), liveCount: 60, asOf: atDay(from + index) },
  }));
  return alarmsOf(positionAnomaly, defaultsOf(positionAnomaly.config), observations);
}

export const positionTrial: Scenario = {
  name: "position_anomaly",
  healthy(random, scale) {
    const years = Math.ceil(100 * scale);
    let episodes = 0;
    for (let year = 0; year < years; year += 1) {
      episodes += opened(positionAlarms(Array.from({ length: 60 + yearDays }, random.normal), 60));
    }
    // A new normal number against 60 earlier ones; those in a row are one episode.
    const alerting = 2 * studentCdf(-2 / Math.sqrt(1 + 1 / 60), 59);
    return {
      years,
      false_alarms: episodes,
      ...countRange(years * yearDays, alerting * (1 - 1.1 * alerting), alerting * (1 - 0.9 * alerting)),
      counted: "episodes of normal changes: 5.2 % of observations predicted, those in a row once",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const trial = () => {
      const deltas = [...Array.from({ length: 60 }, random.normal), 4 + random.normal()];
      return positionAlarms(deltas, 60)[0] === undefined ? undefined : 1;
    };
    return faultOf("a change of four deviations", "observations", 1_000 * scale, trial);
  },
};

function thetaAlarms(shares: readonly number[]): readonly Alarm[] {
  const observations = shares.map((share, index) => {
    const at = instant.plusMilliseconds(epoch, index * 60_000);
    const position = {
      strategyId: "S",
      symbol: "O",
      closing: 0,
      contracts: -100,
      multiplier: 100,
      thetaPerDay: -share * 100,
      gamma: 0.01,
    };
    return { at, input: { positions: [position], nav: 1_000_000, asOf: at } };
  });
  return alarmsOf(thetaWatchdog, defaultsOf(thetaWatchdog.config), observations);
}

export const thetaTrial: Scenario = {
  name: "theta_watchdog",
  healthy(random, scale) {
    const years = 0.5 * scale;
    // Half the limit, give or take a tenth of it.
    const shares = Array.from(
      { length: Math.round(years * yearDays * 390) },
      () => 0.00025 + 0.00005 * Math.tanh(random.normal()),
    );
    const episodes = opened(thetaAlarms(shares));
    return {
      years,
      false_alarms: episodes,
      expected_low: 0,
      expected_high: 0,
      counted: "episodes of a fund at half its limit, judged every minute: a limit, not a test of chance",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const trial = () => {
      const found = thetaAlarms([0.00025, 0.00075 * (1 + 0.1 * Math.tanh(random.normal()))])[0];
      return found?.index;
    };
    return faultOf("net theta at 1.5 times its limit", "judgements", 500 * scale, trial);
  },
};

function pollAlarms(isBad: (poll: number) => boolean, polls: number): readonly Alarm[] {
  function* observations() {
    for (let poll = 0; poll < polls; poll += 1) {
      const at = instant.plusMilliseconds(epoch, poll * 10_000);
      const result = isBad(poll) ? "timeout" : "green";
      yield { at, input: { dependency: "broker", poll: String(poll), result, polledAt: at, detail: "" } as const };
    }
  }
  return alarmsOf(dependencyWatchdog, defaultsOf(dependencyWatchdog.config), observations());
}

export const pollTrial: Scenario = {
  name: "dependency_watchdog",
  healthy(random, scale) {
    const years = 0.25 * scale;
    const polls = Math.round((years * 365 * 86_400) / 10);
    const lost = 0.02;
    const episodes = opened(pollAlarms(() => random.uniform() < lost, polls));
    const expected = polls * lost ** 3 * (1 - lost);
    return {
      years,
      false_alarms: episodes,
      ...rateRange(expected, expected),
      counted: "episodes when one poll in fifty is lost by chance: three in a row predicted by its cube",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(_random, scale) {
    const trial = () => {
      const found = pollAlarms((poll) => poll >= 10, 20)[0];
      return found === undefined ? undefined : found.index - 10 + 1;
    };
    return faultOf("an outage of a minute and more", "polls", 50 * scale, trial);
  },
};

/** Query times with a p95 of about 60 ms; each observation is one more sample. */
function queryAlarms(random: Draws, observations: number, slowFrom: number, factor: number): readonly Alarm[] {
  const sample = (): number => 20 * Math.exp(0.67 * random.normal());
  const baselineMs = Array.from({ length: 300 }, sample);
  const samples = Array.from({ length: 20 + observations }, (_unused, index) =>
    index - 20 >= slowFrom ? factor * sample() : sample(),
  );
  const judged = Array.from({ length: observations }, (_unused, index) => {
    const at = instant.plusMilliseconds(epoch, index * 60_000);
    const samplesMs = samples.slice(index + 1, index + 21);
    return { at, input: { kind: "queries", samplesMs, baselineMs, asOf: at } as const };
  });
  return alarmsOf(dbWatchdog, defaultsOf(dbWatchdog.config), judged);
}

export const queryTrial: Scenario = {
  name: "db_watchdog",
  healthy(random, scale) {
    const years = 0.1 * scale;
    const minutes = Math.round(years * 365 * 1_440);
    let episodes = 0;
    for (let run = 0; run < 100; run += 1) {
      episodes += opened(queryAlarms(random, Math.round(minutes / 100), Number.POSITIVE_INFINITY, 1));
    }
    // The p95 of 20 is the second largest: two of twenty above 200 ms, 3.44 deviations of the logarithm.
    const above = 2.94e-4;
    const perMinute = 190 * above * above;
    return {
      years,
      false_alarms: episodes,
      ...rateRange(0, minutes * perMinute),
      counted: "episodes of query times with a p95 of 60 ms: two of twenty above 200 ms",
      episodes_per_year: round(episodes / years),
    };
  },
  fault(random, scale) {
    const from = 30;
    const trial = () => {
      const found = queryAlarms(random, from + 30, from, 8).find(({ index }) => index >= from);
      return found === undefined ? undefined : found.index - from + 1;
    };
    return faultOf("queries eight times as slow", "samples", 300 * scale, trial);
  },
};

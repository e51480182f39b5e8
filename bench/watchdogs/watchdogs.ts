// Does a watchdog cry wolf, and can it fire? Healthy subjects over years against the number of false alarms that theory predicts, faults of a stated
// size against the share that is found, and what judging a large firm costs.
import type { Bench, BenchResult } from "../bench.ts";
import { flowTrial, newsTrial, pollTrial, positionTrial, queryTrial, thetaTrial } from "./events.ts";
import { measureLoad } from "./load.ts";
import { driftTrial, healthTrial, profitTrial, volatilityTrial } from "./profits.ts";
import { draws } from "./random.ts";
import type { Fault, Healthy, Scenario } from "./scenario.ts";

/** The promises. */
const detectedShareMin = 0.9;
const coreShareAim = 0.1;

const scenarios: readonly Scenario[] = [
  healthTrial,
  driftTrial,
  flowTrial,
  newsTrial,
  positionTrial,
  queryTrial,
  profitTrial,
  thetaTrial,
  pollTrial,
  volatilityTrial,
];

export const watchdogs: Bench = {
  name: "watchdogs",
  sentence: "False alarms of healthy subjects against their prediction, faults found, and what judging costs.",
  run: (progress) => Promise.resolve(runWatchdogs({ seed: 25, scale: 1, loadMinutes: 20, loadScale: 1 }, progress)),
};

interface Extent {
  readonly seed: number;
  /** Of the years and trials. */
  readonly scale: number;
  readonly loadMinutes: number;
  /** Of the funds. */
  readonly loadScale: number;
}

export function runWatchdogs(
  { seed, scale, loadMinutes, loadScale }: Extent,
  progress: (line: string) => void,
): BenchResult {
  const results = scenarios.map((scenario) => {
    progress(`${scenario.name}: healthy years, then faults`);
    const healthy = scenario.healthy(draws(seed, `${scenario.name} healthy`), scale);
    return { name: scenario.name, healthy, fault: scenario.fault(draws(seed, `${scenario.name} fault`), scale) };
  });
  progress("load: 100 funds, 1,000 strategies, 500 symbols");
  const load = measureLoad(draws(seed, "load"), loadMinutes, loadScale);
  const figures = {
    ...Object.fromEntries(results.map(({ name, healthy, fault }) => [name, { healthy, fault }])),
    load: { ...load, core_share_aim: coreShareAim },
    seed,
    node_version: process.version,
  };
  const lines = results.map(({ name, healthy, fault }) => lineOf(name, healthy, fault));
  lines.push(`load: ${load.core_share} of a core (aim ${coreShareAim}), ${load.rss_mb} MB`);
  const shortfalls = results.flatMap(({ name, healthy, fault }) => shortfallsOf(name, healthy, fault));
  return { figures, table: lines.join("\n"), shortfalls };
}

function lineOf(name: string, healthy: Healthy, fault: Fault): string {
  const { years, false_alarms, expected_low, expected_high, episodes_per_year } = healthy;
  return [
    name.padEnd(20),
    `${false_alarms} of ${expected_low} to ${expected_high} in ${years} years`.padEnd(34),
    `${episodes_per_year}/year`.padEnd(13),
    `${fault.detected_share} of "${fault.size}" after ${fault.delay} ${fault.delay_unit}`,
  ].join(" ");
}

function shortfallsOf(name: string, healthy: Healthy, fault: Fault): readonly string[] {
  const { false_alarms, expected_low, expected_high } = healthy;
  return [
    ...(false_alarms < expected_low || false_alarms > expected_high
      ? [`${name} alarmed ${false_alarms} times in health; ${expected_low} to ${expected_high} are predicted`]
      : []),
    ...(fault.detected_share < detectedShareMin
      ? [`${name} found ${fault.detected_share} of its faults, less than ${detectedShareMin}`]
      : []),
  ];
}

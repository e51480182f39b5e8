// The shape of a watchdog's trial: healthy years with a predicted number of false alarms, and a fault of a stated size.
import type { WatchdogName } from "../../core/watchdogs/watchdog.ts";
import { median } from "../bus/contender.ts";
import type { Draws } from "./random.ts";

export interface Healthy {
  /** Of one subject each. */
  readonly years: number;
  readonly false_alarms: number;
  readonly expected_low: number;
  readonly expected_high: number;
  /** What is counted, and where the prediction is from. */
  readonly counted: string;
  /** Episodes a year and subject with the defaults. */
  readonly episodes_per_year: number;
  /** Shares of healthy years with the defaults in which drift reached its first and its last rung. */
  readonly halved_share?: number;
  readonly halted_share?: number;
}

export interface Fault {
  readonly size: string;
  readonly detected_share: number;
  /** Observations from the fault to the alarm, the median. */
  readonly delay: number;
  readonly delay_unit: string;
}

export interface Scenario {
  readonly name: WatchdogName;
  healthy(random: Draws, scale: number): Healthy;
  fault(random: Draws, scale: number): Fault;
}

/** Where a count lies in 999 of 1,000 runs, when each of `trials` has a probability between the two. */
export function countRange(trials: number, low: number, high: number): { expected_low: number; expected_high: number } {
  const reach = 3.3;
  const spread = (p: number): number => reach * Math.sqrt(trials * p * (1 - p));
  return {
    expected_low: Math.max(0, Math.floor(trials * low - spread(low))),
    expected_high: Math.ceil(trials * high + spread(high)),
  };
}

/** The same of a Poisson count; two more for small means, whose upper tail is longer. */
export function rateRange(low: number, high: number): { expected_low: number; expected_high: number } {
  return {
    expected_low: Math.max(0, Math.floor(low - 3.3 * Math.sqrt(low))),
    expected_high: Math.ceil(high + 3.3 * Math.sqrt(high) + (high > 0 ? 2 : 0)),
  };
}

/** Each trial gives the observations until the alarm, or undefined when there was none. */
export function faultOf(size: string, delayUnit: string, trials: number, trial: () => number | undefined): Fault {
  const delays = Array.from({ length: Math.ceil(trials) }, trial).filter((each) => each !== undefined);
  return {
    size,
    detected_share: round(delays.length / Math.ceil(trials)),
    delay: delays.length === 0 ? -1 : median(delays),
    delay_unit: delayUnit,
  };
}

export const round = (value: number): number => Number(value.toPrecision(4));

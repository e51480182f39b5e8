// The ports that tests of the listeners hand in: real time and randomness, and a log, metrics and crash that remember what they were
// told so that a test can look.

import { internalsOff, internalsOn } from "../../adapters/library-internals/library-internals.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Log, LogFields } from "../../ports/log.ts";
import type { Labels, Metrics } from "../../ports/metrics.ts";
import type { Tracer } from "../../ports/tracer.ts";

export interface LoggedLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

export interface Observation {
  readonly name: string;
  readonly value: number;
  readonly labels: Labels;
}

/** `PORTCULLIS_TEST_INTERNALS=off npx vitest run adapters` shows what holds without any reach behind a library's interface. */
export const internalsUnderTest = process.env["PORTCULLIS_TEST_INTERNALS"] === "off" ? internalsOff : internalsOn;

export function testPorts() {
  const lines: LoggedLine[] = [];
  const observations: Observation[] = [];
  const deaths: Error[] = [];
  const spans: string[] = [];
  const logWith = (own: LogFields): Log => {
    const at =
      (level: string) =>
      (message: string, fields: LogFields = {}): void => {
        lines.push({ level, message, fields: { ...own, ...fields } });
      };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (more) => logWith({ ...own, ...more }),
    };
  };
  const remember =
    (name: string) =>
    (value: number, labels: Labels = {}): void => {
      observations.push({ name, value, labels });
    };
  const metrics: Metrics = {
    counter: (name) => ({ add: remember(name) }),
    gauge: (name) => ({ set: remember(name) }),
    histogram: (name) => ({ observe: remember(name) }),
  };
  const tracer: Tracer = {
    span: (name, _fields, work) => {
      spans.push(name);
      return work();
    },
  };
  const crash: Crash = {
    // A test outlives its defects, so this one does return, whatever its type says.
    die: (defect) => deaths.push(defect) as never,
  };
  return {
    ports: {
      clock: systemClock(),
      timers: systemTimers(),
      random: systemRandom(),
      log: logWith({}),
      metrics,
      tracer,
      crash,
      internals: internalsUnderTest,
    },
    lines,
    observations,
    deaths,
    spans,
  };
}

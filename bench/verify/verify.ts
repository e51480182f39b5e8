// What it costs to know who is calling: one check of a token beside the same token verified by hand each time, and a gRPC call with
// identity beside the same call without.
import { cpus, loadavg } from "node:os";
import type { Bench, BenchResult } from "../bench.ts";
import { median } from "../bus/contender.ts";
import { type DatabaseFacts, openDatabasePlace } from "../bus/place.ts";
import { type CallFigures, type CallName, type CallOptions, measureCalls } from "./calls.ts";
import { type CheckFigures, type CheckName, type CheckOptions, measureChecks } from "./checks.ts";
import { openFixture } from "./fixture.ts";

export interface VerifyBenchOptions
  extends Pick<CheckOptions, "slowCount" | "quickCount">,
    Pick<CallOptions, "windowMs" | "inFlight"> {
  readonly checkWindows: number;
  readonly callWindows: number;
}

// Many short windows rather than few long ones: a stall of the machine spoils the window that it falls into, not the median.
const standard: VerifyBenchOptions = {
  checkWindows: 20,
  slowCount: 200,
  quickCount: 10_000,
  callWindows: 20,
  windowMs: 250,
  inFlight: [1, 64],
};

/**
 * What is promised. Of checks: so many times as fast as by hand. Of calls with identity: this part of the rate, and so many times the
 * p99, of the same server without a check and of the gRPC library alone.
 */
const promised = {
  checks: { cached: 20, service: 15, cold: 0.5 },
  calls: {
    no_check: { calls_per_s: 0.7, p99_ms: 2 },
    bare: { calls_per_s: 0.4, p99_ms: 3 },
  },
} as const;

export const verify: Bench = {
  name: "verify",
  sentence: "What a check of a token and identity on a gRPC call cost, beside the same done by hand.",
  run: (progress) => runVerify(standard, progress),
};

/** The bench with windows of any size; whatever ends it, a signal included, leaves nothing behind. */
export async function runVerify(options: VerifyBenchOptions, progress: (line: string) => void): Promise<BenchResult> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("it was interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, interrupt);
  try {
    progress("starting PostgreSQL");
    const place = await openDatabasePlace();
    try {
      const fixture = await openFixture(await place.database("bench_verify"));
      try {
        const common = { ...options, progress, signal: interruption.signal };
        const checks = await measureChecks(fixture, { ...common, windows: options.checkWindows });
        const calls = await measureCalls(fixture, { ...common, windows: options.callWindows });
        return judge(checks, calls, options, place.facts);
      } finally {
        await fixture.close();
      }
    } finally {
      await place.close();
    }
  } finally {
    for (const name of signals) process.removeListener(name, interrupt);
  }
}

type Checks = ReadonlyMap<number, CheckFigures>;
type Calls = ReadonlyMap<number, CallFigures>;

function judge(checks: Checks, calls: Calls, options: VerifyBenchOptions, facts: DatabaseFacts): BenchResult {
  const shortfalls: string[] = [];
  const levels: Record<string, object> = {};
  const lines: string[] = [];
  for (const inFlight of options.inFlight) {
    const [check, call] = [checks.get(inFlight), calls.get(inFlight)];
    if (check === undefined || call === undefined) throw new Error(`${inFlight} at once was not measured`);
    const level: Level = {
      check_us: medians(check),
      check_ratios: ratiosOfChecks(check),
      calls: {
        identity: medians(call.identity),
        no_check: medians(call.no_check),
        bare: medians(call.bare),
        by_hand: medians(call.by_hand),
      },
      call_ratios: {
        no_check: callRatio(call, "no_check"),
        bare: callRatio(call, "bare"),
        by_hand: callRatio(call, "by_hand"),
      },
    };
    shortfalls.push(...shortfallsOf(level).map((each) => `${inFlight} at once: ${each}`));
    levels[`in_flight_${inFlight}`] = level;
    lines.push(...tableOf(inFlight, level), "");
  }
  const figures = {
    ...levels,
    promised,
    check_windows: options.checkWindows,
    call_windows: options.callWindows,
    call_window_ms: options.windowMs,
    ...facts,
    node_version: process.versions.node,
    processor: cpus()[0]?.model ?? "unknown",
    core_count: cpus().length,
    load_average: loadavg().map(rounded),
  };
  return { figures, table: lines.join("\n").trimEnd(), shortfalls };
}

/** Window against window and then the median, because neighbours in time have the machine in the same mood. */
function ratio(above: readonly number[], below: readonly number[]): number {
  return rounded(median(above.map((value, window) => value / (below[window] ?? Number.NaN))));
}

/** How many times as fast as by hand. */
function ratiosOfChecks(us: CheckFigures): Level["check_ratios"] {
  return {
    cached: ratio(us.by_hand, us.cached),
    service: ratio(us.by_hand, us.service),
    cold: ratio(us.by_hand_cold, us.cold),
  };
}

/** Calls with identity against another contender's. */
function callRatio({ identity, ...others }: CallFigures, name: Exclude<CallName, "identity">): CallFigure {
  return {
    calls_per_s: ratio(identity.calls_per_s, others[name].calls_per_s),
    p99_ms: ratio(identity.p99_ms, others[name].p99_ms),
  };
}

function medians<Name extends string>(windows: Readonly<Record<Name, readonly number[]>>): Record<Name, number> {
  const entries = Object.entries<readonly number[]>(windows).map(([name, values]) => [name, rounded(median(values))]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

interface CallFigure {
  readonly calls_per_s: number;
  readonly p99_ms: number;
}

interface Level {
  readonly check_us: Readonly<Record<CheckName, number>>;
  readonly check_ratios: Readonly<Record<"cached" | "service" | "cold", number>>;
  readonly calls: Readonly<Record<CallName, CallFigure>>;
  readonly call_ratios: Readonly<Record<Exclude<CallName, "identity">, CallFigure>>;
}

function shortfallsOf({ check_ratios, call_ratios }: Level): readonly string[] {
  const found: string[] = [];
  for (const name of ["cached", "service", "cold"] as const) {
    const [least, is] = [promised.checks[name], check_ratios[name]];
    if (!(is >= least)) found.push(`a ${name} check is ${is} times as fast as by hand, promised ${least}`);
  }
  for (const name of ["no_check", "bare"] as const) {
    const [wanted, is] = [promised.calls[name], call_ratios[name]];
    if (!(is.calls_per_s >= wanted.calls_per_s)) {
      found.push(
        `calls with identity come at ${is.calls_per_s} of the rate of ${name}, promised ${wanted.calls_per_s}`,
      );
    }
    if (!(is.p99_ms <= wanted.p99_ms)) {
      found.push(`calls with identity have ${is.p99_ms} times the p99 of ${name}, promised ${wanted.p99_ms}`);
    }
  }
  return found;
}

function tableOf(inFlight: number, level: Level): readonly string[] {
  const row = (...cells: readonly string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(16) : cell.padStart(16))).join("");
  const times: Readonly<Record<string, number>> = level.check_ratios;
  const ratios: Readonly<Record<string, CallFigure>> = level.call_ratios;
  return [
    row(`${inFlight} at once`, "us a check", "times by hand"),
    ...Object.entries(level.check_us).map(([name, us]) => row(name, us.toFixed(1), times[name]?.toFixed(2) ?? "")),
    row("", "calls/s", "identity has", "p99 ms", "identity has"),
    ...Object.entries(level.calls).map(([name, { calls_per_s, p99_ms }]) => {
      const [rate, p99] = [ratios[name]?.calls_per_s.toFixed(2) ?? "", ratios[name]?.p99_ms.toFixed(2) ?? ""];
      return row(name, calls_per_s.toFixed(0), rate, p99_ms.toFixed(2), p99);
    }),
  ];
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

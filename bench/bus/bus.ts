// The bus against the same work done by hand, on both transports, in one run: durable messages per second, and the time
// from publish to handler at a steady rate.
import { cpus, loadavg } from "node:os";
import type { Bench, BenchResult } from "../bench.ts";
import { type Contender, type Measurement, type MeasureOptions, measure } from "./contender.ts";
import { openNats, openNatsRaw } from "./nats.ts";
import { openPlace, type Place, type PlaceFacts } from "./place.ts";
import { openPostgres, openPostgresRaw } from "./postgres.ts";

export type BusBenchOptions = Pick<MeasureOptions, "windows" | "throughputMs" | "pacedMs" | "writers" | "ratePerS">;

// Many short windows rather than few long ones: a stall of the machine spoils the window that it falls into, not the median.
const standard: BusBenchOptions = { windows: 15, throughputMs: 600, pacedMs: 1_000, writers: 16, ratePerS: 1_000 };
/** What is promised: at least this part of the rate by hand, at most so many times its p99. */
const promised = { messages_per_s: 0.7, p99_ms: 3 };
const transports = ["postgres", "nats"] as const;

export const bus: Bench = {
  name: "bus",
  sentence: "Durable messages per second and publish-to-handler p99, both transports beside the work done by hand.",
  run: (progress) => runBus(standard, progress),
};

/** The bench with windows of any size; whatever ends it, a signal included, leaves nothing behind. */
export async function runBus(options: BusBenchOptions, progress: (line: string) => void): Promise<BenchResult> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("it was interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, interrupt);
  try {
    progress("starting PostgreSQL and nats-server");
    const place = await openPlace();
    try {
      const measurements = await measureAll(place, { ...options, progress, signal: interruption.signal });
      return judge(measurements, options, place.facts);
    } finally {
      await place.close();
    }
  } finally {
    for (const name of signals) process.removeListener(name, interrupt);
  }
}

type Measurements = ReadonlyMap<string, Measurement>;

async function measureAll(place: Place, options: MeasureOptions): Promise<Measurements> {
  const contenders: Contender[] = [];
  try {
    const { natsUrl } = place;
    contenders.push(await openPostgres(await place.database("bench_postgres"), options.writers));
    contenders.push(await openPostgresRaw(await place.database("bench_postgres_raw"), options.writers));
    contenders.push(await openNats(await place.database("bench_nats"), natsUrl, options.writers));
    contenders.push(await openNatsRaw(await place.database("bench_nats_raw"), natsUrl, options.writers));
    const found = await measure(contenders, options);
    return new Map(found.map((measurement, index) => [contenders[index]?.name ?? "", measurement]));
  } finally {
    // After an interruption from the keyboard the servers may be gone first; what cannot be closed ends with them.
    await Promise.race([
      Promise.allSettled(contenders.map((contender) => contender.close())),
      new Promise((resolve) => setTimeout(resolve, 10_000).unref()),
    ]);
  }
}

function judge(measurements: Measurements, options: BusBenchOptions, facts: PlaceFacts): BenchResult {
  const entries = [...measurements];
  const shortfalls = entries.flatMap(([name, { lostCount }]) =>
    name.endsWith("_raw") || lostCount === 0 ? [] : [`${name} lost ${lostCount} events`],
  );
  const ratios: Record<string, { messages_per_s: number; p99_ms: number }> = {};
  for (const name of transports) {
    const ours = measurements.get(name)?.median;
    const raw = measurements.get(`${name}_raw`)?.median;
    if (ours === undefined || raw === undefined) throw new Error(`${name} was not measured`);
    const rate = ours.messages_per_s / raw.messages_per_s;
    const p99 = ours.p99_ms / raw.p99_ms;
    ratios[name] = { messages_per_s: rounded(rate), p99_ms: rounded(p99) };
    if (!(rate >= promised.messages_per_s)) {
      shortfalls.push(`${name} carries ${rounded(rate)} of the rate by hand, promised ${promised.messages_per_s}`);
    }
    if (!(p99 <= promised.p99_ms)) {
      shortfalls.push(`${name} has ${rounded(p99)} times the p99 by hand, promised ${promised.p99_ms}`);
    }
  }
  const figures = {
    ...Object.fromEntries(entries.map(([name, { median }]) => [name, median])),
    ratios,
    promised,
    lost: Object.fromEntries(entries.map(([name, { lostCount }]) => [name, lostCount])),
    windows: Object.fromEntries(entries.map(([name, { windows }]) => [name, windows])),
    window_count: options.windows,
    throughput_window_ms: options.throughputMs,
    paced_window_ms: options.pacedMs,
    writers: options.writers,
    rate_per_s: options.ratePerS,
    ...facts,
    node_version: process.versions.node,
    processor: cpus()[0]?.model ?? "unknown",
    core_count: cpus().length,
    load_average: loadavg().map(rounded),
  };
  return { figures, table: tableOf(measurements, ratios), shortfalls };
}

function tableOf(
  measurements: Measurements,
  ratios: Record<string, { messages_per_s: number; p99_ms: number }>,
): string {
  const row = (...cells: readonly string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(14) : cell.padStart(14))).join("");
  const lines = [row("", "messages/s", "of raw", "p99 ms", "times raw", "lost")];
  for (const [name, { median, lostCount }] of measurements) {
    const ratio = ratios[name];
    const [rate, p99] = ratio === undefined ? ["", ""] : [ratio.messages_per_s.toFixed(2), ratio.p99_ms.toFixed(2)];
    lines.push(row(name, String(median.messages_per_s), rate, median.p99_ms.toFixed(2), p99, String(lostCount)));
  }
  return lines.join("\n");
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

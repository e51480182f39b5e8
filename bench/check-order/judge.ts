// What was promised and what was seen: the figures, the table for people, and every promise that was not kept.
import type { BenchResult } from "../bench.ts";
import type { Variant } from "./check-order-server.ts";
import type { Speed } from "./gates.ts";
import { latenciesOf, medianOf, percentile, rounded } from "./measure.ts";
import type { VariantWindows } from "./windows.ts";

export interface Judged {
  readonly windows: Readonly<Record<Variant, VariantWindows>>;
  readonly platform: Readonly<Record<Variant, VariantWindows>>;
  readonly commits: readonly number[];
  /** The latencies of the durable windows that lay between two quiet echoes. */
  readonly quiet: readonly (readonly number[])[];
  readonly wrong: readonly string[];
  readonly gates: Speed;
  readonly scale: Readonly<Record<string, number>>;
  readonly facts: object;
}

/** The floors; docs/benchmarks.md has what is seen. */
const promised = {
  p99TimesEcho: 2,
  unaryOfEcho: 0.5,
  streamOfEcho: 0.4,
  streamOfUnary: 2,
  quietP99Ms: 5,
  quietWindowsMin: 10,
  gatesPerS: 100_000,
  gatesP99Us: 20,
  scaleUs: 4,
} as const;

function figuresOf(windows: VariantWindows) {
  return {
    saturation_rps: rounded(medianOf(windows.saturation)),
    p50_ms_at_1000: rounded(medianOf(windows.p50)),
    p99_ms_at_1000: rounded(medianOf(windows.p99)),
    p99_ms_in_flight_8: rounded(medianOf(windows.inFlightP99)),
    p99_ms_at_1000_over_all_windows: rounded(latenciesOf(windows.samples.flat()).p99_ms),
  };
}

function roundedAll(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, rounded(value)]));
}

export function judge(seen: Judged): BenchResult {
  const { windows, platform, gates, scale } = seen;
  const commitP99 = percentile(Float64Array.from(seen.commits).sort(), 0.99);
  const quiet = { windows: seen.quiet.length, p99_ms: rounded(latenciesOf(seen.quiet.flat()).p99_ms) };
  const hasPlatform = platform.durable.p99.length > 0;
  const figures = {
    floor: figuresOf(windows.floor),
    async: figuresOf(windows.async),
    durable: figuresOf(windows.durable),
    commit_p99_ms: rounded(commitP99),
    quiet,
    stream_floor: { saturation_rps: rounded(medianOf(windows.floor.stream)) },
    stream: { saturation_rps: rounded(medianOf(windows.durable.stream)) },
    gates: { decisions_per_s: rounded(gates.decisions_per_s), p99_us: rounded(gates.p99_us) },
    scale: roundedAll(scale),
    generators: {
      saturation: "h2load, 4 connections with 16 calls each",
      paced: "raw HTTP/2, Poisson arrivals at 1,000/s over 4 connections, counted from the intended arrival",
      in_flight_8: "raw HTTP/2, 8 calls over 4 connections",
      stream: "raw HTTP/2, 2 streams with 200 orders under way each",
    },
    ...(hasPlatform
      ? {
          with_platform: {
            floor: figuresOf(platform.floor),
            durable: figuresOf(platform.durable),
            stream: { saturation_rps: rounded(medianOf(platform.durable.stream)) },
          },
        }
      : {}),
    wrong_answers: seen.wrong.length,
    facts: seen.facts,
  };
  return { figures, table: tableOf(figures), shortfalls: shortfallsOf(figures, seen) };
}

type Figures = {
  readonly floor: ReturnType<typeof figuresOf>;
  readonly async: ReturnType<typeof figuresOf>;
  readonly durable: ReturnType<typeof figuresOf>;
  readonly commit_p99_ms: number;
  readonly quiet: { readonly windows: number; readonly p99_ms: number };
  readonly stream_floor: { readonly saturation_rps: number };
  readonly stream: { readonly saturation_rps: number };
  readonly gates: Speed;
  readonly scale: Readonly<Record<string, number>>;
};

function shortfallsOf(figures: Figures, seen: Judged): readonly string[] {
  const { floor, durable, quiet, stream, stream_floor: streamFloor, gates, scale } = figures;
  const found: string[] = [...seen.wrong];
  const must = (kept: boolean, sentence: string): void => {
    if (!kept) found.push(sentence);
  };
  const bound = (echo: number): number => promised.p99TimesEcho * echo + figures.commit_p99_ms;
  must(
    durable.p99_ms_at_1000 <= bound(floor.p99_ms_at_1000),
    `p99 at 1,000/s: ${durable.p99_ms_at_1000} ms, bound ${rounded(bound(floor.p99_ms_at_1000))} ms`,
  );
  must(
    durable.p99_ms_in_flight_8 <= bound(floor.p99_ms_in_flight_8),
    `p99 with 8 in flight: ${durable.p99_ms_in_flight_8} ms, bound ${rounded(bound(floor.p99_ms_in_flight_8))} ms`,
  );
  must(
    quiet.windows < promised.quietWindowsMin || quiet.p99_ms <= promised.quietP99Ms,
    `p99 over quiet windows: ${quiet.p99_ms} ms`,
  );
  must(
    durable.saturation_rps >= promised.unaryOfEcho * floor.saturation_rps,
    `unary: ${rounded(durable.saturation_rps / floor.saturation_rps)} of its echo`,
  );
  must(
    stream.saturation_rps >= promised.streamOfEcho * streamFloor.saturation_rps,
    `stream: ${rounded(stream.saturation_rps / streamFloor.saturation_rps)} of its echo`,
  );
  must(
    stream.saturation_rps >= promised.streamOfUnary * durable.saturation_rps,
    `stream: ${rounded(stream.saturation_rps / durable.saturation_rps)} x unary`,
  );
  must(gates.decisions_per_s >= promised.gatesPerS, `gates alone: ${gates.decisions_per_s} decisions/s`);
  must(gates.p99_us < promised.gatesP99Us, `gates alone: p99 ${gates.p99_us} us`);
  const sizes = Object.keys(scale)
    .map(Number)
    .sort((left, right) => left - right);
  const grown = (scale[String(sizes.at(-1))] ?? 0) - (scale[String(sizes[0])] ?? 0);
  must(grown <= promised.scaleUs, `${sizes.at(-1)} funds add ${rounded(grown)} us over ${sizes[0]}`);
  return found;
}

function tableOf(figures: Figures): string {
  const row = (name: string, of: ReturnType<typeof figuresOf>): string =>
    [
      name.padEnd(10),
      `${of.saturation_rps}/s`.padStart(12),
      of.p50_ms_at_1000,
      of.p99_ms_at_1000,
      of.p99_ms_in_flight_8,
      of.p99_ms_at_1000_over_all_windows,
    ]
      .map((cell) => String(cell).padStart(12))
      .join(" ");
  const heading = ["", "saturation", "p50 at 1k", "p99 at 1k", "p99 with 8", "p99 of all"]
    .map((cell) => cell.padStart(12))
    .join(" ");
  const { floor, durable, quiet } = figures;
  const judgement =
    quiet.windows < promised.quietWindowsMin
      ? "not judged: fewer than 10 windows"
      : quiet.p99_ms <= promised.quietP99Ms
        ? "within 5 ms"
        : "above 5 ms";
  return [
    heading,
    row("echo", floor),
    row("async", figures.async),
    row("durable", durable),
    `durable takes ${rounded(durable.saturation_rps / floor.saturation_rps)} of its echo's rate; a commit's p99 is ${figures.commit_p99_ms} ms`,
    `stream ${figures.stream.saturation_rps}/s, ${rounded(figures.stream.saturation_rps / figures.stream_floor.saturation_rps)} of its echo, ${rounded(figures.stream.saturation_rps / durable.saturation_rps)} x unary`,
    `quiet windows: ${quiet.windows}, p99 ${quiet.p99_ms} ms (${judgement}); over all windows ${durable.p99_ms_at_1000_over_all_windows} ms`,
    `gates alone, whole checks in-process: ${figures.gates.decisions_per_s}/s, p99 ${figures.gates.p99_us} us; by funds ${JSON.stringify(figures.scale)} us`,
  ].join("\n");
}

// What a check costs: CheckOrder, durable and not, beside an empty echo on the same gRPC stack; the same over a stream; the gates alone.
// Server and generators are processes of their own.
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import type { DatabaseAddress } from "../../adapters/postgres/connection.ts";
import type { BenchResult, Bench as BenchShape } from "../bench.ts";
import { type DatabasePlace, openDatabasePlace } from "../bus/place.ts";
import type { GatesTask } from "./check-order-gates.ts";
import type { Variant } from "./check-order-server.ts";
import { type Child, startChild } from "./children.ts";
import { measureCommits } from "./commits.ts";
import { layFixture } from "./fixture.ts";
import type { Speed } from "./gates.ts";
import { openH2load } from "./h2load.ts";
import { type Judged, judge } from "./judge.ts";
import { orderKinds } from "./orders.ts";
import { startRest } from "./rest.ts";
import {
  type Bench,
  eightInFlight,
  noWindows,
  paced,
  saturate,
  settle,
  stream,
  type Target,
  type VariantWindows,
  type WindowOptions,
} from "./windows.ts";

export interface CheckOrderOptions extends WindowOptions {
  readonly rounds: number;
  /** Rounds with the rest of the platform running beside the server. */
  readonly platformRounds: number;
  readonly commitsPerRound: number;
  readonly gateWindows: number;
  readonly checksPerWindow: number;
  readonly scale: readonly number[];
}

const standard: CheckOrderOptions = {
  rounds: 20,
  platformRounds: 5,
  poissonMs: 1_500,
  inFlightMs: 700,
  saturationS: 2,
  streamMs: 1_000,
  ratePerS: 1_000,
  commitsPerRound: 200,
  gateWindows: 15,
  checksPerWindow: 50_000,
  scale: [10, 1_000, 10_000],
};

export const checkOrder: BenchShape = {
  name: "check-order",
  sentence: "CheckOrder beside an empty echo on the same gRPC stack, durable and not, and the gates alone.",
  run: (progress) => runCheckOrder(standard, progress),
};

export async function runCheckOrder(
  options: CheckOrderOptions,
  progress: (line: string) => void,
): Promise<BenchResult> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("it was interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, interrupt);
  const children: Child[] = [];
  try {
    progress("the gates alone");
    const windows = options.gateWindows;
    const perWindow = options.checksPerWindow;
    const gates = await askGates<Speed>({ kind: "speed", windows, perWindow });
    const sizes = options.scale;
    const scale = await askGates<Judged["scale"]>({
      kind: "scale",
      sizes,
      windows,
      perWindow: Math.ceil(perWindow / 5),
    });
    progress("starting PostgreSQL");
    const place = await openDatabasePlace();
    try {
      const seen = await measureServers(options, place, children, interruption.signal, progress);
      return judge({ ...seen, gates, scale, facts: { ...place.facts, ...machine() } });
    } finally {
      for (const child of children) await child.stop();
      await place.close();
    }
  } finally {
    for (const name of signals) process.removeListener(name, interrupt);
  }
}

function machine() {
  return { node: process.version, cpus: cpus().length, load: Number((loadavg()[0] ?? 0).toFixed(2)) };
}

/** The children's modules lie beside this one, in the sources and in the bundle alike. */
function entryOf(name: string): string {
  const here = import.meta.url;
  return fileURLToPath(new URL(here.endsWith(".ts") ? `./${name}.ts` : `./${name}.js`, here));
}

/** Each question in a process of its own. */
async function askGates<Answer>(task: GatesTask): Promise<Answer> {
  const child = startChild(entryOf("check-order-gates"), "gates");
  try {
    return await child.ask<Answer>(task);
  } finally {
    await child.stop();
  }
}

async function startTarget(variant: Variant, database: DatabaseAddress, children: Child[]): Promise<Target> {
  const child = startChild(entryOf("check-order-server"), "server");
  children.push(child);
  const { port } = await child.ask<{ readonly port: number }>({ start: { variant, database } });
  return { variant, port, child };
}

type Seen = Omit<Judged, "gates" | "scale" | "facts">;

async function measureServers(
  options: CheckOrderOptions,
  place: DatabasePlace,
  children: Child[],
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<Seen> {
  const [durableDatabase, asyncDatabase] = [await place.database("bench_durable"), await place.database("bench_async")];
  await layFixture(durableDatabase);
  await layFixture(asyncDatabase);
  const floor = await startTarget("floor", durableDatabase, children);
  const unsaved = await startTarget("async", asyncDatabase, children);
  const durable = await startTarget("durable", durableDatabase, children);
  const generator = startChild(entryOf("check-order-generator"), "generator");
  children.push(generator);
  const kind = orderKinds[0];
  if (kind === undefined) throw new RangeError("there are no orders");
  // From the sources and from the bundle the project's cache lies two folders up.
  const cache = fileURLToPath(new URL("../../.cache/", import.meta.url));
  const bench: Bench = {
    generator,
    h2load: await openH2load(place.folder, cache, kind),
    options,
    signal,
    numbers: { next: 1 },
    wrong: [],
  };
  const targets = { floor, async: unsaved, durable };
  const windows = { floor: noWindows(), async: noWindows(), durable: noWindows() };
  const commits: number[] = [];
  const quiet: number[][] = [];
  progress("warming up");
  for (const target of Object.values(targets)) await warmUp(bench, target);
  for (let round = 1; round <= options.rounds; round += 1) {
    await runRound(bench, targets, windows, quiet);
    commits.push(...(await measureCommits(durableDatabase, options.commitsPerRound)));
    progress(`round ${round} of ${options.rounds}: ${lineOf(windows)}`);
  }
  const platform = { floor: noWindows(), async: noWindows(), durable: noWindows() };
  if (options.platformRounds > 0) {
    progress("starting the rest of the platform");
    const rest = await startRest(durableDatabase);
    try {
      for (let round = 1; round <= options.platformRounds; round += 1) {
        await runRound(bench, targets, platform, []);
        progress(`with the rest of the platform, round ${round} of ${options.platformRounds}: ${lineOf(platform)}`);
      }
    } finally {
      await rest.stop();
    }
  }
  return { windows, platform, commits, quiet, wrong: bench.wrong };
}

async function warmUp(bench: Bench, target: Target): Promise<void> {
  const ignored = noWindows();
  for (let count = 0; count < 3; count += 1) {
    await paced(bench, target);
    await saturate(bench, target, ignored);
    await stream(bench, target, ignored);
    await settle(target);
  }
}

type Windows = Readonly<Record<Variant, VariantWindows>>;

const quietP99Ms = 2.5;

async function runRound(
  bench: Bench,
  { floor, async: unsaved, durable }: Readonly<Record<Variant, Target>>,
  windows: Windows,
  quiet: number[][],
): Promise<void> {
  const before = await paced(bench, floor, windows.floor);
  await paced(bench, durable, windows.durable);
  const after = await paced(bench, floor, windows.floor);
  if (before < quietP99Ms && after < quietP99Ms) quiet.push(windows.durable.samples.at(-1) ?? []);
  await paced(bench, unsaved, windows.async);
  for (const target of [floor, unsaved, durable]) await eightInFlight(bench, target, windows[target.variant]);
  for (const target of [floor, unsaved, durable]) {
    await saturate(bench, target, windows[target.variant]);
    await settle(target);
  }
  for (const target of [floor, durable]) {
    await stream(bench, target, windows[target.variant]);
    await settle(target);
  }
}

function lineOf(windows: Windows): string {
  const last = (values: readonly number[]): string =>
    (values.at(-1) ?? 0).toFixed(values.length > 0 && (values.at(-1) ?? 0) > 100 ? 0 : 2);
  const { floor, durable } = windows;
  return `echo ${last(floor.saturation)}/s p99 ${last(floor.p99)} ms, durable ${last(durable.saturation)}/s p99 ${last(durable.p99)} ms, stream ${last(floor.stream)}/s and ${last(durable.stream)}/s`;
}

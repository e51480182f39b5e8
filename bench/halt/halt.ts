// How fast a halt holds: from the request to its acknowledgement and to the first denial, at 1,000 orders a second, on the default set-up and
// over NATS, beside one commit and one echo under the same load in the same run. Whether any approval broke a halt is read from the database.
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { type DatabaseAddress, openClient } from "../../adapters/postgres/connection.ts";
import { compareWithHalts } from "../../testkit/halt-records.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { openPlace, type Place } from "../bus/place.ts";
import { quietLog } from "../bus/ticket.ts";
import { type Child, startChild } from "../check-order/children.ts";
import { measureCommits } from "../check-order/commits.ts";
import type { HaltResult, HaltTask } from "./halt-generator.ts";
import { type HaltServerStart, operatorToken } from "./halt-server.ts";
import { judge, type SetupSeen } from "./judge.ts";
import { layHaltFixture } from "./processes.ts";

export interface HaltOptions {
  readonly rounds: number;
  readonly windowMs: number;
  readonly warmUpMs: number;
  readonly ratePerS: number;
  readonly echoPerS: number;
  /** Commits by hand are spread over each window, so many at a time. */
  readonly commitsAtATime: number;
  readonly commitTimes: number;
}

const standard: HaltOptions = {
  rounds: 5,
  windowMs: 15_000,
  warmUpMs: 15_000,
  ratePerS: 1_000,
  echoPerS: 100,
  commitsAtATime: 20,
  commitTimes: 6,
};

export const halt: Bench = {
  name: "halt",
  sentence: "A halt's acknowledgement and its first denial at 1,000 orders/s, beside one commit and one echo.",
  run: (progress) => runHalt(standard, progress),
};

const tokens = { machineToken: "bench", operatorToken };

const setupNames = ["default", "nats"] as const;
type SetupName = (typeof setupNames)[number];

interface HaltSetup {
  readonly database: DatabaseAddress;
  readonly enginePort: number;
  readonly operationsPort: number;
}

interface Running {
  readonly options: HaltOptions;
  readonly signal: AbortSignal;
  readonly generator: Child;
  readonly echoPort: number;
  readonly setups: Readonly<Record<SetupName, HaltSetup>>;
  readonly numbers: { next: number };
}

export async function runHalt(options: HaltOptions, progress: (line: string) => void): Promise<BenchResult> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("it was interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, interrupt);
  const endings: (() => Promise<void>)[] = [];
  try {
    progress("starting PostgreSQL, nats-server and two set-ups");
    const place = await openPlace();
    endings.push(() => place.close());
    const running = await start(options, place, interruption.signal, endings);
    const seen = await measure(running, progress);
    progress("holding the decisions against the halts");
    for (const name of setupNames) seen.setups[name].comparison = await compare(running.setups[name]);
    return judge({ ...seen, facts: { ...place.facts, ...machine() } });
  } finally {
    for (const end of endings.reverse()) await end();
    for (const name of signals) process.removeListener(name, interrupt);
  }
}

function machine() {
  return { node: process.version, cpus: cpus().length, load: Number((loadavg()[0] ?? 0).toFixed(2)) };
}

/** The children's modules lie beside this one in the bundle, and in the folders of their sources else. */
function entryOf(folder: string, name: string): string {
  const here = import.meta.url;
  return fileURLToPath(new URL(here.endsWith(".ts") ? `../${folder}/${name}.ts` : `./${name}.js`, here));
}

async function start(
  options: HaltOptions,
  place: Place,
  signal: AbortSignal,
  endings: (() => Promise<void>)[],
): Promise<Running> {
  const startProcess = async (message: HaltServerStart): Promise<number> => {
    const child = startChild(entryOf("halt", "halt-server"), "halt-server");
    endings.push(() => child.stop());
    return (await child.ask<{ readonly port: number }>(message)).port;
  };
  const startOne = async (name: SetupName): Promise<HaltSetup> => {
    const database = await place.database(`bench_${name}`);
    await layHaltFixture(database);
    const where = { database, natsUrl: name === "nats" ? place.natsUrl : undefined };
    const enginePort = await startProcess({ ...where, part: "engine" });
    return { database, enginePort, operationsPort: await startProcess({ ...where, part: "manager", enginePort }) };
  };
  const setups = { default: await startOne("default"), nats: await startOne("nats") };
  const echo = startChild(entryOf("check-order", "check-order-server"), "server");
  endings.push(() => echo.stop());
  const { database } = setups.default;
  const { port: echoPort } = await echo.ask<{ readonly port: number }>({ start: { variant: "floor", database } });
  const generator = startChild(entryOf("halt", "halt-generator"), "halts");
  endings.push(() => generator.stop());
  return { options, signal, generator, echoPort, setups, numbers: { next: 1 } };
}

async function measure(running: Running, progress: (line: string) => void) {
  const { options } = running;
  const nothing = (): SetupSeen => ({ results: [], comparison: undefined });
  const setups: Record<SetupName, SetupSeen> = { default: nothing(), nats: nothing() };
  const commits: number[] = [];
  progress("warming up");
  for (const name of setupNames) await oneWindow(running, name, options.warmUpMs, []);
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const name of setupNames) {
      const result = await oneWindow(running, name, options.windowMs, commits);
      setups[name].results.push(result);
      progress(`round ${round} of ${options.rounds}, ${name}: ${lineOf(result)}`);
    }
  }
  return { setups, commits };
}

function lineOf({ halts, sent, complaint }: HaltResult): string {
  const worst = (of: readonly number[]): string => Math.max(0, ...of).toFixed(1);
  const [blocks, acks] = [halts.map(({ blockMs }) => blockMs), halts.map(({ ackMs }) => ackMs)];
  return `${halts.length} halts among ${sent} orders, slowest block ${worst(blocks)} ms, acknowledgement ${worst(acks)} ms${complaint === undefined ? "" : `; ${complaint}`}`;
}

async function oneWindow(running: Running, name: SetupName, ms: number, commits: number[]): Promise<HaltResult> {
  const { options, setups, echoPort, generator, numbers, signal } = running;
  signal.throwIfAborted();
  const { database, ...doors } = setups[name];
  const first = numbers.next;
  // More numbers than any window can use.
  numbers.next += 10_000_000;
  const { ratePerS, echoPerS, commitTimes, commitsAtATime } = options;
  const task: HaltTask = { ...doors, ...tokens, echoPort, ms, ratePerS, echoPerS, first, seed: first };
  const loading = generator.ask<HaltResult>(task);
  // Whoever waits for it below hears of a failure; until then it is nobody's surprise.
  loading.catch(() => undefined);
  for (let time = 0; time < commitTimes; time += 1) {
    await Promise.race([pause(ms / (commitTimes + 1)), loading]);
    commits.push(...(await measureCommits(database, commitsAtATime)));
  }
  return loading;
}

async function compare({ database }: HaltSetup) {
  const client = await openClient(database.owner, { log: quietLog, applicationName: "bench comparison" });
  try {
    return await compareWithHalts(client);
  } finally {
    await client.end();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

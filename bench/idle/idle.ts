// What does a platform cost that merely stands there, with the paper funds that it has by default? Its processor time and its statements, beside a
// PostgreSQL of the same version that nobody uses, in the same windows.
import { loadavg } from "node:os";
import type { Client } from "pg";
import { addressOfSocket, openClient } from "../../adapters/postgres/connection.ts";
import { ownerRoleName } from "../../adapters/postgres/embedded/cluster.ts";
import { eventually, type Platform, pause, startPlatform } from "../../testkit/platform.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { median } from "../bus/contender.ts";
import { openDatabasePlace } from "../bus/place.ts";
import { quietLog } from "../bus/ticket.ts";
import { repository } from "../ctl-start.ts";
import { namesOf, usedByName, usedByPid, usedByTree } from "./processes.ts";
import { countStatements, difference } from "./statements.ts";

/** The promise. Processor time is the machine's and is not judged; statements are the same everywhere. */
const statementsPerSecondMax = 300;

export const idle: Bench = {
  name: "idle",
  sentence: "What a platform with its paper funds costs that nobody uses, beside a PostgreSQL that nobody uses.",
  run: (progress) => runIdle({ settleMs: 45_000, windows: 5, windowMs: 12_000 }, progress),
};

export interface IdleOptions {
  /** Between health and the first window: a first start has a past to compute. */
  readonly settleMs: number;
  readonly windows: number;
  readonly windowMs: number;
}

interface Subject {
  readonly platform: Platform;
  /** The main process of the database that nobody uses. */
  readonly emptyServer: number;
  readonly facts: Readonly<Record<string, string>>;
}

/** By name, each per second. */
interface Window {
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly statements: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, number>>;
  readonly transactions: number;
  readonly emptyServerCpuMs: number;
}

/** Whatever ends it, a signal included, leaves nothing behind. */
export async function runIdle(options: IdleOptions, progress: (line: string) => void): Promise<BenchResult> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("it was interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, interrupt);
  const place = await openDatabasePlace();
  try {
    progress("starting the platform with its paper funds");
    const platform = startPlatform({ root: repository(), funds: "as configured" });
    try {
      await unless(interruption.signal, platform.ready());
      await unless(
        interruption.signal,
        eventually("it is healthy", async () => (await platform.health()) === 200),
      );
      progress(`it is up; it has ${options.settleMs / 1_000} s to settle`);
      await unless(interruption.signal, pause(options.settleMs));
      const subject = { platform, emptyServer: place.serverPid, facts: { ...place.facts } };
      return resultOf(await measureWindows(subject, options, interruption.signal, progress), subject, options);
    } finally {
      await platform.end();
    }
  } finally {
    await place.close();
    for (const name of signals) process.removeListener(name, interrupt);
  }
}

/** Rejects when the signal comes first. */
async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

async function measureWindows(
  { platform, emptyServer }: Subject,
  { windows, windowMs }: IdleOptions,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<readonly Window[]> {
  const run = platform.runFile();
  const { owner } = addressOfSocket(run.database.host, run.database.port, ownerRoleName);
  const client = await openClient(owner, { log: quietLog, applicationName: "bench" });
  try {
    const found: Window[] = [];
    for (let turn = 1; turn <= windows; turn += 1) {
      const [counted, used, begun] = [await countStatements(client), usedByPid(), performance.now()];
      await unless(signal, pause(windowMs));
      const usedAfter = usedByPid();
      const seconds = (performance.now() - begun) / 1_000;
      const countedAfter = await countStatements(client);
      // Sessions are asked for at the end: who came in between is named as well.
      const names = namesOf(run, usedAfter, await sessionsOf(client));
      const perSecond = (sums: Readonly<Record<string, number>>) =>
        Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / seconds]));
      const window = {
        cpuMs: perSecond(usedByName(names, used, usedAfter)),
        statements: perSecond(difference(counted.byLogin, countedAfter.byLogin)),
        texts: perSecond(difference(counted.byText, countedAfter.byText)),
        transactions: (countedAfter.transactions - counted.transactions) / seconds,
        emptyServerCpuMs: (usedByTree(emptyServer, usedAfter) - usedByTree(emptyServer, used)) / seconds,
      };
      found.push(window);
      const [cpu, statements] = [sumOf(window.cpuMs), sumOf(window.statements)].map(Math.round);
      progress(`window ${turn} of ${windows}: ${cpu} ms of processor and ${statements} statements a second`);
    }
    return found;
  } finally {
    await client.end();
  }
}

/** By process of the server; those of the server itself are named by what they do. */
async function sessionsOf(client: Client): Promise<ReadonlyMap<number, string>> {
  const text = `select pid, case when backend_type = 'client backend' then application_name else backend_type end as name
                from pg_stat_activity`;
  const { rows } = await client.query<{ pid: number; name: string }>(text);
  return new Map(rows.map(({ pid, name }) => [pid, name]));
}

const sumOf = (parts: Readonly<Record<string, number>>): number =>
  Object.values(parts).reduce((sum, part) => sum + part, 0);

function resultOf(windows: readonly Window[], { facts }: Subject, options: IdleOptions): BenchResult {
  const byProcess = mediansOf(windows.map(({ cpuMs }) => cpuMs));
  const byService = mediansOf(windows.map(({ statements }) => statements));
  const cpu = median(windows.map(({ cpuMs }) => sumOf(cpuMs)));
  const empty = median(windows.map(({ emptyServerCpuMs }) => emptyServerCpuMs));
  const statements = median(windows.map((window) => sumOf(window.statements)));
  const figures = {
    cpu_ms_per_s: round(cpu),
    statements_per_s: round(statements),
    transactions_per_s: round(median(windows.map(({ transactions }) => transactions))),
    by_process: byProcess,
    statements_by_login: byService,
    most_frequent: mostFrequent(windows),
    empty_postgres_cpu_ms_per_s: round(empty),
    // The kernel counts in hundredths of a second: a server that did nothing at all may show none.
    ratio: empty === 0 ? null : round(cpu / empty),
    ...options,
    windows: windows.map((window) => ({
      cpu_ms_per_s: round(sumOf(window.cpuMs)),
      statements_per_s: round(sumOf(window.statements)),
    })),
    ...facts,
    node_version: process.version,
    load: loadavg().map(round),
  };
  return { figures, table: tableOf(figures), shortfalls: shortfallsOf(statements) };
}

function shortfallsOf(statements: number): readonly string[] {
  const many = `${round(statements)} statements a second, more than ${statementsPerSecondMax}`;
  return statements > statementsPerSecondMax ? [many] : [];
}

function tableOf(figures: {
  readonly cpu_ms_per_s: number;
  readonly statements_per_s: number;
  readonly empty_postgres_cpu_ms_per_s: number;
  readonly by_process: Readonly<Record<string, number>>;
  readonly statements_by_login: Readonly<Record<string, number>>;
}): string {
  const line = (name: string, value: number, unit: string) => `${name.padEnd(44)}${String(value).padStart(8)} ${unit}`;
  return [
    line("processor time of the whole platform", figures.cpu_ms_per_s, "ms a second"),
    ...Object.entries(figures.by_process).map(([name, ms]) => line(`  ${name}`, ms, "ms")),
    line("a PostgreSQL that nobody uses", figures.empty_postgres_cpu_ms_per_s, "ms"),
    line("statements", figures.statements_per_s, "a second"),
    ...Object.entries(figures.statements_by_login).map(([name, count]) => line(`  ${name}`, count, "a second")),
  ].join("\n");
}

/** Of each name over the windows, most first; a name that a window lacks had nothing in it. */
function mediansOf(parts: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const names = [...new Set(parts.flatMap((part) => Object.keys(part)))];
  const medians = names.map((name) => [name, round(median(parts.map((part) => part[name] ?? 0)))] as const);
  return Object.fromEntries(medians.filter(([, value]) => value > 0).sort(([, one], [, other]) => other - one));
}

const namedMax = 40;
const charactersMax = 160;

function mostFrequent(windows: readonly Window[]): Readonly<Record<string, number>> {
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, charactersMax);
  const shortened = windows.map(({ texts }) => {
    const sums: Record<string, number> = {};
    for (const [text, count] of Object.entries(texts)) sums[short(text)] = (sums[short(text)] ?? 0) + count;
    return sums;
  });
  return Object.fromEntries(Object.entries(mediansOf(shortened)).slice(0, namedMax));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

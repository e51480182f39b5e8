// What the tests of the private server share: temporary folders, a child that can be killed, a query.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type ConnectionTarget, type DatabaseAddress, openClient } from "../../adapters/postgres/connection.ts";
import { clusterNameFor, type ServerProcess, serverProcesses } from "../../adapters/postgres/embedded/old-server.ts";
import type { Places } from "../../adapters/postgres/embedded/places.ts";
import type { EmbeddedOptions } from "../../adapters/postgres/embedded/server.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { Log } from "../../ports/log.ts";
import { bundledChild } from "./bundled-child.ts";
import type { ChildOrder } from "./child.ts";

export const runsAsRoot = process.getuid?.() === 0;
export const nobodyUid = 65_534;

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

/** A folder that everybody may pass through, with a data folder and a runtime folder in it that are ours. */
export interface TestFolder {
  readonly path: string;
  readonly options: EmbeddedOptions;
  remove(): Promise<void>;
}

export async function testFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), "portcullis-embedded-"));
  const dataFolder = join(path, "data");
  const runtimeFolder = join(dataFolder, "run");
  await mkdir(runtimeFolder, { recursive: true, mode: 0o700 });
  return {
    path,
    options: { dataFolder, runtimeFolder, log: silentLog, timers: systemTimers(), random: systemRandom() },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

export async function query(target: ConnectionTarget, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = await openClient(target, { log: silentLog, applicationName: "test" });
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

export interface ChildAnswer {
  readonly ready: boolean;
  readonly code?: string;
  readonly message?: string;
  readonly address?: DatabaseAddress;
  readonly pid?: number;
  readonly places?: Places;
  readonly userName?: string;
}

export interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly answer: Promise<ChildAnswer>;
  readonly ended: Promise<number | null>;
  /** Asks it to leave and waits. */
  leave(): Promise<number | null>;
}

/** Starts harness/child.ts with plain node, as another user if asked (root only). */
export function startChild(order: ChildOrder, options: { readonly uid?: number; readonly tmp: string }): Child {
  const program = [process.execPath, childProgram(), JSON.stringify(order)];
  const identity = ["setpriv", "--reuid", String(options.uid), "--regid", String(options.uid), "--clear-groups"];
  const [file = "", ...args] = options.uid === undefined ? program : [...identity, ...program];
  const child = spawn(file, args, {
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "", TMPDIR: options.tmp },
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => resolve(code));
  });
  const answer = new Promise<ChildAnswer>((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line) as ChildAnswer));
    child.once("close", () => reject(new Error(`the child ended without an answer: ${complaints}`)));
  });
  // Who kills the child before it has answered does not wait for the answer.
  answer.catch(() => undefined);
  return {
    process: child,
    answer,
    ended,
    leave(): Promise<number | null> {
      child.stdin.end();
      return ended;
    },
  };
}

const childProgram = bundledChild(fileURLToPath(new URL("child.ts", import.meta.url)));

/** Server processes on this cluster, whoever runs them. */
export async function processesOn(clusterFolder: string): Promise<readonly ServerProcess[]> {
  const uids = [0, nobodyUid, process.getuid?.() ?? 0, (await stat(clusterFolder)).uid];
  const lists = await Promise.all([...new Set(uids)].map((uid) => serverProcesses(clusterNameFor(clusterFolder), uid)));
  return lists.flat();
}

export async function untilGone(clusterFolder: string): Promise<number> {
  let waitedMs = 0;
  while ((await processesOn(clusterFolder)).length > 0 && waitedMs < 15_000) {
    await systemTimers().sleep(50);
    waitedMs += 50;
  }
  return (await processesOn(clusterFolder)).length;
}

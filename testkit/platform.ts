// The whole platform as a user starts it: `node bin/portcullis.js` in its own process group, on free ports and a data folder of its
// own, with what it prints, its run.json and its health at hand. Whatever a test does to it, `end` leaves nothing behind.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunFile } from "../adapters/system/run-file.ts";
import { fetchOnNewConnection } from "./http/fetch-on-new-connection.ts";
import { giveMadeDatabase } from "./made-cluster.ts";
import { countPlatform } from "./times/counts.ts";
import { workerVariable } from "./times/processor-time.ts";

export interface StartOptions {
  /** The copy of the repository to start; default this one. */
  readonly root?: string;
  /** The Node that starts it; default the one that runs this. */
  readonly node?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  /** Whether the paper funds trade and have a past; they do not unless a test asks for it. */
  readonly funds?: "as configured";
  /** Start on this data folder instead of a fresh one. */
  readonly dataFolder?: string;
  /** Started by this command, which sees the file system as the folder `root` shows it; `dataFolder` is as the command sees it. */
  readonly within?: { readonly command: readonly string[]; readonly root: string };
  /** Whether a fresh platform makes its database as a user's does; it begins with a copy of a made one unless a test asks for this. */
  readonly database?: "from nothing";
}

export interface PlatformExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A platform that may be asked, whoever started it. */
export interface RunningPlatform {
  readonly dataFolder: string;
  stdout(): string;
  stderr(): string;
  runFile(): RunFile;
  /** The HTTP status of healthz on a listener, or 0 when nobody answers. */
  health(listener?: "gateway" | "gateway.public"): Promise<number>;
}

export interface Platform extends RunningPlatform {
  readonly pid: number;
  readonly exited: Promise<PlatformExit>;
  /** Resolves when the banner was printed; rejects with everything printed when it ends or takes too long. */
  ready(): Promise<void>;
  /** Sends a signal to the supervisor alone. */
  signal(name: NodeJS.Signals): void;
  signalGroup(name: NodeJS.Signals): void;
  /** Every process that belongs to this platform, found by what it has open, not by what we remember. */
  processes(): readonly number[];
  /** Ends everything and removes the data folder. */
  end(): Promise<void>;
}

export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `portcullis-${name}-`));
  // The embedded server runs as another user when we are root; it must be able to pass.
  chmodSync(folder, 0o755);
  return folder;
}

export function startPlatform(options: StartOptions = {}): Platform {
  const root = options.root ?? join(import.meta.dirname, "..");
  const owned = options.dataFolder === undefined ? temporaryFolder("platform") : undefined;
  const dataFolder = options.dataFolder ?? join(owned ?? "", "data");
  if (owned !== undefined && wantsMadeDatabase(options)) giveMadeDatabase(dataFolder);
  const [program = process.execPath, ...others] = [...(options.within?.command ?? []), ...platformCommand(options)];
  const seenFolder = options.within === undefined ? dataFolder : join(options.within.root, dataFolder);
  const child = spawn(program, others, {
    cwd: owned ?? root,
    env: { [workerVariable]: String(process.pid), ...platformEnvironment(options, dataFolder) },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const wasUp = output.stdout.includes(upBanner);
    output.stdout += text;
    if (!wasUp && output.stdout.includes(upBanner)) countPlatform();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const exited = new Promise<PlatformExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const runFile = () => runFileIn(seenFolder);
  const everything = () => `${output.stdout}\n${output.stderr}`;
  const processes = () => processesMentioning(dataFolder);
  return {
    dataFolder: seenFolder,
    pid: child.pid ?? 0,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    runFile,
    ready: () => bannerOf(child, exited, () => output.stdout, everything),
    health: (listener = "gateway") => healthOf(runFile, listener),
    signal: (name) => void child.kill(name),
    signalGroup: (name) => void process.kill(-(child.pid ?? 0), name),
    processes,
    end: async () => {
      child.kill("SIGTERM");
      const slow = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await exited;
      clearTimeout(slow);
      for (let tries = 0; tries < 100 && processes().length > 0; tries += 1) await pause(100);
      for (const pid of processes()) process.kill(pid, "SIGKILL");
      if (owned !== undefined) rmSync(owned, { recursive: true, force: true });
    },
  };
}

/** The program and its words, in the given copy of the repository. */
export function platformCommand(options: Pick<StartOptions, "root" | "node" | "arguments">): readonly string[] {
  const root = options.root ?? join(import.meta.dirname, "..");
  return [options.node ?? process.execPath, join(root, "bin", "portcullis.js"), ...(options.arguments ?? [])];
}

/** The parts inherit the mark but no setting, so that every process of this platform can be found by it. */
export function platformEnvironment(
  options: Pick<StartOptions, "environment" | "funds">,
  dataFolder: string,
): Record<string, string> {
  return {
    ...cleanEnvironment(),
    ...freePorts,
    ...smallDisk,
    ...(options.funds === "as configured" ? {} : quietFunds),
    PORTCULLIS_DATA_DIR: dataFolder,
    PLATFORM_UNDER_TEST: dataFolder,
    ...options.environment,
  };
}

export const runFileIn = (dataFolder: string): RunFile =>
  JSON.parse(readFileSync(join(dataFolder, "run.json"), "utf8")) as RunFile;

/** Another copy of the program may have another schema, and who brings a database of their own needs none. */
function wantsMadeDatabase({ root, database, environment }: StartOptions): boolean {
  return root === undefined && database === undefined && environment?.["PORTCULLIS_DATABASE_URL"] === undefined;
}

export const upBanner = "Portcullis is up";

export const freePorts = {
  PORTCULLIS_HTTP_PORT: "0",
  PORTCULLIS_PUBLIC_PORT: "0",
  PORTCULLIS_GRPC_PORT: "0",
  PORTCULLIS_OPERATIONS_GRPC_PORT: "0",
};

/** Test machines are small, and their temporary folders lie in memory: what the disk has left is the business of few tests. */
const smallDisk = {
  PORTCULLIS_DISK_WARN_MB: "64",
  PORTCULLIS_DISK_NEW_RISK_MB: "64",
  PORTCULLIS_DISK_RESERVE_MB: "0",
};

/** Most tests are about something else than trading: the funds are there, and nobody trades them or computes their past. */
export const quietFunds = { PORTCULLIS_RESEARCH_DECIDE_EVERY_S: "3600", PORTCULLIS_PAPER_HISTORY: "false" };

/** A long run may share its machine with much else. */
export const startMsMax = process.env["PORTCULLIS_TEST_LONG"] === "1" ? 480_000 : 120_000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the condition holds; the sentence is what the failure says. */
export async function eventually(
  sentence: string,
  condition: () => boolean | Promise<boolean>,
  msMax = 60_000,
): Promise<void> {
  const until = Date.now() + msMax;
  while (Date.now() < until) {
    if (await condition()) return;
    await pause(50);
  }
  throw new Error(`not within ${msMax} ms: ${sentence}`);
}

/** What a look takes on a machine that has little else to do. */
const lookMsMax = 100;

/**
 * As `eventually`, for what is promised within a time. A look that takes longer than it should counts as one that did not: where the machine is too busy
 * to look, whoever made the promise had no more of it.
 */
export async function within(msMax: number, sentence: string, condition: () => Promise<boolean>): Promise<void> {
  for (let countedMs = 0, began = Date.now(); countedMs < msMax; began = Date.now()) {
    if (await condition()) return;
    await pause(50);
    countedMs += Math.min(Date.now() - began, lookMsMax);
  }
  throw new Error(`not within ${msMax} ms: ${sentence}`);
}

/** A developer's own settings must not leak into a test. */
function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PORTCULLIS_|OTEL_|NODE_ENV|VITEST)/.test(name));
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

async function bannerOf(
  child: ChildProcess,
  exited: Promise<PlatformExit>,
  stdout: () => string,
  everything: () => string,
): Promise<void> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  for (const until = Date.now() + startMsMax; Date.now() < until; await pause(50)) {
    if (stdout().includes(upBanner)) return;
    if (ended) throw new Error(`it ended before it was up:\n${everything()}`);
  }
  child.kill("SIGKILL");
  throw new Error(`no banner within ${startMsMax / 1_000} s:\n${everything()}`);
}

export async function healthOf(runFile: () => RunFile, listener: string): Promise<number> {
  try {
    const answer = await fetchOnNewConnection(`http://${runFile().addresses[listener]}/v1/healthz`, {
      signal: AbortSignal.timeout(3_000),
    });
    return answer.status;
  } catch {
    // Nobody listens, or nobody answers: that is what 0 says.
    return 0;
  }
}

/** Processes whose command line or open files mention the folder: the supervisor's children and the database alike. */
export function processesMentioning(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => mentions(pid, folder));
}

function mentions(pid: number, folder: string): boolean {
  try {
    if (!existsSync(`/proc/${pid}/cmdline`)) return false;
    const said = readFileSync(`/proc/${pid}/cmdline`, "utf8") + readFileSync(`/proc/${pid}/environ`, "utf8");
    return said.includes(folder);
  } catch {
    // It ended while we looked, or it is somebody else's.
    return false;
  }
}

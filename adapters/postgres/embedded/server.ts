// The platform's own PostgreSQL 18: made, started, waited for, stopped. Whoever dies first, nothing remains: the kernel
// ends the server when we die, `stop` ends it when we leave, and a start outlives whatever an earlier server left behind.
//
// Call it while holding the data folder's lock, and from the main thread (see server-user.ts).
import type { ChildProcess } from "node:child_process";
import { realpath } from "node:fs/promises";
import { type Fault, messageOf } from "../../../contracts/src/fault.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import { addressOfSocket, appRoleName, type DatabaseAddress, openClient, withDatabase } from "../connection.ts";
import { type BinariesPackage, isCode, locateBinaries, programsOf, startFailed } from "./binaries.ts";
import { ensureCluster, ownerRoleName, type Settings, writeSettings } from "./cluster.ts";
import { clearOldServer, clusterNameFor, endRemains, type OldServer } from "./old-server.ts";
import { choosePlaces, clusterOwner, type Places, serverPort, usableBinaries } from "./places.ts";
import { openServerLog, type ServerLog } from "./server-log.ts";
import { chooseServerUser, type ServerUser, spawnAs } from "./server-user.ts";

export interface EmbeddedOptions {
  readonly dataFolder: string;
  /** Short enough for unix sockets: see adapters/system/data-folder.ts. */
  readonly runtimeFolder: string;
  readonly log: Log;
  readonly timers: Timers;
  readonly random: Random;
  /** The package with the programs; found by itself when absent. */
  readonly binaries?: BinariesPackage;
  /** Server settings on top of ours, for tests. */
  readonly settings?: Settings;
}

interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True when `stop` was called before it ended. */
  readonly asked: boolean;
}

export interface EmbeddedPostgres {
  readonly address: DatabaseAddress;
  readonly pid: number;
  readonly places: Places;
  /** The user that the server runs as. */
  readonly userName: string;
  readonly logPath: string;
  /** Resolves when the server's main process has ended, for whatever reason; never rejects. */
  readonly exited: Promise<ServerExit>;
  /** Ends it: fast, and if that takes too long, at once. Safe to call twice and after it has ended. */
  stop(): Promise<void>;
}

const attemptsMax = 6;
const readyMsMax = 120_000;
const pollMs = 20;
const fastStopMsMax = 2_000;

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log, timers, random } = options;
  const dataFolder = await realpath(options.dataFolder);
  const runtimeFolder = await realpath(options.runtimeFolder);
  const source = options.binaries ?? (await locateBinaries());
  const user = await chooseServerUser(await clusterOwner(dataFolder));
  const binariesFolder = await usableBinaries(source, user, dataFolder, random);
  const places = await choosePlaces({ dataFolder, runtimeFolder, binariesFolder, user });
  const clusterName = clusterNameFor(places.clusterFolder);
  const old: OldServer = { clusterName, uid: user.uid, timers, log };
  await clearOldServer(old, places);
  const made = await ensureCluster(places, user, random);
  if (made) log.info("database created", { folder: places.clusterFolder, user: user.name });
  const settingsPath = await writeSettings(places, options.settings ?? {});
  const serverLog = await openServerLog(dataFolder, timers, log);
  try {
    const launch = { places, user, clusterName, settingsPath, serverLog, old, timers, log };
    const running = await launchUntilReady(launch);
    return describeRunning(launch, running);
  } catch (error) {
    serverLog.close();
    throw error;
  }
}

interface Launch {
  readonly places: Places;
  readonly user: ServerUser;
  readonly clusterName: string;
  readonly settingsPath: string;
  readonly serverLog: ServerLog;
  readonly old: OldServer;
  readonly timers: Timers;
  readonly log: Log;
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<Omit<ServerExit, "asked">>;
}

/** Complaints of a server that meets remains of its predecessor: these pass by themselves. */
const passing = /pre-existing shared memory block|lock file .* already exists|could not create any Unix-domain sockets/;

async function launchUntilReady(launch: Launch): Promise<Running> {
  for (let attempt = 1; ; attempt += 1) {
    const offset = await launch.serverLog.sizeBytes();
    const running = await spawnServer(launch);
    try {
      if (await becomeReady(launch, running)) {
        await ensureDatabase(launch);
        return running;
      }
    } catch (error) {
      await endServer(launch, running);
      throw error;
    }
    const words = await launch.serverLog.since(offset);
    if (attempt === attemptsMax || !passing.test(words)) throw explainExit(launch, words);
    launch.log.info("the database server met remains of an earlier one and is started again", { attempt });
    await launch.timers.sleep(100 * 2 ** attempt);
    await clearOldServer(launch.old, launch.places);
  }
}

/** The server's last words without their time stamps: the reason often stands a line before the last. */
function explainExit(launch: Launch, words: string): Fault {
  const lines = words.split("\n").map((line) => line.replace(/^\S+ \S+ \S+ \[\d+\] +/, "").trim());
  const last = lines.filter((line) => line !== "").slice(-3);
  const reason = last.length === 0 ? "it said nothing" : last.join("; ");
  return startFailed(`PostgreSQL ended while starting: ${reason} (see ${launch.serverLog.path}).`);
}

async function spawnServer(launch: Launch): Promise<Running> {
  const { places, user, clusterName, settingsPath, serverLog } = launch;
  const child = spawnAs(
    user,
    programsOf(places.binariesFolder).postgres,
    ["-D", places.clusterFolder, "-c", `config_file=${settingsPath}`, "-c", `cluster_name=${clusterName}`],
    serverLog.descriptor,
  );
  const exited = new Promise<Omit<ServerExit, "asked">>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(startFailed(`PostgreSQL could not be started: ${messageOf(error)}.`, error)));
    child.once("spawn", () => resolve(child.pid ?? 0));
  });
  return { child, pid, exited };
}

function ownerAddress(launch: Launch): DatabaseAddress {
  return addressOfSocket(launch.places.socketFolder, serverPort, ownerRoleName);
}

/** Ready means that a query was answered. False when the server ended instead. */
async function becomeReady(launch: Launch, running: Running): Promise<boolean> {
  let late = false;
  const cancel = launch.timers.after(readyMsMax, () => {
    late = true;
  });
  const target = withDatabase(ownerAddress(launch), "postgres").owner;
  try {
    while (running.child.exitCode === null && running.child.signalCode === null) {
      try {
        const client = await openClient(target, { log: launch.log, applicationName: "portcullis start" });
        await client.query("SELECT 1").finally(() => client.end());
        return true;
      } catch (error) {
        if (!isStillStarting(error))
          throw startFailed(`PostgreSQL started but refused us: ${messageOf(error)}.`, error);
        if (late)
          throw startFailed(`PostgreSQL was not ready within ${readyMsMax / 1_000} s (${messageOf(error)}).`, error);
      }
      await launch.timers.sleep(pollMs);
    }
    return false;
  } finally {
    cancel();
  }
}

/** No socket yet, nobody listening yet, "the database system is starting up", or a connection cut by an exit. */
function isStillStarting(error: unknown): boolean {
  if (isCode(error, ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03", "57P01", "57P02"])) return true;
  return /terminated unexpectedly|timeout/i.test(messageOf(error));
}

async function ensureDatabase(launch: Launch): Promise<void> {
  const address = ownerAddress(launch);
  const server = withDatabase(address, "postgres").owner;
  const client = await openClient(server, { log: launch.log, applicationName: "portcullis start" });
  try {
    const role = await client.query("SELECT rolcanlogin FROM pg_roles WHERE rolname = $1", [appRoleName]);
    if (role.rowCount === 0) await client.query(`CREATE ROLE ${appRoleName} LOGIN`);
    else if (role.rows[0]?.["rolcanlogin"] !== true) await client.query(`ALTER ROLE ${appRoleName} LOGIN`);
    const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [address.owner.database]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${address.owner.database}`);
  } finally {
    await client.end();
  }
}

function describeRunning(launch: Launch, running: Running): EmbeddedPostgres {
  let asked = false;
  let stopping: Promise<void> | undefined;
  const exited = running.exited.then((exit) => {
    launch.serverLog.close();
    return { ...exit, asked };
  });
  return {
    address: ownerAddress(launch),
    pid: running.pid,
    places: launch.places,
    userName: launch.user.name,
    logPath: launch.serverLog.path,
    exited,
    stop(): Promise<void> {
      asked = true;
      stopping ??= endServer(launch, running);
      return stopping;
    },
  };
}

/** SIGINT disconnects the clients and shuts down cleanly; SIGQUIT drops everything, and the next start recovers. */
async function endServer(launch: Launch, running: Running): Promise<void> {
  for (const [signal, waitMs] of [
    ["SIGINT", fastStopMsMax],
    ["SIGQUIT", 500],
    ["SIGKILL", 500],
  ] as const) {
    if (running.child.exitCode !== null || running.child.signalCode !== null) break;
    running.child.kill(signal);
    const giveUp = new AbortController();
    await Promise.race([running.exited, launch.timers.sleep(waitMs, giveUp.signal)]);
    giveUp.abort();
  }
  // Normally there are none left; a main process that was killed leaves some for a moment.
  const left = await endRemains(launch.old);
  if (left.length > 0) throw startFailed(`PostgreSQL processes ${left.join(", ")} do not end.`);
}

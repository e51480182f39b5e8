// What stands before the first part starts: the data folder and its lock, the database (ours or the user's), the migrations. The
// embedded server is kept up from here: when it dies it is started again, and the parts reconnect.

import { join } from "node:path";
import type { Configuration } from "../adapters/configuration/schema.ts";
import { addressFromUrl, type DatabaseAddress } from "../adapters/postgres/connection.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../adapters/postgres/embedded/server.ts";
import { checkInstallation, claimInstallation } from "../adapters/postgres/installation.ts";
import { type PreparedLogins, prepareServiceLogins } from "../adapters/postgres/logins/service-logins.ts";
import { migrate } from "../adapters/postgres/migrate.ts";
import { migrations } from "../adapters/postgres/migrations/index.ts";
import { type DataFolder, openDataFolder } from "../adapters/system/data-folder.ts";
import { diskReserve } from "../adapters/system/disk-reserve.ts";
import { systemDiskSpace } from "../adapters/system/disk-space.ts";
import { folderMark } from "../adapters/system/folder-mark.ts";
import { installationFile } from "../adapters/system/installation-file.ts";
import { Fault, messageOf } from "../contracts/src/fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { Timers } from "../ports/timers.ts";
import type { ProcessGroup } from "../services/shared/process-group.ts";
import { type DiskRoom, keepRoom } from "./disk-room.ts";

export interface FoundationPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export interface Foundation {
  readonly dataFolder: string;
  readonly runtimeFolder: string;
  /** Where the embedded database writes; none when the database is the user's. */
  readonly databaseFolders: readonly string[];
  readonly database: DatabaseAddress;
  /** A login for each service, or why there is none. */
  readonly logins: PreparedLogins;
  /** Which of several data folders on the user's database this is; undefined on the embedded one. */
  readonly group?: ProcessGroup;
  /** The embedded server, or undefined when the database is the user's. */
  embedded(): EmbeddedPostgres | undefined;
  /** Settles only when the embedded server was given up. */
  readonly gaveUp: Promise<Fault>;
  /** Called whenever the embedded server came up again. */
  onRestart(listener: () => void): void;
  close(): Promise<void>;
}

/** `adopt` is the installation that the data folder is made part of on purpose. */
export async function layFoundation(
  configuration: Configuration,
  ports: FoundationPorts,
  adopt?: string,
): Promise<Foundation> {
  const folder = await openDataFolder(configuration.data_dir, ports);
  try {
    return configuration.database.url === undefined
      ? await onEmbeddedServer(configuration, folder, ports)
      : await onServerOf(configuration.database.url, configuration, folder, ports, adopt);
  } catch (error) {
    await folder.release();
    throw error;
  }
}

async function onServerOf(
  url: string,
  configuration: Configuration,
  folder: DataFolder,
  ports: FoundationPorts,
  adopt: string | undefined,
): Promise<Foundation> {
  const database = addressFromUrl(url, configuration.database.app_url, configuration.database);
  const whose = { ...ports, owner: database.owner, file: installationFile(folder.path), adopt };
  await checkInstallation(whose);
  await migrate(database.owner, migrations, ports.log);
  await claimInstallation(whose);
  const logins = await loginsOn(database, configuration, ports);
  return {
    dataFolder: folder.path,
    runtimeFolder: folder.runtimeFolder,
    databaseFolders: [],
    group: { mark: folderMark(folder.path), startedAt: ports.clock.now() },
    database,
    logins,
    embedded: () => undefined,
    gaveUp: new Promise(() => undefined),
    onRestart: () => undefined,
    close: () => folder.release(),
  };
}

/** Production has a login for each service; development may go on without, and says so. */
async function loginsOn(
  database: DatabaseAddress,
  configuration: Configuration,
  ports: FoundationPorts,
): Promise<PreparedLogins> {
  const { services, mode } = configuration;
  const configured = configuration.database.logins;
  const isNamed = services.some((service) => configured[service] !== undefined);
  const isBorne = mode === "development" && !isNamed;
  try {
    const security = configuration.database;
    const prepared = await prepareServiceLogins({
      ...ports,
      owner: database.owner,
      configured,
      services,
      security,
      isProduction: mode === "production",
    });
    if (prepared.missing === undefined || isBorne) return prepared;
    throw new Fault("STORE_FORBIDDEN", prepared.missing, { retry: "never" });
  } catch (error) {
    if (isBorne && error instanceof Fault && error.code === "STORE_FORBIDDEN") return { missing: error.message };
    throw error;
  }
}

async function onEmbeddedServer(
  configuration: Configuration,
  folder: DataFolder,
  ports: FoundationPorts,
): Promise<Foundation> {
  const open = () => startEmbeddedPostgres({ dataFolder: folder.path, runtimeFolder: folder.runtimeFolder, ...ports });
  // Before the first start as well: a reserve that is given up is room to recover in.
  let room = await roomIn(folder.path, [folder.path], configuration, ports);
  const first = await open().catch(async (error: unknown) => {
    await room.stop();
    throw error;
  });
  const { places } = first;
  let logins: PreparedLogins;
  try {
    await migrate(first.address.owner, migrations, ports.log);
    const { services, mode } = configuration;
    const isProduction = mode === "production";
    logins = await prepareServiceLogins({
      ...ports,
      owner: first.address.owner,
      configured: {},
      services,
      isProduction,
    });
    if (places.outsideDataFolder) {
      await room.stop();
      room = await roomIn(places.serverFolder, [folder.path, places.clusterFolder], configuration, ports);
    }
  } catch (error) {
    await room.stop();
    await first.stop();
    throw error;
  }
  const keeper = keepServerUp(first, open, configuration, ports, room.isFull);
  return {
    dataFolder: folder.path,
    runtimeFolder: folder.runtimeFolder,
    databaseFolders: [places.clusterFolder],
    database: first.address,
    logins,
    embedded: keeper.current,
    gaveUp: keeper.gaveUp,
    onRestart: keeper.onRestart,
    close: async () => {
      await keeper.stop();
      await room.stop();
      await folder.release();
    },
  };
}

const bytesPerMegabyte = 1_000_000;

/** The reserve lies in `where`, on the disk of the database. */
function roomIn(
  where: string,
  folders: readonly [string, ...string[]],
  { disk }: Configuration,
  ports: FoundationPorts,
): Promise<DiskRoom> {
  const reserveBytes = disk.reserve_mb * bytesPerMegabyte;
  return keepRoom({
    ...ports,
    diskSpace: systemDiskSpace(folders),
    reserve: diskReserve(join(where, "disk-reserve"), reserveBytes),
    reserveBytes,
    newRiskBytes: disk.new_risk_mb * bytesPerMegabyte,
  });
}

interface Keeper {
  current(): EmbeddedPostgres | undefined;
  readonly gaveUp: Promise<Fault>;
  onRestart(listener: () => void): void;
  stop(): Promise<void>;
}

/** After so many failures as count as down it is tried so many times as seldom. */
const downFactor = 10;
/** How often it is checked whether a full disk has room again. */
const lookEveryMs = 500;

function keepServerUp(
  first: EmbeddedPostgres,
  open: () => Promise<EmbeddedPostgres>,
  configuration: Configuration,
  { timers, log, clock }: FoundationPorts,
  isDiskFull: () => boolean,
): Keeper {
  const { restart_backoff_first_ms, restart_backoff_max_ms, restart_failures_max, restart_steady_s } =
    configuration.lifecycle;
  const stopping = new AbortController();
  const listeners: (() => void)[] = [];
  let current: EmbeddedPostgres | undefined = first;
  let youngDeaths = 0;
  let giveUp: (fault: Fault) => void = () => undefined;
  const gaveUp = new Promise<Fault>((resolve) => {
    giveUp = resolve;
  });
  const keeping = keep().catch((error: unknown) => {
    const sentence = `the database server can no longer be kept up: ${messageOf(error)}`;
    giveUp(new Fault("DATABASE_START_FAILED", sentence, { retry: "never", cause: error }));
  });

  async function keep(): Promise<void> {
    while (current !== undefined) {
      const upSince = clock.now();
      const exit = await current.exited;
      current = undefined;
      if (stopping.signal.aborted || exit.asked) return;
      youngDeaths = clock.now() - upSince < restart_steady_s * 1_000_000 ? youngDeaths + 1 : 0;
      log.error("the database server ended and is started again", { code: exit.code, signal: exit.signal });
      current = await reopen();
      if (current !== undefined) for (const listener of listeners) listener();
    }
  }

  async function reopen(): Promise<EmbeddedPostgres | undefined> {
    // For ever, as the services do: they answer that they are failing, and what they hold is not given up.
    for (let failures = 0; ; failures += 1) {
      const isDown = failures >= restart_failures_max;
      const waitMs = isDown
        ? restart_backoff_max_ms * downFactor
        : Math.min(restart_backoff_max_ms, restart_backoff_first_ms * 2 ** (youngDeaths + failures));
      await patience(waitMs);
      if (stopping.signal.aborted) return undefined;
      try {
        const server = await open();
        if (stopping.signal.aborted) {
          await server.stop();
          return undefined;
        }
        log.warn("the database server is back", { pid: server.pid });
        return server;
      } catch (error) {
        log.error("the database server could not be started again", { why: messageOf(error) });
      }
    }
  }

  /** A server that finds the disk full is not started until there is room, and then at once. */
  async function patience(waitMs: number): Promise<void> {
    if (isDiskFull()) log.error("the disk is full: the database server is started again when there is room");
    for (let waitedMs = 0; !stopping.signal.aborted; waitedMs += lookEveryMs) {
      const wasFull = isDiskFull();
      if (!wasFull && waitedMs >= waitMs) return;
      await timers.sleep(wasFull ? lookEveryMs : Math.min(lookEveryMs, waitMs - waitedMs), stopping.signal);
      if (wasFull && !isDiskFull()) return;
    }
  }

  return {
    current: () => current,
    gaveUp,
    onRestart: (listener) => void listeners.push(listener),
    stop: async () => {
      stopping.abort();
      await current?.stop();
      // A start that was under way when the stop came ends what it started.
      await keeping;
    },
  };
}

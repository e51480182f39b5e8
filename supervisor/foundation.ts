// What stands before the first part starts: the data folder and its lock, the database (ours or the user's), the migrations. The
// embedded server is kept up from here: when it dies it is started again, and the parts reconnect.

import type { Configuration } from "../adapters/configuration/schema.ts";
import { addressFromUrl, type DatabaseAddress } from "../adapters/postgres/connection.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../adapters/postgres/embedded/server.ts";
import { checkInstallation, claimInstallation } from "../adapters/postgres/installation.ts";
import { migrate } from "../adapters/postgres/migrate.ts";
import { migrations } from "../adapters/postgres/migrations/index.ts";
import { type DataFolder, openDataFolder } from "../adapters/system/data-folder.ts";
import { installationFile } from "../adapters/system/installation-file.ts";
import { Fault, messageOf } from "../contracts/src/fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { Timers } from "../ports/timers.ts";

export interface FoundationPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export interface Foundation {
  readonly dataFolder: string;
  readonly runtimeFolder: string;
  readonly database: DatabaseAddress;
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
  const database = addressFromUrl(url, configuration.database.app_url);
  const whose = { ...ports, owner: database.owner, file: installationFile(folder.path), adopt };
  await checkInstallation(whose);
  await migrate(database.owner, migrations, ports.log);
  await claimInstallation(whose);
  return {
    dataFolder: folder.path,
    runtimeFolder: folder.runtimeFolder,
    database,
    embedded: () => undefined,
    gaveUp: new Promise(() => undefined),
    onRestart: () => undefined,
    close: () => folder.release(),
  };
}

async function onEmbeddedServer(
  configuration: Configuration,
  folder: DataFolder,
  ports: FoundationPorts,
): Promise<Foundation> {
  const open = () => startEmbeddedPostgres({ dataFolder: folder.path, runtimeFolder: folder.runtimeFolder, ...ports });
  const first = await open();
  try {
    await migrate(first.address.owner, migrations, ports.log);
  } catch (error) {
    await first.stop();
    throw error;
  }
  const keeper = keepServerUp(first, open, configuration, ports);
  return {
    dataFolder: folder.path,
    runtimeFolder: folder.runtimeFolder,
    database: first.address,
    embedded: keeper.current,
    gaveUp: keeper.gaveUp,
    onRestart: keeper.onRestart,
    close: async () => {
      await keeper.stop();
      await folder.release();
    },
  };
}

interface Keeper {
  current(): EmbeddedPostgres | undefined;
  readonly gaveUp: Promise<Fault>;
  onRestart(listener: () => void): void;
  stop(): Promise<void>;
}

/** After so many failures as count as down it is tried so many times as seldom. */
const downFactor = 10;

function keepServerUp(
  first: EmbeddedPostgres,
  open: () => Promise<EmbeddedPostgres>,
  configuration: Configuration,
  { timers, log, clock }: FoundationPorts,
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
      await timers.sleep(waitMs, stopping.signal);
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

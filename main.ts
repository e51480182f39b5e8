// Flags, environment and signals in; exit code out. By default this process is the supervisor of one process per part; with
// `--single-process` the same composition runs right here.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allowedClearText } from "./adapters/configuration/checks/clear-text-checks.ts";
import { complaintLine } from "./adapters/configuration/complaint.ts";
import { loadConfiguration } from "./adapters/configuration/load-configuration.ts";
import { printConfiguration } from "./adapters/configuration/print-configuration.ts";
import type { Configuration } from "./adapters/configuration/schema.ts";
import { keptLog, keptLogs, lateKeptLog } from "./adapters/log/kept-log.ts";
import { systemClock } from "./adapters/system/clock.ts";
import { installationForm } from "./adapters/system/installation-file.ts";
import { findNodeRuntime } from "./adapters/system/node-runtime.ts";
import { systemRandom } from "./adapters/system/random.ts";
import { type RunFile, removeRunFile, writeRunFile } from "./adapters/system/run-file.ts";
import { spawnService } from "./adapters/system/service-process.ts";
import { systemTimers } from "./adapters/system/timers.ts";
import { tellConfiguration } from "./compose/configuration.ts";
import { settingsFor } from "./compose/own-settings.ts";
import { handedOver, logFor, noBotsLogin, type PartInput, type PartName } from "./compose/shared.ts";
import { httpUrls, isOpenlyReached } from "./compose/tls.ts";
import { compose, plans } from "./compose.ts";
import { Fault, messageOf } from "./contracts/src/fault.ts";
import { format, millisecondsBetween } from "./contracts/src/instant.ts";
import { parseJson } from "./contracts/src/parse-json.ts";
import { platformServices } from "./contracts/src/platform-services.ts";
import type { Log } from "./ports/log.ts";
import { banner } from "./supervisor/banner.ts";
import { type Foundation, type FoundationPorts, layFoundation } from "./supervisor/foundation.ts";
import { createSupervisor, type Supervisor } from "./supervisor/supervisor.ts";

const usage = `Usage: npm start -- [options]

  --config FILE      read the settings from this YAML file (or name it in PORTCULLIS_CONFIG)
  --print-config     show the effective configuration with its sources and no secrets, and exit
  --adopt ID         make the data folder part of the installation that your own database belongs to
  --make-admin NAME  make an admin of the embedded provider, while fewer than two can sign, and exit; stop the platform first
  --empty            start without the paper funds and their history, as paper.seed: never does
  --single-process   run every part in this process (for debugging)
  --version          show the version and exit
  --help             show this and exit

Settings come from that file and from the environment: docs/configuration.md.
`;

const usageExitCode = 2;
const singleProcessLogin = "They run in one process (--single-process).";
/** How long a start that was asked to stop may still take before it is left. */
const startPatienceMs = 6_000;
/** Read by the command line, which often runs in the same shell. */
const clientVariables = ["PORTCULLIS_URL", "PORTCULLIS_PROFILE", "PORTCULLIS_TOKEN"];

export async function main(argv: readonly string[]): Promise<number> {
  const flags = readFlags(argv);
  if (typeof flags === "string") {
    process.stderr.write(`${flags}\n\n${usage}`);
    return usageExitCode;
  }
  if (flags.help) return say(usage);
  if (flags.version) return say(`${version()}\n`);
  const loaded = loadConfiguration({
    environment: flags.empty ? { ...process.env, PORTCULLIS_PAPER_SEED: "never" } : process.env,
    arguments: argv,
    readFile: (path) => readFileSync(path, "utf8"),
    alsoKnown: clientVariables,
  });
  if (!loaded.ok) {
    const count = loaded.complaints.length;
    process.stderr.write(`The configuration has ${count} ${count === 1 ? "mistake" : "mistakes"}:\n`);
    for (const complaint of loaded.complaints) process.stderr.write(`  - ${complaintLine(complaint)}\n`);
    return usageExitCode;
  }
  if (flags["print-config"]) return say(printConfiguration(loaded.configuration, loaded.sources));
  if (flags.adopt !== undefined && !installationForm.test(flags.adopt)) {
    process.stderr.write(
      `--adopt takes the id of an installation, as the refused start named it, not ${JSON.stringify(flags.adopt)}.\n`,
    );
    return usageExitCode;
  }
  if (flags["make-admin"] !== undefined) return makeAdminHere(loaded.configuration, flags["make-admin"], flags.adopt);
  const { mode, services } = loaded.configuration;
  if (flags["single-process"] && mode === "production" && services.length > 1) {
    process.stderr.write(
      "--single-process runs every service under one database login, which production refuses: leave it out.\n",
    );
    return usageExitCode;
  }
  return run(loaded.configuration, flags["single-process"] ? startHere : startProcesses, flags.adopt);
}

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: false,
      options: {
        adopt: { type: "string" },
        config: { type: "string" },
        "make-admin": { type: "string" },
        empty: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
        version: { type: "boolean", default: false },
        "print-config": { type: "boolean", default: false },
        "single-process": { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return messageOf(error);
  }
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function version(): string {
  const manifest = parseJson(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}

/** A platform that is starting or running: when it is ready, how to end it (at any time), and whether it gave up by itself. */
interface Running {
  readonly ready: Promise<void>;
  addresses(): Readonly<Record<string, string>>;
  processes(): Readonly<Record<string, number>>;
  readonly gaveUp: Promise<Fault>;
  stop(): Promise<void>;
}

type Start = (
  configuration: Configuration,
  foundation: Foundation,
  ports: FoundationPorts,
  changed: () => void,
) => Running;

async function run(configuration: Configuration, start: Start, adopt: string | undefined): Promise<number> {
  const kept = lateKeptLog();
  const log = logFor(configuration, kept);
  const ports = { clock: systemClock(), timers: systemTimers(), random: systemRandom(), log };
  const startedAt = ports.clock.now();
  const stopping = stopSignal(ports.log);
  const laid = new AbortController();
  let foundation: Foundation | undefined;
  let running: Running | undefined;
  const refresh = () => {
    if (foundation === undefined || running === undefined) return;
    try {
      const urls = httpUrls(configuration, running.addresses());
      writeRunFile(foundation.dataFolder, { ...runFile(foundation, running, format(startedAt)), urls });
    } catch (error) {
      // A full disk must not end the platform: the file is for people and scripts, nothing here reads it.
      ports.log.error("run.json could not be written", { error: messageOf(error) });
    }
  };
  try {
    foundation = await Promise.race([
      layFoundation(configuration, ports, adopt),
      leaveWhenAsked(stopping, laid.signal, ports),
    ]);
    laid.abort();
    const { dataFolder } = foundation;
    const isAlone = start === startHere;
    kept.keep(isAlone ? keptLogs(dataFolder, platformServices, "supervisor") : keptLog(dataFolder, "supervisor"));
    foundation.onRestart(refresh);
    if (stopping.asked()) return 0;
    if (!development(configuration)) {
      const { forgetDevelopmentOperators } = await import("./compose/gateway.ts");
      await forgetDevelopmentOperators(startInput(configuration, foundation), ports.log);
    }
    await tellConfiguration(startInput(configuration, foundation), ports.log);
    running = start(configuration, foundation, ports, refresh);
    await Promise.race([running.ready, stopping.signalled]);
    if (stopping.asked()) return 0;
    refresh();
    const tookMs = millisecondsBetween(startedAt, ports.clock.now());
    const developmentLogin = development(configuration);
    const busUrl = configuration.bus.url;
    const addresses = running.addresses();
    const urls = httpUrls(configuration, addresses);
    const extra = { addresses, urls, foundation, busUrl, tookMs, developmentLogin };
    const oneLogin = isAlone && configuration.services.length > 1 ? singleProcessLogin : foundation.logins.missing;
    const openBus = await openToAnybody(configuration);
    const exposed = { isInsecure: isOpenlyReached(configuration), clearText: allowedClearText(configuration) };
    process.stdout.write(banner({ ...extra, ...exposed, oneLogin, openBus }));
    const end = await Promise.race([stopping.signalled, running.gaveUp, foundation.gaveUp]);
    if (end instanceof Fault) throw end;
    return 0;
  } catch (error) {
    // Who asked for the stop does not need to hear that the start did not succeed.
    if (stopping.asked()) return 0;
    process.stderr.write(`Portcullis stops: ${messageOf(error)}\n`);
    return 1;
  } finally {
    // Each step is taken although the one before failed: whatever else is broken, the database must be stopped.
    const folder = foundation?.dataFolder;
    const steps = [() => running?.stop(), () => folder && removeRunFile(folder), () => foundation?.close()];
    for (const step of steps) await attempt(step, ports.log);
    ports.timers.release();
  }
}

/** What anybody could publish on the bus, for the banner; each process tries its own login as well, and its health says so. */
async function openToAnybody({ bus: { url, tls_ca_file: tlsCaFile } }: Configuration): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const { openToStrangers } = await import("./adapters/nats/guard.ts");
  return openToStrangers({ url, tlsCaFile });
}

/** On the data folder itself, with nothing else running on it. */
async function makeAdminHere(configuration: Configuration, name: string, adopt: string | undefined): Promise<number> {
  const log = logFor(configuration, lateKeptLog());
  const ports = { clock: systemClock(), timers: systemTimers(), random: systemRandom(), log };
  let foundation: Foundation | undefined;
  try {
    foundation = await layFoundation(configuration, ports, adopt);
    const { makeAdmin } = await import("./compose/local-admin.ts");
    return say(await makeAdmin(startInput(configuration, foundation), name, log));
  } catch (error) {
    process.stderr.write(`No admin was made: ${messageOf(error)}\n`);
    return 1;
  } finally {
    await attempt(() => foundation?.close(), log);
    ports.timers.release();
  }
}

async function attempt(step: () => unknown, log: Log): Promise<void> {
  try {
    await step();
  } catch (error) {
    log.error("a step of the stop failed", { error: messageOf(error) });
  }
}

/**
 * A start that hangs (a database that accepts and says nothing) cannot be undone step by step in time. Leaving is safe: nothing was
 * acknowledged yet, the kernel ends the database server with us, and the next start takes the lock over.
 */
async function leaveWhenAsked(stopping: StopSignal, laid: AbortSignal, ports: FoundationPorts): Promise<never> {
  await stopping.signalled;
  await ports.timers.sleep(startPatienceMs, laid);
  if (laid.aborted) return new Promise(() => undefined);
  ports.log.warn("the start did not end in time and is left as it is");
  process.exit(0);
}

interface StopSignal {
  asked(): boolean;
  readonly signalled: Promise<void>;
}

/** Hears the first SIGTERM, SIGINT or SIGHUP; further ones are taken and change nothing, because the stop is already under way. */
function stopSignal(log: Log): StopSignal {
  let asked = false;
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (!asked) log.info("stopping", { signal });
        asked = true;
        resolve();
      });
    }
  });
  return { asked: () => asked, signalled };
}

const startHere: Start = (configuration, foundation, { log }) => {
  const parts = configuration.services;
  let addresses: Readonly<Record<string, string>> = {};
  const composition = compose(serviceInput(configuration, foundation, parts, {}), undefined, log);
  return {
    ready: composition.then((started) => {
      addresses = started.addresses;
    }),
    addresses: () => addresses,
    processes: () => Object.fromEntries(parts.map((part) => [part, process.pid])),
    gaveUp: new Promise(() => undefined),
    stop: () =>
      composition.then(
        (started) => started.stop(),
        // It never started, which `ready` has already said; there is nothing to stop.
        () => undefined,
      ),
  };
};

const handOverBytes = 32;
const startProcesses: Start = (configuration, foundation, ports, changed) => {
  const { lifecycle } = configuration;
  const entry = fileURLToPath(new URL("service-process.js", import.meta.url));
  const node = findNodeRuntime(ports.log);
  const addresses: Record<string, string> = {};
  const handOver = Buffer.from(ports.random.bytes(handOverBytes)).toString("base64url");
  const isChosen = (name: string): boolean => (configuration.services as readonly string[]).includes(name);
  const canHaveBots = isChosen("gateway") && foundation.logins.targets?.bots !== undefined;
  const supervisor: Supervisor = createSupervisor({
    ...ports,
    parts: plans.filter(({ name }) => (name === "bots" ? canHaveBots : isChosen(name))),
    spawn: (name) =>
      spawnService({
        node,
        entry,
        name,
        input: {
          ...serviceInput(configuration, foundation, [name as PartName], addresses),
          ...(handedOver.includes(name) ? { handOver } : {}),
        },
        grant: (request) =>
          request.request === "keep"
            ? supervisor.keep(request.part, request.wanted)
            : supervisor.restart(request.parts),
      }),
    startTimeoutMs: lifecycle.start_timeout_s * 1_000,
    stopGraceMs: lifecycle.drain_timeout_s * 750,
    backoffFirstMs: lifecycle.restart_backoff_first_ms,
    backoffMaxMs: lifecycle.restart_backoff_max_ms,
    failuresMax: lifecycle.restart_failures_max,
    steadyMs: lifecycle.restart_steady_s * 1_000,
    changed: (parts) => {
      for (const part of parts) Object.assign(addresses, part.addresses);
      changed();
    },
  });
  return {
    ready: supervisor.start(),
    addresses: () => addresses,
    processes: () => Object.fromEntries(supervisor.parts().map((part) => [part.name, part.pid])),
    gaveUp: supervisor.gaveUp,
    stop: () => supervisor.stop(),
  };
};

/** Whether the development operators exist: only with the embedded provider, and never in production. */
function development(configuration: Configuration): boolean {
  return configuration.identity.issuer === undefined && configuration.mode === "development";
}

/** For what the start itself does before any service runs. */
function startInput(configuration: Configuration, foundation: Foundation): PartInput {
  const { services: parts } = configuration;
  return inputOn(foundation.database.app, false, { configuration, foundation, parts, addresses: {} });
}

/** A process of one service gets its own login; several in one process share one, as everything else. */
function serviceInput(
  configuration: Configuration,
  foundation: Foundation,
  parts: readonly PartName[],
  addresses: Readonly<Record<string, string>>,
): PartInput {
  const [only, ...others] = parts;
  const own = only === undefined || others.length > 0 ? undefined : foundation.logins.targets?.[only];
  const given = { configuration: settingsFor(parts, configuration), foundation, parts, addresses };
  const input = inputOn(own ?? foundation.database.app, own !== undefined, given);
  const lack = foundation.logins.targets?.bots === undefined ? { botsLack: noBotsLogin } : {};
  return { ...input, clearText: allowedClearText(configuration), ...(parts.includes("gateway") ? lack : {}) };
}

interface Given {
  readonly configuration: Configuration;
  readonly foundation: Foundation;
  readonly parts: readonly PartName[];
  readonly addresses: Readonly<Record<string, string>>;
}

function inputOn(
  database: PartInput["database"],
  hasOwnLogin: boolean,
  { configuration, foundation, parts, addresses }: Given,
): PartInput {
  const { dataFolder, runtimeFolder, databaseFolders, group } = foundation;
  const common = { configuration, parts, database, hasOwnLogin, dataFolder, runtimeFolder, databaseFolders, group };
  return { ...common, development: development(configuration), addresses: { ...addresses } };
}

function runFile(foundation: Foundation, running: Running, started_at: string): Omit<RunFile, "urls"> {
  const server = foundation.embedded();
  const { host, port, database } = foundation.database.owner;
  return {
    pid: process.pid,
    started_at,
    data_dir: foundation.dataFolder,
    addresses: running.addresses(),
    processes: running.processes(),
    database: {
      embedded: server !== undefined,
      host,
      port,
      name: database,
      ...(server === undefined ? {} : { pid: server.pid }),
    },
  };
}

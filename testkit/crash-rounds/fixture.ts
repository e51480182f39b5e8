// The world of the crash rounds: a data folder with its own PostgreSQL that waits for the disk, on NATS also a server with its store on
// disk, two writers, two subscribers and a relay, each a real process. Anything in it can be killed, alone or with others, and
// is brought back. Whatever happens, `close` leaves neither process nor folder behind.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfiguration } from "../../adapters/configuration/load-configuration.ts";
import type { Configuration } from "../../adapters/configuration/schema.ts";
import { type DatabaseAddress, openClient } from "../../adapters/postgres/connection.ts";
import { removeAbandoned } from "../abandoned.ts";
import { type NatsServer, startNatsServer } from "../nats-server.ts";
import { eventually, pause, temporaryFolder } from "../platform.ts";
import { quietLog } from "../quiet-log.ts";
import type { Prng } from "../virtual/prng.ts";
import { readJournals } from "./journal.ts";
import { effectSubject, sourceSubject, subscriptionName } from "./load.ts";
import type { Order } from "./order.ts";
import { createSlot, type Slot } from "./slot.ts";
import type { Evidence } from "./verdict.ts";

export type TransportName = "postgres" | "nats";

/** `keeper` owns the data folder and PostgreSQL; `backend` is one of PostgreSQL's sessions with a child. */
export type Victim = "writer" | "subscriber" | "keeper" | "postgres" | "backend" | "relay" | "nats-server";

export interface Fixture {
  readonly victims: readonly Victim[];
  /** kill -9; says whom exactly, or undefined when there was nobody to kill. */
  strike(victim: Victim, prng: Prng): Promise<string | undefined>;
  /** Starts whatever is dead until everything is ready, also when something is killed meanwhile. */
  restore(): Promise<void>;
  /** Resolves when the writers have nothing under way. */
  pauseWriters(): Promise<void>;
  resumeWriters(): void;
  /** Resolves when every source event was acted on, or after a while when some never are. */
  caughtUp(): Promise<void>;
  evidence(): Promise<Evidence>;
  /** Who ended without having been killed. */
  complaints(): readonly string[];
  lastWords(): string;
  close(): Promise<void>;
}

const readyMsMax = 60_000;
const caughtUpMsMax = 60_000;
const askMsMax = 10_000;
const stepMs = 20;

export async function openFixture(options: {
  readonly transport: TransportName;
  readonly program: string;
  readonly seed: number;
}): Promise<Fixture> {
  removeAbandoned(tmpdir(), "portcullis-crash");
  const folder = temporaryFolder(`crash-${process.pid}`);
  const place = { folder, journals: join(folder, "journals"), logs: join(folder, "logs") };
  mkdirSync(place.journals);
  mkdirSync(place.logs);
  let nats: NatsServer | undefined;
  try {
    if (options.transport === "nats") {
      nats = await startNatsServer({ jetStream: true, storeFolder: join(folder, "nats") });
    }
    const configuration = configure(join(folder, "data"), nats?.url);
    const fixture = createFixture({ ...options, ...place, configuration, nats });
    await fixture.restore().catch(async (error: unknown) => {
      const words = fixture.lastWords();
      await fixture.close();
      throw new Error(`the world did not come up: ${String(error)}\n${words}`);
    });
    return fixture;
  } catch (error) {
    await nats?.stop();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The platform's own configuration, but for a server that is killed more often than a healthy platform would bear. */
function configure(dataFolder: string, busUrl: string | undefined): Configuration {
  const environment = {
    PORTCULLIS_DATA_DIR: dataFolder,
    PORTCULLIS_DISK_RESERVE_MB: "0",
    ...(busUrl === undefined ? {} : { PORTCULLIS_BUS_URL: busUrl }),
  };
  const loaded = loadConfiguration({ environment, readFile: (path) => readFileSync(path, "utf8") });
  if (!loaded.ok) throw new Error(`the configuration was refused: ${JSON.stringify(loaded.complaints)}`);
  const lifecycle = { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200, restart_failures_max: 1_000 };
  return { ...loaded.configuration, lifecycle: { ...loaded.configuration.lifecycle, ...lifecycle } };
}

interface Setting {
  readonly transport: TransportName;
  readonly program: string;
  readonly seed: number;
  readonly folder: string;
  readonly journals: string;
  readonly logs: string;
  readonly configuration: Configuration;
  readonly nats: NatsServer | undefined;
}

interface Server {
  readonly pid: number;
  readonly address: DatabaseAddress;
}

function createFixture(setting: Setting): Fixture {
  const { nats, configuration } = setting;
  let server: Server | undefined;
  let address: DatabaseAddress | undefined;
  let natsIsDown = false;
  const paused = new Set<string>();

  function slot(name: string, order: (incarnation: string) => Order): Slot {
    const { program, logs } = setting;
    return createSlot({
      name,
      program,
      logFolder: logs,
      order,
      heard(word) {
        if (word.type === "paused") paused.add(name);
        else if (word.server !== undefined) {
          server = word.server;
          address = word.server.address;
        }
      },
    });
  }

  const connected = (incarnation: string) => {
    if (address === undefined) throw new Error(`${incarnation} was to start before the database`);
    const journalPath = join(setting.journals, `${incarnation}.ndjson`);
    return { name: incarnation, configuration, database: address.app, journalPath };
  };
  const keeper = slot("keeper", (name) => ({ role: "keeper", name, configuration }));
  const writers = ["writer-1", "writer-2"].map((each) =>
    slot(each, (name) => ({ role: "writer", seed: setting.seed, ...connected(name) })),
  );
  const subscribers = ["subscriber-1", "subscriber-2"].map((each) =>
    slot(each, (name) => ({ role: "subscriber", ...connected(name) })),
  );
  const relays = nats === undefined ? [] : [slot("relay", (name) => ({ role: "relay", ...connected(name) }))];
  const slots = [keeper, ...relays, ...subscribers, ...writers];

  async function query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    if (address === undefined) throw new Error("there is no database yet");
    const client = await openClient(address.owner, { log: quietLog, applicationName: "crash-rounds test" });
    try {
      return (await client.query(text, [...values])).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** A server whose session was killed drops all sessions and recovers: a question may have to wait for that. */
  async function ask<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    for (let waitedMs = 0; ; waitedMs += stepMs) {
      try {
        return await query<Row>(text, values);
      } catch (error) {
        if (waitedMs > askMsMax) throw error;
        await pause(stepMs);
      }
    }
  }

  async function killOne(among: readonly Slot[], prng: Prng): Promise<string | undefined> {
    const alive = among.filter((each) => each.alive());
    const chosen = alive[prng.below(alive.length)];
    if (chosen === keeper) server = undefined;
    await chosen?.kill();
    return chosen?.name;
  }

  function killServer(): string | undefined {
    const pid = server?.pid;
    server = undefined;
    return pid !== undefined && killOurs(pid, setting.folder) ? `postgres ${pid}` : undefined;
  }

  async function killBackend(prng: Prng): Promise<string | undefined> {
    const text =
      "select pid, application_name as name from pg_stat_activity where application_name like 'portcullis %.%'";
    // While the server is down or on its way up there is no session to kill.
    const found = await query<{ pid: number; name: string }>(text).catch(() => []);
    const chosen = found[prng.below(found.length)];
    if (chosen === undefined || !killOurs(chosen.pid, undefined)) return undefined;
    return `backend of ${chosen.name}`;
  }

  async function killNats(): Promise<string | undefined> {
    if (nats === undefined || natsIsDown) return undefined;
    natsIsDown = true;
    await nats.kill();
    return "nats-server";
  }

  const strikes: Readonly<Record<Victim, (prng: Prng) => Promise<string | undefined>>> = {
    writer: (prng) => killOne(writers, prng),
    subscriber: (prng) => killOne(subscribers, prng),
    relay: (prng) => killOne(relays, prng),
    keeper: (prng) => killOne([keeper], prng),
    postgres: async () => killServer(),
    backend: killBackend,
    "nats-server": killNats,
  };

  async function revive(): Promise<void> {
    if (nats !== undefined && natsIsDown) {
      await nats.restart();
      natsIsDown = false;
    }
    if (!keeper.running()) keeper.start();
    // The address is the same after every restart, so only the first start has to wait for it.
    if (address !== undefined) for (const each of slots) if (!each.running()) each.start();
  }

  async function caughtUp(): Promise<void> {
    const text = `select (select count(*) from outbox where subject = $1)
      = (select count(*) from handled_event where subscription = $2) as done`;
    const isDone = async () =>
      (await ask<{ done: boolean }>(text, [sourceSubject.name, subscriptionName]))[0]?.done === true;
    for (let waitedMs = 0; waitedMs < caughtUpMsMax && !(await isDone()); waitedMs += 50) await pause(50);
  }

  const complaints = () => slots.flatMap((each) => each.complaint() ?? []);

  return {
    victims: ["writer", "subscriber", "keeper", "postgres", "backend", ...natsVictims(setting.transport)],
    strike: (victim, prng) => strikes[victim](prng),
    async restore() {
      for (let waitedMs = 0; waitedMs < readyMsMax; waitedMs += stepMs) {
        await revive();
        if (complaints().length > 0) throw new Error(complaints().join("; "));
        if (server !== undefined && !natsIsDown && slots.every((each) => each.ready())) return;
        await pause(stepMs);
      }
      const waiting = slots.filter((each) => !each.ready()).map((each) => each.name);
      throw new Error(`not ready within ${readyMsMax} ms: ${waiting.join(", ") || "the database server"}`);
    },
    async pauseWriters() {
      paused.clear();
      for (const each of writers) each.send("pause");
      await eventually("the writers pause", () => paused.size === writers.length, readyMsMax);
    },
    resumeWriters() {
      for (const each of writers) each.send("resume");
    },
    caughtUp,
    evidence: async () => ({ entries: readJournals(setting.journals), ...(await rowsOf(ask)) }),
    complaints,
    lastWords: () => slots.map((each) => `--- ${each.name}\n${each.lastWords()}`).join("\n"),
    async close() {
      await Promise.all(slots.filter((each) => each !== keeper).map((each) => each.kill()));
      await keeper.stop();
      await nats?.stop();
      await endServers(setting.folder);
      if (process.env["PORTCULLIS_CRASH_KEEP"] === undefined)
        rmSync(setting.folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function natsVictims(transport: TransportName): readonly Victim[] {
  return transport === "nats" ? ["relay", "nats-server"] : [];
}

async function rowsOf(query: <Row>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>) {
  const text = `select id, event_id, key, convert_from(payload, 'UTF8')::json as payload from outbox
    where subject = $1 order by id`;
  const sources = await query<{
    id: string;
    event_id: string;
    key: string;
    payload: { actor: string; version: number };
  }>(text, [sourceSubject.name]);
  const effects = await query<{ id: string; key: string; payload: { target: string } }>(text, [effectSubject.name]);
  const parked = await query<{ event_id: string; error: string }>("select event_id, error from parked_event", []);
  return {
    sources: sources.map(({ id, event_id, key, payload }) => ({
      position: BigInt(id),
      id: event_id,
      key,
      author: payload.actor,
      number: payload.version,
    })),
    effects: effects.map(({ id, key, payload }) => ({ position: BigInt(id), key, cause: payload.target })),
    parked: parked.map(({ event_id, error }) => `${event_id} (${error})`),
  };
}

/** A keeper that had to be killed leaves its server to the kernel's signal, and a server can be deaf to that. */
async function endServers(folder: string): Promise<void> {
  const mains = () => allPids().filter((pid) => commandOf(pid)?.includes(`${join(folder, "data")}/`));
  await eventually("the server is gone", () => mains().length === 0, 2_000).catch(() => {
    for (const pid of mains()) killOurs(pid, folder);
  });
  await eventually("the killed server is gone", () => mains().length === 0);
}

function allPids(): readonly number[] {
  return readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) && Number(name) !== process.pid ? [Number(name)] : [],
  );
}

function commandOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // There is no such process any more.
    return undefined;
  }
}

/** Kills a process of our PostgreSQL only after looking at it: its number may be another process's by now. */
function killOurs(pid: number, folder: string | undefined): boolean {
  const command = commandOf(pid);
  if (command === undefined || !command.includes(folder ?? "postgres")) return false;
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    // It ended in between.
    return false;
  }
}

// Every service on a real nats-server with its own login and the permissions that the sample configuration gives it: what it needs
// works, and what is not its own is refused by the server, seen and logged.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PlatformService, platformServices } from "../../contracts/src/platform-services.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import { eventually, rejection } from "../../testkit/conformance/waiting.ts";
import { type NatsServer, natsServerBinary, startNatsServer } from "../../testkit/nats-server.ts";
import { noMetrics, noTracer } from "../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { exampleMark, exampleNav, exampleOrder } from "../../testkit/record-examples.ts";
import { loadConfiguration } from "../configuration/load-configuration.ts";
import { openClient } from "../postgres/connection.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openTransport, type Transport } from "../transport/open-transport.ts";
import { connectNats } from "./connect.ts";
import {
  inboxPrefix,
  natsAuthorization,
  natsServerConfiguration,
  natsUsers,
  passwordVariable,
} from "./server-configuration.ts";

/** The login of somebody's own that stands in comments. */
const example = "desk";
const users = [...natsUsers().map(({ name }) => name), example];
const passwordOf = (user: string): string => `p-${user}-secret`;
const at = "2026-11-15T00:00:00.000000Z";

let server: NatsServer;
let database: TestDatabase;
let folder: string;
/** Every line of every process, down to debug. */
const lines: string[] = [];
const complaints = (): string[] =>
  lines.filter((line) => /does not permit|without recording|could not|failed/.test(line));

function recordingLog(): Log {
  const write = (message: string, fields?: unknown): void =>
    void lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log: Log = { debug: write, info: write, warn: write, error: write, with: () => log };
  return log;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portcullis-logins-"));
  let configuration = natsAuthorization().replaceAll(/^ {4}# (?=[ {}])/gm, "    ");
  for (const user of users) {
    configuration = configuration.replace(`$${passwordVariable(user)}\n`, `${JSON.stringify(passwordOf(user))}\n`);
    await writeFile(join(folder, `${user}.creds`), `${user}:${passwordOf(user)}\n`, { mode: 0o600 });
  }
  expect(configuration).not.toContain("$NATS_");
  [server, database] = await Promise.all([startNatsServer({ jetStream: true, configuration }), testDatabase()]);
});

afterAll(async () => {
  await server.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function open(source: string, settings: Readonly<Record<string, string>> = {}): Promise<Transport> {
  const environment = { PORTCULLIS_BUS_URL: server.url, PORTCULLIS_BUS_CREDS_DIR: folder, ...settings };
  const loaded = loadConfiguration({ environment, readFile: () => "" });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.complaints));
  return openTransport({
    clock: systemClock(),
    timers: systemTimers(),
    random: systemRandom(),
    log: recordingLog(),
    metrics: noMetrics,
    tracer: noTracer,
    configuration: loaded.configuration,
    database: database.address.app,
    source,
    housekeeping: source.split("+").includes("operations"),
  });
}

function asUser(user: string): Promise<NatsConnection> {
  return connect({ servers: server.url, user, pass: passwordOf(user), inboxPrefix: inboxPrefix(user) });
}

/** What the server refused on that connection, in its own words for the operation. */
function refusals(connection: NatsConnection): string[] {
  const found: string[] = [];
  void (async () => {
    for await (const status of connection.status())
      if (status.type === "error" && "subject" in status.error) found.push(String(status.error.subject));
  })();
  return found;
}

describe("the sample configuration", () => {
  test("is what the table of authority makes of it", async () => {
    const path = new URL("../../deploy/nats/nats-server.conf", import.meta.url);
    expect(await readFile(path, "utf8"), "run npm run gen").toBe(natsServerConfiguration());
  });

  test("is understood by a nats-server", async () => {
    const env = Object.fromEntries(users.map((user) => [passwordVariable(user), passwordOf(user)]));
    const path = join(folder, "nats-server.conf");
    await writeFile(path, natsServerConfiguration());
    const { stdout, stderr } = await promisify(execFile)(await natsServerBinary(), ["-t", "-c", path], { env });
    expect(stdout + stderr).toContain("is valid");
  });
});

test("every service works with its own login: durable subscriptions, the relay, prices, restarts", async () => {
  const all = new Map<string, Transport>();
  const heard = new Map<string, BusEvent[]>();
  const marks = new Map<string, number>();

  async function start(service: PlatformService): Promise<void> {
    const transport = await open(service);
    all.set(service, transport);
    const events = heard.get(service) ?? [];
    heard.set(service, events);
    const patterns = [subjects.serviceStarted.name, subjects.navUpdated.name];
    const remember = async (event: BusEvent): Promise<void> => void events.push(event);
    await transport.bus.subscribe({ name: `${service}.both`, subjects: patterns }, remember);
    const listening = { subjects: [subjects.marketMarks.name], queueMax: 10, overflow: "drop-oldest" as const };
    await transport.bus.listen(listening, async () => void marks.set(service, (marks.get(service) ?? 0) + 1));
  }

  async function announce(service: string): Promise<void> {
    const payload = { service, incarnation: "i", host: "h", pid: 1, at };
    await all
      .get(service)
      ?.store.transact("test.start", (unit) => unit.events.publish(subjects.serviceStarted, payload));
  }

  const counts = (): number[] => platformServices.map((service) => heard.get(service)?.length ?? 0);
  // The relay's process comes last, so that somebody else makes the stream.
  const order = [...platformServices].sort(
    (one, other) => Number(one === "operations") - Number(other === "operations"),
  );
  for (const service of order) await start(service);
  for (const service of platformServices) await announce(service);
  await eventually({}, "six events for six services", () => counts().every((count) => count === 6), counts);
  await eventually({}, "a price for everybody", () => {
    all.get("operations")?.bus.broadcast(subjects.marketMarks, exampleMark);
    return platformServices.every((service) => (marks.get(service) ?? 0) > 0);
  });
  for (const [service, transport] of all)
    expect([service, transport.bus.health()]).toEqual([service, { connected: true }]);

  for (const transport of all.values()) await transport.close();
  for (const service of order) await start(service);
  await all.get("treasury")?.store.transact("test.nav", (unit) => unit.events.publish(subjects.navUpdated, exampleNav));
  await eventually({}, "one more for everybody", () => counts().every((count) => count === 7), counts);
  for (const [service, transport] of all) await transport.bus.forget(`${service}.both`);
  for (const transport of all.values()) await transport.close();
  expect(complaints()).toEqual([]);
  const operations = await asUser("operations");
  await (await jetstreamManager(operations)).streams.purge("PORTCULLIS", { seq: 2 });
  await operations.close();
});

test("several services in one process share the login of the one that relays", async () => {
  const transport = await open("riskengine+operations");
  const heard: string[] = [];
  await transport.bus.subscribe(
    { name: "test.shared", subjects: [subjects.serviceStopped.name] },
    async (event) => void heard.push(event.source),
  );
  const payload = { service: "riskengine", incarnation: "i", host: "h", pid: 1, at };
  await transport.store.transact("test.stop", (unit) => unit.events.publish(subjects.serviceStopped, payload));
  await eventually({}, "the event", () => heard.length === 1);
  expect(heard).toEqual(["riskengine+operations"]);
  await transport.bus.forget("test.shared");
  await transport.close();
  expect(complaints()).toEqual([]);
});

test("a program in the place of order management publishes its subjects, and a service hears them as foreign", async () => {
  const riskengine = await open("riskengine");
  const heard: BusEvent[] = [];
  await riskengine.bus.subscribe({ name: "test.foreign", subjects: [subjects.ordersCreated.name] }, async (event) => {
    if (event.source === "foreign") heard.push(event);
  });
  const connection = await asUser("foreign-oms");
  const answer = await jetstream(connection).publish(subjects.ordersCreated.name, JSON.stringify(exampleOrder));
  expect(answer.stream).toBe("PORTCULLIS");
  await eventually(
    {},
    "the order",
    () => heard.length === 1,
    () => lines,
  );
  await connection.close();
  await riskengine.bus.forget("test.foreign");
  await riskengine.close();
});

test("a login of somebody's own is heard below its prefix, as the token that names it, with its prices", async () => {
  const riskengine = await open("riskengine");
  const heard: BusEvent[] = [];
  const wanted = { name: "test.login", subjects: [subjects.ordersCreated.name], proved: true };
  const hear = async (event: BusEvent): Promise<void> => {
    if (event.login === example) heard.push(event);
  };
  await riskengine.bus.subscribe(wanted, hear);
  const lossy = { subjects: [subjects.marketMarks.name], queueMax: 100, overflow: "drop-oldest" } as const;
  await riskengine.bus.listen(lossy, hear);
  const connection = await asUser(example);
  const forged = headers();
  forged.set("Portcullis-Source", "operations");
  const [order, mark] = [JSON.stringify(exampleOrder), JSON.stringify({ ...exampleMark, source: "paper" })];
  const say = async (): Promise<BusEvent[]> => {
    heard.length = 0;
    const name = `foreign.${example}.${subjects.ordersCreated.name}`;
    expect((await jetstream(connection).publish(name, order, { headers: forged })).stream).toBe("PORTCULLIS");
    connection.publish(`transient.foreign.${example}.${subjects.marketMarks.name}`, mark, { headers: forged });
    await eventually(
      {},
      "both",
      () => heard.length === 2,
      () => lines,
    );
    return heard.toSorted((one, other) => one.subject.localeCompare(other.subject));
  };
  const mine = `foreign.${example}`;
  expect(await say()).toMatchObject([
    { login: example, source: mine, payload: { source: mine } },
    { subject: subjects.ordersCreated.name, login: example, source: mine },
  ]);
  const owner = await openClient(database.address.owner, { log: recordingLog(), applicationName: "test" });
  await owner.query(
    `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us, nats_logins)
     values ('t-1', 'house', 'x', '{}', 'x', 1, 2, $1)`,
    [[example]],
  );
  await expect
    .poll(async () => (await say()).map(({ source }) => source), { timeout: 10_000 })
    .toEqual(["house", "house"]);
  expect(heard.find(({ subject }) => subject === subjects.marketMarks.name)?.payload).toMatchObject({
    source: "house",
  });
  // Another token of the same name works still, as during a rotation; then none does.
  await owner.query(
    `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us, nats_logins)
     values ('t-0', 'house', 'y', '{}', 'x', 0, 9000000000000000, $1)`,
    [[example]],
  );
  await owner.query("update service_token set revoked_us = 1, revoked_by = 'x' where id = 't-1'");
  expect(await say()).toMatchObject([{ source: "house" }, { source: "house" }]);
  await owner.query("update service_token set revoked_us = 1, revoked_by = 'x'");
  const revoked = (): boolean => heard.some(({ isRevoked, source }) => isRevoked === true && source === "house");
  await eventually({}, "the end of the token", async () => {
    heard.length = 0;
    await jetstream(connection).publish(`foreign.${example}.${subjects.ordersCreated.name}`, order);
    return revoked();
  });
  await owner.query("delete from service_token");
  await owner.end();
  await connection.close();
  await riskengine.bus.forget("test.login");
  await riskengine.close();
});

const durable = (name: string, filter: string) =>
  ({ durable_name: name, filter_subject: filter, ack_policy: "explicit" }) as const;

test.each([
  ["foreign-oms", "foreign-oms-halts", "svc.v1.operations.halt.>", subjects.haltRequested.name],
  ["foreign-oms", "foreign-oms-decisions", "svc.v1.risk.decision.made", subjects.decisionMade.name],
  ["foreign-treasury", "foreign-treasury-fills", "svc.v1.oms.fills.>", subjects.fillsCreated.name],
  ["foreign-prices", "foreign-prices-alarms", "svc.v1.operations.alarm.raised", subjects.alarmRaised.name],
])("%s has a durable consumer %s, which goes on where it was", async (user, name, filter, subject) => {
  const relay = await asUser("operations");
  const send = (text: string) => jetstream(relay).publish(subject, JSON.stringify({ text }));
  const connection = await asUser(user);
  const manager = await jetstreamManager(connection);
  await manager.consumers.add("PORTCULLIS", durable(name, filter));
  await send(`${name} one`);
  const next = async (): Promise<string> => {
    const consumer = await jetstream(connection).consumers.get("PORTCULLIS", name);
    const message = await consumer.next({ expires: 10_000 });
    expect(await message?.ackAck()).toBe(true);
    return message?.string() ?? "";
  };
  await eventually({}, "the first", async () => (await next()).includes(`${name} one`));
  await connection.close();
  await send(`${name} two`);
  const again = await asUser(user);
  const consumer = await jetstream(again).consumers.get("PORTCULLIS", name);
  expect((await consumer.next({ expires: 10_000 }))?.string()).toContain(`${name} two`);
  await (await jetstreamManager(again)).consumers.delete("PORTCULLIS", name);
  await again.close();
  await relay.close();
});

describe("the server refuses", () => {
  test.each([
    ["foreign-oms", "foreign-oms-halts", "svc.v1.oms.>"],
    ["foreign-oms", "foreign-oms-halts", "svc.v1.>"],
    ["foreign-oms", "foreign-oms-else", "svc.v1.operations.halt.>"],
    ["foreign-oms", "riskengine_fills", "svc.v1.operations.halt.>"],
    ["foreign-oms", "foreign-treasury-fills", "svc.v1.oms.fills.>"],
    ["foreign-treasury", "foreign-treasury-fills", "svc.v1.identity.>"],
    ["foreign-treasury", "foreign-oms-halts", "svc.v1.operations.halt.>"],
    ["foreign-prices", "foreign-prices-alarms", "svc.v1.oms.fills.>"],
    ["foreign-prices", "foreign-oms-halts", "svc.v1.operations.halt.>"],
  ])("%s a durable consumer %s of %s", async (user, name, filter) => {
    const connection = await asUser(user);
    const manager = await jetstreamManager(connection, { timeout: 2_000 });
    await expect(manager.consumers.add("PORTCULLIS", durable(name, filter))).rejects.toThrow();
    await connection.close();
  });

  test("a program in our place whatever it has no business with: others' consumers, streams, inboxes and what is not for it to hear", async () => {
    for (const user of users.filter((name) => name.startsWith("foreign-") || name === example)) {
      const connection = await asUser(user);
      const refused = refusals(connection);
      const published = [
        ...["CONSUMER.DURABLE.CREATE.PORTCULLIS.mine", "CONSUMER.CREATE.PORTCULLIS.mine", "CONSUMER.CREATE.PORTCULLIS"],
        ...["CONSUMER.LIST.PORTCULLIS", "CONSUMER.DELETE.PORTCULLIS.riskengine_fills", "STREAM.MSG.GET.PORTCULLIS"],
        ...["CONSUMER.MSG.NEXT.PORTCULLIS.riskengine_fills", "CONSUMER.INFO.PORTCULLIS.riskengine_fills"],
        ...["STREAM.CREATE.PORTCULLIS", "STREAM.NAMES", "DIRECT.GET.PORTCULLIS"],
      ].map((name) => `$JS.API.${name}`);
      const sent = [...published, "$JS.ACK.PORTCULLIS.riskengine_fills.1.1.1.1.1", "_INBOX.riskengine.x"];
      const heard = ["svc.v1.>", "svc.v1.identity.>", "transient.>", "_INBOX.>", "$JS.API.>"];
      for (const name of sent) connection.publish(name, "{}");
      for (const name of heard) connection.subscribe(name, { callback: () => undefined });
      await connection.flush();
      const expected = [...sent, ...heard].sort();
      await eventually(
        {},
        "the refusals",
        () => refused.length >= expected.length,
        () => refused,
      );
      expect([user, ...refused.sort()]).toEqual([user, ...expected]);
      await connection.close();
    }
  });

  const allowedTo: Readonly<Record<string, RegExp>> = {
    operations: /^svc\.v1\.|^transient\.svc\.v1\.market\.marks$|^transient\.own\.svc\.v1\./,
    "foreign-oms": /^(foreign\.foreign-oms\.)?svc\.v1\.oms\.(orders|fills)\./,
    "foreign-treasury": /^svc\.v1\.treasury\.nav\.updated$/,
    "foreign-prices": /^transient\.svc\.v1\.market\.marks$/,
    [example]:
      /^(foreign\.desk\.svc\.v1\.(oms\.(orders|fills)\.|treasury\.nav\.updated$)|transient\.foreign\.desk\.svc\.v1\.market\.marks$)/,
  };
  const everyName = Object.values(subjects).map(({ name }) => name);

  test.each(users)("%s everything on the bus that is not its own", async (user) => {
    const connection = await asUser(user);
    const refused = refusals(connection);
    const below = ["foreign.foreign-oms.", "foreign.desk."].flatMap((prefix) => everyName.map((name) => prefix + name));
    const stored = [...everyName, ...below];
    const lossy = [...stored, ...everyName.map((name) => `own.${name}`)].map((name) => `transient.${name}`);
    const tried = [...stored, ...lossy, "svc.v1.invented", "else.where"];
    for (const name of tried) connection.publish(name, "{}");
    await connection.flush();
    const allowed = tried.filter((name) => allowedTo[user]?.test(name) ?? false);
    const expected = tried.filter((name) => !allowed.includes(name)).sort();
    await eventually(
      {},
      "the refusals",
      () => refused.length >= expected.length,
      () => refused.length,
    );
    expect(refused.sort()).toEqual(expected);
    await connection.close();
  });

  test("whoever would harm the stream or read another's inbox", async () => {
    for (const user of users.filter((name) => name !== "operations")) {
      const connection = await asUser(user);
      const refused = refusals(connection);
      const harmful = ["STREAM.DELETE.PORTCULLIS", "STREAM.UPDATE.PORTCULLIS", "STREAM.PURGE.PORTCULLIS"];
      const api = [...harmful, "STREAM.MSG.DELETE.PORTCULLIS", "STREAM.CREATE.OTHER", "STREAM.INFO.OTHER"];
      const names = [...api.map((name) => `$JS.API.${name}`), "_INBOX.operations.answer", "$SYS.REQ.SERVER.PING"];
      for (const name of names) connection.publish(name, "");
      connection.subscribe("_INBOX.operations.>", { callback: () => undefined });
      connection.subscribe(">", { callback: () => undefined });
      await connection.flush();
      const expected = [...names, "_INBOX.operations.>", ">"].sort();
      await eventually(
        {},
        "the refusals",
        () => refused.length >= expected.length,
        () => refused,
      );
      expect([user, ...refused.sort()]).toEqual([user, ...expected]);
      await connection.close();
    }
  });

  test("a process of ours, which notes it by its subject and goes on", async () => {
    lines.length = 0;
    const credsFile = join(folder, "riskengine.creds");
    const options = { url: server.url, name: "test", credsFile, inboxPrefix: inboxPrefix("riskengine") };
    const link = await connectNats({ ...options, log: recordingLog() });
    const { state: before } = await link.manager.streams.info("PORTCULLIS");
    link.connection.publish(subjects.haltLifted.name, "{}");
    const stored = link.stream.publish(subjects.haltLifted.name, "{}", { timeout: 2_000 });
    expect(await rejection(stored, "the publish")).toBeInstanceOf(Error);
    await eventually(
      {},
      "the note",
      () => complaints().length >= 1,
      () => lines,
    );
    expect(complaints()[0]).toContain("NATS does not permit this login what it tried");
    expect(complaints()[0]).toContain(`"operation":"publish","subject":"${subjects.haltLifted.name}"`);
    expect(link.health()).toEqual({ connected: true });
    const { state: after } = await link.manager.streams.info("PORTCULLIS");
    expect(after.last_seq).toBe(before.last_seq);
    await link.close();
    expect(lines.join("\n")).not.toContain(passwordOf("riskengine"));
    lines.length = 0;
  });
});

test("a login that is missing, open to others or no login at all is named with its file before anything starts", async () => {
  const empty = await mkdtemp(join(tmpdir(), "portcullis-logins-"));
  const settings = { PORTCULLIS_BUS_CREDS_DIR: empty };
  const path = join(empty, "treasury.creds");
  expect(String(await rejection(open("treasury", settings), "a start without a login"))).toContain(
    `The NATS credentials file ${path} cannot be read`,
  );
  await writeFile(path, `treasury:${passwordOf("treasury")}\n`, { mode: 0o644 });
  expect(String(await rejection(open("treasury", settings), "an open file"))).toContain(
    `${path} is open to others (mode 0644)`,
  );
  await rm(empty, { recursive: true });
});

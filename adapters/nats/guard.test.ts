// A NATS server that lets anybody publish is found by trying, and then no fill is believed that the outbox does not have.
import { jetstream } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { BusEvent } from "../../ports/bus.ts";
import { eventually } from "../../testkit/conformance/waiting.ts";
import { type NatsServer, startNatsServer } from "../../testkit/nats-server.ts";
import { noMetrics, noTracer } from "../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { loadConfiguration } from "../configuration/load-configuration.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openTransport, type Transport } from "../transport/open-transport.ts";
import { openToStrangers } from "./guard.ts";

const fills = subjects.fillsCreated.name;
let open: NatsServer;
let database: TestDatabase;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [open, database] = await Promise.all([startNatsServer({ jetStream: true }), testDatabase()]);
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

afterAll(async () => {
  await open.stop();
  await database.drop();
});

async function transport(url: string, settings: { source?: string; production?: boolean } = {}): Promise<Transport> {
  const { source = "operations", production = false } = settings;
  const loaded = loadConfiguration({ environment: { PORTCULLIS_BUS_URL: url }, readFile: () => "" });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.complaints));
  const mode = production ? "production" : "development";
  const made = await openTransport({
    clock: systemClock(),
    timers: systemTimers(),
    random: systemRandom(),
    log: quietLog,
    metrics: noMetrics,
    tracer: noTracer,
    configuration: { ...loaded.configuration, mode },
    database: database.address.app,
    source,
    housekeeping: source.includes("operations"),
  });
  ends.push(() => made.close());
  return made;
}

async function stranger(server: NatsServer): Promise<NatsConnection> {
  const made = await connect({ servers: server.url });
  ends.push(() => made.close());
  return made;
}

async function withUsers(users: string): Promise<NatsServer> {
  const server = await startNatsServer({ jetStream: true, configuration: `authorization { users: [ ${users} ] }` });
  ends.push(() => server.stop());
  return server;
}

const urlAs = ({ port }: NatsServer, user: string): string => `nats://${user}:p-secret@127.0.0.1:${port}`;

test("28.5: a server without a login is reported in development and ends the start in production", async () => {
  const anybody = await stranger(open);
  const heard: string[] = [];
  anybody.subscribe(">", { callback: (_error, message) => void heard.push(message.subject) });
  await anybody.flush();
  const { bus } = await transport(open.url);
  const health = bus.health();
  expect(health.connected).toBe(true);
  expect(health.note).toContain("lets anybody publish without a login");
  // What was tried was sent, so the note is true, and nothing of it is kept.
  expect(heard).toContain("svc.v1.probe");
  const manager = await jetstream(anybody).jetstreamManager();
  expect((await manager.streams.info("PORTCULLIS")).state.messages).toBe(0);
  await expect(transport(open.url, { production: true })).rejects.toThrow("lets anybody publish without a login");
});

test("28.5: on such a server a fill without its row is held back until somebody asks for it, and one of ours is not", async () => {
  const { bus, store } = await transport(open.url, { source: "oms+operations" });
  const heard: BusEvent[] = [];
  const options = { name: "test.money", subjects: [fills], parks: false, lane: () => "alpha" };
  await bus.subscribe(options, async (event) => void heard.push(event));
  const anybody = jetstream(await stranger(open));
  const fill = (id: string) => JSON.stringify({ ...exampleFill, fill_id: id });
  const forged = headers();
  // The header that our relay writes, with a place in the outbox that has another event or none.
  for (const [name, value] of [
    ["Portcullis-Position", "1"],
    ["Portcullis-Source", "oms"],
  ] as const)
    forged.set(name, value);
  await anybody.publish(fills, fill("f-forged"), { headers: forged, msgID: "forged" });
  await anybody.publish(fills, fill("f-foreign"), { msgID: "foreign" });
  await store.transact("test.fill", (unit) =>
    unit.events.publish(subjects.fillsCreated, { ...exampleFill, fill_id: "f-own" }),
  );
  const names = () => heard.map(({ payload }) => (payload as { fill_id: string }).fill_id);
  await eventually({}, "our own fill", () => names().includes("f-own"), names);
  expect(names()).toEqual(["f-own"]);
  const listed = () => store.transact("parked.look", (unit) => unit.parked.list(10));
  const aside = await listed();
  expect(aside.map(({ eventId, state }) => [eventId, state]).sort()).toEqual([
    ["unproved foreign", "PARKED"],
    ["unproved forged", "PARKED"],
  ]);
  for (const { error } of aside) expect(error).toContain("Held back");
  const asked = { at: systemClock().now(), by: "operator:duty", reason: "the venue confirms it" };
  await store.transact("parked.retry", async (unit) => {
    await unit.parked.askRetry("test.money", "unproved foreign", asked);
    const { by: operator, reason } = asked;
    const attempt = { operator, verb: "RetryParked", target: "unproved foreign", allowed: true, reason };
    await unit.events.publish(subjects.operatorAttempted, { ...attempt, at: format(asked.at) });
  });
  await eventually({}, "the one that was asked for", () => names().includes("f-foreign"), names);
  await eventually({}, "gone from the list", async () => (await listed()).length === 1);
  expect(names()).toEqual(["f-own", "f-foreign"]);
  await bus.forget("test.money");
});

test("28.5: a login that may publish everything is found, and so is a server that takes in strangers beside its users", async () => {
  const wide = await withUsers(`{ user: all, password: "p-secret" }`);
  expect(await openToStrangers({ url: wide.url })).toBeUndefined();
  const { bus } = await transport(urlAs(wide, "all"), { source: "riskengine" });
  expect(bus.health().note).toContain("lets the login of riskengine publish svc.v1.probe");
  await expect(transport(urlAs(wide, "all"), { source: "riskengine", production: true })).rejects.toThrow(
    "permissions are not kept",
  );
  const guest = await startNatsServer({
    jetStream: true,
    configuration: `authorization { users: [ { user: guest, password: "p-secret" } ] }\nno_auth_user: guest`,
  });
  ends.push(() => guest.stop());
  expect(await openToStrangers({ url: guest.url })).toContain("lets anybody publish without a login");
  expect(await openToStrangers({ url: "nats://127.0.0.1:1" })).toContain("could not be tried");
});

test("28.5: behind logins that are held to their subjects foreign fills are believed, and after a reconnect it is tried again", async () => {
  const permitted = `permissions { publish: ["$JS.>", "${fills}", "_INBOX.>"], subscribe: ">" }`;
  const server = await withUsers(`{ user: ours, password: "p-secret", ${permitted} }`);
  const { bus } = await transport(urlAs(server, "ours"), { source: "riskengine" });
  expect(bus.health().note).toBeUndefined();
  const heard: BusEvent[] = [];
  const options = { name: "test.guarded", subjects: [fills], parks: false, lane: () => "alpha" };
  await bus.subscribe(options, async (event) => void heard.push(event));
  const publish = async (id: string) => {
    const made = await connect({ servers: server.url, user: "ours", pass: "p-secret" });
    await jetstream(made).publish(fills, JSON.stringify({ ...exampleFill, fill_id: id }), { msgID: id });
    await made.close();
  };
  await publish("f-1");
  await eventually({}, "the first", () => heard.length === 1);
  await server.kill();
  await server.restart();
  await eventually({}, "connected again", () => bus.health().connected);
  await publish("f-2");
  await eventually(
    {},
    "the second",
    () => heard.length === 2,
    () => heard.length,
  );
  expect(bus.health().note).toBeUndefined();
});

test("28.5: a server that is open after a reconnect is found without waiting for a fill", async () => {
  const permitted = `permissions { publish: ["$JS.>", "_INBOX.>"], subscribe: ">" }`;
  const closed = await startNatsServer({
    jetStream: true,
    configuration: `authorization { users: [ { user: ours, password: "p-secret", ${permitted} } ] }`,
  });
  const { bus } = await transport(urlAs(closed, "ours"), { source: "riskengine", production: true });
  await expect.poll(() => bus.health().complaint).toBeUndefined();
  await closed.stop();
  const other = await startNatsServer({ jetStream: true, port: closed.port });
  ends.push(() => other.stop());
  const wrong = () => bus.health().complaint ?? "";
  await eventually({}, "the new server is tried", () => wrong().includes("lets anybody publish"), wrong);
});

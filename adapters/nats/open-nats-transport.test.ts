// The NATS transport as a process opens it: what the configuration says reaches the server, and a start that fails leaves no
// connection behind.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { DiscardPolicy, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { type NatsServer, startNatsServer } from "../../testkit/nats-server.ts";
import { noMetrics } from "../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { loadConfiguration } from "../configuration/load-configuration.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openTransport } from "../transport/open-transport.ts";

let monitorPort: number;
let server: NatsServer;
let database: TestDatabase;

beforeEach(async () => {
  monitorPort = await freePort();
  const configuration = `http: "127.0.0.1:${monitorPort}"`;
  [server, database] = await Promise.all([startNatsServer({ jetStream: true, configuration }), testDatabase()]);
});

afterEach(async () => {
  await server.stop();
  await database.drop();
});

async function open(settings: Readonly<Record<string, string>>) {
  const loaded = loadConfiguration({
    environment: { PORTCULLIS_BUS_URL: server.url, ...settings },
    readFile: () => "",
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.complaints));
  const ports = { clock: systemClock(), timers: systemTimers(), random: systemRandom(), log: quietLog };
  const tracer = { span: <T>(_name: string, _fields: unknown, work: () => Promise<T>) => work() };
  const { configuration } = loaded;
  const shared = { ...ports, metrics: noMetrics, tracer, configuration };
  return openTransport({ ...shared, database: database.address.app, source: "test", housekeeping: true });
}

/** How many connections the server has now, as it says itself. */
async function connectionCount(): Promise<number> {
  const answer = await fetchOnNewConnection(`http://127.0.0.1:${monitorPort}/connz`);
  return ((await answer.json()) as { num_connections: number }).num_connections;
}

async function freePort(): Promise<number> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, "close");
  return port;
}

test("a start that fails on the stream leaves no connection behind", async () => {
  const foreign = await connect({ servers: server.url });
  const manager = await jetstreamManager(foreign);
  await manager.streams.add({ name: "PORTCULLIS", subjects: ["other.>"], discard: DiscardPolicy.Old });
  await expect(open({})).rejects.toThrow("discard is old");
  await expect.poll(connectionCount).toBe(1);
  await manager.streams.delete("PORTCULLIS");
  const transport = await open({});
  // The bus and the relay have one each.
  await expect.poll(connectionCount).toBe(3);
  await transport.close();
  await expect.poll(connectionCount).toBe(1);
  await foreign.close();
});

test("the configured size is the stream's, and a file that is not there is named", async () => {
  const transport = await open({ PORTCULLIS_BUS_BYTES_MAX: "5000000" });
  const connection = await connect({ servers: server.url });
  const manager = await jetstreamManager(connection);
  const { config } = await manager.streams.info("PORTCULLIS");
  expect(config).toMatchObject({ max_bytes: 5_000_000, num_replicas: 1 });
  await expect
    .poll(() => transport.bus.health())
    .toEqual({ connected: true, note: expect.stringContaining("lets anybody publish") });
  await transport.close();
  await manager.streams.delete("PORTCULLIS");
  await connection.close();
  await expect(open({ PORTCULLIS_BUS_CREDS_FILE: "/nowhere/user.creds" })).rejects.toThrow("/nowhere/user.creds");
  await expect(open({ PORTCULLIS_BUS_TLS_CA_FILE: "/nowhere/ca.pem" })).rejects.toThrow("/nowhere/ca.pem");
  // One server alone cannot keep three copies: its refusal shows that it was asked.
  await expect(open({ PORTCULLIS_BUS_REPLICAS: "3" })).rejects.toThrow(/replicas/);
});

// The bus on NATS beside the same work done by hand: single-event transactions, carried from the outbox to a stream and
// consumed there. By hand means what a programmer would write with the same libraries: rows are read behind a cursor,
// published a page at a time with message ids, the cursor moves when all are answered, and a durable consumer
// acknowledges each event.
import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type pg from "pg";
import { createNatsBus } from "../../adapters/nats/bus.ts";
import { connectNats } from "../../adapters/nats/connect.ts";
import { createLogins } from "../../adapters/nats/logins/logins.ts";
import { createLocks, relayedOnPostgres, relayOnPostgres } from "../../adapters/nats/on-postgres.ts";
import { startRelay } from "../../adapters/nats/relay.ts";
import { createBusSession } from "../../adapters/postgres/bus/bus-session.ts";
import { proveOnPostgres } from "../../adapters/postgres/bus/outbox-proof.ts";
import { createWake } from "../../adapters/postgres/bus/wake.ts";
import { type DatabaseAddress, openClient, openPool } from "../../adapters/postgres/connection.ts";
import { createPostgresStore } from "../../adapters/postgres/store.ts";
import { everySubject } from "../../contracts/src/subjects.ts";
import { noAsideStore } from "../../testkit/no-aside.ts";
import { type Contender, readerLoop } from "./contender.ts";
import { openRawTable } from "./raw-table.ts";
import { benchTools, lookupTicket, type Ticket, ticket, ticketWritten } from "./ticket.ts";

const streamBytesMax = 2_147_483_648;
/** Rows that the relay publishes at a time. */
const pageMax = 256;

export async function openNats(address: DatabaseAddress, natsUrl: string, writers: number): Promise<Contender> {
  const tools = benchTools();
  const connection = { log: tools.log, applicationName: "bench nats" };
  const open = (): Promise<pg.Client> => openClient(address.app, connection);
  const pool = openPool(address.app, { ...connection, sizeMax: writers });
  const wake = createWake({ ...tools, open });
  const session = createBusSession({ ...tools, open, holder: "bench" });
  const locks = createLocks({ ...tools, open });
  const store = createPostgresStore({ ...tools, pool, wake });
  const link = () => connectNats({ url: natsUrl, name: "bench", log: tools.log });
  const stream = { name: "BENCH", subjects: [everySubject], bytesMax: streamBytesMax };
  const park = () => Promise.reject(new Error("the bench parks nothing"));
  const parking = { ...noAsideStore, put: park };
  const head = () => session.end();
  const relayed = () => relayedOnPostgres(session);
  const prove = proveOnPostgres(session.run);
  const guard = { isClosed: async () => true, mayPublishOwn: () => true };
  const logins = createLogins({ clock: tools.clock, read: async () => new Map() });
  const asked = { lead: locks.lead, parking, prove, guard, logins, head, relayed };
  const bus = await createNatsBus({ ...tools, ...asked, link: await link(), stream, lookup: lookupTicket });
  await session.opened(new AbortController().signal);
  const lead = relayOnPostgres({ ...tools, session, patterns: [everySubject] });
  const relay = startRelay({
    ...tools,
    link: await link(),
    stream,
    lead,
    park,
    windowMax: pageMax,
    onPoke: wake.onPoke,
  });
  const contender: Contender = {
    name: "nats",
    mayLose: false,
    onHandled: () => undefined,
    async publish(n) {
      await store.transact("bench.publish", (unit) => unit.events.publish(ticketWritten, ticket(n)));
    },
    async close() {
      await bus.close();
      await relay.close();
      await store.close();
      await Promise.all([wake.close(), session.close(), locks.close()]);
      await pool.end();
    },
  };
  await bus.subscribe({ name: "bench", subjects: [ticketWritten.name] }, async (event) => {
    contender.onHandled((event.payload as Ticket).n);
  });
  return contender;
}

export async function openNatsRaw(address: DatabaseAddress, natsUrl: string, writers: number): Promise<Contender> {
  const table = await openRawTable(address, { connections: writers, pageMax });
  const open = () => connect({ servers: natsUrl, noAsyncTraces: true });
  const publisher = await open();
  const subscriber = await open();
  const manager = await jetstreamManager(publisher);
  await manager.streams.add({ name: "BENCH_RAW", subjects: ["raw.>"], max_bytes: streamBytesMax, discard: "new" });
  await manager.consumers.add("BENCH_RAW", { durable_name: "raw", ack_policy: AckPolicy.Explicit });
  const consumer = await jetstream(subscriber).consumers.get("BENCH_RAW", "raw");
  const messages = await consumer.consume({ max_messages: 500 });
  const stream = jetstream(publisher);
  const contender: Contender = {
    name: "nats_raw",
    mayLose: true,
    onHandled: () => undefined,
    async publish(n) {
      carrying.check();
      consuming.check();
      await table.insert(n);
    },
    async close() {
      await table.close();
      await carrying.ended;
      await messages.close();
      await consuming.ended;
      await Promise.all([publisher.close(), subscriber.close()]);
    },
  };
  const carrying = readerLoop(async () => {
    for (let rows = await table.next(); rows.length > 0; rows = await table.next()) {
      await Promise.all(rows.map(([, eventId, text]) => stream.publish("raw.ticket", text, { msgID: eventId })));
      await table.moveCursor();
    }
  });
  const consuming = readerLoop(async () => {
    for await (const message of messages) {
      contender.onHandled(message.json<Ticket>().n);
      message.ack();
    }
  });
  return contender;
}

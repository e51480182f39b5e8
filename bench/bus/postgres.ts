// The bus on PostgreSQL beside the same work done by hand: single-event transactions and one durable reader. By hand means
// what a programmer would write with the same driver, the same settings and the same server.
import type pg from "pg";
import { createPostgresBus } from "../../adapters/postgres/bus/bus.ts";
import { createWake } from "../../adapters/postgres/bus/wake.ts";
import { type DatabaseAddress, openClient, openPool } from "../../adapters/postgres/connection.ts";
import { createPostgresStore } from "../../adapters/postgres/store.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type Contender, readerLoop } from "./contender.ts";
import { openRawTable } from "./raw-table.ts";
import { benchTools, lookupTicket, type Ticket, ticket, ticketWritten } from "./ticket.ts";

export async function openPostgres(address: DatabaseAddress, writers: number): Promise<Contender> {
  const tools = benchTools();
  const connection = { log: tools.log, applicationName: "bench postgres" };
  const open = (): Promise<pg.Client> => openClient(address.app, connection);
  const pool = openPool(address.app, { ...connection, sizeMax: writers });
  const wake = createWake({ ...tools, open });
  const store = createPostgresStore({ ...tools, pool, wake });
  const parkedSubject = subjects.busParked;
  const bus = createPostgresBus({ ...tools, open, store, wake, subjectByName: lookupTicket, parkedSubject });
  const contender: Contender = {
    name: "postgres",
    mayLose: false,
    onHandled: () => undefined,
    async publish(n) {
      await store.transact("bench.publish", (unit) => unit.events.publish(ticketWritten, ticket(n)));
    },
    async close() {
      await bus.close();
      await store.close();
      await wake.close();
      await pool.end();
    },
  };
  await bus.subscribe({ name: "bench", subjects: [ticketWritten.name] }, async (event) => {
    contender.onHandled((event.payload as Ticket).n);
  });
  return contender;
}

export async function openPostgresRaw(address: DatabaseAddress, writers: number): Promise<Contender> {
  const table = await openRawTable(address, { connections: writers, pageMax: 1_000 });
  const contender: Contender = {
    name: "postgres_raw",
    mayLose: true,
    onHandled: () => undefined,
    async publish(n) {
      reading.check();
      await table.insert(n);
    },
    async close() {
      await table.close();
      await reading.ended;
    },
  };
  const reading = readerLoop(async () => {
    for (let rows = await table.next(); rows.length > 0; rows = await table.next()) {
      for (const [, , text] of rows) contender.onHandled((JSON.parse(text) as Ticket).n);
      await table.moveCursor();
    }
  });
  return contender;
}

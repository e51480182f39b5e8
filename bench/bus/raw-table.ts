// The outbox by hand: one INSERT per event that commits by itself, and a second connection that reads behind a cursor, told
// in the process itself that there is something to read. It does not look for transactions that commit late.
import { randomUUID } from "node:crypto";
import { type DatabaseAddress, openClient, openPool } from "../../adapters/postgres/connection.ts";
import { quietLog, ticket, ticketWritten } from "./ticket.ts";

const tables = `
create table bench_raw (
  id bigint generated always as identity primary key, event_id uuid not null, at_us bigint not null,
  subject text not null, key text not null, source text not null, payload bytea not null);
create table bench_raw_cursor (name text primary key, cursor_id bigint not null);
insert into bench_raw_cursor values ('bench', 0);
grant select, insert on bench_raw to portcullis_app; grant select, update on bench_raw_cursor to portcullis_app`;

const insertText = `
insert into bench_raw (event_id, at_us, subject, key, source, payload) values ($1,$2,$3,$4,$5,$6)`;
const readText = `
select id, event_id, convert_from(payload, 'UTF8') from bench_raw where id > $1 order by id limit $2`;
const cursorText = "update bench_raw_cursor set cursor_id = $1 where name = 'bench'";

/** The row's number, the event's id, its JSON text. */
export type RawRow = readonly [string, string, string];

export interface RawTable {
  insert(n: number): Promise<void>;
  /** The rows behind the cursor; waits until there are any, gives none when closed. */
  next(): Promise<readonly RawRow[]>;
  /** Everything that `next` gave is done with. */
  moveCursor(): Promise<void>;
  close(): Promise<void>;
}

export interface RawTableOptions {
  /** Connections that insert. */
  readonly connections: number;
  /** Rows read at a time. */
  readonly pageMax: number;
}

/** As ours, the cursor is written at most so often: waiting for it after every page would only slow the reader down. */
const cursorEveryMs = 100;

export async function openRawTable(address: DatabaseAddress, options: RawTableOptions): Promise<RawTable> {
  const connection = { log: quietLog, applicationName: "bench raw" };
  const owner = await openClient(address.owner, connection);
  await owner.query(tables);
  await owner.end();
  const pool = openPool(address.app, { ...connection, sizeMax: options.connections });
  const reader = await openClient(address.app, connection);
  // As ours: a plan made for an empty table must not be kept for a full one, and the cursor does not wait for the disk.
  await reader.query("set enable_seqscan = off; set enable_bitmapscan = off; set synchronous_commit = off");
  let cursor = "0";
  let closed = false;
  let rung = false;
  let ring: () => void = () => undefined;
  let movedAtMs = 0;
  return {
    async insert(n) {
      const body = ticket(n);
      const payload = Buffer.from(JSON.stringify(body));
      const values = [randomUUID(), Date.now() * 1_000, ticketWritten.name, body.symbol, "bench", payload];
      await pool.query({ name: "raw_insert", text: insertText, values });
      rung = true;
      ring();
    },
    async next() {
      while (!closed) {
        rung = false;
        const values = [cursor, options.pageMax];
        const page = await reader.query({ name: "raw_read", text: readText, values, rowMode: "array" });
        const rows = page.rows as unknown as readonly RawRow[];
        const last = rows.at(-1);
        if (last !== undefined) {
          cursor = last[0];
          return rows;
        }
        await new Promise<void>((resolve) => {
          ring = resolve;
          if (rung || closed) resolve();
        });
      }
      return [];
    },
    async moveCursor() {
      if (performance.now() - movedAtMs < cursorEveryMs) return;
      movedAtMs = performance.now();
      await reader.query({ name: "raw_cursor", text: cursorText, values: [cursor] });
    },
    async close() {
      closed = true;
      ring();
      await pool.end();
      await reader.end();
    },
  };
}

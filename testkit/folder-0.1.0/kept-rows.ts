// What an upgrade must keep of a data folder, read past the platform: every order, token, value, limit, fill and entry, in the columns that the older one has.
import { mkdirSync } from "node:fs";
import pg from "pg";
import { startEmbeddedPostgres } from "../../adapters/postgres/embedded/server.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import { quietLog } from "../quiet-log.ts";

/** What never changes of each: orders go on, and of values only the newest ones are thinned. */
const kept = {
  oms_order: "order_id, idempotency_key, fund_id, created_us, content ->> 'body_hash' as hash",
  oms_fill: "fill_id, order_id, fund_id, sequence, filled_us, content::text",
  // What the development token may do, and until when, each start says anew.
  service_token: "id, name, secret_hash, created_by, created_us",
  risk_envelope: "fund_id, version, content::text",
  treasury_nav: "fund_id, every, bucket_us, nav::text, cash::text",
  // Decisions about orders of everybody, their steps and fills.
  risk_journal: "id::text, kind, approved, fund_id, order_id, code, fill_id, encode(sha256(payload), 'hex') as payload",
  halt: "halt_id, epoch, severity, fund_id, strategy_id, reason",
} as const;
export const keptTables = Object.keys(kept) as readonly (keyof typeof kept)[];

export type KeptRows = Readonly<Record<keyof typeof kept, readonly string[]>>;

export async function keptRows(connection: pg.ClientConfig): Promise<KeptRows> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const rows = {} as Record<keyof typeof kept, readonly string[]>;
    for (const table of keptTables) {
      const where = table === "treasury_nav" ? whereOver : "";
      const found = await client.query(`select ${kept[table]} from portcullis.${table} ${where}`);
      rows[table] = found.rows.map((row) => JSON.stringify(row)).sort();
    }
    return rows;
  } finally {
    await client.end();
  }
}

/** Values of seconds and minutes are thinned, and the newest of this hour is another one while it goes on. */
const whereOver = "where every = 'hour' and bucket_us < extract(epoch from date_trunc('hour', now())) * 1000000";

/** Of a folder that no platform runs on. */
export async function keptRowsIn(dataFolder: string): Promise<KeptRows> {
  const runtimeFolder = `${dataFolder}-run`;
  mkdirSync(runtimeFolder, { recursive: true, mode: 0o700 });
  const ports = { log: quietLog, timers: systemTimers(), random: systemRandom() };
  const server = await startEmbeddedPostgres({ dataFolder, runtimeFolder, ...ports });
  try {
    return await keptRows(server.address.owner);
  } finally {
    await server.stop();
  }
}

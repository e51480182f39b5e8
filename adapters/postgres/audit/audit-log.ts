// The audit log on PostgreSQL. Batches go over a connection of their own, so that no other statement ever stands before one; everything else goes
// through the pool.
//
// Invariants (tested by number):
//  1. A batch is one statement that is its own transaction: what was refused left nothing.
//  2. An append holds the head's row until it has ended, so taking the writer epoch waits for one under way, and one that is still in a cable finds
//     its writer epoch out of force. Hence the head that comes with a writer epoch is where the log ends until the writer epoch is used.
import type pg from "pg";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { AuditBatch, AuditIndexRow, AuditLog, StoredCheckpoint, StoredTile } from "../../../ports/audit-log.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import { internalsOn, type LibraryInternals } from "../../library-internals/library-internals.ts";
import { checkBatch, checkCheckpoint, checkTile, timesOfRows } from "../../records/audit-batch.ts";
import { currentLog, type FlatAuditLog } from "../../records/flat-audit-log.ts";
import { type KeptConnection, keepConnection, type OpenConnection } from "../bus/bus-connection.ts";
import { type Wake, whenWritten } from "../bus/wake.ts";
import { columnOfText } from "../exact-text.ts";
import type { CallMessage } from "../risk/call-message.ts";
import { storeFault } from "../store-fault.ts";
import {
  auditAppend,
  auditAppendFault,
  auditMessage,
  checkpointFault,
  repairFault,
  rowTypeText,
} from "./audit-append.ts";
import { createAuditReads, headOf } from "./audit-reads.ts";

interface PostgresAuditLogOptions {
  /** Opens the connection for batches. */
  readonly open: OpenConnection;
  /** Connections of the app role. */
  readonly pool: pg.Pool;
  /** Told after every append; tells of changes elsewhere. */
  readonly wake: Pick<Wake, "poke" | "onPoke">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How batches are sent; default with every reach behind the driver's interface. */
  readonly internals?: Pick<LibraryInternals, "sendCall">;
}

export interface PostgresAuditLog extends AuditLog {
  /** Why nothing can be appended at present; undefined when it can. */
  complaint(): string | undefined;
  close(): Promise<void>;
}

const openMsMax = 5_000;
const pokeMs = 5;
/** Tiles in one statement: two megabytes at most. */
const tilesMax = 256;
/** A buffer beyond this is not kept for the next batch. */
const spareBytesMax = 16_000_000;
/** One batch is on its way while the next is written. */
const sparesMax = 2;
// What the append relies on, whatever the server's own defaults are.
const sessionText =
  "set synchronous_commit = on; set default_transaction_isolation = 'read committed'; set plan_cache_mode = force_generic_plan; set jit = off";
const tilesText = `
insert into audit_tile (level, index, hashes) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])
on conflict (level, index) do update set hashes = excluded.hashes
where octet_length(excluded.hashes) >= octet_length(audit_tile.hashes)`;

const replaceText = "update audit_tile set hashes = $3 where level = $1 and index = $2 and hashes = $4";
const repairText = `
select audit_repair_index($1, array(
  select row(r.*)::audit_index_row from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as r)) as repaired`;

const anewText = `
select audit_begin_anew($1, $2, array(
  select row(r.*)::audit_row from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::bigint[]) as r
), $9, $10, $11, $12)`;

/** A batch that is written before it may be sent. */
interface PreEncoded {
  readonly batch: AuditBatch;
  readonly rowType: number;
  readonly message: CallMessage;
}

/** The rows are the very same, and nobody changes them. */
function isSame(one: AuditBatch, other: AuditBatch): boolean {
  const isSameHead =
    one.head.size === other.head.size &&
    one.head.hash === other.head.hash &&
    one.head.timestamp === other.head.timestamp;
  return one.rows === other.rows && one.writerEpoch === other.writerEpoch && one.after === other.after && isSameHead;
}

export function createPostgresAuditLog(options: PostgresAuditLogOptions): PostgresAuditLog {
  const { pool, wake, clock, timers } = options;
  const { sendCall } = options.internals ?? internalsOn;
  let rowType = 0;
  const prepare = async (client: pg.Client): Promise<void> => {
    await client.query(sessionText);
    rowType = Number((await client.query(rowTypeText)).rows[0]?.number);
  };
  const connection = keepConnection({ title: "the audit log's connection", prepare, ...options });
  const appended = options.metrics.counter("portcullis_audit_appends_total", "Audit batches by their end.", ["end"]);
  const spares: Buffer[] = [];
  let preEncoded: PreEncoded | undefined;
  let closed = false;
  let willPoke = false;

  async function query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    if (closed) throw new Fault("STORE_UNAVAILABLE", "the audit log has been closed", { retry: "never" });
    return pool.query(statement);
  }

  async function ask(doing: string, statement: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await query(statement);
    } catch (thrown) {
      throw storeFault(thrown, doing);
    }
  }

  function preEncode(batch: AuditBatch): void {
    if (closed || batch.rows.length === 0 || connection.current() === undefined) return;
    checkBatch(batch);
    letGo(preEncoded?.message.buffer);
    // Its buffer is somebody else's from here on, also if the next cannot be written.
    preEncoded = undefined;
    const message = auditMessage(batch, rowType, spares.pop());
    preEncoded = { batch, rowType, message };
  }

  /** The message of a batch: mostly it is there already, and then the batch was checked as well. */
  function messageOf(batch: AuditBatch): CallMessage {
    const ready = preEncoded;
    preEncoded = undefined;
    if (ready !== undefined && ready.rowType === rowType && isSame(ready.batch, batch)) return ready.message;
    letGo(ready?.message.buffer);
    checkBatch(batch);
    return auditMessage(batch, rowType, spares.pop());
  }

  function letGo(buffer: Buffer | undefined): void {
    if (buffer !== undefined && buffer.length <= spareBytesMax && spares.length < sparesMax) spares.push(buffer);
  }

  async function append(batch: AuditBatch): Promise<void> {
    if (closed) throw new Fault("STORE_UNAVAILABLE", "the audit log has been closed", { retry: "never" });
    if (batch.rows.length === 0) return checkBatch(batch);
    const client = connection.current();
    if (client === undefined) {
      appended.add(1, { end: "STORE_UNAVAILABLE" });
      throw noConnection(connection);
    }
    const { buffer, length } = messageOf(batch);
    try {
      await sendCall(client, auditAppend, buffer.subarray(0, length));
      // Nobody else's while it was on its way; free again now that the server has answered.
      letGo(buffer);
    } catch (thrown) {
      const fault = auditAppendFault(thrown, batch);
      appended.add(1, { end: fault.code });
      throw fault;
    }
    appended.add(1, { end: "committed" });
    pokeSoon();
  }

  /** Once for all batches of a few milliseconds: whoever follows the log is in no hurry. */
  function pokeSoon(): void {
    if (willPoke) return;
    willPoke = true;
    timers.after(pokeMs, () => {
      willPoke = false;
      if (!closed) wake.poke("entries");
    });
  }

  async function putCheckpoint(writerEpoch: number, checkpoint: StoredCheckpoint): Promise<void> {
    checkCheckpoint(checkpoint);
    const { size, note, at } = checkpoint;
    try {
      await query({ text: "select audit_put_checkpoint($1, $2, $3, $4)", values: [writerEpoch, size, note, at] });
    } catch (thrown) {
      throw checkpointFault(thrown, writerEpoch, size);
    }
  }

  async function repairIndex(writerEpoch: number, rows: readonly Omit<AuditIndexRow, "at">[]): Promise<number> {
    const columns = (name: "eventId" | "subjectId" | "action") => rows.map((row) => columnOfText(row[name]));
    const sequences = rows.map(({ sequence }) => sequence);
    const values = [writerEpoch, sequences, columns("eventId"), columns("subjectId"), columns("action")];
    try {
      return Number((await query({ text: repairText, values })).rows[0]?.repaired);
    } catch (thrown) {
      throw repairFault(thrown, writerEpoch);
    }
  }

  async function closeAndAppend(batch: AuditBatch, at: Instant): Promise<void> {
    if (batch.rows.length > 0) checkBatch(batch);
    const { writerEpoch, after, rows, head } = batch;
    const columns = (name: "eventId" | "subjectId" | "action") => rows.map((row) => columnOfText(row[name]));
    const places = rows.map(({ sequence }) => sequence);
    const texts = rows.map(({ text }) => Buffer.from(text));
    const timeOf = timesOfRows();
    const entries = [places, columns("eventId"), columns("subjectId"), columns("action"), texts, rows.map(timeOf)];
    try {
      await query({
        text: anewText,
        values: [writerEpoch, after, ...entries, head.size, head.hash, head.timestamp, at],
      });
    } catch (thrown) {
      throw auditAppendFault(thrown, batch);
    }
    pokeSoon();
  }

  const flat: FlatAuditLog = {
    ...createAuditReads(ask),
    append,
    preEncode,
    closeAndAppend,
    putCheckpoint,
    repairIndex,
    async replaceTile(tile, was) {
      checkTile(tile);
      const values = [tile.level, tile.index, Buffer.from(tile.hashes), Buffer.from(was)];
      return (await ask("replacing a tile", { text: replaceText, values })).rowCount === 1;
    },
    async takeWriterEpoch(incarnation) {
      if ((await openedWithin(timers, connection)) !== "open") throw noConnection(connection);
      const text = "select * from audit_take_pen($1, $2)";
      const [taken] = (await ask("taking the writer epoch", { text, values: [incarnation, clock.now()] })).rows;
      return { writerEpoch: Number(taken?.pen), head: headOf(taken) };
    },
    async putTiles(tiles) {
      const all = widestOfEach(tiles);
      for (let at = 0; at < all.length; at += tilesMax) {
        const some = all.slice(at, at + tilesMax);
        const hashes = some.map((tile) => Buffer.from(tile.hashes));
        const values = [some.map((tile) => tile.level), some.map((tile) => tile.index), hashes];
        await ask("keeping tiles", { text: tilesText, values });
      }
    },
    onAppend: (run) => whenWritten(wake, "entries", run),
  };
  return {
    ...currentLog(flat),
    complaint: () => connection.complaint(),
    async close() {
      if (willPoke) wake.poke("entries");
      closed = true;
      await connection.close();
    },
  };
}

/** A statement can write a row only once, and two statements that write rows in the same order do not deadlock. */
function widestOfEach(tiles: readonly StoredTile[]): readonly StoredTile[] {
  const widest = new Map<string, StoredTile>();
  for (const tile of tiles) {
    checkTile(tile);
    const key = `${tile.level}/${tile.index}`;
    if (tile.hashes.length >= (widest.get(key)?.hashes.length ?? 0)) widest.set(key, tile);
  }
  return [...widest.values()].sort((one, other) => one.level - other.level || one.index - other.index);
}

function noConnection(connection: KeptConnection): Fault {
  return new Fault("STORE_UNAVAILABLE", connection.complaint() ?? "no connection", { retry: "later" });
}

async function openedWithin(timers: Timers, connection: KeptConnection): Promise<string> {
  const enough = new AbortController();
  const cancel = timers.after(openMsMax, () => enough.abort());
  try {
    return await connection.opened(enough.signal);
  } finally {
    cancel();
  }
}

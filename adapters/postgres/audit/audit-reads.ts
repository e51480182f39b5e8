// What is read back of the audit log from PostgreSQL. Statements are planned each time: the log grows by millions under a plan that was made
// when it was empty. Those that look for subjects compare subject and sequence together, so that only the index of both can serve
// them; asked for the newest of a rare subject by sequence alone, the server may walk the whole log backwards.
import type pg from "pg";
import { Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { AuditHead, AuditRow, StoredCheckpoint } from "../../../ports/audit-log.ts";
import type { FlatAuditLog } from "../../records/flat-audit-log.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";

/** Runs one statement; what it throws is a fault already. */
type Ask = (doing: string, statement: pg.QueryConfig) => Promise<pg.QueryResult>;

type AuditReads = Omit<
  FlatAuditLog,
  | "takeWriterEpoch"
  | "append"
  | "closeAndAppend"
  | "putCheckpoint"
  | "putTiles"
  | "replaceTile"
  | "repairIndex"
  | "onAppend"
>;

/** Not a sequence of characters, or one that a text cannot hold. */
const notUtf8: ReadonlySet<string> = new Set(["22021", "22P05"]);
const bigintMax = "9223372036854775807";

export function createAuditReads(ask: Ask): AuditReads {
  return {
    ...createEntryReads(ask),
    async head() {
      const text = `select size, hash, "timestamp" from audit_head`;
      return headOf((await ask("reading the audit log's head", { text })).rows[0]);
    },
    async newestCheckpoint(below) {
      const text = "select size, note, at_us from audit_checkpoint where size < $1 order by size desc limit 1";
      const [row] = (await ask("reading the newest checkpoint", { text, values: [below] })).rows;
      return row === undefined ? undefined : checkpointOf(row);
    },
    async closedLogs() {
      const text = `select number, size, hash, "timestamp", closed_us from audit_closed_log order by number`;
      return (await ask("reading which logs were closed", { text })).rows.map((row) => ({
        number: Number(row.number),
        head: headOf(row),
        at: fromMicroseconds(Number(row.closed_us)),
      }));
    },
    async checkpoints(fromSize, count) {
      const found = await ask("reading checkpoints", {
        text: "select size, note, at_us from audit_checkpoint where size >= $1 order by size limit $2",
        values: [fromSize, count],
      });
      return found.rows.map(checkpointOf);
    },
    async readTile(level, index) {
      const found = await ask("reading a tile", {
        text: "select hashes from audit_tile where level = $1 and index = $2",
        values: [level, index],
      });
      return found.rows[0]?.hashes;
    },
    async readTiles(places) {
      const found = await ask("reading tiles", {
        text: `select level, index, hashes
               from unnest($1::smallint[], $2::bigint[]) as asked (level, index) join audit_tile using (level, index)`,
        values: [places.map(({ level }) => level), places.map(({ index }) => index)],
      });
      const hashes = new Map<string, Uint8Array>();
      for (const row of found.rows) hashes.set(`${row.level}/${row.index}`, row.hashes);
      return places.map(({ level, index }) => hashes.get(`${level}/${index}`));
    },
  };
}

type EntryReads = Pick<
  FlatAuditLog,
  | "sequencesOf"
  | "newestOf"
  | "read"
  | "readSubject"
  | "readIndex"
  | "readKeyChanges"
  | "readAlarms"
  | "count"
  | "rewrites"
>;

function createEntryReads(ask: Ask): EntryReads {
  return {
    async sequencesOf(eventIds) {
      if (eventIds.length === 0) return new Map();
      const found = await ask("looking for events", {
        text: "select event_id as id, sequence from audit_entry where event_id = any ($1::text[])",
        values: [eventIds.map(columnOfText)],
      });
      return sequencesById(found.rows);
    },
    async newestOf(subjectIds) {
      if (subjectIds.length === 0) return new Map();
      const found = await ask("looking for the newest entries of subjects", {
        text: `select asked.id, newest.sequence
               from unnest($1::text[]) as asked (id)
               cross join lateral (
                 select sequence from audit_entry
                 where (subject_id, sequence) >= (asked.id, 0) and (subject_id, sequence) <= (asked.id, ${bigintMax})
                 order by subject_id desc, sequence desc limit 1) newest`,
        values: [[...new Set(subjectIds)].map(columnOfText)],
      });
      return sequencesById(found.rows);
    },
    async read(from, count) {
      const page = (column: string): Promise<pg.QueryResult> =>
        ask("reading the audit log", {
          text: `select sequence, ${column} as text from audit_entry where sequence >= $1 order by sequence limit $2`,
          values: [from, count],
        });
      try {
        // As text it is half as much to send, and the same bytes: the server looks that it is UTF-8, and nothing is lost in between.
        return (await page("convert_from(text, 'UTF8')")).rows.map(entryOfText);
      } catch (thrown) {
        // Somebody has been at the table: whoever verifies gets the bytes as they are.
        if (!(thrown instanceof Fault) || !notUtf8.has(String(thrown.facts["condition"]))) throw thrown;
        return (await page("text")).rows.map(entryOf);
      }
    },
    async readSubject(subjectId, from, count) {
      const found = await ask("reading the entries about a subject", {
        text: `select sequence, text from audit_entry
               where (subject_id, sequence) >= ($1, $2) and (subject_id, sequence) <= ($1, ${bigintMax})
               order by subject_id, sequence limit $3`,
        values: [columnOfText(subjectId), from, count],
      });
      return found.rows.map((row) => ({ ...entryOf(row), subjectId }));
    },
    async readIndex(from, count) {
      const found = await ask("reading the audit log's index", {
        text: `select sequence, event_id, subject_id, action, at_us from audit_entry
               where sequence >= $1 order by sequence limit $2`,
        values: [from, count],
      });
      return found.rows.map((row) => ({
        sequence: Number(row.sequence),
        eventId: textOfColumn(row.event_id),
        subjectId: textOfColumn(row.subject_id),
        action: textOfColumn(row.action),
        at: fromMicroseconds(Number(row.at_us)),
      }));
    },
    async readKeyChanges(from, count) {
      // As the index of those entries says it, so that it is used.
      const found = await ask("looking for changes of keys", {
        text: `select sequence, text from audit_entry
               where action in ('key.rotated', 'key.revoked') and sequence >= $1 order by sequence limit $2`,
        values: [from, count],
      });
      return found.rows.map(entryOf);
    },
    async readAlarms(before, count) {
      // As the index of those entries says it, so that it is used.
      const found = await ask("looking for alarms", {
        text: `select sequence, text from audit_entry
               where action = 'alarm.raised' and sequence < $1 order by sequence desc limit $2`,
        values: [before, count],
      });
      return found.rows.map(entryOf);
    },
    async count(from, end) {
      const found = await ask("counting the audit log's entries", {
        text: "select count(*) as rows from audit_entry where sequence >= $1 and sequence < $2",
        values: [from, end],
      });
      return Number(found.rows[0]?.rows);
    },
    async rewrites() {
      return String((await ask("asking whether entries were touched", { text: rewritesText })).rows[0]?.counted);
    },
  };
}

/** What the server counts anyway, whether it counts, and when somebody last set its counts back; an append changes none of it. */
const rewritesText = `
select concat_ws(' ',
  (select concat_ws(' ', n_tup_upd, n_tup_del) from pg_stat_user_tables where relid = 'audit_entry'::regclass),
  pg_relation_filenode('audit_entry'::regclass), current_setting('track_counts'),
  (select extract(epoch from stats_reset) from pg_stat_database where datname = current_database())) as counted`;

function sequencesById(rows: readonly { readonly id: string; readonly sequence: string }[]): Map<string, number> {
  return new Map(rows.map((row) => [textOfColumn(row.id), Number(row.sequence)]));
}

export function headOf(row: { readonly size: string; readonly hash: string; readonly timestamp: string }): AuditHead {
  return { size: Number(row.size), hash: row.hash, timestamp: row.timestamp };
}

function entryOf(row: { readonly sequence: string; readonly text: Buffer }): AuditRow {
  return { sequence: Number(row.sequence), text: row.text };
}

function entryOfText(row: { readonly sequence: string; readonly text: string }): AuditRow {
  return { sequence: Number(row.sequence), text: Buffer.from(row.text) };
}

function checkpointOf(row: { readonly size: string; readonly note: string; readonly at_us: string }): StoredCheckpoint {
  return { size: Number(row.size), note: row.note, at: fromMicroseconds(Number(row.at_us)) };
}

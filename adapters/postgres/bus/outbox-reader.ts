// Reads the outbox, the journal's decisions and the audit log's entries behind a cursor, as one sequence in the order of event numbers,
// without ever passing one that may still come.
//
// Numbers come from one sequence for all, so a lower one can be committed after a higher one. Invariants (tested by number):
//  1. What follows the cursor without a hole is handed over at once.
//  2. At a hole nothing beyond it is handed over until the hole is filled or known to be dead.
//  3. A hole is dead when every transaction that could own its number has ended and a read that began after that still
//     lacks it. Every such transaction took its own number (xid) before it took an event number (column order in the
//     tables; the audit log's takes it with the lock on its head), hence before the higher event became visible, hence before the xid that we take as a fence afterwards. So
//     when a read's snapshot has an xmin at or above the fence, what that read does not see will never be there. The
//     snapshot's own xmax must not serve as the fence: it lies just above the highest *ended* transaction, and a running
//     one can have that number or a higher one.
//  4. Reading takes no locks and changes nothing; any number of readers may follow any cursors.
//  5. Of rows that nobody here wants to hear of only those come along that stand behind a hole or end the page.
// The read must see the primary server, never a standby, and the horizon is cluster-wide: a long transaction in any
// database of the server that has a number of its own delays the death of a hole. Its age is therefore measured.
import type pg from "pg";
import type { Instant } from "../../../contracts/src/instant.ts";
import { fromMicroseconds, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import { decisionSource } from "../../transport/decision-messages.ts";
import { entriesPart, wantsEntries } from "../audit/audit-rows.ts";
import { journalHalf, wantsDecisions } from "../risk/decision-rows.ts";
import { regexOf } from "./outbox-pattern.ts";
import type { OutboxRow } from "./outbox-row.ts";

interface OutboxPage {
  /** Rows whose subject matches, in order; decisions if any of their messages may match. */
  readonly rows: readonly OutboxRow[];
  /** Everything up to here has been seen or will never exist: the next read may begin after it. */
  readonly through: bigint;
  /** The page was full: read again at once. */
  readonly more: boolean;
  /** A hole holds the reader back: read again soon. */
  readonly held: boolean;
}

export interface OutboxReader {
  /** At most `limit` rows after the cursor are looked at, matching or not, and about 8 MB of payloads. */
  read(after: bigint, limit: number, patterns: readonly string[]): Promise<OutboxPage>;
  /** How long a hole has been holding this reader back; 0 when none does. */
  heldMs(): number;
}

/** Runs one statement on a connection that sees the primary server; which one does not matter. */
export type RunStatement = (statement: pg.QueryConfig | pg.QueryArrayConfig) => Promise<pg.QueryArrayResult>;

/**
 * For the session that reads: the table changes its size faster than its statistics, and a plan that was good for an empty
 * one is ruinous for a full one.
 */
export const readerSettings = "set enable_seqscan = off; set enable_bitmapscan = off; set jit = off";

/** A page ends with the row that brings its payloads to this size, however many more it may have. */
export const pageBytesMax = 8_000_000;

const columns = "id, event_id, at_us, subject, key, source";
const horizonText = "(select pg_snapshot_xmin(pg_current_snapshot())::text)";

// Behind which row one stands, and in which place of its page. Most pages of a busy platform are decisions that a subscriber does not hear, and a number
// that follows another without a hole says nothing that the next one does not say as well.
const marks =
  "lag(id, 1, $1::bigint) over places as before, row_number() over places as place, lead(id) over places as behind";
const comesAlong = "payload is not null or record is not null or before <> id - 1 or behind is null";

// The usual read. A page of payloads up to $4 bytes cannot be too large, so nothing needs to be added up; a larger one
// comes empty, which no JSON and no decision is, and the page is read again by the careful way. Each table gives at most a page, by
// its index, and the two are merged.
const usualText = ({ decisions, entries }: Wanted): string => `
select ${columns}, payload, ${horizonText}, '0', record, before, place
from (select *, ${marks}
      from (select *
            from ((select ${columns},
                          case when subject ~ $3
                            then case when octet_length(payload) <= $4 then convert_from(payload, 'UTF8') else '' end end as payload,
                          null::bytea as record
                   from outbox where id > $1::bigint order by id limit $2)
                  union all
                  ${journalHalf(decisions, "text", "case when octet_length(j.payload) <= $4 then j.payload else ''::bytea end")}
                  union all
                  ${entriesPart(entries, "text", "case when octet_length(a.text) <= $4 then a.text else ''::bytea end")}) all_tables
            order by id limit $2) page
      window places as (order by id)) marked
where ${comesAlong} order by id`;

// The careful read adds up the payloads, which takes the server about a quarter longer. What was sent before a row decides
// whether it comes along: that only grows, so a page has no holes of its own.
const carefulText = ({ decisions, entries }: Wanted): string => `
select ${columns}, convert_from(payload, 'UTF8'), ${horizonText}, bytes, record, before, place
from (select *, ${marks}
      from (select *, sum(own_bytes) over (order by id rows unbounded preceding) as bytes
            from (select *, coalesce(octet_length(payload), octet_length(record), 0) as own_bytes
                  from (select *
                        from ((select ${columns}, case when subject ~ $3 then payload end as payload, null::bytea as record
                               from outbox where id > $1::bigint order by id limit $2)
                              union all
                              ${journalHalf(decisions, "bytea", "j.payload")}
                              union all
                              ${entriesPart(entries, "bytea", "a.text")}) all_tables
                        order by id limit $2) page) sized) counted
      where bytes - own_bytes < ${pageBytesMax}
      window places as (order by id)) marked
where ${comesAlong} order by id`;

interface Wanted {
  readonly decisions: boolean;
  readonly entries: boolean;
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

interface Reading {
  readonly usual: Statement;
  readonly careful: Statement;
}

function readingOf(patterns: readonly string[]): Reading {
  const wanted = { decisions: wantsDecisions(patterns), entries: wantsEntries(patterns) };
  const suffix = `${wanted.decisions ? "_with_decisions" : ""}${wanted.entries ? "_with_entries" : ""}`;
  return {
    usual: { name: `bus_read${suffix}`, text: usualText(wanted) },
    careful: { name: `bus_read_carefully${suffix}`, text: carefulText(wanted) },
  };
}

type RawRow = readonly [
  id: string,
  eventId: string | null,
  atUs: string | null,
  subject: string | null,
  key: string | null,
  source: string | null,
  payload: string | null,
  xmin: string,
  bytes: string,
  record: Buffer | null,
  before: string,
  place: string,
];

interface Fence {
  readonly through: bigint;
  readonly xid: bigint;
}

export function createOutboxReader(options: {
  readonly run: RunStatement;
  readonly clock: Clock;
  /** For screens: a hole is passed over after this long, even if its number may still come. Absent = never. */
  readonly patienceMs?: number;
}): OutboxReader {
  const { run, clock } = options;
  let settled = -1n;
  let careful = false;
  let fence: Fence | undefined;
  let hole: { readonly after: bigint; readonly since: Instant } | undefined;
  const wantedBy = rememberLast((patterns) => ({
    regex: regexOf(patterns),
    reading: readingOf(patterns),
  }));

  /** Taken only when a hole is met a second time: most are filled by then, and every fence costs a transaction number. */
  async function metHole(after: bigint, highest: bigint): Promise<void> {
    if (hole?.after !== after) {
      hole = { after, since: clock.now() };
      return;
    }
    if (options.patienceMs !== undefined && millisecondsBetween(hole.since, clock.now()) >= options.patienceMs)
      settled = highest;
    if (fence !== undefined) return;
    const taken = await run({ text: "select pg_current_xact_id()::text", rowMode: "array" });
    fence = { through: highest, xid: BigInt(String(taken.rows[0]?.[0])) };
  }

  /** Stays careful for as long as large payloads come. */
  async function fetch(after: bigint, limit: number, patterns: readonly string[]): Promise<readonly RawRow[]> {
    const { regex, reading } = wantedBy(patterns);
    const ownBytesMax = Math.floor(pageBytesMax / limit);
    const values = [String(after), limit, regex];
    if (!careful) {
      const usual = { ...reading.usual, values: [...values, ownBytesMax] };
      const raws = (await run({ ...usual, rowMode: "array" })).rows as unknown as readonly RawRow[];
      if (!raws.some((raw) => lengthOf(raw) === 0)) return raws;
    }
    const answer = await run({ ...reading.careful, values, rowMode: "array" });
    const raws = answer.rows as unknown as readonly RawRow[];
    careful = raws.some((raw) => (lengthOf(raw) ?? 0) > ownBytesMax / 4);
    return raws;
  }

  function settle(xmin: bigint): void {
    if (fence === undefined || xmin < fence.xid) return;
    if (fence.through > settled) settled = fence.through;
    fence = undefined;
  }

  return {
    heldMs: () => (hole === undefined ? 0 : Math.max(0, millisecondsBetween(hole.since, clock.now()))),
    async read(after, limit, patterns) {
      const raws = await fetch(after, limit, patterns);
      const first = raws[0];
      const last = raws[raws.length - 1];
      if (first === undefined || last === undefined) {
        hole = undefined;
        return { rows: [], through: after, more: false, held: false };
      }
      settle(BigInt(first[7]));
      const rows: OutboxRow[] = [];
      let through = after;
      let held = false;
      for (const raw of raws) {
        const id = BigInt(raw[0]);
        const before = BigInt(raw[10]);
        if (id !== before + 1n && id - 1n > settled) {
          through = before;
          held = true;
          break;
        }
        through = id;
        const row = rowOf(id, raw);
        if (row !== undefined) rows.push(row);
      }
      if (held) await metHole(through, BigInt(last[0]));
      else hole = undefined;
      const full = Number(last[11]) >= limit || Number(last[8]) >= pageBytesMax;
      return { rows, through, more: !held && full, held };
    },
  };
}

/** Undefined for a row that brings nothing to whoever asked. */
function lengthOf(raw: RawRow): number | undefined {
  return (raw[9] ?? raw[6])?.length;
}

function rowOf(id: bigint, raw: RawRow): OutboxRow | undefined {
  const [, eventId, atUs, subject, key, source, payload, , , record] = raw;
  if (payload === null && record === null) return undefined;
  const row = {
    id,
    eventId: eventId ?? "",
    at: fromMicroseconds(Number(atUs)),
    subject: subject ?? subjects.decisionMade.name,
    key: key ?? "",
    source: source ?? decisionSource,
    payload: payload ?? "",
  };
  if (record === null) return row;
  // A decision has no subject of its own; of an entry the bytes are what is heard.
  return subject === null ? { ...row, record } : { ...row, payload: record.toString("utf8") };
}

/** The patterns are nearly always the same array as last time. */
function rememberLast<Made>(make: (patterns: readonly string[]) => Made): (patterns: readonly string[]) => Made {
  let known: { readonly patterns: readonly string[]; readonly made: Made } | undefined;
  return (patterns) => {
    if (known?.patterns !== patterns) known = { patterns, made: make(patterns) };
    return known.made;
  };
}

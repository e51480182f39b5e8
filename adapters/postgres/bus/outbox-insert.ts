// How an event becomes a row of the outbox: checked against its subject's schema, encoded once, written with all events of
// its transaction in one statement. The payload travels as raw bytes (a Buffer parameter is sent in binary form).
import type pg from "pg";
import { Defect } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Subject } from "../../../contracts/src/subject.ts";

export interface OutboxEntry {
  readonly eventId: string;
  readonly at: Instant;
  readonly subject: string;
  readonly key: string;
  readonly source: string;
  readonly payload: Buffer;
}

/** The limit of a NATS message by default is 1 MiB with its headers; no event may be one that a transport cannot carry. */
const payloadBytesMax = 1_000_000;
const keyLengthMax = 1_024;

export function encodeEvent<Payload>(
  subject: Subject<Payload>,
  payload: Payload,
  stamp: { readonly eventId: string; readonly at: Instant; readonly source: string },
): OutboxEntry {
  const checked = subject.schema.safeParse(payload);
  if (!checked.success) {
    const where = checked.error.issues.map((issue) => issue.path.join(".") || "(whole)").join(", ");
    throw new Defect(`an event for ${subject.name} does not match its schema at: ${where}`);
  }
  const key = subject.key(payload);
  // PostgreSQL's text has no zero character; said here, it concerns this event alone and not those written with it.
  if (key.length > keyLengthMax || key.includes("\0")) {
    throw new Defect(`an event for ${subject.name} has a key that is too long or contains a zero character`);
  }
  const bytes = Buffer.from(toJson(subject.name, payload), "utf8");
  if (bytes.length > payloadBytesMax) {
    throw new Defect(`an event for ${subject.name} has ${bytes.length} bytes, more than ${payloadBytesMax}`);
  }
  return { ...stamp, subject: subject.name, key, payload: bytes };
}

function toJson(subject: string, payload: unknown): string {
  try {
    const text = JSON.stringify(payload);
    if (text !== undefined) return text;
  } catch (error) {
    throw new Defect(`an event for ${subject} cannot be written as JSON`, { cause: error });
  }
  throw new Defect(`an event for ${subject} is not JSON`);
}

/** Rows in one statement at most; six parameters a row stay far below the protocol's 65,535. */
export const insertRowsMax = 500;
/** Bytes of payload in one statement at most, a single larger event excepted: they stand in memory several times over. */
export const insertBytesMax = 8_000_000;
/** Up to here each size is a prepared statement of its own; larger ones are parsed each time. */
const preparedRowsMax = 32;

const columns = "insert into outbox (event_id, at_us, subject, key, source, payload) values ";
const preparedTexts: readonly string[] = Array.from({ length: preparedRowsMax + 1 }, (_, count) => textFor(count));

function textFor(count: number): string {
  const rows: string[] = [];
  for (let row = 0; row < count; row += 1) {
    const p = row * 6;
    rows.push(`($${p + 1},$${p + 2},$${p + 3},$${p + 4},$${p + 5},$${p + 6})`);
  }
  return columns + rows.join(",");
}

function insertStatement(entries: readonly OutboxEntry[]): pg.QueryConfig {
  const values: unknown[] = [];
  for (const entry of entries) {
    values.push(entry.eventId, entry.at, entry.subject, entry.key, entry.source, entry.payload);
  }
  const prepared = preparedTexts[entries.length];
  if (prepared !== undefined) return { name: `outbox_${entries.length}`, text: prepared, values };
  return { text: textFor(entries.length), values };
}

/** The statements for any number of events, in order. */
export function insertStatements(entries: readonly OutboxEntry[]): readonly pg.QueryConfig[] {
  const statements: pg.QueryConfig[] = [];
  let from = 0;
  let bytes = 0;
  for (const [index, entry] of entries.entries()) {
    if (index > from && (index - from >= insertRowsMax || bytes + entry.payload.length > insertBytesMax)) {
      statements.push(insertStatement(entries.slice(from, index)));
      from = index;
      bytes = 0;
    }
    bytes += entry.payload.length;
  }
  if (from < entries.length) statements.push(insertStatement(entries.slice(from)));
  return statements;
}

// What the suite of the audit log asks of the log that is put under it, the shape of one check, and entries to append. The log does not look
// into an entry, so these are easy to recognise and no entries to whoever would verify them.
import { format, fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import type { AuditBatch, AuditLog, NewAuditRow } from "../../ports/audit-log.ts";
import type { Outcome } from "../../ports/store.ts";
import type { Patience } from "./waiting.ts";

/** An empty world with one process's log. Every check opens its own and closes it. */
export interface AuditLogFixture extends Patience {
  readonly audit: AuditLog;
  /** Another process's log on the same data. */
  another(): Promise<AuditLog>;
  /** Loses the answer to the next append, which in truth has this outcome. */
  loseNextAnswer(outcome: Outcome): Promise<void>;
  /** Every `audit.appended` that was published so far, in the order in which a subscription would get them. */
  published(): Promise<readonly PublishedEntry[]>;
  now(): Instant;
  close(): Promise<void>;
}

export interface PublishedEntry {
  readonly id: string;
  readonly key: string;
  readonly source: string;
  readonly at: Instant;
  readonly payload: string;
}

export interface AuditLogCheck {
  /** The number in ports/audit-log.ts; 0 for what the interface's own comments say. */
  readonly promise: number;
  readonly sentence: string;
  run(fixture: AuditLogFixture): Promise<void>;
}

export const noHash = "0".repeat(64);

/** 64 hex digits that are the same for the same number. */
export function hashOf(n: number): string {
  return n.toString(16).padStart(64, "0");
}

/** A time that is the same for the same number, and later for a larger one. */
export function timeOf(n: number): string {
  return format(fromMicroseconds(1_800_000_000_000_000 + n));
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function row(sequence: number, more: Partial<NewAuditRow> = {}): NewAuditRow {
  return {
    sequence,
    eventId: `event-${sequence}`,
    subjectId: `subject-${sequence % 3}`,
    action: "order.decided",
    text: bytesOf(`entry ${sequence}`),
    timestamp: timeOf(sequence + 1),
    ...more,
  };
}

/** So many entries after those that are there; `change` makes one of them another. */
export function batch(
  writerEpoch: number,
  after: number,
  count: number,
  change: (sequence: number) => Partial<NewAuditRow> = () => ({}),
): AuditBatch {
  const rows = Array.from({ length: count }, (_unused, place) => row(after + place, change(after + place)));
  const size = after + count;
  return { writerEpoch, after, rows, head: { size, hash: hashOf(size), timestamp: timeOf(size) } };
}

/** The texts of the whole log, read in pages; a hole or an entry out of its place is an error. */
export async function texts(audit: AuditLog, page = 100): Promise<readonly string[]> {
  const found: string[] = [];
  for (;;) {
    const rows = await audit.read(found.length, page);
    for (const { sequence, text } of rows) {
      if (sequence !== found.length) throw new Error(`entry ${sequence} stands in the place of ${found.length}`);
      found.push(new TextDecoder().decode(text));
    }
    if (rows.length === 0) return found;
  }
}

export function entryTexts(count: number): readonly string[] {
  return Array.from({ length: count }, (_unused, sequence) => `entry ${sequence}`);
}

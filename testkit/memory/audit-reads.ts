// What is read back of the audit log from the memory store. Everything is a copy, as it would be from a database.

import { timesOfRows } from "../../adapters/records/audit-batch.ts";
import type { FlatAuditLog } from "../../adapters/records/flat-audit-log.ts";
import type { AuditRow, NewAuditRow } from "../../ports/audit-log.ts";
import type { AuditTables } from "./audit-tables.ts";
import { copyOf } from "./copy-of.ts";

export type MemoryAuditReads = Omit<
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

function entryOf({ sequence, text }: NewAuditRow): AuditRow {
  return { sequence, text: text.slice() };
}

function pick(ids: readonly string[], sequenceOf: (id: string) => number | undefined): Map<string, number> {
  const found = new Map<string, number>();
  for (const id of ids) {
    const sequence = sequenceOf(id);
    if (sequence !== undefined) found.set(id, sequence);
  }
  return found;
}

export function createMemoryAuditReads(audit: AuditTables, ask: <T>(answer: () => T) => Promise<T>): MemoryAuditReads {
  // As long as nobody took rows away, each stands at its own number.
  const page = (from: number, count: number): NewAuditRow[] =>
    audit.rows[from]?.sequence === from
      ? audit.rows.slice(from, from + count)
      : audit.rows.filter(({ sequence }) => sequence >= from).slice(0, count);
  const sizes = (): number[] => [...audit.checkpoints.keys()].sort((one, other) => one - other);
  const tileAt = (level: number, index: number) => audit.tiles.get(`${level}/${index}`)?.hashes.slice();
  return {
    head: () => ask(() => ({ ...audit.head })),
    sequencesOf: (eventIds) => ask(() => pick(eventIds, (id) => audit.byEvent.get(id))),
    newestOf: (subjectIds) => ask(() => pick(subjectIds, (id) => audit.bySubject.get(id)?.at(-1))),
    read: (from, count) => ask(() => page(from, count).map(entryOf)),
    readSubject: (subjectId, from, count) =>
      ask(() =>
        (audit.bySubject.get(subjectId) ?? [])
          .filter((sequence) => sequence >= from)
          .slice(0, count)
          .flatMap((sequence) => page(sequence, 1).map((row) => ({ ...entryOf(row), subjectId }))),
      ),
    readIndex: (from, count) =>
      ask(() => {
        const timeOf = timesOfRows();
        return page(from, count).map(({ text: _text, timestamp, ...row }) => ({ ...row, at: timeOf({ timestamp }) }));
      }),
    readKeyChanges: (from, count) =>
      ask(() =>
        audit.rows
          .filter(({ sequence, action }) => sequence >= from && (action === "key.rotated" || action === "key.revoked"))
          .slice(0, count)
          .map(entryOf),
      ),
    readAlarms: (before, count) =>
      ask(() =>
        audit.rows
          .filter(({ sequence, action }) => sequence < before && action === "alarm.raised")
          .reverse()
          .slice(0, count)
          .map(entryOf),
      ),
    count: (from, end) => ask(() => audit.rows.filter(({ sequence }) => sequence >= from && sequence < end).length),
    // Whoever tampers with this world takes no note of it: only looking finds it.
    rewrites: () => ask(() => ""),
    closedLogs: () => ask(() => copyOf(audit.closed)),
    newestCheckpoint: (below) =>
      ask(() => {
        const largest = sizes().findLast((size) => size < below);
        const found = audit.checkpoints.get(largest ?? -1);
        return found === undefined ? undefined : { ...found };
      }),
    checkpoints: (fromSize, count) =>
      ask(() =>
        sizes()
          .filter((size) => size >= fromSize)
          .slice(0, count)
          .flatMap((size) => audit.checkpoints.get(size) ?? [])
          .map((checkpoint) => ({ ...checkpoint })),
      ),
    readTile: (level, index) => ask(() => tileAt(level, index)),
    readTiles: (places) => ask(() => places.map(({ level, index }) => tileAt(level, index))),
  };
}

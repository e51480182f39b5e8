// The audit log in memory: the same promises as on the database (ports/audit-log.ts), with the world's faults instead of a disk's.

import {
  answerLost,
  appendedKey,
  appendedSource,
  checkBatch,
  checkCheckpoint,
  checkTile,
  eventAgain,
  headElsewhere,
  notOnlyGained,
  onlyGains,
  staleWriterEpoch,
  timesOfRows,
} from "../../adapters/records/audit-batch.ts";
import { currentLog, type FlatAuditLog, numberOf } from "../../adapters/records/flat-audit-log.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type {
  AuditBatch,
  AuditIndexRow,
  AuditLog,
  NewAuditRow,
  StoredCheckpoint,
  StoredTile,
} from "../../ports/audit-log.ts";
import type { Timers } from "../../ports/timers.ts";
import { createMemoryAuditReads } from "./audit-reads.ts";
import { type AuditTables, noEntries } from "./audit-tables.ts";
import { type MemoryProcess, type MemoryTables, never, type Watcher } from "./tables.ts";

export interface MemoryAuditLogOptions {
  readonly process: MemoryProcess;
  readonly timers: Timers;
  /** What is on disk: the same for every process of the world. */
  readonly audit: AuditTables;
}

export interface MemoryAuditLog extends AuditLog {
  close(): Promise<void>;
}

export function memoryAuditLog(options: MemoryAuditLogOptions): MemoryAuditLog {
  const { process, timers, audit } = options;
  const { tables } = process;
  const stops = new Set<() => void>();
  let closed = false;

  const pause = (ms: number): Promise<void> => (ms > 0 ? timers.sleep(ms) : Promise.resolve());
  const mustBeReachable = (): void => {
    if (closed) throw new Fault("STORE_UNAVAILABLE", "the audit log is closed", { retry: "never" });
    if (!process.isReachable()) throw new Fault("STORE_UNAVAILABLE", "the store is out of reach", { retry: "later" });
  };
  /** What a dead process asks is never answered. */
  const ask = async <T>(answer: () => T): Promise<T> => {
    if (!process.isAlive()) return never;
    mustBeReachable();
    return answer();
  };
  /** `refuse` looks and throws, `commit` changes; an answer that was lost on the way back is the fault that `lost` makes. */
  const write = async (name: string, refuse: () => void, commit: () => void, lost: () => Fault): Promise<void> => {
    if (!process.isAlive()) return never;
    mustBeReachable();
    await pause(tables.faults.commitDelayMs());
    if (!process.isAlive()) return never;
    mustBeReachable();
    refuse();
    const fate = tables.faults.commit(name);
    if (fate === "conflict" || fate === "failed") {
      throw new Fault("STORE_UNAVAILABLE", `${name} could not be committed`, { retry: "later" });
    }
    if (fate !== "lost, not committed") commit();
    await pause(tables.faults.answerDelayMs());
    if (!process.isAlive()) return never;
    if (fate !== "committed") throw lost();
  };
  const outOfReach = (): Fault => new Fault("STORE_UNAVAILABLE", "the store went out of reach", { retry: "later" });
  const mustHoldWriterEpoch = (writerEpoch: number): void => {
    if (writerEpoch !== audit.writerEpoch) throw staleWriterEpoch(writerEpoch);
  };

  const append = async (batch: AuditBatch): Promise<void> => {
    checkBatch(batch);
    if (batch.rows.length === 0) return ask(() => undefined);
    const rows = batch.rows.map(copied);
    const refuse = (): void => {
      mustHoldWriterEpoch(batch.writerEpoch);
      if (batch.after !== audit.head.size) throw headElsewhere(batch.after);
      const isNew = rows.every((row) => !audit.byEvent.has(row.eventId));
      if (!isNew || new Set(rows.map((row) => row.eventId)).size < rows.length) throw eventAgain();
    };
    const commit = (): void => {
      for (const row of rows) keep(audit, row);
      audit.head = { ...batch.head };
      publish(tables, rows);
      for (const follower of [...audit.followers]) follower();
    };
    return write("audit.append", refuse, commit, () => answerLost(batch));
  };

  const closeAndAppend = async (batch: AuditBatch, at: Instant): Promise<void> => {
    if (batch.rows.length > 0) checkBatch(batch);
    const rows = batch.rows.map(copied);
    const number = numberOf(batch.after) - 1;
    const refuse = (): void => {
      mustHoldWriterEpoch(batch.writerEpoch);
      if (numberOf(audit.head.size) !== number) throw headElsewhere(batch.after);
      if (rows.some((row) => audit.byEvent.has(row.eventId))) throw eventAgain();
    };
    const commit = (): void => {
      audit.closed.push({ number, head: { ...audit.head }, at });
      for (const row of rows) keep(audit, row);
      audit.head = rows.length > 0 ? { ...batch.head } : { ...noEntries, size: batch.after };
      publish(tables, rows);
      for (const follower of [...audit.followers]) follower();
    };
    return write("audit.begin", refuse, commit, () => answerLost(batch));
  };

  const putCheckpoint = async (writerEpoch: number, checkpoint: StoredCheckpoint): Promise<void> => {
    checkCheckpoint(checkpoint);
    const { size, note } = checkpoint;
    const refuse = (): void => {
      mustHoldWriterEpoch(writerEpoch);
      const stored = audit.checkpoints.get(size);
      if (stored !== undefined && !onlyGains(stored.note, note)) throw notOnlyGained(size);
    };
    const commit = (): void => {
      audit.checkpoints.set(size, { size, note, at: audit.checkpoints.get(size)?.at ?? checkpoint.at });
    };
    return write("audit.checkpoint", refuse, commit, outOfReach);
  };

  const putTiles = async (tiles: readonly StoredTile[]): Promise<void> => {
    for (const tile of tiles) checkTile(tile);
    const copies = tiles.map((tile) => ({ ...tile, hashes: tile.hashes.slice() }));
    const commit = (): void => {
      for (const tile of copies) keepTile(audit, tile);
    };
    return write("audit.tiles", () => undefined, commit, outOfReach);
  };

  const repairIndex = async (writerEpoch: number, rows: readonly Omit<AuditIndexRow, "at">[]): Promise<number> => {
    const repairs = rows.map((row) => ({ ...row }));
    let repaired = 0;
    const commit = (): void => {
      repaired = repairs.filter((row) => putRight(audit, row)).length;
      indexAnew(audit);
    };
    await write("audit.index", () => mustHoldWriterEpoch(writerEpoch), commit, outOfReach);
    return repaired;
  };

  const replaceTile = async (tile: StoredTile, was: Uint8Array): Promise<boolean> => {
    checkTile(tile);
    const copy = { ...tile, hashes: tile.hashes.slice() };
    const key = `${tile.level}/${tile.index}`;
    let isDone = false;
    const commit = (): void => {
      const stored = audit.tiles.get(key)?.hashes;
      isDone = stored?.length === was.length && stored.every((byte, at) => byte === was[at]);
      if (isDone) audit.tiles.set(key, copy);
    };
    await write("audit.tiles", () => undefined, commit, outOfReach);
    return isDone;
  };

  const onAppend = (run: () => void): (() => void) => {
    let owed = false;
    const later = (): void => {
      if (owed) return;
      owed = true;
      timers.after(tables.faults.deliveryDelayMs(), () => {
        owed = false;
        if (process.isReachable() && audit.followers.has(later)) run();
      });
    };
    // A follower that was cut off may have missed something, and is told when it is back.
    const watcher: Watcher = { committed: () => undefined, broadcast: () => undefined, stirred: later };
    audit.followers.add(later);
    tables.watchers.add(watcher);
    const stop = (): void => {
      audit.followers.delete(later);
      tables.watchers.delete(watcher);
      stops.delete(stop);
    };
    stops.add(stop);
    return stop;
  };

  const stopAll = (): void => {
    for (const stop of [...stops]) stop();
  };
  const forget = process.onKill(stopAll);
  const flat: FlatAuditLog = {
    ...createMemoryAuditReads(audit, ask),
    append,
    closeAndAppend,
    putCheckpoint,
    putTiles,
    replaceTile,
    repairIndex,
    onAppend,
    takeWriterEpoch: () =>
      ask(() => {
        audit.writerEpoch += 1;
        return { writerEpoch: audit.writerEpoch, head: { ...audit.head } };
      }),
  };
  return {
    ...currentLog(flat),
    async close() {
      closed = true;
      stopAll();
      forget();
    },
  };
}

const eventKind = /^(bus|key\.rotated|key\.revoked|subject-key-destroyed)\//;

/** In the same step as the entries, as one commit does. */
function publish(tables: MemoryTables, rows: readonly NewAuditRow[]): void {
  const { name: subject } = subjects.auditAppended;
  const timeOf = timesOfRows();
  tables.append(
    rows.map(({ text, timestamp }) => {
      const sequence = tables.nextSequence();
      const at = timeOf({ timestamp });
      return {
        id: eventIdOf(sequence),
        subject,
        key: appendedKey,
        at,
        source: appendedSource,
        bytes: text.slice(),
        sequence,
      };
    }),
  );
}

/** A UUID as the database would make one, but the same in every run of a seed. */
function eventIdOf(sequence: number): string {
  return `00000000-0000-4000-8000-${sequence.toString(16).padStart(12, "0")}`;
}

function copied({ sequence, eventId, subjectId, action, text, timestamp }: NewAuditRow): NewAuditRow {
  return { sequence, eventId, subjectId, action, text: text.slice(), timestamp };
}

/** Only what the text says is written; the text's own members are what the database looks for in its bytes. */
function putRight(audit: AuditTables, repair: Omit<AuditIndexRow, "at">): boolean {
  const at = audit.rows.findIndex(({ sequence }) => sequence === repair.sequence);
  const row = audit.rows[at];
  if (row === undefined) return false;
  const line = new TextDecoder().decode(row.text);
  const said = parseJson(line) as { readonly subject_id: string; readonly action: string; readonly timestamp: string };
  const isSaid = said.subject_id === repair.subjectId && said.action === repair.action;
  const isEvent = row.eventId === repair.eventId || line.includes(repair.eventId.replace(eventKind, ""));
  if (!isSaid || !isEvent) return false;
  audit.rows[at] = { ...row, ...repair, timestamp: said.timestamp };
  return true;
}

function indexAnew(audit: AuditTables): void {
  audit.byEvent.clear();
  audit.bySubject.clear();
  for (const row of audit.rows) index(audit, row);
}

function keep(audit: AuditTables, row: NewAuditRow): void {
  audit.rows.push(row);
  index(audit, row);
}

function index(audit: AuditTables, row: NewAuditRow): void {
  audit.byEvent.set(row.eventId, row.sequence);
  const others = audit.bySubject.get(row.subjectId);
  if (others === undefined) audit.bySubject.set(row.subjectId, [row.sequence]);
  else others.push(row.sequence);
}

function keepTile(audit: AuditTables, tile: StoredTile): void {
  const key = `${tile.level}/${tile.index}`;
  if (tile.hashes.length >= (audit.tiles.get(key)?.hashes.length ?? 0)) audit.tiles.set(key, tile);
}

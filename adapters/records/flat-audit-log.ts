// Many logs in one store. What is kept has one row of numbers; each log has a stretch of it for its entries, its checkpoints and its tiles, so the
// store keeps one table, one head and one way to append, and what was closed is never touched again. The head's place says which log is written.
import type {
  AuditBatch,
  AuditHead,
  AuditLog,
  AuditRow,
  ClosedLog,
  ClosedLogReads,
  NewAuditRow,
  NewLog,
  StoredCheckpoint,
} from "../../ports/audit-log.ts";

/** As many entries as one log may have; of the numbers that are safe there are 8,192 such stretches. */
export const logSpan = 2 ** 40;

/** The store by itself: every number is a place in the whole. */
export interface FlatAuditLog
  extends Omit<AuditLog, "takeWriterEpoch" | "beginAnew" | "closedLogs" | "closed" | "newestCheckpoint"> {
  takeWriterEpoch(incarnation: string): Promise<{ readonly writerEpoch: number; readonly head: AuditHead }>;
  /** Keeps the head as that of a closed log, and goes on at the batch's place, in one transaction. The batch may be empty. */
  closeAndAppend(batch: AuditBatch, at: NewLog["at"]): Promise<void>;
  /** With heads as they stood in the whole. */
  closedLogs(): Promise<readonly ClosedLog[]>;
  /** The largest below that size. */
  newestCheckpoint(below: number): Promise<StoredCheckpoint | undefined>;
}

const everything = Number.MAX_SAFE_INTEGER;

export function numberOf(place: number): number {
  return Math.floor(place / logSpan) + 1;
}

function baseOf(number: number): number {
  return (number - 1) * logSpan;
}

/** The log that is written now, and those before it. */
export function currentLog(flat: FlatAuditLog): AuditLog {
  /** Where the log begins that this process writes or has looked at first; only taking the writer epoch or beginning anew moves it. */
  let known: number | undefined;
  const base = async (): Promise<number> => {
    known ??= baseOf(numberOf((await flat.head()).size));
    return known;
  };
  const reads = readsBetween(flat, base, () => everything);
  const moved = movedRows();
  const at = (begin: number, { writerEpoch, after, rows, head }: AuditBatch): AuditBatch =>
    begin === 0
      ? { writerEpoch, after, rows, head }
      : { writerEpoch, after: begin + after, rows: moved(rows, begin), head: movedHead(head, begin) };
  return {
    ...flat,
    ...reads,
    async takeWriterEpoch(incarnation) {
      const { writerEpoch, head } = await flat.takeWriterEpoch(incarnation);
      const number = numberOf(head.size);
      known = baseOf(number);
      return { writerEpoch, number, head: movedHead(head, -known) };
    },
    async beginAnew({ writerEpoch, rows, head, at: closedAt }) {
      const next = (await base()) + logSpan;
      await flat.closeAndAppend(at(next, { writerEpoch, after: 0, rows, head }), closedAt);
      known = next;
    },
    async closedLogs() {
      const closed = await flat.closedLogs();
      return closed.map((log) => ({ ...log, head: movedHead(log.head, -baseOf(log.number)) }));
    },
    closed: ({ number, head }) => {
      const begin = baseOf(number);
      return {
        ...readsBetween(
          flat,
          async () => begin,
          () => begin + logSpan,
        ),
        head: async () => head,
      };
    },
    append: async (batch) => flat.append(at(known ?? (await base()), batch)),
    ...(flat.preEncode === undefined
      ? {}
      : { preEncode: (batch) => (known === undefined ? undefined : flat.preEncode?.(at(known, batch))) }),
    async sequencesOf(eventIds) {
      const begin = await base();
      return new Map([...(await flat.sequencesOf(eventIds))].map(([id, sequence]) => [id, sequence - begin]));
    },
    async newestOf(subjectIds) {
      const begin = await base();
      const found = [...(await flat.newestOf(subjectIds))].filter(([, sequence]) => sequence >= begin);
      return new Map(found.map(([id, sequence]) => [id, sequence - begin]));
    },
    async repairIndex(writerEpoch, rows) {
      const begin = await base();
      return flat.repairIndex(
        writerEpoch,
        rows.map((row) => ({ ...row, sequence: begin + row.sequence })),
      );
    },
    async putCheckpoint(writerEpoch, checkpoint) {
      return flat.putCheckpoint(writerEpoch, { ...checkpoint, size: (await base()) + checkpoint.size });
    },
    async putTiles(tiles) {
      const begin = await base();
      return flat.putTiles(tiles.map((tile) => ({ ...tile, index: begin + tile.index })));
    },
    replaceTile: async (tile, was) => flat.replaceTile({ ...tile, index: (await base()) + tile.index }, was),
  };
}

/** What is read of one log: from its first place to before its last. */
function readsBetween(flat: FlatAuditLog, base: () => Promise<number>, end: () => number): ClosedLogReads {
  const own = <Row extends Pick<AuditRow, "sequence">>(rows: readonly Row[], begin: number): readonly Row[] =>
    begin === 0 && end() === everything
      ? rows
      : rows.filter(({ sequence }) => sequence < end()).map((row) => ({ ...row, sequence: row.sequence - begin }));
  const signed = (checkpoint: StoredCheckpoint, begin: number): StoredCheckpoint => ({
    ...checkpoint,
    size: checkpoint.size - begin,
  });
  return {
    head: async () => movedHead(await flat.head(), -(await base())),
    async read(from, count) {
      const begin = await base();
      return own(await flat.read(begin + from, count), begin);
    },
    async readSubject(subjectId, from, count) {
      const begin = await base();
      return own(await flat.readSubject(subjectId, begin + from, count), begin);
    },
    async readIndex(from, count) {
      const begin = await base();
      return own(await flat.readIndex(begin + from, count), begin);
    },
    async readKeyChanges(from, count) {
      const begin = await base();
      return own(await flat.readKeyChanges(begin + from, count), begin);
    },
    async readAlarms(before, count) {
      const begin = await base();
      const rows = await flat.readAlarms(Math.min(begin + before, end()), count);
      return own(rows, begin).filter(({ sequence }) => sequence >= 0);
    },
    async count(from, to) {
      const begin = await base();
      return flat.count(begin + from, Math.min(begin + to, end()));
    },
    async newestCheckpoint() {
      const begin = await base();
      const newest = await flat.newestCheckpoint(end());
      return newest === undefined || newest.size < begin ? undefined : signed(newest, begin);
    },
    async checkpoints(fromSize, count) {
      const begin = await base();
      const found = await flat.checkpoints(begin + fromSize, count);
      return found.filter(({ size }) => size < end()).map((one) => signed(one, begin));
    },
    readTile: async (level, index) => flat.readTile(level, (await base()) + index),
    async readTiles(places) {
      const begin = await base();
      return flat.readTiles(places.map(({ level, index }) => ({ level, index: begin + index })));
    },
  };
}

/** The same list again for the same rows: a store may have prepared for a batch by it. */
function movedRows(): (rows: readonly NewAuditRow[], by: number) => readonly NewAuditRow[] {
  const done = new WeakMap<readonly NewAuditRow[], readonly NewAuditRow[]>();
  return (rows, by) => {
    const before = done.get(rows);
    if (before?.length === rows.length) return before;
    const moved = rows.map((row) => ({ ...row, sequence: row.sequence + by }));
    done.set(rows, moved);
    return moved;
  };
}

function movedHead(head: AuditHead, by: number): AuditHead {
  return by === 0 ? head : { ...head, size: head.size + by };
}

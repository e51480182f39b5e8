// The sequencer: the one place where entries get their numbers. It holds the writer epoch of the log, chains what has gathered into one batch, and makes
// it durable while the next batch gathers and, when it is large, is looked up and chained. Nothing waits for a timer.
//
//  1. An append resolves when its entry is durable, and not before.
//  2. One batch at a time is on its way, entries in the order in which they were asked for; so what is asked for in order about a subject stands in order.
//  3. An event id is in the log at most once: a caller that brings it again is told where it stands. The store refuses a batch that would bring one
//     again, and only then is it asked which.
//  4. A definite failure withdraws the batch and everything that waits: what came later must not stand before what came first.
//  5. When the answer to a commit is lost, the writer epoch is taken anew (which waits for whatever is under way) and the head tells. Had the batch not
//     become durable, it is written again, the same bytes.
//  6. Who lost the writer epoch never writes again: somebody else's entries stand where ours would.
//  7. Every entry names the newest earlier entry about its subject (`subject_previous`), so that leaving one out of a trail shows. Entry 0 and
//     those whose data the format fixes have no such member.
import { Defect, type Fault, messageOf } from "../../../../contracts/src/fault.ts";
import { createFormatter } from "../../../../contracts/src/instant.ts";
import { createEntryMaker, type Entry } from "../../../../core/audit/entry.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import { type BoundedMap, boundedMap } from "../../../../core/state/bounded-map.ts";
import type { AuditHead, AuditLog, NewAuditRow } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { Log } from "../../../../ports/log.ts";
import type { Timers } from "../../../../ports/timers.ts";
import { endsWithin, pollUntil } from "../../../shared/waiting.ts";
import type { AppendRequest, SequencerState } from "./append-request.ts";
import { beginBatch, type Chained, chainSome, isFull, type Known } from "./batch.ts";
import {
  badId,
  gone,
  isLostWriterEpoch,
  isRefusedForGood,
  isUnknown,
  refused,
  tooMuch,
  unavailable,
} from "./sequencer-faults.ts";

export interface Appended {
  readonly sequence: number;
  /** The entry that was made; undefined when the event stood in the log already. */
  readonly entry: Entry | undefined;
}

export interface SequencerLimits {
  readonly queueMax: number;
  /** Half of what a thousand callers bring: while one half becomes durable, the other is chained. */
  readonly batchEntriesMax: number;
  /** A batch is prepared ahead when so many wait for it; fewer gather until the one before is durable. */
  readonly aheadEntriesMin: number;
  /** Subjects whose newest entry need not be looked up again. */
  readonly rememberedMax: number;
}

interface SequencerOptions {
  readonly auditLog: Pick<AuditLog, "takeWriterEpoch" | "append" | "preEncode" | "sequencesOf" | "newestOf">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly sha256: Sha256OfBytes;
  readonly incarnation: string;
  readonly writerEpoch: number;
  readonly head: AuditHead;
  /** Appends that wait; one more is refused with RESOURCE_EXHAUSTED. */
  readonly queueMax?: number | undefined;
  readonly limits?: Partial<SequencerLimits> | undefined;
  /** Whether it is certain that none of the entries handed to `onDurable`, or there before, is about the subject: then nobody needs to look. */
  readonly hasNone?: ((subjectId: string) => boolean) | undefined;
  /** Called with entries that have become durable, in order, before the callers that wait for them are told. */
  readonly onDurable: (entries: readonly (Entry & NewAuditRow)[], head: AuditHead) => void;
  readonly onTakenOver: (fault: Fault) => void;
  readonly onDefect: (defect: Defect) => void;
}

export interface Sequencer {
  append(request: AppendRequest): Promise<Appended>;
  state(): SequencerState;
  head(): AuditHead;
  writerEpoch(): number;
  waiting(): number;
  /** The newest entry about the subject, when it is remembered. */
  newestOf(subjectId: string): number | undefined;
  /** Another writer was noticed elsewhere: ends this one. */
  takenOver(fault: Fault): void;
  /** Refuses everything from now on, with this sentence: the log is not what was signed. */
  standStill(sentence: string): void;
  /** Refuses new appends, finishes those in hand for at most so long. */
  stop(patienceMs: number): Promise<void>;
}

interface Waiting {
  readonly request: AppendRequest;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (fault: Fault) => void;
}

type Outcome = "committed" | "nothing" | "somebody else's" | "never answered";

/** What has left the queue together, and the batch that it becomes. */
interface Prepared {
  readonly taken: Waiting[];
  /** Whether the log was asked for the events. */
  readonly areIdsAsked: boolean;
  readonly chaining: Promise<Chained<Waiting>>;
}

/** As many as are chained in about a millisecond. */
const chainedTogether = 32;
const limitsDefault: SequencerLimits = {
  queueMax: 8_192,
  batchEntriesMax: 512,
  aheadEntriesMin: 128,
  rememberedMax: 50_000,
};
const askAgainMs = { firstAfterMs: 10, everyMs: 10, everyMsMax: 1_000 };

export function createSequencer(options: SequencerOptions): Sequencer {
  const { auditLog, clock, timers, log, sha256, incarnation } = options;
  const { queueMax, batchEntriesMax, aheadEntriesMin, rememberedMax } = limitsOf(options);
  const queue: Waiting[] = [];
  const newestSubjects = boundedMap<string, number>(rememberedMax);
  const lettingGo = new AbortController();
  const maker = createEntryMaker(sha256);
  const timestampOf = createFormatter();
  let { head, writerEpoch } = options;
  let state: SequencerState = "open";
  let stillBecause = "";
  let running: Promise<void> | undefined;
  /** What is being written, what of it is on its way to the disk, and what is being prepared behind it. */
  let current: Prepared | undefined;
  let underWay: Chained<Waiting> | undefined;
  let ahead: Prepared | undefined;
  /** Batches that are durable and not announced yet. */
  let unannouncedCount = 0;

  function append(request: AppendRequest): Promise<Appended> {
    const isFull = waiting() >= queueMax;
    const refusal = refused(state, stillBecause) ?? badId(request) ?? (isFull ? tooMuch(queueMax) : undefined);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      queue.push({ request, resolve, reject });
      // One microtask later, so that what is asked for together is written together.
      running ??= Promise.resolve().then(run);
      if (underWay !== undefined && ahead === undefined && queue.length === aheadEntriesMin) {
        void Promise.resolve().then(prepareAhead);
      }
    });
  }

  function waiting(): number {
    return queue.length + (current?.taken.length ?? 0) + (ahead?.taken.length ?? 0);
  }

  async function run(): Promise<void> {
    while (queue.length > 0 || ahead !== undefined) {
      current = ahead ?? prepare();
      ahead = undefined;
      await write(current);
      current = undefined;
    }
    running = undefined;
  }

  async function write({ taken, areIdsAsked, chaining }: Prepared): Promise<void> {
    try {
      const chained = await chaining;
      if (chained.rows.length > 0 && !(await commit(chained))) return;
      // A batch that is ready goes first: telling a thousand callers takes as long as the disk.
      unannouncedCount += 1;
      if (ahead === undefined) tell(chained);
      else timers.soon(() => tell(chained));
    } catch (thrown) {
      // One of the events may stand in the log already. That is rare, so that it is asked only now.
      if (!areIdsAsked && isRefusedForGood(thrown)) {
        takeBackAhead();
        current = prepare(taken, true);
        await write(current);
        return;
      }
      // Alone in its batch, an entry that the store will never take is told so; among others it is found when they come again one by one.
      const isItsOwn = taken.length === 1 && isRefusedForGood(thrown);
      if (isItsOwn) for (const each of taken) each.reject(thrown);
      withdraw(taken, unavailable(thrown));
      if (thrown instanceof Defect) options.onDefect(thrown);
      else log.warn("a batch of audit entries was not written", { entries: taken.length, error: messageOf(thrown) });
    }
  }

  function tell({ rows, placed, head: reached }: Chained<Waiting>): void {
    unannouncedCount -= 1;
    if (rows.length > 0) options.onDurable(rows, reached);
    for (const { waiting: reported, sequence, entry } of placed) reported.resolve({ sequence, entry });
  }

  /** Looks up and chains what waits while the batch before it is on its way: what that one adds counts as if it were durable. */
  function prepareAhead(): void {
    if (underWay !== undefined && ahead === undefined && queue.length >= aheadEntriesMin) ahead = prepare();
  }

  /** What was chained behind a batch that becomes another goes back to where it came from. */
  function takeBackAhead(): void {
    if (ahead !== undefined) queue.unshift(...ahead.taken.splice(0));
    ahead = undefined;
  }

  function prepare(taken = queue.splice(0, batchEntriesMax), areIdsAsked = false): Prepared {
    const before = underWay;
    // The memory of all subjects does not have those of a batch that was not announced.
    const hasNone = unannouncedCount === 0 ? options.hasNone : undefined;
    const looking = lookUp({ auditLog, hasNone }, newestSubjects, taken, areIdsAsked);
    const chaining = looking.then((known) => chain(taken, before, known));
    // Whoever writes it hears of a failure; a batch that is withdrawn before is nobody's.
    chaining.catch(() => undefined);
    return { taken, areIdsAsked, chaining };
  }

  /** In pieces, so that the batch before gets through the socket meanwhile: it is larger than what the socket takes at once. */
  async function chain(
    taken: Waiting[],
    before: Chained<Waiting> | undefined,
    known: Known,
  ): Promise<Chained<Waiting>> {
    const batch = beginBatch<Waiting>(before?.head ?? head);
    let next = 0;
    // What is taken back meanwhile leaves nothing to chain.
    while (next < taken.length && !isFull(batch)) {
      if (next > 0 && underWay !== undefined) await new Promise<void>((resolve) => timers.soon(resolve));
      const now = timestampOf(clock.now());
      next = chainSome(batch, taken, next, chainedTogether, { known, before, maker, now });
    }
    queue.unshift(...taken.splice(next));
    if (before !== undefined) {
      auditLog.preEncode?.({ writerEpoch, after: before.head.size, rows: batch.rows, head: batch.head });
    }
    return batch;
  }

  /** True when the batch is durable; false when everybody who waited was told otherwise. */
  async function commit(chained: Chained<Waiting>): Promise<boolean> {
    underWay = chained;
    prepareAhead();
    try {
      return await commitUntilKnown(chained);
    } finally {
      underWay = undefined;
    }
  }

  async function commitUntilKnown(chained: Chained<Waiting>): Promise<boolean> {
    for (;;) {
      try {
        await auditLog.append({ writerEpoch, after: head.size, rows: chained.rows, head: chained.head });
        return succeed(chained);
      } catch (thrown) {
        if (isLostWriterEpoch(thrown)) return giveUp(chained, thrown);
        if (!isUnknown(thrown)) throw thrown;
        const outcome = await outcomeOf(chained);
        if (outcome === "committed") return succeed(chained);
        if (outcome === "somebody else's") return giveUp(chained, thrown);
        if (outcome === "never answered") {
          withdraw(waitersOf(chained), thrown);
          return false;
        }
      }
    }
  }

  async function outcomeOf(chained: Chained<Waiting>): Promise<Outcome> {
    if (state === "open") state = "asking";
    log.warn("the answer to an audit commit was lost; the head will tell", { entries: chained.rows.length });
    const outcome = await pollUntil({ ...askAgainMs, timers, signal: lettingGo.signal }, async () => {
      try {
        const taken = await auditLog.takeWriterEpoch(incarnation);
        writerEpoch = taken.writerEpoch;
        if (state === "asking") state = "open";
        log.info("the outcome of the audit commit is known", { size: taken.head.size, wanted: chained.head.size });
        if (isSame(taken.head, chained.head)) return "committed";
        return isSame(taken.head, head) ? "nothing" : "somebody else's";
      } catch (thrown) {
        if (thrown instanceof Defect) throw thrown;
        log.debug("the audit log does not tell its head", { error: messageOf(thrown) });
        return undefined;
      }
    });
    return outcome ?? "never answered";
  }

  function succeed(chained: Chained<Waiting>): true {
    ({ head } = chained);
    for (const [subjectId, sequence] of chained.newest) newestSubjects.set(subjectId, sequence);
    return true;
  }

  function giveUp(chained: Chained<Waiting> | undefined, cause: Fault): false {
    if (state !== "taken over") {
      state = "taken over";
      log.error("another process has taken the writer epoch of the audit log", { error: cause.message });
      options.onTakenOver(cause);
    }
    withdraw(chained === undefined ? [] : waitersOf(chained), gone());
    return false;
  }

  function withdraw(waiters: readonly Waiting[], fault: Fault): void {
    // Settled ones do not notice; those that wait behind would otherwise stand before what is asked for again.
    // Taken out, because what is prepared may still be on its way to being chained.
    const behind = ahead?.taken.splice(0) ?? [];
    ahead = undefined;
    for (const each of [...waiters, ...behind, ...queue.splice(0)]) each.reject(fault);
  }

  return {
    append,
    state: () => state,
    head: () => head,
    writerEpoch: () => writerEpoch,
    waiting,
    newestOf: (subjectId) => newestSubjects.get(subjectId),
    takenOver: (fault) => void giveUp(undefined, fault),
    standStill(sentence) {
      state = "standing still";
      stillBecause = sentence;
    },
    async stop(patienceMs) {
      if (state === "open" || state === "asking") state = "stopping";
      await endsWithin(timers, running ?? Promise.resolve(), patienceMs);
      lettingGo.abort();
      await endsWithin(timers, running ?? Promise.resolve(), patienceMs);
    },
  };
}

/**
 * What is durable of these events and subjects. What is remembered is taken down at once: by the time that it is needed the batch before may
 * have pushed it out of the memory.
 */
async function lookUp(
  { auditLog, hasNone }: Pick<SequencerOptions, "auditLog" | "hasNone">,
  newestSubjects: BoundedMap<string, number>,
  taken: readonly Waiting[],
  areIdsAsked: boolean,
): Promise<Known> {
  const newest = new Map<string, number>();
  const subjects = new Set<string>();
  for (const { request } of taken) {
    const { subjectId } = request;
    if (newest.has(subjectId) || subjects.has(subjectId)) continue;
    const known = newestSubjects.get(subjectId);
    if (known !== undefined) newest.set(subjectId, known);
    else if (hasNone?.(subjectId) !== true) subjects.add(subjectId);
  }
  const [sequences, more] = await Promise.all([
    areIdsAsked ? auditLog.sequencesOf([...new Set(taken.map(({ request }) => request.eventId))]) : undefined,
    subjects.size === 0 ? [] : auditLog.newestOf([...subjects]),
  ]);
  for (const [subjectId, sequence] of more) newest.set(subjectId, sequence);
  return { sequences: sequences === undefined ? undefined : new Map(sequences), newest };
}

function limitsOf({ queueMax, limits }: SequencerOptions): SequencerLimits {
  return { ...limitsDefault, ...(queueMax === undefined ? {} : { queueMax }), ...limits };
}

function waitersOf(chained: Chained<Waiting>): readonly Waiting[] {
  return chained.placed.map(({ waiting }) => waiting);
}

function isSame(one: AuditHead, other: AuditHead): boolean {
  return one.size === other.size && one.hash === other.hash;
}

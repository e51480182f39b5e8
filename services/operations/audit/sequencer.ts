// The sequencer: the one place where entries get their numbers. It holds the pen of the log, chains what has gathered into one batch, and makes
// it durable while the next batch gathers. Nothing waits for a timer.
//
//  1. An append resolves when its entry is durable, and not before.
//  2. One batch at a time, entries in the order in which they were asked for; so what is asked for in order about a subject stands in order.
//  3. An event id is in the log at most once: whoever brings it again is told where it stands.
//  4. A definite failure withdraws the batch and everything that waits: what came later must not stand before what came first.
//  5. When the answer to a commit is lost, the pen is taken anew (which waits for whatever is under way) and the head tells. Had the batch not
//     become durable, it is written again, the same bytes.
//  6. Who lost the pen never writes again: somebody else's entries stand where ours would.
//  7. Every entry names the newest earlier entry about its subject (`subject_previous`), so that leaving one out of a trail shows. Entry 0 and
//     those whose data the format fixes have no such member.
import { Defect, Fault, messageOf } from "../../../contracts/src/fault.ts";
import { createFormatter, format, type Instant } from "../../../contracts/src/instant.ts";
import { ValueRefused } from "../../../core/audit/canonical-json.ts";
import { type Entry, makeEntry } from "../../../core/audit/entry.ts";
import type { Sha256OfBytes } from "../../../core/audit/hash.ts";
import type { AuditHead, AuditLog, NewAuditRow } from "../../../ports/audit-log.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import { boundedMap } from "./bounded-map.ts";
import { hasFixedData, subjectPrevious } from "./reserved.ts";
import { endsWithin } from "./waiting.ts";

export interface AuditWish {
  /** What the entry is made of; unique in the log. */
  readonly eventId: string;
  readonly actor: string;
  readonly action: string;
  readonly subjectId: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** When it happened, if somebody knows: stands in the data as `at`. The entry's own time is the log's. */
  readonly at?: Instant;
}

export interface Appended {
  readonly sequence: number;
  /** The entry that was made; undefined when the event stood in the log already. */
  readonly entry: Entry | undefined;
}

export type SequencerState = "open" | "asking" | "taken over" | "standing still" | "stopping";

export interface SequencerOptions {
  readonly auditLog: Pick<AuditLog, "takePen" | "append" | "sequencesOf" | "newestOf">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly sha256: Sha256OfBytes;
  readonly incarnation: string;
  readonly pen: number;
  readonly head: AuditHead;
  /** Appends that wait; one more is refused with RESOURCE_EXHAUSTED. */
  readonly queueMax?: number | undefined;
  /** Entries that have become durable, in order; told before anybody who waits for them. */
  readonly onDurable: (entries: readonly Entry[], head: AuditHead) => void;
  readonly onTakenOver: (fault: Fault) => void;
  readonly onDefect: (defect: Defect) => void;
}

export interface Sequencer {
  append(wish: AuditWish): Promise<Appended>;
  state(): SequencerState;
  head(): AuditHead;
  pen(): number;
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
  readonly wish: AuditWish;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (fault: Fault) => void;
}

/** A batch that is ready to be written. */
interface Chained {
  readonly rows: NewAuditRow[];
  readonly entries: Entry[];
  /** Who waits for which entry; several may wait for one. */
  readonly placed: { readonly waiting: Waiting; readonly sequence: number; readonly entry: Entry | undefined }[];
  readonly newest: Map<string, number>;
  readonly ids: Map<string, number>;
  head: AuditHead;
  bytes: number;
}

interface Known {
  readonly sequences: ReadonlyMap<string, number>;
  readonly newest: ReadonlyMap<string, number>;
}

const queueMaxDefault = 8_192;
const eventIdUnitsMax = 512;
const batchEntriesMax = 1_000;
const batchBytesMax = 8 * 1024 * 1024;
const idsRememberedMax = 50_000;
const subjectsRememberedMax = 50_000;
const askAgainMs = { first: 10, max: 1_000 };

export function createSequencer(options: SequencerOptions): Sequencer {
  const { auditLog, clock, timers, log, sha256, incarnation } = options;
  const queueMax = options.queueMax ?? queueMaxDefault;
  const queue: Waiting[] = [];
  const recentIds = boundedMap<string, number>(idsRememberedMax);
  const newestSubjects = boundedMap<string, number>(subjectsRememberedMax);
  const lettingGo = new AbortController();
  const timestampOf = createFormatter();
  let { head, pen } = options;
  let state: SequencerState = "open";
  let stillBecause = "";
  let running: Promise<void> | undefined;
  /** How many have left the queue and are not decided yet. */
  let inHand = 0;

  function append(wish: AuditWish): Promise<Appended> {
    const isFull = queue.length + inHand >= queueMax;
    const refusal = refused(state, stillBecause) ?? badId(wish) ?? (isFull ? tooMuch(queueMax) : undefined);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      queue.push({ wish, resolve, reject });
      // One microtask later, so that what is asked for together is written together.
      running ??= Promise.resolve().then(run);
    });
  }

  async function run(): Promise<void> {
    while (queue.length > 0) {
      const taken = queue.splice(0, batchEntriesMax);
      inHand = taken.length;
      try {
        await write(taken);
      } catch (thrown) {
        // Alone in its batch, an entry that the store will never take is told so; among others it is found when they come again one by one.
        const isItsOwn = taken.length === 1 && thrown instanceof Fault && thrown.retry === "never";
        withdraw(taken, isItsOwn ? thrown : unavailable(thrown));
        if (thrown instanceof Defect) options.onDefect(thrown);
        else log.warn("a batch of audit entries was not written", { entries: taken.length, error: messageOf(thrown) });
      }
      inHand = 0;
    }
    running = undefined;
  }

  async function write(taken: readonly Waiting[]): Promise<void> {
    const known = await lookUp(taken);
    const chained = chain(taken, known);
    if (chained.rows.length > 0 && !(await commit(chained))) return;
    for (const { waiting, sequence, entry } of chained.placed) waiting.resolve({ sequence, entry });
  }

  async function lookUp(taken: readonly Waiting[]): Promise<Known> {
    const ids = new Set<string>();
    const subjects = new Set<string>();
    for (const { wish } of taken) {
      if (recentIds.get(wish.eventId) === undefined) ids.add(wish.eventId);
      if (newestSubjects.get(wish.subjectId) === undefined) subjects.add(wish.subjectId);
    }
    const [sequences, newest] = await Promise.all([
      ids.size === 0 ? new Map<string, number>() : auditLog.sequencesOf([...ids]),
      subjects.size === 0 ? new Map<string, number>() : auditLog.newestOf([...subjects]),
    ]);
    return { sequences, newest };
  }

  function chain(taken: readonly Waiting[], known: Known): Chained {
    const chained: Chained = { rows: [], entries: [], placed: [], newest: new Map(), ids: new Map(), head, bytes: 0 };
    for (const [index, waiting] of taken.entries()) {
      if (chained.bytes >= batchBytesMax) {
        queue.unshift(...taken.slice(index));
        break;
      }
      place(waiting, chained, known);
    }
    return chained;
  }

  function place(waiting: Waiting, chained: Chained, known: Known): void {
    const { wish } = waiting;
    const there = chained.ids.get(wish.eventId) ?? recentIds.get(wish.eventId) ?? known.sequences.get(wish.eventId);
    if (there !== undefined) {
      chained.placed.push({ waiting, sequence: there, entry: undefined });
      return;
    }
    const { eventId, subjectId, action } = wish;
    const previous = chained.newest.get(subjectId) ?? newestSubjects.get(subjectId) ?? known.newest.get(subjectId);
    const sequence = chained.head.size;
    const now = timestampOf(clock.now());
    const timestamp = now > chained.head.timestamp ? now : chained.head.timestamp;
    let entry: Entry;
    try {
      const data = dataOf(wish, previous);
      const fields = { sequence, timestamp, actor: wish.actor, action, subject_id: subjectId, data };
      entry = makeEntry({ ...fields, prev_hash: chained.head.hash }, sha256);
    } catch (thrown) {
      if (!(thrown instanceof ValueRefused)) throw thrown;
      const sentence = `This cannot be an audit entry: ${thrown.message}.`;
      waiting.reject(new Fault("INVALID_ARGUMENT", sentence, { retry: "never" }));
      return;
    }
    chained.rows.push({ sequence, text: entry.text, eventId, subjectId, action });
    chained.entries.push(entry);
    chained.placed.push({ waiting, sequence, entry });
    chained.newest.set(subjectId, sequence);
    chained.ids.set(eventId, sequence);
    chained.head = { size: sequence + 1, hash: entry.hash, timestamp };
    chained.bytes += entry.text.length;
  }

  /** True when the batch is durable; false when everybody who waited was told otherwise. */
  async function commit(chained: Chained): Promise<boolean> {
    for (;;) {
      try {
        await auditLog.append({ pen, after: head.size, rows: chained.rows, head: chained.head });
        return succeed(chained);
      } catch (thrown) {
        if (isLostPen(thrown)) return giveUp(chained, thrown);
        if (!isUnknown(thrown)) throw thrown;
        const outcome = await outcomeOf(chained);
        if (outcome === "committed") return succeed(chained);
        if (outcome === "somebody else's") return giveUp(chained, thrown);
        if (outcome === "never told") {
          withdraw(waitersOf(chained), thrown);
          return false;
        }
      }
    }
  }

  async function outcomeOf(chained: Chained): Promise<"committed" | "nothing" | "somebody else's" | "never told"> {
    if (state === "open") state = "asking";
    log.warn("the answer to an audit commit was lost; the head will tell", { entries: chained.rows.length });
    for (let waitMs = askAgainMs.first; !lettingGo.signal.aborted; waitMs = Math.min(waitMs * 2, askAgainMs.max)) {
      await timers.sleep(waitMs, lettingGo.signal);
      try {
        const taken = await auditLog.takePen(incarnation);
        pen = taken.pen;
        if (state === "asking") state = "open";
        if (isSame(taken.head, chained.head)) return "committed";
        return isSame(taken.head, head) ? "nothing" : "somebody else's";
      } catch (thrown) {
        if (thrown instanceof Defect) throw thrown;
        log.debug("the audit log does not tell its head", { error: messageOf(thrown) });
      }
    }
    return "never told";
  }

  function succeed(chained: Chained): true {
    ({ head } = chained);
    for (const [id, sequence] of chained.ids) recentIds.set(id, sequence);
    for (const [subjectId, sequence] of chained.newest) newestSubjects.set(subjectId, sequence);
    options.onDurable(chained.entries, head);
    return true;
  }

  function giveUp(chained: Chained | undefined, cause: Fault): false {
    if (state !== "taken over") {
      state = "taken over";
      log.error("another process has taken the pen of the audit log", { error: cause.message });
      options.onTakenOver(cause);
    }
    withdraw(chained === undefined ? [] : waitersOf(chained), gone());
    return false;
  }

  function withdraw(waiters: readonly Waiting[], fault: Fault): void {
    // Settled ones do not notice; those that wait behind would otherwise stand before what is asked for again.
    for (const each of [...waiters, ...queue.splice(0)]) each.reject(fault);
  }

  return {
    append,
    state: () => state,
    head: () => head,
    pen: () => pen,
    waiting: () => queue.length + inHand,
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

function dataOf({ action, data, at }: AuditWish, previous: number | undefined): Readonly<Record<string, unknown>> {
  if (hasFixedData(action)) return data;
  const whole: Record<string, unknown> = plainCopy(data);
  if (at !== undefined) whole["at"] = format(at);
  whole[subjectPrevious] = previous ?? null;
  return whole;
}

/** A copy that hides nothing from the encoder: what it would refuse must not pass because it was copied. */
function plainCopy(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const prototype: unknown = typeof data === "object" && data !== null ? Object.getPrototypeOf(data) : undefined;
  if (prototype !== Object.prototype && prototype !== null) throw new ValueRefused("data", "not a plain object");
  const copy: Record<string, unknown> = {};
  for (const name of Reflect.ownKeys(data)) {
    const member = Reflect.getOwnPropertyDescriptor(data, name);
    const isPlain = member !== undefined && "value" in member && member.enumerable === true;
    if (typeof name === "symbol" || !isPlain) throw new ValueRefused(`data.${String(name)}`, "not a plain member");
    if (name === "__proto__") Object.defineProperty(copy, name, member);
    else copy[name] = member.value;
  }
  return copy;
}

function waitersOf(chained: Chained): readonly Waiting[] {
  return chained.placed.map(({ waiting }) => waiting);
}

function isSame(one: AuditHead, other: AuditHead): boolean {
  return one.size === other.size && one.hash === other.hash;
}

function isUnknown(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === "STORE_COMMIT_UNKNOWN";
}

function isLostPen(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === "STORE_CONFLICT";
}

function refused(state: SequencerState, stillBecause: string): Fault | undefined {
  if (state === "taken over") return gone();
  if (state === "standing still") return new Fault("SERVICE_UNAVAILABLE", stillBecause, { retry: "later" });
  if (state !== "stopping") return undefined;
  return new Fault("SERVICE_STOPPING", "The audit log takes no more entries here: operations is stopping.", {
    retry: "later",
  });
}

function badId({ eventId }: AuditWish): Fault | undefined {
  if (eventId.length > 0 && eventId.length <= eventIdUnitsMax) return undefined;
  const sentence = `An event id has 1 to ${eventIdUnitsMax} characters, not ${eventId.length}.`;
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

function gone(): Fault {
  return new Fault("SERVICE_UNAVAILABLE", "Another process writes the audit log; this one writes nothing any more.", {
    retry: "later",
  });
}

function unavailable(cause: unknown): Fault {
  return new Fault("STORE_UNAVAILABLE", "The audit entry could not be made durable.", { retry: "later", cause });
}

function tooMuch(queueMax: number): Fault {
  return new Fault("RESOURCE_EXHAUSTED", `${queueMax} audit entries wait for the store, as many as may.`, {
    retry: "later",
  });
}

// Decisions become durable together: while one batch is being committed the next one gathers, and it begins the moment the store is
// free. Nothing waits for a timer, and nobody is answered before the batch that holds the decision is durable.
//
//  1. One commit at a time, in the order in which entries were added.
//  2. A definite failure withdraws the batch and every later one, newest first: they were decided on books that no longer hold.
//  3. An unknown outcome keeps everything as it is and stops deciding until the store tells; then it is a success or a definite failure.
//  4. Whoever lost the writer epoch to another engine never decides again. Asking about an outcome may take the writer epoch away from its own engine, so
//     it is taken anew afterwards, and only if nobody else has written in between.
//  5. The journal has entries in the order in which they moved the books, so reading it again gives the same books. What would fit
//     between two decisions in another way than it was decided (a throttle's release) is committed while nothing is decided.
//  6. How much may wait is bounded, and asked before anything is decided; so is how long: while a commit has no answer for that time,
//     nothing new is decided, and a caller is told so at once.
import { Defect, Fault, messageOf } from "../../../contracts/src/fault.ts";
import type { Checked } from "../../../core/engine/engine.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { JournalEntry, RiskStore } from "../../../ports/risk-store.ts";
import type { Stopwatch } from "../../../ports/stopwatch.ts";
import type { Timers } from "../../../ports/timers.ts";
import { endsWithin, pollUntil } from "../../shared/waiting.ts";

interface GroupCommitOptions {
  readonly riskStore: Pick<RiskStore, "append" | "outcomeOf">;
  readonly random: Random;
  readonly timers: Timers;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
  readonly writerEpoch: number;
  /** Takes the writer epoch anew; undefined when the journal's last entry is not this one, so that somebody else must have written. */
  readonly retakeWriterEpoch: (last: JournalEntry | undefined) => Promise<number | undefined>;
  readonly undecidedMax: number;
  /** Takes a decision back; called newest first. */
  readonly withdraw: (checked: Checked) => void;
  /** Another engine took over. */
  readonly onTakenOver: (fault: Fault) => void;
  /** The store does not answer a commit; reported with every question that is refused because of it. */
  readonly onStalled: () => void;
  readonly onDefect: (defect: Defect) => void;
  readonly onCommitted: (entryCount: number, microseconds: number) => void;
}

/** "asking": an answer to a commit was lost. "taken over": another engine has the writer epoch. */
type CommitState = "open" | "asking" | "taken over" | "stopping";

/** How an entry that is not kept is taken back: a decision's result, or what to do. */
type Undo = Checked | (() => void);

export interface GroupCommit {
  /** Resolves when the entry is durable; what it did is taken back when it never will be. Call it in the step that moved the books. */
  add(entry: JournalEntry, undo?: Undo): Promise<void>;
  /** Why nothing can be decided right now; undefined when it can. */
  complaint(): Fault | undefined;
  state(): CommitState;
  undecided(): number;
  /** What became durable last, if anything has since the start. */
  last(): JournalEntry | undefined;
  /** Set while deciding pauses for a moment; then wait for it and ask again. */
  pause(): Promise<void> | undefined;
  /** Commits an entry while nothing is being decided, and moves the books when it is durable. */
  addAlone(entry: JournalEntry, apply: () => void): Promise<void>;
  /** Runs the work while nothing is undecided and nothing is being decided or committed; its first step sees the books of the journal. */
  quietly<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Refuses new entries, finishes those in hand for at most so long, then lets go of what is left without deciding its fate. */
  stop(patienceMs: number): Promise<void>;
  /** Whether the fate of anything was left open: then the books in memory are not those of the journal. */
  leftOpen(): boolean;
}

interface Batch {
  readonly id: string;
  readonly entries: JournalEntry[];
  readonly undos: (Undo | undefined)[];
  bytes: number;
  readonly durable: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (fault: Fault) => void;
}

/** One commit that holds all that callers have under way would have the engine, the store and the callers wait for each other in turn. */
const batchEntriesMax = 192;
const batchBytesMax = 8 * 1024 * 1024;
const undecidedBytesMax = 64 * 1024 * 1024;
const letGoMsMax = 500;
/** A commit takes a millisecond; one that takes this long is in trouble. */
const commitUsMax = 2_000_000;
const askAgainMs = { first: 10, max: 1_000 };

export function groupCommit(options: GroupCommitOptions): GroupCommit {
  const { riskStore, timers, stopwatch, log } = options;
  const waiting: Batch[] = [];
  const lettingGo = new AbortController();
  const asker: Asker = { ...options, signal: lettingGo.signal };
  let committingSinceUs = Number.NaN;
  let writerEpoch = options.writerEpoch;
  let last: JournalEntry | undefined;
  let started = false;
  let state: CommitState = "open";
  let undecided = 0;
  let undecidedBytes = 0;
  let held: Promise<void> | undefined;
  let frozen = false;
  let leftOpen = false;
  let idle: (() => void)[] = [];

  const takeBack = (undo: Undo): void => (typeof undo === "function" ? undo() : options.withdraw(undo));

  function add(entry: JournalEntry, undo?: Undo): Promise<void> {
    const ended = endedBy();
    if (ended !== undefined) {
      if (undo !== undefined) takeBack(undo);
      return Promise.reject(ended);
    }
    let batch = waiting[waiting.length - 1];
    if (batch === undefined || batch.entries.length >= batchEntriesMax || batch.bytes >= batchBytesMax) {
      batch = newBatch(options.random.uuid());
      waiting.push(batch);
    }
    batch.entries.push(entry);
    batch.undos.push(undo);
    batch.bytes += entry.payload.length;
    undecided += 1;
    undecidedBytes += entry.payload.length;
    start();
    return batch.durable;
  }

  /** One microtask later, so that what arrives together is committed together. */
  function start(): void {
    if (started || frozen) return;
    started = true;
    void Promise.resolve().then(commitAll);
  }

  async function commitAll(): Promise<void> {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      await commit(batch);
    }
    started = false;
    const woken = idle;
    idle = [];
    for (const wake of woken) wake();
  }

  async function commit(batch: Batch): Promise<void> {
    const startedUs = stopwatch();
    committingSinceUs = startedUs;
    try {
      await riskStore.append({ id: batch.id, writerEpoch, entries: batch.entries });
    } catch (thrown) {
      committingSinceUs = Number.NaN;
      return judge(batch, thrown);
    }
    committingSinceUs = Number.NaN;
    succeed(batch);
    options.onCommitted(batch.entries.length, stopwatch() - startedUs);
  }

  async function judge(batch: Batch, thrown: unknown): Promise<void> {
    if (thrown instanceof Fault && thrown.code === "STORE_COMMIT_UNKNOWN") return resolveUnknown(batch, thrown);
    if (thrown instanceof Fault && thrown.code === "STORE_CONFLICT" && thrown.retry === "never") {
      giveUp(batch, thrown);
      return;
    }
    withdrawFrom(batch, unavailable(thrown));
    if (thrown instanceof Defect) options.onDefect(thrown);
    else
      log.warn("a batch of decisions was not committed", { error: messageOf(thrown), entries: batch.entries.length });
  }

  async function resolveUnknown(batch: Batch, thrown: Fault): Promise<void> {
    if (state === "open") state = "asking";
    log.warn("the answer to a commit was lost; nothing is decided until its outcome is known", { batch: batch.id });
    const outcome = await untilAnswered(asker, "the outcome of a commit", () => riskStore.outcomeOf(batch.id));
    if (outcome === undefined) return letGo(batch, thrown);
    log.info("the outcome of the commit is known", { batch: batch.id, outcome });
    if (outcome === "committed") succeed(batch);
    else withdrawFrom(batch, unavailable(thrown));
    const retaken = await untilAnswered(asker, "the writer epoch", async () => ({
      writerEpoch: await options.retakeWriterEpoch(last),
    }));
    if (retaken === undefined) return;
    if (retaken.writerEpoch === undefined) return giveUp(undefined, thrown);
    writerEpoch = retaken.writerEpoch;
    if (state === "asking") state = "open";
  }

  function giveUp(batch: Batch | undefined, fault: Fault): void {
    state = "taken over";
    withdrawFrom(batch, takenOver());
    options.onTakenOver(fault);
  }

  function succeed(batch: Batch): void {
    forget(batch);
    last = batch.entries[batch.entries.length - 1];
    batch.resolve();
  }

  /** That batch, when there is one, and all that wait. */
  function withdrawFrom(batch: Batch | undefined, fault: Fault): void {
    const lost = batch === undefined ? [...waiting] : [batch, ...waiting];
    waiting.length = 0;
    for (let index = lost.length - 1; index >= 0; index -= 1) {
      const undos = lost[index]?.undos ?? [];
      for (let place = undos.length - 1; place >= 0; place -= 1) {
        const each = undos[place];
        if (each !== undefined) takeBack(each);
      }
    }
    for (const each of lost) {
      forget(each);
      each.reject(fault);
    }
  }

  /** This engine does not know, and never will: reservations stay, callers are told that it is unknown. */
  function letGo(batch: Batch, fault: Fault): void {
    leftOpen = true;
    const left = [batch, ...waiting];
    waiting.length = 0;
    for (const each of left) {
      forget(each);
      each.reject(fault);
    }
  }

  function forget(batch: Batch): void {
    undecided -= batch.entries.length;
    undecidedBytes -= batch.bytes;
  }

  function endedBy(): Fault | undefined {
    if (state === "taken over") return takenOver();
    if (state === "stopping") return stopping();
    return undefined;
  }

  function complaint(): Fault | undefined {
    if (state === "asking") return outcomeUnknown();
    if (state !== "open") return endedBy();
    if (stopwatch() - committingSinceUs > commitUsMax) {
      options.onStalled();
      return stalled();
    }
    if (undecided >= options.undecidedMax || undecidedBytes >= undecidedBytesMax) return tooMuch(undecided);
    return undefined;
  }

  async function drained(): Promise<void> {
    while (started || waiting.length > 0) {
      await new Promise<void>((resolve) => {
        idle.push(resolve);
      });
    }
  }

  /** Deciding pauses while this runs; one at a time. */
  async function pausing<Value>(work: () => Promise<Value>): Promise<Value> {
    while (held !== undefined) await held;
    let release = (): void => undefined;
    held = new Promise((resolve) => {
      release = resolve;
    });
    try {
      await drained();
      return await work();
    } finally {
      held = undefined;
      release();
    }
  }

  const quietly = <Value>(work: () => Promise<Value>): Promise<Value> =>
    pausing(async () => {
      // What fills bring in the meantime moves the books and waits.
      frozen = true;
      try {
        return await work();
      } finally {
        frozen = false;
        if (waiting.length > 0) start();
      }
    });

  async function stop(patienceMs: number): Promise<void> {
    if (state === "open" || state === "asking") state = "stopping";
    await endsWithin(timers, drained(), patienceMs);
    lettingGo.abort();
    // A store that does not even refuse is not waited for.
    if (!(await endsWithin(timers, drained(), letGoMsMax))) leftOpen = true;
  }

  return {
    add,
    complaint,
    state: () => state,
    undecided: () => undecided,
    last: () => last,
    pause: () => held,
    addAlone: (entry, apply) => pausing(() => add(entry).then(apply)),
    leftOpen: () => leftOpen,
    quietly,
    stop,
  };
}

type Asker = Pick<GroupCommitOptions, "timers" | "log" | "onDefect"> & { readonly signal: AbortSignal };

/** Asks until the store answers; undefined when this engine stops before that. */
async function untilAnswered<Value>(
  { timers, log, onDefect, signal }: Asker,
  what: string,
  ask: () => Promise<Value>,
): Promise<Value | undefined> {
  const { first, max } = askAgainMs;
  const known = await pollUntil({ timers, everyMs: first, everyMsMax: max, signal }, async () => {
    try {
      return { value: await ask() };
    } catch (thrown) {
      if (thrown instanceof Defect) onDefect(thrown);
      log.debug("the store does not tell", { what, error: messageOf(thrown) });
      return undefined;
    }
  });
  if (known === undefined) log.error("the store never answered", { what });
  return known?.value;
}

function newBatch(id: string): Batch {
  let resolve = (): void => undefined;
  let reject = (_fault: Fault): void => undefined;
  const durable = new Promise<void>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { id, entries: [], undos: [], bytes: 0, durable, resolve, reject };
}

function unavailable(cause: unknown): Fault {
  return new Fault("STORE_UNAVAILABLE", "The decision could not be made durable, so it was withdrawn.", {
    retry: "later",
    cause,
  });
}

function outcomeUnknown(): Fault {
  return new Fault("STORE_UNAVAILABLE", "The outcome of an earlier commit is not known yet; nothing is decided.", {
    retry: "later",
  });
}

function stalled(): Fault {
  return new Fault("STORE_UNAVAILABLE", "The store has not answered a commit for two seconds; nothing is decided.", {
    retry: "later",
  });
}

function takenOver(): Fault {
  return new Fault("SERVICE_UNAVAILABLE", "Another risk engine has taken over; this one decides nothing any more.", {
    retry: "later",
  });
}

function stopping(): Fault {
  return new Fault("SERVICE_STOPPING", "The risk engine is shutting down.", { retry: "later" });
}

function tooMuch(undecided: number): Fault {
  return new Fault("RESOURCE_EXHAUSTED", `${undecided} decisions wait for the store, as many as may.`, {
    retry: "later",
  });
}

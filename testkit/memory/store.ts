// The store's twin in memory: the same promises as the database (ports/store.ts) without a disk, for the simulator and for
// tests of services. It proves nothing about a database's isolation; it only never promises more than one.

import { type UnauditedChange, watchChanges } from "../../adapters/records/audited-changes.ts";
import type { MayPublish } from "../../adapters/transport/publish-authority.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Store, UnitOfWork, WorkKind } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";
import { type MemoryProcess, never } from "./tables.ts";
import { beginTransaction, conflict, type Transaction } from "./transaction.ts";

export interface MemoryStoreOptions {
  readonly process: MemoryProcess;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** How often a work is run before STORE_CONFLICT; default 5. */
  readonly attemptsMax?: number;
  /** Which subjects this process may publish; any other is a Defect. Absent: all of them. */
  readonly mayPublish?: MayPublish;
  /** Which changes the audit log would not know of: they are a Defect and never committed. Absent: all are let through. */
  readonly unauditedChange?: UnauditedChange;
}

/** What a try came to: an answer, or a conflict after which the work may be run again. */
type Try<T> = { readonly answer: T } | { readonly conflict: Fault };

export function memoryStore(options: MemoryStoreOptions): Store {
  const { process, timers } = options;
  const { tables } = process;
  const attemptsMax = options.attemptsMax ?? 5;
  const open = new Set<Promise<unknown>>();
  let closed = false;

  const refuse = (): Fault | undefined => {
    if (closed) return new Fault("STORE_UNAVAILABLE", "the store is closed", { retry: "never" });
    if (process.isReachable()) return undefined;
    return new Fault("STORE_UNAVAILABLE", "the store is out of reach", { retry: "later" });
  };

  const runOnce = async <T>(name: string, work: (unit: UnitOfWork) => Promise<T>, kind?: WorkKind): Promise<Try<T>> => {
    const watch = options.unauditedChange === undefined ? undefined : watchChanges(name, options.unauditedChange);
    const transaction = beginTransaction(name, options, watch);
    const forgetDeath = process.onKill(transaction.end);
    try {
      const answer = await work(transaction.unit);
      if (transaction.isDoomed()) return { conflict: conflict(name) };
      watch?.judge();
      if (kind?.isOneStatement === true && transaction.hasPublished()) {
        throw new Defect(`${name} is said to be one statement, and it published an event`);
      }
      const failed = await commit(name, transaction);
      return failed === undefined ? { answer } : { conflict: failed };
    } catch (thrown) {
      if (transaction.isDoomed()) return { conflict: conflict(name) };
      throw thrown;
    } finally {
      transaction.end();
      forgetDeath();
    }
  };

  /** Commits, or throws; a conflict is returned, because only that is tried again. */
  const commit = async (name: string, transaction: Transaction): Promise<Fault | undefined> => {
    await pause(tables.faults.commitDelayMs());
    if (!process.isAlive()) return never;
    if (!process.isReachable()) throw new Fault("STORE_UNAVAILABLE", "the store is out of reach", { retry: "later" });
    const fate = tables.faults.commit(name);
    if (fate === "conflict") return conflict(name);
    if (fate === "failed") throw new Fault("STORE_UNAVAILABLE", `${name} could not be committed`, { retry: "later" });
    const committed = fate !== "lost, not committed";
    if (committed) transaction.apply();
    tables.outcomes.set(transaction.id, committed ? "committed" : "not committed");
    transaction.end();
    await pause(tables.faults.answerDelayMs());
    if (!process.isAlive()) return never;
    if (fate === "committed") return undefined;
    throw new Fault("STORE_COMMIT_UNKNOWN", `the answer to the commit of ${name} was lost`, {
      retry: "never",
      facts: { transaction: transaction.id },
    });
  };

  const pause = (ms: number): Promise<void> => (ms > 0 ? timers.sleep(ms) : Promise.resolve());

  const runWithin = async <T>(name: string, work: (unit: UnitOfWork) => Promise<T>, kind?: WorkKind): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      const tried = await runOnce(name, work, kind);
      if (!process.isAlive()) return never;
      if ("answer" in tried) return tried.answer;
      if (attempt >= attemptsMax) throw tried.conflict;
      await timers.sleep(attempt);
      const refused = refuse();
      if (refused !== undefined) throw refused;
    }
  };

  const transact: Store["transact"] = async (name, work, kind) => {
    if (!process.isAlive()) return never;
    const refused = refuse();
    if (refused !== undefined) throw refused;
    const running = runWithin(name, work, kind);
    const ended = running.catch(() => undefined);
    open.add(ended);
    try {
      return await running;
    } finally {
      open.delete(ended);
    }
  };

  return {
    transact,
    async outcomeOf(transaction) {
      if (!process.isAlive()) return never;
      const refused = refuse();
      if (refused !== undefined) throw refused;
      return tables.outcomes.get(transaction) ?? "not committed";
    },
    async health() {
      if (!process.isAlive()) return never;
      const refused = refuse();
      return refused === undefined ? { reachable: true } : { reachable: false, complaint: refused.message };
    },
    /** Refuses new work and waits for the transactions under way. */
    async close() {
      closed = true;
      await Promise.all([...open]);
    },
  };
}

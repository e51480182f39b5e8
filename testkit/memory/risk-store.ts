// The risk engine's store in memory: the same promises as on the database (ports/risk-store.ts), with the world's faults instead of a
// disk's. Decisions become messages of the log in the same step in which their batch becomes durable.

import type { DecisionRow } from "../../adapters/transport/decision-messages.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { JournalBatch, JournalEntry, JournalRow, RiskStore } from "../../ports/risk-store.ts";
import type { Timers } from "../../ports/timers.ts";
import { appendDecisions } from "./decisions.ts";
import { createMemoryRiskReads } from "./risk-reads.ts";
import { type MemoryProcess, never, type Watcher } from "./tables.ts";

export interface MemoryRiskStoreOptions {
  readonly process: MemoryProcess;
  readonly timers: Timers;
}

export interface MemoryRiskStore extends RiskStore {
  close(): Promise<void>;
}

export function memoryRiskStore(options: MemoryRiskStoreOptions): MemoryRiskStore {
  const { process, timers } = options;
  const { tables } = process;
  const { risk } = tables;
  const stops = new Set<() => void>();
  /** The writer epochs of batches whose answer was lost. */
  const lost = new Map<string, number>();
  let closed = false;

  const pause = (ms: number): Promise<void> => (ms > 0 ? timers.sleep(ms) : Promise.resolve());
  const mustBeReachable = (): void => {
    if (closed) throw new Fault("STORE_UNAVAILABLE", "the risk store is closed", { retry: "never" });
    if (!process.isReachable()) throw new Fault("STORE_UNAVAILABLE", "the store is out of reach", { retry: "later" });
  };
  /** What a dead process asks is never answered. */
  const ask = async <T>(answer: () => T): Promise<T> => {
    if (!process.isAlive()) return never;
    mustBeReachable();
    return answer();
  };

  const append = async (batch: JournalBatch): Promise<void> => {
    if (!process.isAlive()) return never;
    mustBeReachable();
    if (batch.entries.length === 0) return;
    const entries = batch.entries.map(copied);
    await pause(tables.faults.commitDelayMs());
    if (!process.isAlive()) return never;
    mustBeReachable();
    refuse(batch, entries);
    const fate = tables.faults.commit("risk.append");
    if (fate === "conflict" || fate === "failed") {
      throw new Fault("STORE_UNAVAILABLE", "the batch could not be committed", { retry: "later" });
    }
    if (fate !== "lost, not committed") commit(batch.id, entries);
    await pause(tables.faults.answerDelayMs());
    if (!process.isAlive()) return never;
    if (fate === "committed") return;
    lost.set(batch.id, batch.writerEpoch);
    throw new Fault("STORE_COMMIT_UNKNOWN", "the answer to the commit of a journal batch was lost", {
      retry: "never",
      facts: { transaction: batch.id },
    });
  };

  const refuse = (batch: JournalBatch, entries: readonly JournalEntry[]): void => {
    if (batch.writerEpoch !== risk.writerEpoch) {
      throw new Fault(
        "STORE_CONFLICT",
        "another engine has taken the writer epoch, or an outcome was asked for since",
        {
          retry: "never",
          facts: { writerEpoch: batch.writerEpoch },
        },
      );
    }
    const fills = entries.map((entry) => entry.fillId).filter((fillId) => fillId !== undefined);
    if (new Set(fills).size < fills.length || fills.some((fillId) => risk.fills.has(fillId))) {
      throw new Fault("INVALID_ARGUMENT", "a fill of this batch is in the journal already", { retry: "never" });
    }
  };

  const commit = (batchId: string, entries: readonly JournalEntry[]): void => {
    const rows: JournalRow[] = entries.map((entry) => ({ ...entry, id: BigInt(tables.nextSequence()) }));
    risk.batches.add(batchId);
    risk.journal.push(...rows);
    for (const { fillId } of rows) if (fillId !== undefined) risk.fills.add(fillId);
    appendDecisions(tables, rows.filter((row) => row.kind === "decision").map(decisionRow));
  };

  const onChange = (run: () => void): (() => void) => {
    let owed = false;
    const later = (): void => {
      if (owed) return;
      owed = true;
      timers.after(tables.faults.deliveryDelayMs(), () => {
        owed = false;
        if (process.isReachable() && tables.watchers.has(watcher)) run();
      });
    };
    const watcher: Watcher = { committed: later, stirred: later, broadcast: () => undefined };
    tables.watchers.add(watcher);
    const stop = (): void => {
      tables.watchers.delete(watcher);
      stops.delete(stop);
    };
    stops.add(stop);
    return stop;
  };

  process.onKill(() => {
    for (const stop of [...stops]) stop();
  });
  return {
    ...createMemoryRiskReads(risk, ask),
    append,
    onChange,
    takeWriterEpoch: () =>
      ask(() => {
        risk.writerEpoch += 1;
        return risk.writerEpoch;
      }),
    outcomeOf: (batchId) =>
      ask(() => {
        if (risk.batches.has(batchId)) return "committed";
        const writerEpoch = lost.get(batchId);
        if (writerEpoch === undefined || writerEpoch === risk.writerEpoch) risk.writerEpoch += 1;
        return "not committed";
      }),
    async close() {
      closed = true;
      for (const stop of [...stops]) stop();
    },
  };
}

function copied(entry: JournalEntry): JournalEntry {
  return {
    ...entry,
    payload: entry.payload.slice(),
    ...(entry.keyHash === undefined ? {} : { keyHash: entry.keyHash.slice() }),
    ...(entry.bodyHash === undefined ? {} : { bodyHash: entry.bodyHash.slice() }),
  };
}

function decisionRow({ decisionId, orderId, at, payload }: JournalRow): DecisionRow {
  if (decisionId === undefined) throw new Defect("a decision in the journal has no id");
  return { decisionId, orderId, at, payload };
}

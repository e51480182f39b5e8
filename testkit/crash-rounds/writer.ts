// A writer: several lanes that commit events side by side and swear to every step. Some transactions only publish (they share
// commits), some also write a row (a transaction of their own, and collisions among them), some are rolled back on purpose.
import { Fault } from "../../contracts/src/fault.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";
import { type Prng, prng } from "../virtual/prng.ts";
import type { Journal } from "./journal.ts";
import { keyCount, publishSource } from "./load.ts";

export interface WriterOptions {
  /** New for every incarnation. */
  readonly name: string;
  readonly seed: number;
  readonly store: Store;
  readonly timers: Timers;
  readonly journal: Journal;
}

export interface Writer {
  /** Resolves when no lane has anything under way. */
  pause(): Promise<void>;
  resume(): void;
}

const laneCount = 4;
const restMsMax = 30;
const rollbackShare = 0.15;
const rowShare = 0.4;
const outcomeMsMax = 60_000;

class RolledBack extends Error {}

export function startWriter(options: WriterOptions): Writer {
  const gate = createGate(laneCount);
  for (let lane = 0; lane < laneCount; lane += 1) {
    const author = `${options.name}/${lane}`;
    // A lane that rejects is a defect: the process ends with it and the test sees that it ended by itself.
    void runLane(options, author, prng(options.seed).fork(author), gate);
  }
  return gate;
}

async function runLane(options: WriterOptions, author: string, throws: Prng, gate: Gate): Promise<never> {
  for (let number = 1; ; ) {
    await gate.pass();
    const count = 1 + throws.below(3);
    await transactOnce(options, author, throws, { number, count });
    number += count;
    await options.timers.sleep(throws.below(restMsMax));
  }
}

interface Share {
  /** The number of the first event. */
  readonly number: number;
  readonly count: number;
}

async function transactOnce(options: WriterOptions, author: string, throws: Prng, share: Share): Promise<void> {
  const { store, timers, journal } = options;
  const rollsBack = throws.chance(rollbackShare);
  const writesRow = throws.chance(rowShare);
  const keys = Array.from({ length: share.count }, () => `key-${throws.below(keyCount)}`);
  let ids: string[] = [];
  const work = async (unit: UnitOfWork): Promise<void> => {
    // Run again after a collision: the first run's events are gone.
    if (ids.length > 0) journal({ kind: "rolled back", ids });
    ids = [];
    // Neighbouring transactions of all writers meet on one row.
    if (writesRow) await unit.handled.firstTime("crash-rounds.rows", `row-${Math.floor(share.number / 8)}`);
    for (const [index, key] of keys.entries()) {
      ids.push(await publishSource(unit.events, { key, author, number: share.number + index }));
    }
    journal({ kind: rollsBack ? "rolled back" : "tried", ids });
    if (rollsBack) throw new RolledBack();
  };
  try {
    await store.transact("crash-rounds.write", work);
    journal({ kind: "acknowledged", ids });
  } catch (thrown) {
    if (thrown instanceof RolledBack) return;
    if (!(thrown instanceof Fault)) throw thrown;
    const { transaction } = thrown.facts;
    if (thrown.code !== "STORE_COMMIT_UNKNOWN" || typeof transaction !== "string") {
      journal({ kind: "refused", ids, code: thrown.code });
      return timers.sleep(20);
    }
    journal({ kind: "unknown", ids, transaction });
    journal({ kind: "resolved", ids, outcome: await outcomeOf(store, timers, transaction) });
  }
}

async function outcomeOf(store: Store, timers: Timers, transaction: string): ReturnType<Store["outcomeOf"]> {
  const stepMs = 50;
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    try {
      return await store.outcomeOf(transaction);
    } catch (thrown) {
      // The server may still be on its way up.
      if (!(thrown instanceof Fault && thrown.retry === "later") || waitedMs > outcomeMsMax) throw thrown;
      await timers.sleep(stepMs);
    }
  }
}

interface Gate extends Writer {
  /** Goes through at once, or waits here while the gate is closed. */
  pass(): Promise<void>;
}

function createGate(lanes: number): Gate {
  let closed = false;
  let open: (() => void)[] = [];
  let allWait: () => void = () => undefined;
  return {
    async pass() {
      if (!closed) return;
      const opened = new Promise<void>((resolve) => open.push(resolve));
      if (open.length === lanes) allWait();
      await opened;
    },
    pause() {
      closed = true;
      return new Promise((resolve) => {
        allWait = resolve;
        if (open.length === lanes) resolve();
      });
    },
    resume() {
      closed = false;
      for (const go of open) go();
      open = [];
    },
  };
}

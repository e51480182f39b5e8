// The alerts of a charting platform in a unit of work: every request that proved its fund's secret, some of the others, and what became of each.
// Only order management writes.
//
// What every store promises (testkit/conformance/signal-records.ts):
//  1. `takeReceipt` numbers what one fund receives from 1 on, without gaps, in the order in which the units commit; a second unit waits for the first, or
//     is a conflict that is tried again.
//  2. `trimSignals` never removes one that waits for its order, nor one whose key is still taken.
//  3. What is kept of a signal is what was put in, whatever characters it has.
import type { Instant } from "../contracts/src/instant.ts";
import type { Order } from "../contracts/src/records/order.ts";
import type { SignalStatus } from "../contracts/src/records/signal.ts";

export interface StoredSignal {
  readonly signalId: string;
  /** The fund's own count of what it received; of requests that proved no secret their common one. */
  readonly receipt: number;
  readonly source: string;
  readonly status: SignalStatus;
  readonly httpStatus: number;
  readonly receivedAt: Instant;
  /** Milliseconds until its answer was ready. */
  readonly answerMs: number;
  readonly remoteAddress: string;
  /** Absent when it proved no secret. */
  readonly fundId?: string;
  /** When it fired, as it says itself. */
  readonly alertAt?: Instant;
  /** What its sender wrote, as far as it could be read. */
  readonly strategyId?: string;
  readonly symbolSent?: string;
  readonly symbol?: string;
  readonly side?: string;
  readonly quantity?: string;
  readonly idempotencyKey?: string;
  readonly code?: string;
  readonly detail?: string;
  readonly duplicateOf?: string;
  readonly warnings: readonly string[];
  /** The JSON object that was sent, without its secret. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Refused requests before this one of which nothing is kept. */
  readonly unrecorded?: number;
  /** Of an accepted one. */
  readonly accepted?: AcceptedSignal;
}

export interface AcceptedSignal {
  readonly orderId: string;
  /** The order as it is handed in; its broker is known then. */
  readonly order: Omit<Order, "broker">;
  /** Of the body without its secret: the same key with another body is another refusal. */
  readonly bodyHash: string;
  /** Until when the key is taken. */
  readonly keyUntil: Instant;
}

/** Signals of one fund and symbol are handed in one after the other. */
export interface SignalLane {
  readonly fundId: string;
  readonly symbol: string;
}

export interface SignalRecords {
  /** The fund's next number; the fund is kept from others until this unit ends. "" counts those that proved no secret. */
  takeReceipt(fundId: string): Promise<number>;
  /** The accepted signal that holds this key at that moment, the newest if there are several. */
  keyHolder(fundId: string, idempotencyKey: string, at: Instant): Promise<StoredSignal | undefined>;
  /** A signal_id that exists already is a STORE_CONFLICT. */
  insertSignal(signal: StoredSignal): Promise<void>;
  /** Kept from others until this unit ends. */
  lockSignal(signalId: string): Promise<StoredSignal | undefined>;
  updateSignal(signal: StoredSignal): Promise<void>;
  signal(signalId: string): Promise<StoredSignal | undefined>;
  /** Those of a fund that are ACCEPTED, in order of receipt. */
  waitingSignals(fundId: string): Promise<readonly StoredSignal[]>;
  /** In which funds and symbols signals are ACCEPTED. */
  waitingLanes(): Promise<readonly SignalLane[]>;
  /** The first ACCEPTED one of a fund and symbol, in order of receipt. */
  nextSignal(lane: SignalLane): Promise<StoredSignal | undefined>;
  /** Forgets ended ones that were received before that moment and whose keys are free since then, this many at most; answers how many. */
  trimSignals(before: Instant, countMax: number): Promise<number>;
  /** The newest of a strategy that proved its fund's secret. */
  newestSignal(strategyId: string): Promise<StoredSignal | undefined>;
}

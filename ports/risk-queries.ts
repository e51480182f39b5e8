// What people ask about risk after the fact. Only PostgreSQL answers it: lists and histories are no part of the state machine.
import type { Instant } from "../contracts/src/instant.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { Order } from "../contracts/src/records/order.ts";

/** One decision as stored: DecisionRecord bytes. */
export interface StoredDecision {
  readonly id: bigint;
  readonly decisionId: string;
  readonly payload: Uint8Array;
}

/** An order that order management refused before the engine was asked. */
export interface RefusedOrder {
  readonly refusedAt: Instant;
  readonly order: Order;
  readonly code: string;
  readonly reason: string;
}

export type StoredRejection = StoredDecision | RefusedOrder;

export interface RejectionQuery {
  readonly fundId?: string;
  readonly since: Instant;
  readonly countMax: number;
  /** Continue after this decision, or after `oms:` and an order, towards older ones. */
  readonly afterDecisionId?: string;
}

/** One epoch: a halt that was latched, or all that were lifted at once. */
export interface HaltChange {
  readonly epoch: number;
  readonly lifted: boolean;
  readonly halts: readonly ActiveHalt[];
  readonly at: Instant;
}

export interface HaltChanges {
  readonly epoch: number;
  /** In force at that epoch, oldest first. */
  readonly active: readonly ActiveHalt[];
  /** The oldest after the one that was asked for, at most so many. */
  readonly changes: readonly HaltChange[];
}

/** A halt and, once it was lifted, its end. */
export interface PastHalt {
  readonly halt: ActiveHalt;
  readonly liftedAt?: Instant;
}

export interface HaltQuery {
  readonly countMax: number;
  /** Of this fund and its strategies. */
  readonly fundId?: string;
  readonly idPrefix?: string;
  /** Continue after this halt, towards older ones. */
  readonly afterHaltId?: string;
}

export interface RiskQueries {
  /** Newest first, drills included; nothing after a halt that never was. */
  pastHalts(query: HaltQuery): Promise<readonly PastHalt[]>;
  /** All of one moment. */
  haltChanges(afterEpoch: number, countMax: number): Promise<HaltChanges>;
  /** Denied orders of both, newest first; of the same moment the engine's come first. */
  rejections(query: RejectionQuery): Promise<readonly StoredRejection[]>;
  /** Every decision about one order, oldest first, at most so many. */
  decisionsOf(orderId: string, countMax: number): Promise<readonly StoredDecision[]>;
  /** Decisions of a fund in that time, oldest first, page by page. */
  decisionsBetween(
    fundId: string,
    from: Instant,
    to: Instant,
    after: bigint,
    countMax: number,
  ): Promise<readonly StoredDecision[]>;
  envelope(fundId: string, version: number | undefined): Promise<RiskEnvelope | undefined>;
  /** Newest first; only versions before that one. */
  envelopes(fundId: string, countMax: number, beforeVersion?: number): Promise<readonly RiskEnvelope[]>;
}

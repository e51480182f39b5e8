// What people ask about risk after the fact. Only PostgreSQL answers it: lists and histories are no part of the state machine.
import type { Instant } from "../contracts/src/instant.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";

/** One decision as stored: DecisionRecord bytes. */
export interface StoredDecision {
  readonly id: bigint;
  readonly decisionId: string;
  readonly payload: Uint8Array;
}

export interface RejectionQuery {
  readonly fundId?: string;
  readonly since: Instant;
  readonly countMax: number;
  /** Continue after this decision, towards older ones. */
  readonly afterDecisionId?: string;
}

export interface RiskQueries {
  /** Denied orders, newest first. */
  rejections(query: RejectionQuery): Promise<readonly StoredDecision[]>;
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
  /** Newest first. */
  envelopes(fundId: string, countMax: number): Promise<readonly RiskEnvelope[]>;
}

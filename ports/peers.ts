// How one service asks another: narrow questions, in the records' own words. They travel over the services' procedures and are judged by
// the same table of authority as anybody's; in the simulator they pass the same codecs without a network.
//
// What every adapter promises (testkit/conformance/peers.ts):
//  1. A question that got no answer in time rejects with SERVICE_UNAVAILABLE or DEADLINE_EXCEEDED: whether it was acted on is unknown.
//  2. What the other side denied is an answer: a decision, an order's status, or a Denial.
import type { Denial } from "../contracts/src/codes.ts";
import type { Decimal } from "../contracts/src/decimal.ts";
import type { RiskEnvelope as EnvelopeMessage } from "../contracts/src/generated/svc/v1/envelope.ts";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import type { LimitsPreview } from "../contracts/src/generated/svc/v1/riskengine.ts";
import type { BelievedApproval, BelievedLine } from "../contracts/src/records/books.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { Order, RiskDecision } from "../contracts/src/records/order.ts";

/** The risk engine, as order management asks it. */
export interface RiskChecks {
  check(order: Order): Promise<RiskDecision>;
  /** Undefined when the fund has none. */
  envelope(fundId: string): Promise<RiskEnvelope | undefined>;
}

/** The risk engine, as the job that compares the books asks it. */
export interface RiskBooks {
  lines(): Promise<readonly BelievedLine[]>;
  /** Symbols in which it decides nothing because of a corporate action: what it says afterwards has no new approval in them. */
  heldSymbols(): Promise<readonly string[]>;
  /** What is reserved, order by order; those that were not sent first, and of very many not all. */
  approvals(): Promise<readonly BelievedApproval[]>;
  /** Gross exposure as position_risk counts it, open orders in the worst case and options by what they stand for; undefined when it cannot be counted. */
  grossExposure(fundId: string): Promise<Decimal | undefined>;
}

/** The risk engine, as it is asked for dry runs: of a fund's limits, or of one kind of reference data. It rejects what it cannot say now. */
export interface LimitPreviews {
  preview(asked: PreviewAsked): Promise<LimitsPreview>;
}

type PreviewAsked = { readonly envelope: EnvelopeMessage } | { readonly kind: string; readonly contentJson: string };

/** The risk engine, as treasury asks it before money leaves a fund. */
export interface Withdrawals {
  /** While the fund's books are held: what is answered counts as gone for every decision from then on. */
  reserve(withdrawal: {
    readonly fundId: string;
    /** Decimals in the fund's currency. */
    readonly amount: string;
    readonly cash: string;
    /** RFC 3339. */
    readonly at: string;
  }): Promise<Answered<void>>;
}

/** The risk engine, as the halt manager asks it. */
export interface HaltsConfirmer {
  /** Has it block what is about to be latched, and for a few seconds at most unless the store has it by then. Resolves behind the first denials; promises nothing to anybody. */
  announce(halt: AnnouncedHalt): Promise<void>;
  /**
   * Has it read the halts now. Resolves with the newest epoch that it knows, which is at least this one, when every decision that it made
   * before has been answered. What was announced of the settled ones is forgotten: the store has the last word on them.
   */
  confirm(
    epoch: number,
    settledHaltIds?: readonly string[],
  ): Promise<{ readonly incarnation: string; readonly epoch: number }>;
}

type AnnouncedHalt = Omit<ActiveHalt, "epoch" | "evidence" | "confirmation">;

export type Answered<Answer> = { readonly answer: Answer } | { readonly denial: Denial };

export interface PositionAdjustment {
  /** Deterministic: the same evidence gives the same id, and the same id twice is one adjustment. */
  readonly adjustmentId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** Decimals. */
  readonly fromQuantity: string;
  readonly toQuantity: string;
  readonly price: string;
  readonly broker: string;
  readonly reason: string;
}

/** Opposite positions of two strategies of a fund, closed against each other. */
export interface PositionCross {
  /** Deterministic: the same id twice is one cross. */
  readonly crossId: string;
  readonly fundId: string;
  readonly symbol: string;
  readonly strategyId: string;
  readonly otherStrategyId: string;
  /** Decimals: what each must still hold, and what both close of it. */
  readonly fromQuantity: string;
  readonly otherFromQuantity: string;
  readonly quantity: string;
  readonly reason: string;
}

/** Order management, as strategies, stops, the reconciler and operators' verbs ask it. */
export interface OrderManagement {
  submit(order: Order): Promise<Answered<OrderStatus>>;
  cancel(orderId: string, reason: string): Promise<Answered<OrderStatus>>;
  /** Undefined when there is no such order. */
  order(orderId: string): Promise<OrderStatus | undefined>;
  adjust(adjustment: PositionAdjustment): Promise<Answered<void>>;
  cross(cross: PositionCross): Promise<Answered<void>>;
}

// What the engine's clients saw, kept outside of everything that is killed: every answer with the bytes it came in, which send it belongs
// to, and which halts were acknowledged between which sends. The verdict compares it with the journal.
import { createHash } from "node:crypto";
import { type Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";

/** first: a key that nobody used before. again: the same order once more. other body: the same key for something else. */
export type SendKind = "first" | "again" | "other body";

/** Something to send until it is answered; a failed try is repeated with the same bytes. */
export interface Task {
  readonly kind: SendKind;
  readonly order: Order;
  /** How often it was sent. */
  tries: number;
  /** Counts all sends; that of the last try. */
  sentAt: number;
}

export interface Answer {
  readonly kind: SendKind;
  readonly key: string;
  readonly orderId: string;
  readonly tries: number;
  readonly sentAt: number;
  readonly fundId: string;
  readonly strategyId: string;
  readonly reduceOnly: boolean;
  readonly decisionId: string;
  readonly approved: boolean;
  readonly code: string;
  readonly classification: string;
  /** Of the decision without its original: what the journal must hold, byte by byte. */
  readonly digest: string;
  readonly originalId: string | undefined;
  readonly originalApproved: boolean;
  readonly originalDigest: string | undefined;
}

/** A halt that the engine acknowledged; in force from one send to another. */
export interface AcknowledgedHalt {
  readonly haltId: string;
  readonly fromSend: number;
  /** The send at which lifting began. */
  untilSend: number;
}

export interface Witness {
  readonly answers: Answer[];
  readonly halts: AcknowledgedHalt[];
  /** Sends that ended without an answer. */
  unanswered: number;
  sends: number;
  /** The sends that are neither answered nor given up. */
  readonly underWay: Set<number>;
}

export function createWitness(): Witness {
  return { answers: [], halts: [], unanswered: 0, sends: 0, underWay: new Set() };
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

export function answerOf(task: Task, bytes: Uint8Array): Answer {
  const decision = RiskDecision.decode(bytes);
  const { original } = decision;
  const bare = original === undefined ? bytes : RiskDecision.encode({ ...decision, original: undefined }).finish();
  const { order, kind, tries, sentAt } = task;
  return {
    kind,
    key: order.idempotency_key,
    orderId: order.order_id,
    tries,
    sentAt,
    fundId: order.fund_id,
    strategyId: order.strategy_id,
    reduceOnly: order.reduce_only === true,
    decisionId: decision.decision_id,
    approved: decision.approved,
    code: decision.code,
    classification: decision.classification ?? "",
    digest: digestOf(bare),
    originalId: original?.decision_id,
    originalApproved: original?.approved === true,
    originalDigest: original === undefined ? undefined : digestOf(RiskDecision.encode(original).finish()),
  };
}

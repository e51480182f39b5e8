// Orders, the decisions about them, and what becomes of them.
import { z } from "zod";
import {
  countNumber,
  currencyText,
  decimalNumber,
  decimalText,
  idText,
  instantText,
  lineText,
  nameText,
  nonNegativeDecimalText,
  positiveDecimalText,
  reasonText,
  symbolText,
} from "./fields.ts";
import { assetClass, classification, gateName, orderState, orderType, side, tif } from "./values.ts";

const orderFields = {
  /** Must not have been seen in the last 5 minutes, in any fund. */
  idempotency_key: lineText(200).min(1),
  order_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  side,
  /** Units of the instrument, above zero; the side says the direction. */
  quantity: positiveDecimalText,
  order_type: orderType,
  /** For LIMIT and STOP_LIMIT. */
  limit_price: decimalText.optional(),
  /** For STOP and STOP_LIMIT. */
  stop_price: decimalText.optional(),
  tif,
  /** The moment a GTD order ends. */
  expires_at: instantText.optional(),
  /** Any name: whether it is allowed is the static gate's business. */
  broker: nameText,
  asset_class: assetClass,
  /** In the order's currency; computed from quantity and price when absent. */
  notional: decimalNumber.min(0).optional(),
  venue: nameText.optional(),
  currency: currencyText.optional(),
  /** Who wants it, in free text; authority comes from the caller's identity, never from here. */
  actor: nameText,
  thesis: z.string().max(4_096).optional(),
  /** A claim that the order only shrinks the position; the engine proves it or denies. */
  reduce_only: z.boolean().optional(),
  created_at: instantText.optional(),
  /** Ask without spending anything, not even the key. */
  dry_run: z.boolean().optional(),
};

/** An order as it is asked about; cross-field rules are the schema gate's. */
export const order = z.strictObject(orderFields);
export type Order = z.infer<typeof order>;

/** One figure that a gate read. */
export const figure = z
  .object({
    name: z.string(),
    /** A decimal where it is a number, else a word. */
    value: z.string(),
    /** How old the figure was when it was used; absent for what cannot age. */
    age_ms: z.number().min(0).optional(),
  })
  .meta({ id: "Figure" });
export type Figure = z.infer<typeof figure>;

const gateCheck = z
  .object({
    gate: gateName,
    result: z.enum(["PASSED", "FAILED"]),
    figures: z.array(figure),
    /** Time spent in the gate; outside what replay compares. */
    microseconds: z.number().min(0),
  })
  .meta({ id: "GateCheck" });
export type GateCheck = z.infer<typeof gateCheck>;

/** How much of a limit would be used, reported from 50 % on. */
const limitWarning = z
  .object({
    limit: z.string(),
    /** The share that would be used, as a fraction of the limit. */
    used: z.number().min(0),
    /** The highest of 0.5, 0.75, 0.85, 0.9 and 0.95 that was reached. */
    threshold: z.number(),
  })
  .meta({ id: "LimitWarning" });

const decisionFields = {
  approved: z.boolean(),
  /** The gate that said no; empty when approved. */
  rejecting_gate: z.union([gateName, z.literal("")]),
  /** A denial code of the registry; empty when approved. */
  code: z.string(),
  /** One sentence; empty when approved. */
  reason: z.string(),
  order_id: z.string(),
  decision_id: idText,
  fund_id: z.string(),
  /** Absent when the fund has no envelope. */
  envelope_version: countNumber.optional(),
  /** The newest halt the engine knew of; the order-management system re-checks it when it sends. */
  halt_epoch: countNumber,
  decided_at: instantText,
  /** After this an approval may no longer be used. */
  valid_until: instantText.optional(),
  classification: classification.optional(),
  /** For a denied flip: what could be closed without opening anything. */
  closing_quantity_allowed: nonNegativeDecimalText.optional(),
  checks: z.array(gateCheck),
  warnings: z.array(limitWarning),
  dry_run: z.boolean().optional(),
  /** Of an approved, marked exit: it reduces its own strategy's position too, so a halt of the strategy lets it pass. */
  reduces_strategy: z.boolean().optional(),
};

export const riskDecision = z
  .object({
    ...decisionFields,
    /** The first decision under the same key, when this one refuses a duplicate. */
    original: z.object(decisionFields).optional(),
  })
  .meta({ id: "RiskDecision" });
export type RiskDecision = z.infer<typeof riskDecision>;

/**
 * A decision together with what it was about: the record that replay starts from. The order stands as it was asked, also
 * when it is no valid order, because that is exactly what the schema gate denies.
 */
export const decisionMade = z.object({ order: z.record(z.string(), z.json()), decision: riskDecision });
export type DecisionMade = z.infer<typeof decisionMade>;

/** Exactly the specification's three fields, no more. */
export const gatePassed = z.strictObject({ order_id: z.string(), gate: gateName, latency_ms: z.number().min(0) });
export type GatePassed = z.infer<typeof gatePassed>;

/** Before the order_id: what an order that was refused at the door is called where others have their decision's id. */
export const refusedPrefix = "oms:";

/** Why an order was denied, complete in one record. */
export const orderRejection = z
  .object({
    order_id: z.string(),
    decision_id: idText,
    idempotency_key: z.string(),
    fund_id: z.string(),
    strategy_id: z.string(),
    symbol: z.string(),
    side: z.string(),
    quantity: z.string(),
    gate: gateName,
    code: z.string(),
    reason: z.string(),
    classification: classification.optional(),
    closing_quantity_allowed: nonNegativeDecimalText.optional(),
    envelope_version: countNumber.optional(),
    halt_epoch: countNumber,
    /** What the rejecting gate read. */
    figures: z.array(figure),
    actor: z.string(),
    decided_at: instantText,
    /** Who refused it, where both stand in one list: the engine, or order management before the engine was asked. Absent in the engine's event. */
    source: z.enum(["riskengine", "oms"]).optional(),
  })
  .meta({ id: "OrderRejection" });
export type OrderRejection = z.infer<typeof orderRejection>;

/** An order as an order-management system announces it; a foreign one may number its events per fund for gap alarms. */
export const orderCreated = z.object({
  ...orderFields,
  sequence: countNumber.optional(),
  /** Who handed it in, as proved; `actor` is only what the order claims. */
  submitted_by: lineText(200).optional(),
  /** The quantity that was asked for, of a marked exit that order management cut to what its strategy holds beyond its other exits. */
  cut_from: positiveDecimalText.optional(),
});
export type OrderCreated = z.infer<typeof orderCreated>;

/** One step in an order's life. */
export const orderTransition = z.object({
  order_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  from: orderState,
  to: orderState,
  filled_quantity: nonNegativeDecimalText,
  /** What may still fill. */
  remaining_quantity: nonNegativeDecimalText,
  /** The new terms, when an amendment changed them. */
  quantity: positiveDecimalText.optional(),
  limit_price: decimalText.optional(),
  stop_price: decimalText.optional(),
  /** The idempotency key of an amendment that was dropped: it is not and will not be with the broker, and the terms before it stay. */
  dropped_amendment_key: lineText(200).min(1).optional(),
  decision_id: idText.optional(),
  /** The broker's own name of the order, once it has given one. */
  broker_order_id: lineText(128).optional(),
  /** The order that this one is a slice of. */
  parent_order_id: idText.optional(),
  /** The person who asked for it to be cancelled; absent where the firm or a program did. */
  cancel_asked_by: nameText.optional(),
  /** Why, for a rejection: a code of the registry and one sentence. */
  code: z.string().optional(),
  reason: reasonText.optional(),
  /** Counts the fund's order events without gaps, those of `orders.created` among them, when the publisher can. */
  sequence: countNumber.optional(),
  at: instantText,
});
export type OrderTransition = z.infer<typeof orderTransition>;

export const fillKind = z.enum([
  "TRADE",
  "ADJUSTMENT",
  "SEED",
  "CORPORATE_ACTION",
  "CASH_IN_LIEU",
  "CROSS",
  "SETTLEMENT",
]);

/** A trade against an order. The same fill_id twice is one fill. */
export const fill = z.object({
  fill_id: idText,
  order_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  side,
  quantity: positiveDecimalText,
  price: decimalText,
  /** In `currency`; negative for a rebate. */
  fee: decimalText.optional(),
  currency: currencyText.optional(),
  broker: nameText.optional(),
  venue: nameText.optional(),
  filled_at: instantText,
  /** Counts the fund's fills without gaps, when the publisher can. */
  sequence: countNumber.optional(),
  /**
   * A trade when absent; an adjustment sets our position to the broker's, a seed is where the paper platform begins. A corporate action moves
   * the quantity at price zero and leaves what the position cost; cash in lieu pays for the fraction that it left over. A cross is
   * one of two fills between strategies of the fund that no broker sees. A settlement is what became of an option that ended.
   */
  kind: fillKind.optional(),
});
export type Fill = z.infer<typeof fill>;

/**
 * A venue, or the order management that published a fill, takes a trade back. What moves back is the fill as it was booked; the message only names it.
 * A correction is a bust of the old fill and a new fill under an id of its own.
 */
export const fillBusted = z.object({
  /** The same bust_id twice is one bust. */
  bust_id: idText,
  fill_id: idText,
  /** As the fill has them: a bust that names another order, fund, strategy or symbol is refused. */
  order_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  reason: reasonText,
  at: instantText,
  /** Counts among the fund's fills, when the publisher numbers them. */
  sequence: countNumber.optional(),
});
export type FillBusted = z.infer<typeof fillBusted>;

/** A fill as books keep it. */
export const bookedFill = fill.extend({
  /** Which foreign program published it; absent for those of our own order management. */
  published_by: nameText.optional(),
});
export type BookedFill = z.infer<typeof bookedFill>;

/** What takes a busted fill back: the fill, with the other side and its fee the other way round. */
export const fillReversal = bookedFill.extend({ kind: z.literal("BUST"), bust_id: idText });
export type FillReversal = z.infer<typeof fillReversal>;

/** Nothing showed within its time that an approval was sent, or somebody released it: what was reserved for it is free. */
export const approvalExpired = z.object({
  order_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  side: z.string(),
  /** The whole order, or an amendment of an order that was sent. */
  what: z.enum(["ORDER", "AMENDMENT"]),
  /** What is free now, in units of the instrument. */
  released_quantity: z.string(),
  /** Approvals up to this one's `valid_until` have run out. */
  valid_until: instantText,
  /** RELEASED when somebody released it; absent in what earlier versions wrote. */
  state: z.enum(["EXPIRED", "RELEASED"]).optional(),
  /** Who released it; absent when its time ran out. */
  released_by: nameText.optional(),
  reason: reasonText,
  at: instantText,
});
export type ApprovalExpired = z.infer<typeof approvalExpired>;

/** How it ended, whichever version wrote it. */
export function unsentEndOf({ state, released_by }: Pick<ApprovalExpired, "state" | "released_by">) {
  return state ?? (released_by === undefined ? "EXPIRED" : "RELEASED");
}

/** Its owner said that an approved order was sent. */
export const approvalSent = z.object({
  order_id: idText,
  fund_id: idText,
  confirmed_by: nameText,
  /** Whether its approval had run out before, so that it is reserved again. */
  after_expiry: z.boolean(),
  at: instantText,
});
export type ApprovalSent = z.infer<typeof approvalSent>;

/** An operator declared an order of a foreign order management ended: what was reserved for it is free. */
export const approvalEnded = z.object({
  order_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  side: z.string(),
  /** What is free now, in units of the instrument. */
  released_quantity: z.string(),
  ended_by: nameText,
  reason: reasonText,
  at: instantText,
});
export type ApprovalEnded = z.infer<typeof approvalEnded>;

/** Orders went from one source to another: all that the first had by then, or one. */
export const ordersHandedOver = z.object({
  /** Absent where nobody knew who had asked: the first source that reported on the order has it. */
  from: nameText.optional(),
  to: nameText,
  /** Absent: every order that the first source had. */
  order_id: idText.optional(),
  given_by: nameText,
  reason: reasonText,
  at: instantText,
});

/** An operator let a strategy trade again after its repeated-execution throttle tripped. */
export const throttleReleased = z.object({
  strategy_id: idText,
  fund_id: idText,
  released_by: nameText,
  reason: reasonText,
  at: instantText,
});
export type ThrottleReleased = z.infer<typeof throttleReleased>;

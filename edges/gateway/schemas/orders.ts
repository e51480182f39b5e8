// Orders, positions and trades over HTTP. What is handed in is the contracts' record; what is told of an order shows its terms as they were asked,
// also where they are no valid ones, because that is what its rejection is about.
import { z } from "zod";
import type { Position } from "../../../contracts/src/generated/svc/v1/platform.ts";
import {
  currencyText,
  decimalText,
  idText,
  instantText,
  nameText,
  nonNegativeDecimalText,
  positiveDecimalText,
  symbolText,
} from "../../../contracts/src/records/fields.ts";
import { order, riskDecision } from "../../../contracts/src/records/order.ts";
import { orderState, side } from "../../../contracts/src/records/values.ts";
import { booleanAsked } from "./asked-boolean.ts";
import { fundIdText } from "./envelope.ts";
import { timeText } from "./fields.ts";
import { afterAsked, countMaxAsked } from "./paging.ts";
import { askedOrder } from "./risk.ts";

export const anyFund = fundIdText.optional().meta({ description: "Only this fund's; every fund's when absent." });

/** Whether one is needed is the service's to say, with its own code. */
export const reasonBody = z
  .string()
  .max(10_000)
  .optional()
  .meta({ description: "Why, in your words; it stands in the record." });

export const submitOrderBody = z.strictObject({
  ...order.shape,
  idempotency_key: order.shape.idempotency_key.meta({
    description: "The same key and order within 5 minutes are one order; the same key with another one is a conflict.",
  }),
  order_id: order.shape.order_id.optional().meta({ description: "Its name; one is made when absent." }),
  actor: nameText.optional().meta({
    description: "Who wants it, in free text, as a claim; the caller when absent. Who handed it in is kept beside it.",
  }),
  dry_run: z.boolean().optional().meta({ description: "Only ask whether it would be approved; nothing is sent." }),
});

export const orderIdParams = z.strictObject({ order_id: idText.meta({ description: "The order." }) });

export const cancelOrderBody = z.strictObject({ reason: reasonBody });

export const amendOrderBody = z.strictObject({
  idempotency_key: order.shape.idempotency_key.meta({
    description: "The amendment's own; it is checked like an order.",
  }),
  quantity: positiveDecimalText.optional().meta({ description: "The whole new quantity, what is filled included." }),
  limit_price: decimalText.optional(),
  stop_price: decimalText.optional(),
  reason: reasonBody,
});

export const cancelAllBody = z.strictObject({
  fund_id: fundIdText.optional().meta({ description: "Only this fund's orders; every fund's when absent." }),
  confirmation: z.string().max(100).meta({ description: "The word CANCEL, as a person typed it." }),
  reason: reasonBody,
});

export const orderAnswer = z
  .object({
    order: askedOrder,
    state: orderState.meta({
      description:
        "UNKNOWN means that the broker has not said what became of it: neither that it trades nor that it does not.",
    }),
    filled_quantity: nonNegativeDecimalText,
    remaining_quantity: nonNegativeDecimalText.meta({ description: "What may still fill." }),
    average_price: decimalText.optional().meta({ description: "Of what is filled; absent before the first fill." }),
    decision: riskDecision.optional(),
    code: z.string().optional().meta({ description: "Why it was rejected, as a code of the registry." }),
    reason: z.string().optional(),
    broker_order_id: z.string().optional().meta({ description: "The broker's own name of it." }),
    parent_order_id: z.string().optional().meta({ description: "The order that this one is a slice of." }),
    submitted_by: z.string().optional().meta({
      description: "Who handed it in, as proved; `order.actor` is only what the order itself claims.",
    }),
    created_at: timeText,
    updated_at: timeText,
  })
  .meta({ description: "An order and what became of it." });

export const ordersQuery = z.strictObject({
  fund_id: anyFund,
  open: booleanAsked().optional().meta({ description: "True for orders that may still trade; all when absent." }),
  count_max: countMaxAsked,
  after: afterAsked.meta({ description: "Continue after this order_id, towards older ones." }),
});

export const ordersAnswer = z.array(orderAnswer).meta({ description: "Newest first." });

export const cancelAllAnswer = z.object({
  audit_id: z.string().optional().meta({
    description: "The event whose audit entry tells of the wish, also when there was no order.",
  }),
  orders: z.array(orderAnswer).meta({ description: "What was open, and what became of each." }),
});

export const positionsQuery = z.strictObject({ fund_id: anyFund });

export const positionsAnswer = z.array(
  z.object({
    fund_id: idText,
    strategy_id: idText,
    symbol: symbolText,
    quantity: decimalText.meta({ description: "Negative when short." }),
    average_price: decimalText.meta({ description: "What the present position was opened at, on average." }),
    mark_price: decimalText
      .optional()
      .meta({ description: "Absent without a fresh price, and so is what follows from it." }),
    market_value: decimalText.optional(),
    unrealised_pnl: decimalText.optional(),
    currency: currencyText.optional().meta({ description: "Absent for a symbol that is no instrument any more." }),
    mark_at: timeText.optional().meta({ description: "When that price was true." }),
    as_of: timeText.meta({ description: "When the position last changed." }),
  }),
);

/** On the wire what is not known is an empty text; in JSON it is not there. */
export function toldPosition({ currency, ...rest }: Position): object {
  return { ...rest, ...(currency === "" ? {} : { currency }) };
}

export const fillsQuery = z.strictObject({
  fund_id: anyFund,
  order_id: idText.optional().meta({ description: "Only this order's." }),
  count_max: countMaxAsked,
  after: afterAsked.meta({ description: "Continue after this fill_id, towards older ones." }),
});

export const fillsAnswer = z
  .array(
    z.object({
      fill_id: idText,
      order_id: idText,
      fund_id: idText,
      strategy_id: idText,
      symbol: symbolText,
      side,
      quantity: positiveDecimalText,
      price: decimalText,
      fee: decimalText.optional().meta({ description: "Negative for a rebate." }),
      currency: currencyText.optional(),
      broker: nameText.optional(),
      filled_at: timeText,
      kind: z.enum(["TRADE", "ADJUSTMENT", "SEED", "CORPORATE_ACTION", "CASH_IN_LIEU", "CROSS", "SETTLEMENT"]).meta({
        description:
          "An adjustment sets our position to the broker's; a seed is where a paper fund begins; a corporate action moves quantities at price zero, and cash in lieu pays for fractions; a cross is one of two fills between strategies of the fund; a settlement is what became of an option that ended.",
      }),
    }),
  )
  .meta({ description: "Newest first." });

const share = z.number().min(0).max(1);
const gap = {
  symbol: symbolText,
  pct: z.number().gt(-1).max(10).meta({ description: "A fraction: -0.12 is a fall of 12 %." }),
};

const weather = {
  broker_silent_until: timeText.optional().meta({ description: "Until then the paper broker answers nobody." }),
  report_loss_pct: share.optional().meta({ description: "Which share of its reports is lost on the way." }),
  report_repeat_pct: share.optional().meta({ description: "Which share of its reports comes twice." }),
  halted_symbols: z.array(symbolText).max(100).meta({ description: "Not traded at present, quotes included." }),
};

export const setPaperWeatherBody = z
  .strictObject({
    ...weather,
    gaps: z.array(z.strictObject({ ...gap, from: instantText.optional() })).max(100),
    reason: reasonBody,
  })
  .partial({ gaps: true, halted_symbols: true })
  .meta({ description: "The whole weather: what is absent is fair." });

export const paperWeatherAnswer = z.object({
  ...weather,
  gaps: z.array(z.object({ ...gap, from: timeText.optional() })),
  reason: z.string(),
  set_by: z.string().optional(),
  at: timeText.optional(),
});

// What the routes about decisions, rejections, headroom and throttles take and answer. Texts of orders are told as they were asked, also where
// they are no valid terms, because that is what their denials are about.
import { z } from "zod";
import { countNumber, idText, symbolText } from "../../../contracts/src/records/fields.ts";
import { figure, orderRejection, riskDecision } from "../../../contracts/src/records/order.ts";
import { gateName, side } from "../../../contracts/src/records/values.ts";
import { decimalAsked, wholeAsked } from "./asked-numbers.ts";
import { fundIdText } from "./envelope.ts";
import { timeText } from "./fields.ts";

/** As an order named itself, which may be anything that is one line. */
const orderIdText = z.string().min(1).max(512).meta({ description: "The order, as it named itself." });
export const orderParams = z.strictObject({ order_id: orderIdText });

export const hoursMax = 24 * 366;

export const rejectionsQuery = z.strictObject({
  fund_id: fundIdText.optional().meta({ description: "Only this fund's; every fund's when absent." }),
  hours: decimalAsked(hoursMax).optional().meta({ description: "How far back, in hours; 24 when absent." }),
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many; the next page is in the Link header." }),
  after: idText.optional().meta({ description: "Continue after this decision_id, towards older ones." }),
});
export type RejectionsQuery = z.infer<typeof rejectionsQuery>;

export const rejectionsAnswer = z
  .array(
    orderRejection.extend({
      gate: z
        .union([gateName, z.literal("")])
        .meta({ description: "Empty for an order that was refused at the door." }),
      source: z.enum(["riskengine", "oms"]).meta({ description: "oms: order management refused it at its door." }),
    }),
  )
  .meta({ description: "Denied orders, newest first." });

const text = z.string();
const optionalText = z.string().optional();

/** Every field may be anything: it is what was asked, not what is valid. */
export const askedOrder = z
  .object({
    idempotency_key: text,
    order_id: text,
    fund_id: text,
    strategy_id: text,
    symbol: text,
    side: text,
    quantity: text,
    order_type: text,
    limit_price: optionalText,
    stop_price: optionalText,
    tif: text,
    expires_at: optionalText,
    broker: text,
    asset_class: text,
    notional: z.number().optional(),
    venue: optionalText,
    currency: optionalText,
    actor: text,
    thesis: optionalText,
    reduce_only: z.boolean().optional(),
    created_at: optionalText,
    dry_run: z.boolean().optional(),
  })
  .meta({ description: "The order as it was asked, valid or not." });

export const decisionsAnswer = z
  .array(z.object({ order: askedOrder, decision: riskDecision }))
  .meta({ description: "Every decision about the order, oldest first." });

export const headroomQuery = z.strictObject({
  fund_id: fundIdText,
  symbol: symbolText.meta({ description: "The instrument: AAPL, BTC-USD." }),
  side: side.optional().meta({ description: "BUY when absent; SELL asks how much more may be sold." }),
});

export const headroomAnswer = z.object({
  fund_id: z.string(),
  symbol: z.string(),
  side: z.string(),
  quantity: z.string().meta({ description: "Units of the instrument in one order, rounded down to the lot." }),
  notional: z.string().meta({ description: "What that is worth in the fund's currency at the price below." }),
  binding: z
    .string()
    .meta({ description: "The limit that binds, or the code of what denies everything; empty when nothing does." }),
  price: figure.optional(),
  limits: z.array(
    z.object({
      limit: z.string().meta({ description: "The field of the limits, for example max_position_pct." }),
      used: z.string().meta({ description: "In the fund's currency, in the worst case." }),
      allowed: z.string(),
      quantity: z.string().meta({ description: "What this limit alone would still allow." }),
    }),
  ),
  envelope_version: countNumber.optional(),
  halt_epoch: countNumber,
  as_of: z.string(),
});

export const strategyParams = z.strictObject({ strategy_id: idText.meta({ description: "The strategy." }) });

export const releaseThrottleBody = z.strictObject({
  reason: z
    .string()
    .max(10_000)
    .optional()
    .meta({ description: "Why, in your words; a release without a reason is refused." }),
});

export const throttleAnswer = z.object({
  strategy_id: z.string(),
  fund_id: z.string(),
  tripped: z.boolean(),
  since: timeText.optional(),
});

export const blocksQuery = z.strictObject({ fund_id: fundIdText.optional() });

export const blocksAnswer = z
  .array(
    z.object({
      code: z.string().meta({ description: "What an order that adds risk would be denied with." }),
      scope: z.enum(["firm", "fund", "strategy", "symbol"]),
      fund_id: z.string().optional().meta({ description: "Absent where it holds for every fund." }),
      strategy_id: z.string().optional(),
      symbol: z.string().optional(),
      reason: z.string().meta({ description: "As a decision would say it." }),
      since: timeText.nullable().meta({ description: "Null when nobody knows; then since_unknown says why." }),
      since_unknown: z.string().optional(),
      ends: z.string().meta({ description: "What ends it, for people." }),
      command: z.string().optional().meta({ description: "The command that ends it or shows it, where there is one." }),
    }),
  )
  .meta({ description: "At most 2,000, widest first: the firm, funds, strategies, symbols." });

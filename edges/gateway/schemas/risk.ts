// Rejections and orders as they are shown. Texts of orders are reported as they were asked, also where they are no valid terms, because that is what
// their denials are about.
import { z } from "zod";
import { orderRejection } from "../../../contracts/src/records/order.ts";
import { gateName } from "../../../contracts/src/records/values.ts";

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
  .meta({ id: "AskedOrder", description: "The order as it was asked, valid or not." });

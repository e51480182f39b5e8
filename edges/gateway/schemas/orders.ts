// An order as it is handed in over HTTP: the contracts' record.
import { z } from "zod";
import { nameText } from "../../../contracts/src/records/fields.ts";
import { order } from "../../../contracts/src/records/order.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";

/** Whether one is needed is the service's to say, with its own code. */
export const reasonBody = typed(z.string().max(10_000))
  .optional()
  .meta({ description: "Why, in your words; it stands in the record." });

export const submitOrderBody = z
  .strictObject({
    ...order.shape,
    idempotency_key: typed(order.shape.idempotency_key).meta({
      description:
        "The same key and order within 5 minutes are one order; the same key with another one is a conflict.",
    }),
    order_id: order.shape.order_id.optional().meta({ description: "Its name; one is made when absent." }),
    broker: asItIs(order.shape.broker, "names what exists"),
    venue: typed(nameText).optional(),
    thesis: typed(order.shape.thesis.unwrap()).optional(),
    actor: typed(nameText).optional().meta({
      description:
        "Who wants it, in free text, as a claim; the caller when absent. Who handed it in is kept beside it.",
    }),
    dry_run: z.boolean().optional().meta({ description: "Only ask whether it would be approved; nothing is sent." }),
  })
  .meta({ id: "Order", description: "What to buy or sell, and how." });

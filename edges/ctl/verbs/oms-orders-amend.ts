// `ctl oms orders amend`: changes an open order; the change passes the same gates as a new order.
import { termsText } from "../../words/order-words.ts";
import { usageRefusal } from "../failure.ts";
import { wholeOrderId } from "../id-prefix.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { exitOf, outcomeText } from "../text/order-text.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const omsOrdersAmend: Verb = {
  name: "oms orders amend",
  heading: "Orders",
  sentence: "Change an open order's quantity or prices; it is checked like a new one.",
  about:
    "What is not named stays as it is. The quantity is the whole new one, what is filled included. Exit 6 when it was denied: the order then stands as it was. Exit 8 when the broker has not confirmed it yet.",
  arguments: [{ name: "order_id", sentence: "The order." }],
  options: [
    { name: "quantity", value: "N", sentence: "The whole new quantity, what is filled included." },
    { name: "limit-price", value: "PRICE", sentence: "The new limit." },
    { name: "stop-price", value: "PRICE", sentence: "The new stop." },
    { name: "idempotency-key", value: "KEY", sentence: "By which a repetition is known; a new one otherwise." },
    reasonOption,
  ],
  examples: [
    { command: "ctl oms orders amend o-1042 --quantity 50 --reason smaller", sentence: "Less of it." },
    { command: "ctl oms orders amend o-1042 --limit-price 187.5", sentence: "Another limit." },
  ],
  operation: "AmendOrder",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const [quantity, limitPrice, stopPrice] = ["quantity", "limit-price", "stop-price"].map((name) =>
    context.option(name),
  );
  if (quantity === undefined && limitPrice === undefined && stopPrice === undefined) {
    throw usageRefusal("There is nothing to change: add --quantity, --limit-price or --stop-price.");
  }
  const client = await context.client();
  const status = await client.amendOrder({
    orderId: await wholeOrderId(client, context.argument("order_id")),
    idempotencyKey: context.option("idempotency-key") ?? context.random.uuid(),
    ...(quantity !== undefined && { quantity }),
    ...(limitPrice !== undefined && { limitPrice }),
    ...(stopPrice !== undefined && { stopPrice }),
    ...reasonOf(context),
  });
  return { data: status, text: `${clean(termsText(status))}\n${outcomeText(status)}`, exit: exitOf(status) };
}

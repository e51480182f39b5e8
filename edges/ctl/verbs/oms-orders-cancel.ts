// `ctl oms orders cancel`: wants one order gone, and says whether it is.

import { wholeOrderId } from "../id-prefix.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { exitOf, outcomeText } from "../text/order-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const omsOrdersCancel: Verb = {
  name: "oms orders cancel",
  heading: "Orders",
  sentence: "Cancel an open order, and say whether it is cancelled.",
  about:
    "Exit 8 when the broker has not confirmed it yet: until then the order may still fill. Exit 6 when it can no longer be cancelled.",
  arguments: [{ name: "order_id", sentence: "The order." }],
  options: [reasonOption],
  examples: [{ command: "ctl oms orders cancel o-1042 --reason mistake", sentence: "It was a mistake." }],
  operation: "CancelOrder",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const orderId = await wholeOrderId(client, context.argument("order_id"));
  const status = await client.cancelOrder({ orderId, ...reasonOf(context) });
  return { data: status, text: outcomeText(status), exit: exitOf(status) };
}

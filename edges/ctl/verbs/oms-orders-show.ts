// `ctl oms orders show`: one order, how far it came and why.

import { fundModes } from "../fund-modes.ts";
import { wholeOrderId } from "../id-prefix.ts";
import { orderText } from "../text/order-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const omsOrdersShow: Verb = {
  name: "oms orders show",
  heading: "Orders",
  sentence: "Show one order, how far it came and why.",
  about:
    "Why the risk engine decided as it did is reported by `ctl why`; the trades by `ctl oms fills list --order-id`.",
  arguments: [{ name: "order_id", sentence: "The order." }],
  options: [],
  examples: [{ command: "ctl oms orders show o-1042", sentence: "What became of it." }],
  operation: "GetOrder",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const status = await client.getOrder({ orderId: await wholeOrderId(client, context.argument("order_id")) });
  if (context.json) return { data: status, text: "" };
  const modeOf = await fundModes(client, context);
  return { data: status, text: orderText(status, modeOf(status.order.fund_id), context.clock.now()) };
}

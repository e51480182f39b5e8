// `ctl oms orders list`: orders and what became of them, newest first.

import { followPages, limitOption } from "../follow-pages.ts";
import { fundModes } from "../fund-modes.ts";
import { listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import { type OrderStatus, orderColumns } from "../text/order-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const omsOrdersList: Verb = {
  name: "oms orders list",
  heading: "Orders",
  sentence: "List orders and what became of them, newest first.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "open", sentence: "Only orders that may still trade." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl oms orders list --fund-id alpha --open", sentence: "What may still trade." },
    { command: "ctl oms orders list --limit 1000 --format csv", sentence: "The newest of all funds." },
  ],
  operation: "ListOrders",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const open = context.switched("open");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const asked = { ...(fundId === undefined ? {} : { fundId }), ...(open ? { open } : {}) };
  const { rows, more } = await followPages<OrderStatus>(
    limit,
    ({ order }) => order.order_id,
    (page) => client.listOrders({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const modeOf = await fundModes(client, context);
  const columns = orderColumns(modeOf);
  const data = rows.map((one) => ({ ...one, mode: modeOf(one.order.fund_id) }));
  return listing(context, { columns, rows, data, none: open ? "No order is open." : "There are no orders." });
}

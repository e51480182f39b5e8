// `ctl oms orders list`: orders and what became of them, newest first.

import { followPages, limitOption } from "../follow-pages.ts";
import { fundModes } from "../fund-modes.ts";
import { listing, listOptions } from "../text/listing.ts";
import { sinceOf } from "../text/moments.ts";
import { countOf } from "../text/numbers.ts";
import { type OrderStatus, orderColumns } from "../text/order-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const states = [
  "PENDING_CHECK",
  "REJECTED",
  "ACCEPTED",
  "ROUTED",
  "WORKING",
  "PARTIALLY_FILLED",
  "FILLED",
  "CANCEL_PENDING",
  "CANCELLED",
  "EXPIRED",
  "UNKNOWN",
] as const;

export const omsOrdersList: Verb = {
  name: "oms orders list",
  heading: "Orders",
  sentence: "List orders and what became of them, newest first.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    {
      name: "state",
      value: "STATE",
      values: states,
      closed: true,
      sentence: "Only orders in this state: CANCELLED, REJECTED.",
    },
    { name: "since", value: "TIME", sentence: "Only those created since: 30m, 2h, 1d, or a moment in RFC 3339." },
    { name: "open", sentence: "Only orders that may still trade." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl oms orders list --fund-id alpha --open", sentence: "What may still trade." },
    { command: "ctl oms orders list --state CANCELLED --since 1h", sentence: "What was cancelled, and why." },
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
  const since = sinceOf(context);
  // The option takes no other words.
  const state = context.option("state") as (typeof states)[number] | undefined;
  const asked = {
    ...(fundId === undefined ? {} : { fundId }),
    ...(open ? { open } : {}),
    ...(state === undefined ? {} : { state }),
    ...(since === undefined ? {} : { since }),
  };
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

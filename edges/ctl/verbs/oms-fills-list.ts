// `ctl oms fills list`: trades, newest first.

import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { fundModes } from "../fund-modes.ts";
import { wholeOrderId } from "../id-prefix.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const omsFillsList: Verb = {
  name: "oms fills list",
  heading: "Orders",
  sentence: "List trades, newest first.",
  about:
    "A position is the sum of these. kind ADJUSTMENT is the reconciler setting ours to the broker's, SEED is where a paper fund begins, CORPORATE_ACTION is a split at price zero, CASH_IN_LIEU its fraction, CROSS one of two fills with which a stop closed its position against another strategy's of the fund, SETTLEMENT what became of an option that ended.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "order-id", value: "ORDER", sentence: "Only this order's." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl oms fills list --fund-id alpha", sentence: "The newest of alpha's." },
    { command: "ctl oms fills list --order-id o-1042 --json", sentence: "One order's." },
  ],
  operation: "ListFills",
  changesState: false,
  run,
};

type Fill = AnswerOf<"listFills">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const client = await context.client();
  const typed = context.option("order-id");
  const orderId = typed === undefined ? undefined : await wholeOrderId(client, typed);
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const asked = { ...(fundId === undefined ? {} : { fundId }), ...(orderId === undefined ? {} : { orderId }) };
  const { rows, more } = await followPages<Fill>(
    limit,
    (one) => one.fill_id,
    (page) => client.listFills({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const modeOf = await fundModes(client, context);
  const columns: readonly Column<Fill>[] = [
    { name: "filled_at", head: "filled", of: (one) => one.filled_at, time: true },
    { name: "fill_id", id: true, minor: 3, of: (one) => one.fill_id },
    { name: "order_id", id: true, minor: 2, of: (one) => one.order_id },
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "mode", always: true, of: (one) => modeOf(one.fund_id) },
    { name: "strategy_id", minor: 2, of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "side", of: (one) => one.side },
    { name: "quantity", of: (one) => one.quantity, number: true },
    { name: "price", of: (one) => one.price, shown: (one) => price(one.price), number: true },
    { name: "fee", minor: 4, of: (one) => one.fee, shown: (one) => price(one.fee), number: true },
    { name: "currency", minor: 5, of: (one) => one.currency },
    { name: "kind", minor: 1, of: (one) => one.kind },
    { name: "broker", of: (one) => one.broker, onlyCsv: true },
  ];
  const data = rows.map((one) => ({ ...one, mode: modeOf(one.fund_id) }));
  return listing(context, { columns, rows, data, none: "There are no trades." });
}

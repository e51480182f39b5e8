// `ctl riskengine approvals list`: what is reserved, order by order, and what of it nothing shows to have been sent.

import type { AnswerOf } from "../../client/src/types.ts";
import { followPages } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineApprovalsList: Verb = {
  name: "riskengine approvals list",
  heading: "Decisions",
  sentence: "See what is reserved, order by order.",
  about:
    "UNSENT: nothing shows that the order was sent. It expires at expires_at, 30 s after valid_until; that time stands still while the engine does not hear of orders.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund." },
    { name: "unsent", sentence: "Only those of which nothing shows that they were sent." },
    { name: "limit", value: "N", standard: "5000", sentence: "At most this many." },
    ...listOptions,
  ],
  examples: [{ command: "ctl riskengine approvals list --unsent", sentence: "Approvals that nobody sent." }],
  operation: "ListApprovals",
  changesState: false,
  run,
};

type Approval = AnswerOf<"listApprovals">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const unsent = context.switched("unsent");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const asked = { ...(fundId !== undefined && { fundId }), ...(unsent && { unsent }) };
  const { rows, more } = await followPages(
    limit,
    (one: Approval) => `${one.valid_until ?? ""}/${one.order_id}`,
    (page) => client.listApprovals({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns: readonly Column<Approval>[] = [
    { name: "order_id", id: true, of: (one) => one.order_id },
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", minor: 2, of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "side", of: (one) => one.side },
    { name: "quantity", of: (one) => one.quantity, number: true },
    { name: "filled_quantity", of: (one) => one.filled_quantity, number: true, onlyCsv: true },
    { name: "reserved_quantity", head: "reserved", of: (one) => one.reserved_quantity, number: true },
    { name: "state", always: true, of: (one) => one.state },
    { name: "asked_by", minor: 3, of: (one) => one.asked_by },
    { name: "valid_until", of: (one) => one.valid_until, onlyCsv: true },
    {
      name: "expires_at",
      head: "expires",
      of: (one) => one.expires_at,
      time: true,
    },
  ];
  return listing(context, { columns, rows, none: "Nothing is reserved." });
}

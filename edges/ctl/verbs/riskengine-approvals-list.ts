// `ctl riskengine approvals list`: what is reserved, order by order, and what of it nothing shows to have been sent.
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, formatOption, listing } from "../text/listing.ts";
import { moment } from "../text/text.ts";
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
    formatOption,
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
  const rows = await (await context.client()).listApprovals({
    ...(fundId !== undefined && { fundId }),
    ...(unsent && { unsent }),
  });
  const now = context.clock.now();
  const columns: readonly Column<Approval>[] = [
    { name: "order_id", of: (one) => one.order_id },
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "side", of: (one) => one.side },
    { name: "quantity", of: (one) => one.quantity, number: true },
    { name: "filled_quantity", of: (one) => one.filled_quantity, number: true, onlyCsv: true },
    { name: "reserved_quantity", of: (one) => one.reserved_quantity, number: true },
    { name: "state", of: (one) => one.state },
    { name: "asked_by", of: (one) => one.asked_by },
    { name: "valid_until", of: (one) => one.valid_until, onlyCsv: true },
    {
      name: "expires_at",
      of: (one) => one.expires_at,
      shown: (one) => (one.expires_at === undefined ? "" : moment(one.expires_at, now)),
    },
  ];
  return listing(context, { columns, rows, none: "Nothing is reserved." });
}

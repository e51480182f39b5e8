// `ctl riskengine approvals release`: frees what is reserved for an approval that nobody sent, without waiting for its time.
import { wholeApprovalId } from "../id-prefix.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineApprovalsRelease: Verb = {
  name: "riskengine approvals release",
  heading: "Decisions",
  sentence: "Free what is reserved for an approval that was not sent.",
  about:
    "It is RELEASED from then on. It is refused without a reason, when something shows that the order was sent, and when it has expired by itself (exit 6).",
  arguments: [{ name: "order_id", sentence: "The order." }],
  options: [reasonOption],
  examples: [
    { command: "ctl riskengine approvals release o-4 --reason client-crashed", sentence: "Its client crashed." },
  ],
  operation: "ReleaseApproval",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const orderId = await wholeApprovalId(client, context.argument("order_id"));
  const released = await client.releaseApproval({ orderId, ...reasonOf(context) });
  return {
    data: released,
    text: `Nothing is reserved for ${clean(released.order_id)} (${clean(released.fund_id)}) any more.`,
  };
}

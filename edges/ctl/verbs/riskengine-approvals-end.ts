// `ctl riskengine approvals end`: says that an order of a foreign order management has ended, when nobody there will report it any more.
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineApprovalsEnd: Verb = {
  name: "riskengine approvals end",
  heading: "Decisions",
  sentence: "Declare an order of a foreign order management ended, and free what is reserved for it.",
  about:
    "For an order whose source will not report its end any more, or that was reserved again after its end. Look at the broker first: what still rests there trades uncounted. It asks for your second factor (exit 5 without), and is refused without a reason and for orders of our own order management (exit 6).",
  arguments: [{ name: "order_id", sentence: "The order." }],
  options: [reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl riskengine approvals end o-4 --reason broker-has-none --totp 123456",
      sentence: "The broker has no such order any more.",
    },
  ],
  operation: "EndApproval",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const orderId = context.argument("order_id");
  const asked = { orderId, ...reasonOf(context) };
  const parameters = { order_id: orderId, reason: asked.reason ?? "" };
  const proof = await stepUpProof(context, client, { action: "EndApproval", parameters });
  const ended = await client.endApproval({ ...asked, stepUpProof: proof });
  return {
    data: ended,
    text: `Order ${clean(ended.order_id)} (${clean(ended.fund_id)}) counts as ended: nothing is reserved for it any more.`,
  };
}

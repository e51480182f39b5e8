// `ctl why`: the whole record of the decisions about an order, to be read.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { isApiError, Refusal } from "../failure.ts";
import { decisionsText } from "../text/decision-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const why: Verb = {
  name: "why",
  heading: "Risk",
  sentence: "Tell why an order was approved or denied: every gate, what it asked and what it read.",
  about:
    "An order that was asked about more than once, for example amended, has a decision for each time, oldest first.",
  arguments: [{ name: "order_id", sentence: "The order, as it named itself." }],
  options: [],
  examples: [
    { command: "ctl why o-1042", sentence: "The decision, its gates and their figures." },
    { command: "ctl why o-1042 --json", sentence: "The record itself." },
  ],
  operation: "GetDecisions",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const orderId = context.argument("order_id");
  const client = await context.client();
  const records = await client.getDecisions({ orderId }).catch((thrown: unknown) => {
    throw withHint(thrown, orderId, context);
  });
  return { data: records, text: decisionsText(records, context.clock.now(), context.terminal.paintAnswer) };
}

/** Order management refuses some orders before it asks the risk engine, under a halt for example; only the order then has the reason. */
function withHint(thrown: unknown, orderId: string, { json }: Context): unknown {
  if (json || !isApiError(thrown) || thrown.code !== "NOT_FOUND") return thrown;
  const hint = `Order management may have refused it by itself: \`ctl oms orders show ${orderId}\`.`;
  return new Refusal(exitCodes.failed, thrown.code, thrown.detail ?? "Nothing was decided about it.", hint, thrown);
}

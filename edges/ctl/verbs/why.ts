// `ctl why`: the whole record of the decisions about an order, to be read.

import { decisionsText } from "../text/decision-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const why: Verb = {
  name: "why",
  heading: "Risk",
  sentence: "Tell why an order was approved or denied: every gate, what it asked and what it looked at.",
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
  const records = await (await context.client()).getDecisions({ orderId: context.argument("order_id") });
  return { data: records, text: decisionsText(records, context.clock.now(), context.terminal.paintAnswer) };
}

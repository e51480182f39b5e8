// `ctl why`: the whole record of the decisions about an order, to be read.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import { haltLine } from "../../words/halt-words.ts";
import { termsText } from "../../words/order-words.ts";
import { isApiError, Refusal } from "../failure.ts";
import { wholeOrderId } from "../id-prefix.ts";
import { decisionsText } from "../text/decision-text.ts";
import { submitterText } from "../text/order-text.ts";
import { clean, moment } from "../text/text.ts";
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
  const client = await context.client();
  const orderId = await wholeOrderId(client, context.argument("order_id"));
  const records = await client.getDecisions({ orderId }).catch(async (thrown: unknown) => {
    const refused = context.json ? undefined : await atTheDoor(context, client, thrown, orderId);
    if (refused !== undefined) return refused;
    throw withHint(thrown, orderId, context);
  });
  if ("text" in records) return records;
  const submittedBy = context.json ? "" : await submitterOf(client, orderId);
  const text = decisionsText(records, submittedBy, context.clock.now(), context.terminal.paintAnswer);
  const standing = records.at(-1)?.decision.approved === true && !context.json ? await standingOf(client, orderId) : "";
  return { data: records, text: standing === "" ? text : `${text}\n\n${standing}` };
}

/** Order management refuses some orders before it asks the risk engine: what it said, and the halt that made it, with who and since when. */
async function atTheDoor(
  context: Context,
  client: Client,
  thrown: unknown,
  orderId: string,
): Promise<Answer | undefined> {
  if (!isApiError(thrown) || thrown.code !== "NOT_FOUND") return undefined;
  const status = await client.getOrder({ orderId }).catch((failed: unknown) => {
    if (isApiError(failed)) return undefined;
    throw failed;
  });
  if (status?.code === undefined) return undefined;
  const { fund_id: fundId, strategy_id: strategyId } = status.order;
  const now = context.clock.now();
  const { halts } = await client.getHaltStatus({ id: fundId });
  const covering = halts.filter((one) => one.severity !== "STRATEGY_HALT" || one.strategy_id === strategyId);
  const isHalt = status.code.includes("HALT");
  const standing = covering.map((halt) => `In force now: ${haltLine(halt, now)}`);
  const text = [
    `DENIED at the door of order management: ${clean(status.code)}`,
    clean(status.reason ?? ""),
    "",
    `Order  ${clean(termsText(status))} for ${clean(fundId)} / ${clean(strategyId)}`,
    `By     ${clean(submitterText(status))}`,
    `When   ${moment(status.created_at, now)}`,
    ...(isHalt ? (standing.length > 0 ? standing : ["That halt is no longer in force."]) : []),
    "The risk engine was not asked: no gate decided about it.",
  ];
  return { data: [], text: text.join("\n") };
}

/** Whose token brought the order to order management; one that another program manages never came there. */
async function submitterOf(client: Client, orderId: string): Promise<string> {
  try {
    return submitterText(await client.getOrder({ orderId }));
  } catch (thrown) {
    if (!isApiError(thrown)) throw thrown;
    return thrown.code === "NOT_FOUND" ? submitterText({}) : "not known: order management does not answer";
  }
}

/** What became of an approval that nobody sent: the decision itself never changes. */
async function standingOf(client: Client, orderId: string): Promise<string> {
  const approvals = await client.listApprovals({ orderId }).catch((thrown: unknown) => {
    if (isApiError(thrown)) return undefined;
    throw thrown;
  });
  if (approvals === undefined)
    return "What became of the approval could not be asked: the risk engine does not answer.";
  const state = approvals[0]?.state;
  return (state !== undefined && standings[state]) || "";
}

const standings: Readonly<Record<string, string>> = {
  RELEASED:
    "The approval was RELEASED before anything showed that the order was sent: nothing is reserved, and it must not be sent. The audit log (approval.released) has who and why.",
  EXPIRED:
    "The approval EXPIRED before anything showed that the order was sent: nothing is reserved, and it must not be sent.",
  UNSENT: "Nothing shows yet that the order was sent.",
  AMENDMENT_UNSENT: "The order was sent; nothing shows yet that its new terms were.",
};

/** Order management refuses some orders before it asks the risk engine, under a halt for example; only the order then has the reason. */
function withHint(thrown: unknown, orderId: string, { json }: Context): unknown {
  if (json || !isApiError(thrown) || thrown.code !== "NOT_FOUND") return thrown;
  const hint = `Order management may have refused it by itself: \`ctl oms orders show ${orderId}\`.`;
  return new Refusal(exitCodes.failed, thrown.code, thrown.detail ?? "Nothing was decided about it.", hint, thrown);
}

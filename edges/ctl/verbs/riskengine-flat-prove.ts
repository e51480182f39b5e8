// `ctl riskengine flat prove`: asks the broker itself whether a fund is flat, and has the answer recorded. Silence proves nothing.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { fundOption } from "../envelope-flags.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineFlatProve: Verb = {
  name: "riskengine flat prove",
  heading: "Books",
  sentence: "Ask the broker whether a fund is flat, and record the answer.",
  about:
    "The broker is asked for open orders and then for positions, and both answers must be complete. What was asked, by whom, why, when, and what is left stands in the audit log. Exit 10 when something is left.",
  arguments: [],
  options: [fundOption, reasonOption],
  examples: [
    { command: "ctl riskengine flat prove --fund-id alpha --reason after-the-flatten", sentence: "After a flatten." },
  ],
  operation: "ProveFlat",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const reason = needsReason(context);
  const proof = await (await context.client()).proveFlat({ fundId, reason });
  const { flat, left, broker, open_orders: orders = 0, proof_id: id } = proof;
  const rest = left.map(({ symbol, quantity }) => `${quantity} ${symbol}`).join(", ");
  const words = flat
    ? `${fundId} is flat: ${broker} has no position and no open order (${id}).`
    : `${fundId} is NOT flat: ${broker} has ${rest === "" ? "no position" : rest}, and ${orders} open orders (${id}).`;
  return { data: proof, text: clean(words), exit: flat ? exitCodes.ok : exitCodes.verificationFailed };
}

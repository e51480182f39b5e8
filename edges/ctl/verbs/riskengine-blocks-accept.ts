// `ctl riskengine blocks accept`: vouches for something that was booked, so that new risk passes again. Somebody should know why it is right.
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineBlocksAccept: Verb = {
  name: "riskengine blocks accept",
  heading: "Decisions",
  sentence: "Accept a fill that was booked and blocks new risk in its symbol.",
  about:
    "A fill beyond the collar of the mark, or one that its order does not cover. What you accept is that one: a fill that came since has a block of its own. It is refused without a reason, and when it has ended (exit 6).",
  arguments: [{ name: "block_id", sentence: "The block, as `ctl riskengine blocks list` names it." }],
  options: [reasonOption],
  examples: [
    {
      command: "ctl riskengine blocks accept 3f0c1d9e-8b1a-4c55-9a55-0d2b8f6e7a10 --reason broker-confirmed",
      sentence: "The broker confirmed the trade.",
    },
  ],
  operation: "AcceptBlock",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const accepted = await client.acceptBlock({ blockId: context.argument("block_id"), ...reasonOf(context) });
  const where =
    accepted.symbol === undefined ? clean(accepted.fund_id) : `${clean(accepted.symbol)} of ${clean(accepted.fund_id)}`;
  return {
    data: accepted,
    text: `Accepted, and new risk in ${where} is no longer kept by it: ${clean(accepted.about)}`,
  };
}

// `ctl riskengine blocks accept`: vouches for something that was booked, so that new risk passes again. Somebody should know why it is right.
import type { Client } from "../../client/src/types.ts";
import { isApiError, usageRefusal } from "../failure.ts";
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineBlocksAccept: Verb = {
  name: "riskengine blocks accept",
  heading: "Decisions",
  sentence: "Accept a fill that was booked and blocks new risk in its symbol.",
  about:
    "A fill beyond the collar of the mark, or one that its order does not cover. What you accept is that one, or those that you name, up to 100 under one code: a fill that came since has a block of its own. What only a person can vouch for (a gap in a publisher's numbers, a fill without an order, an odd fee or date, a seed from outside) asks for your second factor (exit 5 without). It is refused without a reason, and when one of them has ended (exit 6).",
  arguments: [{ name: "block_id", sentence: "The blocks, as `ctl riskengine blocks list` names them.", many: true }],
  options: [reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl riskengine blocks accept 3f0c1d9e-8b1a-4c55-9a55-0d2b8f6e7a10 --reason broker-confirmed",
      sentence: "The broker confirmed the trade.",
    },
    {
      command:
        "ctl riskengine blocks accept 3f0c1d9e-8b1a-4c55-9a55-0d2b8f6e7a10 77aa1d9e-8b1a-4c55-9a55-0d2b8f6e7a11 --reason their-books-have-both --totp 123456",
      sentence: "Two fills without an order.",
    },
  ],
  operation: "AcceptBlock",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const [blockId = "", ...moreBlockIds] = [...new Set(context.argumentsOf("block_id"))];
  if (moreBlockIds.length > 99) throw usageRefusal("At most 100 blocks are accepted under one code.");
  const asked = { blockId, ...(moreBlockIds.length > 0 && { moreBlockIds }), ...reasonOf(context) };
  const accepted = await acceptedBy(context, client, asked);
  const where =
    accepted.symbol === undefined ? clean(accepted.fund_id) : `${clean(accepted.symbol)} of ${clean(accepted.fund_id)}`;
  const more =
    moreBlockIds.length === 0 ? "" : ` So ${moreBlockIds.length === 1 ? "is" : "are"} ${moreBlockIds.length} more.`;
  return {
    data: accepted,
    text: `Accepted, and new risk in ${where} is no longer kept by it: ${clean(accepted.about)}${more}`,
  };
}

type Asked = Parameters<Client["acceptBlock"]>[0];

/** The server says whether a code is needed: many blocks need none. */
async function acceptedBy(context: Context, client: Client, asked: Asked) {
  try {
    return await client.acceptBlock(asked);
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.code !== "STEP_UP_REQUIRED") throw thrown;
    const isGiven = context.option("totp") !== undefined || context.option("recovery-code") !== undefined;
    if (!isGiven && !context.terminal.interactive) throw thrown;
    const parameters = { block_ids: [asked.blockId, ...(asked.moreBlockIds ?? [])], reason: asked.reason ?? "" };
    const proof = await stepUpProof(context, client, { action: "AcceptBlock", parameters });
    return client.acceptBlock({ ...asked, stepUpProof: proof });
  }
}

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
    "A fill beyond the collar of the mark, or one that its order does not cover. What you accept is that one, or those that you name, up to 100 under one code: a fill that came since has a block of its own. What only a person can vouch for (a gap in a publisher's numbers, a fill without an order, an odd fee or date, a seed from outside) asks for your second factor (exit 5 without). Of a gap you accept the numbers that are shown before your code is asked for, and repeated afterwards; when more is missing by then it is refused (exit 7). It is refused without a reason, and when one of them has ended (exit 6).",
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
  const gaps = await gapsAmong(context, client, [blockId, ...moreBlockIds]);
  const named = { ...(moreBlockIds.length > 0 && { moreBlockIds }), ...(gaps.length > 0 && { gaps }) };
  const asked = { blockId, ...named, ...reasonOf(context) };
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

/** What is missing in those of them that are gaps, shown before anything is accepted. */
async function gapsAmong(context: Context, client: Client, ids: readonly string[]): Promise<ShownGap[]> {
  const open = await client.listBlocks({});
  return open.flatMap(({ block_id, gap, fund_id = "" }) => {
    if (block_id === undefined || gap === undefined || !ids.includes(block_id)) return [];
    const missing = gap.missing ?? [];
    context.terminal.say(
      `Of the ${clean(gap.kind)} that ${clean(gap.source)} numbers in ${clean(fund_id)} never come: ${clean(missing.join(", "))}.`,
    );
    return [{ block_id, missing }];
  });
}

type ShownGap = NonNullable<Asked["gaps"]>[number];
type Asked = Parameters<Client["acceptBlock"]>[0];

/** The server says whether a code is needed: many blocks need none. */
async function acceptedBy(context: Context, client: Client, asked: Asked) {
  try {
    return await client.acceptBlock(asked);
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.code !== "STEP_UP_REQUIRED") throw thrown;
    const isGiven = context.option("totp") !== undefined || context.option("recovery-code") !== undefined;
    if (!isGiven && !context.terminal.interactive) throw thrown;
    const { gaps = [] } = asked;
    const named = { block_ids: [asked.blockId, ...(asked.moreBlockIds ?? [])], reason: asked.reason ?? "" };
    const parameters = { ...named, ...(gaps.length > 0 && { gaps }) };
    const proof = await stepUpProof(context, client, { action: "AcceptBlock", parameters });
    return client.acceptBlock({ ...asked, stepUpProof: proof });
  }
}

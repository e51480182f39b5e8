// `ctl operations audit status`: how far the audit chain reaches and who vouches for it.
import type { AnswerOf } from "../../client/src/types.ts";
import { entries } from "../audit-pages.ts";
import type { Context } from "../context.ts";
import { moment, pairs } from "../text.ts";
import type { Answer, Verb } from "./verb.ts";

export const operationsAuditStatus: Verb = {
  name: "operations audit status",
  heading: "Verifying",
  sentence: "Show how far the audit chain reaches and who vouches for it.",
  arguments: [],
  options: [],
  examples: [
    { command: "ctl operations audit status", sentence: "Size, checkpoint, witnesses, keys." },
    { command: "ctl operations audit status --json", sentence: "With the newest checkpoint itself." },
  ],
  operation: "GetAuditStatus",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const status = await (await context.client()).getAuditStatus();
  return { data: status, text: textOf(status, context) };
}

function textOf(status: AnswerOf<"getAuditStatus">, { clock }: Context): string {
  const { witnesses, verified, verified_at } = status;
  const verifiedText = verified_at === undefined ? "never" : `${moment(verified_at, clock.now())}: ${verified ?? ""}`;
  const open = Math.max(0, status.size - status.checkpoint_size);
  return pairs([
    ["Origin", status.origin],
    ["Size", entries(status.size)],
    ["Newest hash", status.hash],
    ["Checkpoint", `covers ${entries(status.checkpoint_size)}, ${entries(open)} after it`],
    ["Trust", status.trust],
    ["Witnesses", witnesses.length === 0 ? "none" : `${status.witnesses_needed} of ${witnesses.join(", ")}`],
    ["Keys", status.keys.join(", ")],
    ["Verified", verifiedText],
  ]);
}

// `ctl operations audit begin-anew`: two people close a broken audit log and begin another. What is there stays; the new log names the old one.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { confirmed, confirmOption } from "../confirm.ts";
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean, moment, pairs } from "../text/text.ts";
import { tellWitnesses } from "./operations-audit-key-rotate.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const confirmationWord = "ANEW";

export const operationsAuditBeginAnew: Verb = {
  name: "operations audit begin-anew",
  heading: "When it is broken",
  sentence: "Close an audit log that does not verify and begin another; a second person signs.",
  about:
    "An admin asks, with a reason, and gets a request that is good for 15 minutes (exit 8). Somebody else, an operator, a risk officer or an admin, signs it with --cosign: the log is verified once more, closed as it is, and a new one begins whose entry 1 names the old one, its last checkpoint, what was wrong, and both people. Nothing is removed. It is refused while the log verifies (LOG_NOT_BROKEN). Both are asked for their second factor.",
  arguments: [],
  options: [
    { name: "cosign", value: "REQUEST_ID", sentence: "Sign somebody else's request." },
    confirmOption(confirmationWord),
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl operations audit begin-anew --reason restored-in-vain --confirm ANEW --totp 123456",
      sentence: "Ask for it.",
    },
    {
      command:
        "ctl operations audit begin-anew --cosign 5f0c1c2e-7a8b-4c3d-9e10-0123456789ab --confirm ANEW --totp 123456",
      sentence: "Sign it, as somebody else.",
    },
  ],
  operation: "BeginAuditAnew",
  changesState: true,
  run: (context) => {
    const requestId = context.option("cosign");
    return requestId === undefined ? ask(context) : sign(context, requestId);
  },
};

async function ask(context: Context): Promise<Answer> {
  const reason = needsReason(context);
  const consequence =
    "This asks for the audit log to be closed as it is and another to be begun. Somebody else must sign it.";
  const confirmation = await confirmed(context, confirmationWord, () => [consequence]);
  const client = await context.client();
  const withoutProof = () => client.beginAuditAnew({ reason, confirmation });
  // The server refuses a wrong word and records it; nobody is asked for a code for that.
  if (confirmation !== confirmationWord) await withoutProof();
  const named = { action: "BeginAuditAnew", parameters: {} } as const;
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const asked = await client.beginAuditAnew({ reason, confirmation, stepUpProof: proof });
  const lines = pairs([
    ["Request", asked.request_id],
    ["Log", `${asked.closed_log} (${clean(asked.closed_origin)})`],
  ]);
  const until = moment(asked.expires_at, context.clock.now());
  return {
    data: asked,
    text: `Nothing is done yet: somebody else must sign. It is good until ${until}.\n${lines}`,
    exit: exitCodes.pending,
    next: [
      `Somebody else: ctl operations audit begin-anew --cosign ${clean(asked.request_id)} --confirm ${confirmationWord} --totp CODE`,
    ],
  };
}

async function sign(context: Context, requestId: string): Promise<Answer> {
  const consequence = "With your signature the audit log is closed as it is, and another begins.";
  const confirmation = await confirmed(context, confirmationWord, () => [consequence]);
  const client = await context.client();
  const withoutProof = () => client.cosignAuditAnew({ requestId, confirmation });
  if (confirmation !== confirmationWord) await withoutProof();
  const named = { action: "CosignAuditAnew", parameters: { request_id: requestId } } as const;
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const done = await client.cosignAuditAnew({ requestId, confirmation, stepUpProof: proof });
  const lines = pairs([
    ["Closed", `log ${done.closed_log} (${clean(done.closed_origin)})`],
    ["New log", `${done.log} (${clean(done.origin)})`],
    ["New key", clean(done.key)],
    ["Entry", `${done.sequence} names the closed log`],
  ]);
  return { data: done, text: `A new audit log has begun.\n${lines}`, next: tellWitnesses(done.key) };
}

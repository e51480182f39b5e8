// `ctl operations unaudited accept`: an admin asks for a change that has no event to be accepted, and a second person signs.
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { cosignOption, nameOf, requested } from "../operators/cosign.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsUnauditedAccept: Verb = {
  name: "operations unaudited accept",
  heading: "Changes without an event",
  sentence: "Accept a change that has no event, as an admin and a second person.",
  about:
    "The admin's request (exit 8) is good for 24 hours: somebody else, an admin or not, signs it with --cosign. What stands in the row counts from then on, and new risk passes within a second or two.",
  arguments: [
    { name: "change_id", sentence: "The change, as `ctl operations unaudited list` shows it.", optional: true },
  ],
  options: [cosignOption, reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl operations unaudited accept 0f1e2d3c4b5a6978 --reason restored-by-hand --totp 123456",
      sentence: "Ask for it, as an admin.",
    },
    {
      command: "ctl operations unaudited accept --cosign 5f0c1c2e-0000-4000-8000-000000000000 --totp 654321",
      sentence: "Sign it, as somebody else.",
    },
  ],
  operation: "AcceptUnauditedChange",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const requestId = context.option("cosign");
  if (requestId !== undefined) return signed(context, requestId);
  const changeId = nameOf(context, "change_id", "the change");
  const reason = needsReason(context);
  const client = await context.client();
  const named = { action: "AcceptUnauditedChange", parameters: { change_id: changeId } } as const;
  const withoutProof = () => client.acceptUnauditedChange({ changeId, reason });
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const asked = await client.acceptUnauditedChange({ changeId, reason, stepUpProof: proof });
  return requested(context, asked, "ctl operations unaudited accept");
}

async function signed(context: Context, requestId: string): Promise<Answer> {
  const client = await context.client();
  const named = { action: "CosignUnauditedChange", parameters: { request_id: requestId } } as const;
  const withoutProof = () => client.cosignUnauditedChange({ requestId });
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const done = await client.cosignUnauditedChange({ requestId, stepUpProof: proof });
  const by = `asked for by ${clean(done.requested_by)}, signed by ${clean(done.cosigned_by)}`;
  return { data: done, text: `${clean(done.target)} is accepted as it stands; ${by}.` };
}

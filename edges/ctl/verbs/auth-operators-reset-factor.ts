// `ctl auth operators reset-factor`: takes a lost second factor away, so that its owner can set up another one.

import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { cosignOption, nameOf, requested, sign } from "../operators/cosign.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authOperatorsResetFactor: Verb = {
  name: "auth operators reset-factor",
  heading: "People",
  sentence: "Take a person's lost second factor away; in production a second admin signs.",
  about:
    "In production this is a request (exit 8), good for 24 hours: another admin signs it with --cosign. The person's logins end; with their password they log in and enrol another authenticator. It works with your own issuer, too.",
  arguments: [{ name: "name", sentence: "The person, as `ctl auth operators list` shows them.", optional: true }],
  options: [cosignOption, reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl auth operators reset-factor erika --reason lost-telephone --totp 123456",
      sentence: "Ask for it.",
    },
    {
      command: "ctl auth operators reset-factor --cosign 5f0c1c2e --totp 654321",
      sentence: "Sign it, as another admin.",
    },
  ],
  operation: "ResetOperatorFactor",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const requestId = context.option("cosign");
  if (requestId !== undefined) return sign(context, requestId, "ResetOperatorFactor");
  const name = nameOf(context, "name", "the person");
  const reason = needsReason(context);
  const client = await context.client();
  const named = { action: "ResetOperatorFactor", parameters: { name } } as const;
  const withoutProof = () => client.resetOperatorFactor({ name, reason });
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const done = await client.resetOperatorFactor({ name, reason, stepUpProof: proof });
  if ("request_id" in done) return requested(context, done, "ctl auth operators reset-factor");
  return {
    data: done,
    text: `${clean(done.name)} has no second factor now, and enrols another one at the next login.`,
  };
}

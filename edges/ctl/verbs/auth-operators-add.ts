// `ctl auth operators add`: lets another person log in. In production another admin signs, and each of the two is shown half of the password.

import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { cosignOption, nameOf, requested, sign } from "../operators/cosign.ts";
import { rolesOf, rolesOption } from "../operators/role-option.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authOperatorsAdd: Verb = {
  name: "auth operators add",
  heading: "People",
  sentence: "Let another person log in; in production a second admin signs.",
  about:
    "In production this is a request (exit 8), good for 24 hours: another admin signs it with --cosign. Each of you is shown half of the first password, and hands it to the person: neither can log in alone. Outside production it is done at once and the whole password is shown, once. Somebody who was disabled comes back this way, with a new password and without a second factor. Both admins are asked for their second factor. The first two admins are made on the machine itself, with `npm start -- --make-admin NAME`.",
  arguments: [{ name: "name", sentence: "How the person logs in and stands in records.", optional: true }],
  options: [rolesOption, cosignOption, reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl auth operators add erika --role operator,risk_officer --reason joins --totp 123456",
      sentence: "Ask for it.",
    },
    { command: "ctl auth operators add --cosign 5f0c1c2e --totp 654321", sentence: "Sign it, as another admin." },
  ],
  operation: "AddOperator",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const requestId = context.option("cosign");
  if (requestId !== undefined) return sign(context, requestId, "AddOperator");
  const name = nameOf(context, "name", "the person");
  const roles = rolesOf(context);
  const reason = needsReason(context);
  const client = await context.client();
  const named = { action: "AddOperator", parameters: { name, roles } } as const;
  const proof = await permittedStepUpProof(context, client, named, () => client.addOperator({ name, roles, reason }));
  const added = await client.addOperator({ name, roles, reason, stepUpProof: proof });
  if ("request_id" in added) return requested(context, added, "ctl auth operators add");
  context.terminal.say(`${clean(added.name)} may log in, as ${added.roles.map(clean).join(", ")}.`);
  context.terminal.say("The password is shown now and never again; let them enrol a second factor on the first day:");
  return { data: added, text: clean(added.password ?? "") };
}

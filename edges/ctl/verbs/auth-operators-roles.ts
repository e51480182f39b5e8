// `ctl auth operators roles`: gives a person other roles. Their logins end, so that nothing keeps the old ones.

import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { cosignOption, nameOf, requested, sign } from "../operators/cosign.ts";
import { rolesOf, rolesOption } from "../operators/role-option.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authOperatorsRoles: Verb = {
  name: "auth operators roles",
  heading: "People",
  sentence: "Give a person these roles instead of theirs; in production a second admin signs.",
  about:
    "In production this is a request (exit 8), good for 24 hours: another admin signs it with --cosign. The person's logins end. The last admin stays one.",
  arguments: [{ name: "name", sentence: "The person, as `ctl auth operators list` shows them.", optional: true }],
  options: [rolesOption, cosignOption, reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl auth operators roles erika --role viewer --reason moved --totp 123456",
      sentence: "Take power away.",
    },
    { command: "ctl auth operators roles --cosign 5f0c1c2e --totp 654321", sentence: "Sign it, as another admin." },
  ],
  operation: "ChangeOperatorRoles",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const requestId = context.option("cosign");
  if (requestId !== undefined) return sign(context, requestId, "ChangeOperatorRoles");
  const name = nameOf(context, "name", "the person");
  const roles = rolesOf(context);
  const reason = needsReason(context);
  const client = await context.client();
  const named = { action: "ChangeOperatorRoles", parameters: { name, roles } } as const;
  const withoutProof = () => client.changeOperatorRoles({ name, roles, reason });
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const changed = await client.changeOperatorRoles({ name, roles, reason, stepUpProof: proof });
  if ("request_id" in changed) return requested(context, changed, "ctl auth operators roles");
  const text = `${clean(changed.name)} is ${changed.roles.map(clean).join(", ")} from now on, and logs in again.`;
  return { data: changed, text };
}

// `ctl auth operators disable`: locks a person out at once. It is the safe direction, so one admin is enough.
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authOperatorsDisable: Verb = {
  name: "auth operators disable",
  heading: "People",
  sentence: "Lock a person out at once; one admin is enough.",
  about:
    "Their logins, their requests that nobody signed yet and the machines' tokens that they gave alone end within 2 seconds, everywhere; tokens that a second admin vouched for go on, and are named. The last admin cannot be disabled. `ctl auth operators add` lets somebody in again.",
  arguments: [{ name: "name", sentence: "The person, as `ctl auth operators list` shows them." }],
  options: [
    { name: "keep-tokens", sentence: "Let the machines' tokens that they gave alone go on working." },
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    { command: "ctl auth operators disable erika --reason left --totp 123456", sentence: "They are out." },
    {
      command: "ctl auth operators disable erika --keep-tokens --reason left --totp 123456",
      sentence: "The machines that they set up go on.",
    },
  ],
  operation: "DisableOperator",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const name = context.argument("name");
  const keepTokens = context.switched("keep-tokens");
  const reason = needsReason(context);
  const client = await context.client();
  const named = { action: "DisableOperator", parameters: { name, keep_tokens: keepTokens } } as const;
  const withoutProof = () => client.disableOperator({ name, keepTokens, reason });
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const done = await client.disableOperator({ name, keepTokens, reason, stepUpProof: proof });
  const [gone, kept] = [done.revoked_tokens ?? [], done.kept_tokens ?? []];
  const lines = [
    `${clean(done.name)} is locked out, everywhere within 2 seconds.`,
    ...(gone.length === 0 ? [] : [`Machines' tokens that ended with it: ${gone.map(clean).join(", ")}.`]),
    ...(kept.length === 0 ? [] : [`Machines' tokens that go on working: ${kept.map(clean).join(", ")}.`]),
  ];
  const next = kept.length === 0 ? [] : ["Take a token away with ctl auth tokens revoke ID, if it is not wanted."];
  return { data: done, text: lines.join("\n"), next };
}

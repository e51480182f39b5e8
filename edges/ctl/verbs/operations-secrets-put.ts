// `ctl operations secrets put`: writes a secret of an outside service. The value comes on stdin and goes nowhere else.
import { isWritableSecret } from "../../../contracts/src/secret-folders.ts";
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { readSecret } from "../secret-input.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsSecretsPut: Verb = {
  name: "operations secrets put",
  heading: "Secrets",
  sentence: "Write a new version of a secret; the value comes on stdin.",
  about:
    "Paths begin with chat, mail, model, broker or storage. On a terminal you are asked for the value and it is not shown; from a script pipe it in, and one line end after it is left away. It asks for your second factor, and is refused without a reason. Nobody can read the value back.",
  arguments: [{ name: "path", sentence: "Where it is kept: chat/token." }],
  options: [reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl operations secrets put chat/token --reason new-bot",
      sentence: "Asks for the value, and does not show it.",
    },
    {
      command: "ctl operations secrets put chat/token --reason new-bot --totp 123456",
      sentence: "From a script: the value is piped in, from a file that only you can read.",
    },
  ],
  operation: "PutSecret",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const reason = needsReason(context);
  const path = context.argument("path");
  const value = await readSecret(context.terminal, "Value (it is not shown): ", context.signal);
  const client = await context.client();
  const named = { action: "PutSecret", parameters: { path } } as const;
  const sendWithoutProof = () => client.putSecret({ path, value, reason });
  // No code is used up for a path that the server refuses; the refusal is the server's own and on record.
  const proof = isWritableSecret(path)
    ? { stepUpProof: await permittedStepUpProof(context, client, named, sendWithoutProof) }
    : {};
  const kept = await client.putSecret({ path, value, reason, ...proof });
  return { data: kept, text: `${clean(kept.path)} is at version ${kept.version}.` };
}

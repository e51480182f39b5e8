// `ctl githubbot install`: the repository bot with an App of your own, the first time and with every other key.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "../../../contracts/src/fault.ts";
import { usageRefusal } from "../failure.ts";
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotInstall: Verb = {
  name: "githubbot install",
  heading: "Repository bot",
  sentence: "Install the repository bot in an organisation, or give it another key.",
  about:
    "It asks GitHub what the App may, and refuses one that may more than the bot needs. The key is read from a file and kept in the secrets store; a webhook secret is made unless you give one. Run it again to change both: deliveries that were signed with the one before count ten minutes longer. It asks for your second factor.",
  arguments: [],
  options: [
    { name: "org", value: "ORG", required: true, sentence: "The organisation at GitHub." },
    { name: "app-id", value: "APP_ID", required: true, sentence: "The App's number, as its settings show it." },
    { name: "private-key-path", value: "PATH", required: true, sentence: "The App's private key, as GitHub gave it." },
    {
      name: "webhook-secret-path",
      value: "PATH",
      sentence: "A file with the webhook's secret, instead of a random one.",
    },
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl githubbot install --org my-org --app-id 12345 --private-key-path app.pem --reason first",
      sentence: "Asks for your code.",
    },
    {
      command:
        "ctl githubbot install --org my-org --app-id 12345 --private-key-path app.pem --reason leaked --totp 123456 --json",
      sentence: "Another key, without a terminal.",
    },
  ],
  operation: "InstallGithubbot",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const reason = needsReason(context);
  const org = context.option("org") ?? "";
  const appId = numberOf(context.option("app-id") ?? "");
  const privateKey = await textIn(context, context.option("private-key-path") ?? "");
  const secretPath = context.option("webhook-secret-path");
  const webhookSecret = secretPath === undefined ? undefined : (await textIn(context, secretPath)).trim();
  const client = await context.client();
  const named = { action: "InstallGithubbot", parameters: { org, app_id: appId } } as const;
  const request = { org, appId, privateKey, reason, ...(webhookSecret === undefined ? {} : { webhookSecret }) };
  const stepUpProof = await permittedStepUpProof(context, client, named, () => client.installGithubbot(request));
  const made = await client.installGithubbot({ ...request, stepUpProof });
  const lines = [
    `${clean(made.app_slug)} is installed in ${clean(made.org)} (installation ${made.installation_id}).`,
    `GitHub delivers to ${clean(made.webhook_url)}.`,
    ...made.missing.map((one) => `Missing at GitHub: ${clean(one)}.`),
  ];
  return { data: made, text: lines.join("\n") };
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw usageRefusal(`--app-id is the App's number, and not ${JSON.stringify(clean(text))}.`);
}

async function textIn({ folder }: Pick<Context, "folder">, path: string): Promise<string> {
  try {
    return await readFile(resolve(folder, path), "utf8");
  } catch (thrown) {
    throw usageRefusal(`${clean(path)} cannot be read: ${clean(messageOf(thrown))}.`);
  }
}

// `ctl githubbot uninstall`: takes the repository bot away.
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotUninstall: Verb = {
  name: "githubbot uninstall",
  heading: "Repository bot",
  sentence: "Take the repository bot away.",
  about:
    "Its process ends, its key and webhook secret are written over, and the webhook at GitHub gets a secret that nobody knows. Runs that wait end as skipped; runs and budgets stay to be read. It asks for your second factor.",
  arguments: [],
  options: [reasonOption, ...factorOptions],
  examples: [{ command: "ctl githubbot uninstall --reason retired", sentence: "Asks for your code." }],
  operation: "UninstallGithubbot",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const reason = needsReason(context);
  const client = await context.client();
  const { installation } = await client.getGithubbotStatus();
  const named = { action: "UninstallGithubbot", parameters: { org: installation?.org ?? "" } } as const;
  const sendWithoutProof = () => client.uninstallGithubbot({ reason });
  // What is not installed is the server's to say, before a code is used up.
  const proof =
    installation === null ? {} : { stepUpProof: await permittedStepUpProof(context, client, named, sendWithoutProof) };
  const gone = await client.uninstallGithubbot({ reason, ...proof });
  return { data: gone, text: `${clean(gone.app_slug)} is taken away from ${clean(gone.org)}.` };
}

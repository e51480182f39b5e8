// `ctl githubbot resume`: lets the repository bot write again.
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotResume: Verb = {
  name: "githubbot resume",
  heading: "Repository bot",
  sentence: "Let the repository bot write again, in one repository or in all.",
  about: "What was skipped meanwhile is not made up for; a command in the thread asks again.",
  arguments: [],
  options: [{ name: "repo", value: "ORG/NAME", sentence: "Only there; everywhere without it." }, reasonOption],
  examples: [
    { command: "ctl githubbot resume --reason noise", sentence: "Everywhere." },
    { command: "ctl githubbot resume --repo my-org/desk --reason noise", sentence: "In one repository." },
  ],
  operation: "ResumeGithubbot",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const repository = context.option("repo");
  const asked = { ...(repository === undefined ? {} : { repository }), ...reasonOf(context) };
  const answer = await (await context.client()).resumeGithubbot(asked);
  const where = answer.repository === "*" ? "everywhere" : `in ${clean(answer.repository)}`;
  return { data: answer, text: `The repository bot may write again ${where}.` };
}

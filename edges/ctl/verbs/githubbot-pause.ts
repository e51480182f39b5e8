// `ctl githubbot pause`: stops the repository bot before its next write.
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotPause: Verb = {
  name: "githubbot pause",
  heading: "Repository bot",
  sentence: "Keep the repository bot from writing, in one repository or in all.",
  about: "A run that is under way stops before its next write, and ends as skipped. Deliveries are taken in meanwhile.",
  arguments: [],
  options: [{ name: "repo", value: "ORG/NAME", sentence: "Only there; everywhere without it." }, reasonOption],
  examples: [
    { command: "ctl githubbot pause --reason noise", sentence: "Everywhere, now." },
    { command: "ctl githubbot pause --repo my-org/desk --reason noise", sentence: "In one repository." },
  ],
  operation: "PauseGithubbot",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const repository = context.option("repo");
  const asked = { ...(repository === undefined ? {} : { repository }), ...reasonOf(context) };
  const answer = await (await context.client()).pauseGithubbot(asked);
  const where = answer.repository === "*" ? "everywhere" : `in ${clean(answer.repository)}`;
  return { data: answer, text: `The repository bot is paused ${where}.` };
}

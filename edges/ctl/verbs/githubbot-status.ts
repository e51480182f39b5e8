// `ctl githubbot status`: where the repository bot is installed, whether it runs, where it is paused, and what is missing.
import { clean, moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotStatus: Verb = {
  name: "githubbot status",
  heading: "Repository bot",
  sentence: "See how the repository bot stands.",
  group: { heading: "The record", sentence: "A bot at GitHub that sorts issues, reviews changes and proposes fixes." },
  about: "Its notes say what is missing and what changes it; they are in `ctl doctor` as well.",
  arguments: [],
  options: [],
  examples: [{ command: "ctl githubbot status", sentence: "Whether it is installed, runs, and may write." }],
  operation: "ReadGithubbot",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const status = await (await context.client()).getGithubbotStatus();
  const { installation, running, isolation, paused, notes } = status;
  const now = context.clock.now();
  const lines =
    installation === null
      ? ["The repository bot is not installed: `ctl githubbot install` does it."]
      : [
          `${clean(installation.app_slug)} in ${clean(installation.org)}, installed ${moment(installation.installed_at, now)}.`,
          `Its process ${running ? "runs" : "does not run"}; isolation ${isolation ?? "not known before the first run"}.`,
          ...installation.missing.map((one) => `Missing at GitHub: ${clean(one)}.`),
        ];
  const stops = paused.map(
    ({ repository, by, reason, at }) =>
      `Paused ${repository === "*" ? "everywhere" : `in ${clean(repository)}`} by ${clean(by)}, ${moment(at, now)}${reason === "" ? "" : `: ${clean(reason)}`}.`,
  );
  return { data: status, text: [...lines, ...stops, ...notes.map(clean)].join("\n") };
}

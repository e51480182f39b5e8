// `ctl githubbot runs show`: one run with its plan and every call that it made at GitHub.
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotRunsShow: Verb = {
  name: "githubbot runs show",
  heading: "Repository bot",
  sentence: "Show one run: why it began, what it did, or why it did not act.",
  about: "The plan is what was asked for, the calls are what was made of it at GitHub.",
  arguments: [{ name: "run_id", sentence: "The run, as `ctl githubbot runs list` shows it." }],
  options: [],
  examples: [
    { command: "ctl githubbot runs show 0197f2a0-c4d8-7e6e-8000-000000000000", sentence: "What became of it." },
  ],
  operation: "ReadGithubbot",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const shown = await (await context.client()).getGithubbotRun({ runId: context.argument("run_id") });
  const { plan, calls, ...facts } = shown;
  const lines = Object.entries(facts).filter(([, value]) => value !== null);
  const width = Math.max(...lines.map(([name]) => name.length));
  const text = lines.map(([name, value]) => `${name.padEnd(width)}  ${clean(String(value))}`);
  const made = calls.map(({ method, path, status }) => `${status}  ${method} ${clean(path)}`);
  const planned = plan === null || plan === undefined ? [] : ["", clean(JSON.stringify(plan))];
  return { data: shown, text: [...text, ...(made.length === 0 ? [] : ["", ...made]), ...planned].join("\n") };
}

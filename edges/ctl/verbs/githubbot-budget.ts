// `ctl githubbot budget`: what the repository bot may spend today, and has.
import { type Column, listing, listOptions } from "../text/listing.ts";
import { clean, moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotBudget: Verb = {
  name: "githubbot budget",
  heading: "Repository bot",
  sentence: "See what the repository bot may spend today, and has.",
  about: "A day is one of UTC. What is reserved for runs that are under way counts as used.",
  arguments: [],
  options: [...listOptions],
  examples: [{ command: "ctl githubbot budget", sentence: "In all, and in each repository." }],
  operation: "ReadGithubbot",
  changesState: false,
  run,
};

interface Row {
  readonly repository: string;
  readonly cap_usd: string;
  readonly used_usd: string;
}

const columns: readonly Column<Row>[] = [
  { name: "repository", key: true, of: (one) => one.repository },
  { name: "used_usd", of: (one) => one.used_usd },
  { name: "cap_usd", of: (one) => one.cap_usd },
];

async function run(context: Context): Promise<Answer> {
  const budget = await (await context.client()).getGithubbotBudget();
  const { day, daily_usd: daily, used_usd: used, resets_at: resets, repositories } = budget;
  context.terminal.say(
    `${clean(used)} of ${clean(daily)} USD on ${clean(day)}; it begins anew ${moment(resets, context.clock.now())}.`,
  );
  const listed = await listing(context, { columns, rows: repositories, none: "Nothing was spent today." });
  return { ...listed, data: budget };
}

// `ctl githubbot runs list`: what the repository bot did, and why it did not act.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const statuses = ["QUEUED", "RUNNING", "DONE", "SKIPPED", "FAILED"] as const;
type Status = (typeof statuses)[number];

export const githubbotRunsList: Verb = {
  name: "githubbot runs list",
  heading: "Repository bot",
  sentence: "List the runs of the repository bot, newest first.",
  group: { heading: "Repository bot", sentence: "What the repository bot did: list, show." },
  about: "A run that did not act is in it, with the reason.",
  arguments: [],
  options: [
    { name: "repo", value: "ORG/NAME", sentence: "Only of this repository." },
    { name: "status", value: "STATUS", values: [...statuses], sentence: "Only those that stand so." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl githubbot runs list", sentence: "The newest hundred." },
    { command: "ctl githubbot runs list --repo my-org/desk --status SKIPPED", sentence: "What it left alone there." },
  ],
  operation: "ReadGithubbot",
  changesState: false,
  run,
};

type Run = AnswerOf<"listGithubbotRuns">[number];

const columns: readonly Column<Run>[] = [
  { name: "run_id", key: true, of: (one) => one.run_id },
  { name: "created_at", minor: 1, of: (one) => one.created_at, time: true },
  { name: "repository", minor: 3, of: (one) => one.repository },
  { name: "number", of: (one) => one.number },
  { name: "persona", of: (one) => one.persona },
  { name: "requested_by", minor: 4, of: (one) => one.requested_by },
  { name: "status", of: (one) => one.status },
  { name: "cost_usd", minor: 5, of: (one) => one.cost_usd },
  { name: "reason", minor: 2, of: (one) => one.reason ?? "" },
];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const repository = context.option("repo");
  const status = context.option("status") as Status | undefined;
  const client = await context.client();
  const asked = { ...(repository === undefined ? {} : { repository }), ...(status === undefined ? {} : { status }) };
  const { rows, more } = await followPages(
    limit,
    (one: Run) => one.run_id,
    (page) => client.listGithubbotRuns({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: "It has had no runs." });
}

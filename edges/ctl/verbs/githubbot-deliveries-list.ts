// `ctl githubbot deliveries list`: what GitHub delivered under a good signature.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const githubbotDeliveriesList: Verb = {
  name: "githubbot deliveries list",
  heading: "Repository bot",
  sentence: "List what GitHub delivered in the last 30 days, newest first.",
  group: { heading: "Repository bot", sentence: "What GitHub delivered." },
  about: "ACCEPTED waits to be taken up, HANDLED was; what the bot does nothing about is IGNORED.",
  arguments: [],
  options: [limitOption, ...listOptions],
  examples: [{ command: "ctl githubbot deliveries list --limit 20", sentence: "The newest twenty." }],
  operation: "ReadGithubbot",
  changesState: false,
  run,
};

type Delivery = AnswerOf<"listGithubbotDeliveries">[number];

const columns: readonly Column<Delivery>[] = [
  { name: "delivery_id", key: true, of: (one) => one.delivery_id },
  { name: "received_at", of: (one) => one.received_at, time: true },
  { name: "event", of: (one) => one.event },
  { name: "repository", minor: 1, of: (one) => one.repository },
  { name: "status", of: (one) => one.status },
];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Delivery) => one.delivery_id,
    (page) => client.listGithubbotDeliveries(page),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: "GitHub delivered nothing." });
}

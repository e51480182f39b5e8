// `ctl operations secrets list`: which secrets the platform has, by path and version; never a value.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsSecretsList: Verb = {
  name: "operations secrets list",
  heading: "Secrets",
  sentence: "List the paths and versions of secrets; never a value.",
  arguments: [],
  options: [limitOption, ...listOptions],
  examples: [{ command: "ctl operations secrets list", sentence: "What there is." }],
  operation: "ListSecrets",
  changesState: false,
  run,
};

type Kept = AnswerOf<"listSecrets">[number];

const columns: readonly Column<Kept>[] = [
  { name: "path", key: true, of: (one) => one.path },
  {
    name: "version",
    of: (one) => one.version,
    shown: (one) => (one.version === 0 ? "deleted" : String(one.version)),
    number: true,
  },
  {
    name: "writable",
    of: (one) => one.writable,
    shown: (one) => (one.writable ? "by `secrets put`" : "by the platform"),
  },
];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Kept) => one.path,
    (page) => client.listSecrets(page),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: "There is no secret yet." });
}

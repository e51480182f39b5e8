// `ctl auth operators list`: the people of the embedded provider.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authOperatorsList: Verb = {
  name: "auth operators list",
  heading: "People",
  sentence: "List who may log in, with roles and second factor.",
  about: "With your own issuer people are kept there; listed are those who have a second factor here.",
  arguments: [],
  options: [{ name: "all", sentence: "Also those who are disabled." }, ...listOptions],
  examples: [
    { command: "ctl auth operators list", sentence: "Those who may log in." },
    { command: "ctl auth operators list --all --json", sentence: "All of them, for a program." },
  ],
  operation: "ListOperators",
  changesState: false,
  run,
};

type Operator = AnswerOf<"listOperators">[number];

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const { rows: everybody } = await followPages(
    Number.MAX_SAFE_INTEGER - 1,
    (operator: Operator) => operator.name,
    (page) => client.listOperators(page),
  );
  const columns: readonly Column<Operator>[] = [
    { name: "name", key: true, of: ({ name }) => name },
    { name: "state", always: true, of: ({ state }) => state },
    { name: "roles", text: true, of: ({ roles }) => roles.join(", ") },
    { name: "second_factor_since", head: "second factor", of: (one) => one.second_factor_since, time: "none" },
    { name: "created", of: ({ created_at }) => created_at, time: true },
    { name: "disabled", of: ({ disabled_at }) => disabled_at, time: true },
    { name: "disabled_by", of: ({ disabled_by }) => disabled_by },
    { name: "development", of: ({ development }) => development, onlyCsv: true },
  ];
  const rows = everybody.filter(({ state }) => context.switched("all") || state === "active");
  return listing(context, { columns, rows, none: "There is nobody." });
}

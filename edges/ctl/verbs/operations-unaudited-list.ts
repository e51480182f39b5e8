// `ctl operations unaudited list`: changes that have no event, for which new risk is denied.
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsUnauditedList: Verb = {
  name: "operations unaudited list",
  heading: "Changes without an event",
  sentence: "List the changes of halts, people, second factors, keys and tokens that have no event.",
  about:
    "New risk is denied while there is one; halts and exits go on. Set the row back to what it was, or accept it with `ctl operations unaudited accept`; what has no id can only be set back.",
  arguments: [],
  options: listOptions,
  examples: [{ command: "ctl operations unaudited list", sentence: "Which rows, and how they differ." }],
  operation: "ListUnauditedChanges",
  changesState: false,
  run,
};

type Change = AnswerOf<"listUnauditedChanges">[number];

async function run(context: Context): Promise<Answer> {
  const rows = await (await context.client()).listUnauditedChanges();
  const columns: readonly Column<Change>[] = [
    { name: "change_id", key: true, of: (change) => change.change_id },
    { name: "table", always: true, of: (change) => change.table },
    { name: "row", always: true, text: true, of: (change) => change.row },
    { name: "found", always: true, of: (change) => change.found },
  ];
  return listing(context, { columns, rows, none: "Every change has its event." });
}

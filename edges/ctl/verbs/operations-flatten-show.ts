// `ctl operations flatten show`: how far a flatten has come, position by position and order by order.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { flattenColumns, flattenLead, flattenRows, unflatFunds } from "../text/flatten-text.ts";
import { listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFlattenShow: Verb = {
  name: "operations flatten show",
  heading: "Halts",
  sentence: "Show how far a flatten has come.",
  about: "Exit 8 while something is left to be closed or cancelled, 10 when the broker does not call it flat.",
  arguments: [{ name: "flatten_id", sentence: "Which one; the newest when absent.", optional: true }],
  options: [...listOptions],
  examples: [
    { command: "ctl operations flatten show", sentence: "The newest." },
    { command: "ctl operations flatten show --watch", sentence: "Until it is done." },
  ],
  operation: "GetFlatten",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const flattenId = context.argument("flatten_id");
  const flatten = await (await context.client()).getFlatten(flattenId === "" ? {} : { flattenId });
  const list = await listing(context, {
    columns: flattenColumns,
    rows: flattenRows(flatten),
    none: "There was no position to close and no order to cancel.",
    data: flatten,
    lead: flattenLead(flatten),
    wholeIds: true,
  });
  if (flatten.done_at !== undefined) return list;
  const exit = unflatFunds(flatten).length > 0 ? exitCodes.verificationFailed : exitCodes.pending;
  return { ...list, exit };
}

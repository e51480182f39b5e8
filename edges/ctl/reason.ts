// Why somebody changes something: an option of every verb that changes the state of the platform. It travels with the request and stands
// in the record.
import type { Context } from "./context.ts";
import type { VerbOption } from "./verbs/verb.ts";

export const reasonOption: VerbOption = {
  name: "reason",
  value: "TEXT",
  sentence: "Why, in your words; it stands in the record.",
};

/** As an argument for the client: nothing when nothing was said. */
export function reasonOf(context: Context): { readonly reason?: string } {
  const reason = context.option("reason");
  return reason === undefined ? {} : { reason };
}

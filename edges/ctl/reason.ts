// Why somebody changes something: an option of every verb that changes the state of the platform. It travels with the request and stands
// in the record.

import { usageRefusal } from "./failure.ts";
import type { Context, VerbOption } from "./verbs/verb.ts";

export const reasonOption: VerbOption = {
  name: "reason",
  value: "TEXT",
  sentence: "Why, in your words; it stands in the record.",
};

/** For what the server does not do without one: said before a code of the second factor is used up. */
export function needsReason(context: Context): string {
  const reason = context.option("reason")?.trim();
  if (reason === undefined || reason === "")
    throw usageRefusal("This is not done without a reason.", "Add --reason TEXT.");
  return reason;
}

/** As an argument for the client: nothing when nothing was said. */
export function reasonOf(context: Context): { readonly reason?: string } {
  const reason = context.option("reason");
  return reason === undefined ? {} : { reason };
}

// The fund or strategy that a halt or a resume is for. Without one everything is meant, so one that is there and empty (an unset variable of a script) is a
// mistake and never everything.

import { usageRefusal } from "./failure.ts";
import type { Context } from "./verbs/verb.ts";

/** Empty when none was typed. */
export function scopeArgument(context: Context): string {
  const [id] = context.argumentsOf("id");
  if (id === undefined) return "";
  if (id.trim() === "") {
    throw usageRefusal("The name of a fund or strategy is empty.", "Name one, or leave it out to mean the whole firm.");
  }
  return id;
}

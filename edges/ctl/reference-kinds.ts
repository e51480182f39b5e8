// The kinds of reference data as an option of the verbs that show and set them.
import type { ReferenceKind } from "../../contracts/src/records/reference.ts";
import type { Context, VerbOption } from "./verbs/verb.ts";

/** In full, so that the compiler misses none; the schema itself is too heavy to load for a list of words. */
const kinds: Readonly<Record<ReferenceKind, true>> = {
  instruments: true,
  funds: true,
  fx: true,
  borrow: true,
  restricted: true,
  calendars: true,
  venues: true,
};

export const kindOption: VerbOption = {
  name: "kind",
  value: "KIND",
  required: true,
  values: Object.keys(kinds),
  closed: true,
  sentence: "Which kind of reference data.",
};

export function kindOf(context: Context): ReferenceKind {
  // The option takes no other words.
  return context.option(kindOption.name) as ReferenceKind;
}

// Whether every list, map and free data of a request says how much it may hold (docs/decisions/0094-a-body-is-counted-before-it-is-read.md).
import type { BoundedField } from "../../contracts/src/declared.ts";

/** The fields that may hold any amount, each in a sentence. */
export function unboundedComplaints(requests: Readonly<Record<string, readonly BoundedField[]>>): readonly string[] {
  return Object.entries(requests).flatMap(([message, fields]) =>
    fields.flatMap((field) => {
      const missing = missingIn(field);
      if (missing.length === 0) return [];
      return [`${message}.${field.name} may hold any amount: add ${missing.join(" and ")} to its declaration`];
    }),
  );
}

function missingIn({ form, most, characters }: BoundedField): readonly string[] {
  const count = form !== "message" && most === undefined ? ["max_count"] : [];
  return form === "free" && characters === undefined ? [...count, "max_length"] : count;
}

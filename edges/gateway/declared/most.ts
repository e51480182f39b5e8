// What a field of a procedure's request may hold, for the bodies of routes with schemas of their own: one declaration counts at both doors.
import type { BoundedField } from "../../../contracts/src/declared.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import { requestBounds } from "../../../contracts/src/generated/bounds.ts";

/** Entries of a list, members of a map, characters of a text. */
export function mostIn(message: string, name: string): number {
  const { most } = fieldOf(message, name);
  if (most === undefined) throw new Defect(`${message}.${name} may hold any amount.`);
  return most;
}

/** Of free data. */
export function anyMostIn(
  message: string,
  name: string,
): { readonly any: { readonly values: number; readonly characters: number } } {
  const { characters } = fieldOf(message, name);
  if (characters === undefined) throw new Defect(`${message}.${name} may hold any amount.`);
  return { any: { values: mostIn(message, name), characters } };
}

function fieldOf(message: string, name: string): BoundedField {
  const field = requestBounds[message]?.find((one) => one.name === name);
  if (field === undefined) throw new Defect(`${message} has no ${name} with a bound.`);
  return field;
}

// What an event of a program outside says, as one text: two events under one id are the same event exactly when these are equal. The order of members and the
// way in which a decimal is written make no difference; fields that we do not know are none of it.
import { z } from "zod";
import * as decimal from "./decimal.ts";
import type { Subject } from "./subject.ts";

/** Of a payload that matched the subject's schema. */
export function contentOf(subject: Pick<Subject<unknown>, "name" | "schema">, payload: unknown): string {
  return JSON.stringify([subject.name, canonical(payload, subject.schema)]);
}

function canonical(value: unknown, schema: z.ZodType | undefined): unknown {
  const known = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (typeof value === "string") return known?.meta()?.["format"] === "decimal" ? byValue(value) : value;
  if (Array.isArray(value)) {
    const element = known instanceof z.ZodArray ? (known.element as z.ZodType) : undefined;
    return value.map((each) => canonical(each, element));
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1));
  // Pairs, because an object would put names that look like numbers first, and drop one that is called like the prototype.
  return { members: sorted.map(([name, member]) => [name, canonical(member, memberOf(known, name))]) };
}

function memberOf(schema: z.ZodType | undefined, name: string): z.ZodType | undefined {
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (!(schema instanceof z.ZodObject) || !Object.hasOwn(schema.shape, name)) return undefined;
  return schema.shape[name] as z.ZodType;
}

function byValue(text: string): string {
  const parsed = decimal.tryParse(text);
  return parsed === undefined ? text : decimal.format(parsed);
}

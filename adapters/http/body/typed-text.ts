// What a person typed, judged at their door: the one place that holds a request to the texts that its route's schemas declare as typed. Machines are not
// asked, and nothing that is kept is.
//
//  1. A typed text with a character that cannot be seen is refused, with the field, the character and its place.
//  2. Whatever halts or tightens is never refused for one: the text goes on with marks in their place.
//  3. Texts that are not declared as typed go on as they came.
import { z } from "zod";
import { type Operation, operations } from "../../../contracts/src/authority.ts";
import type { Schema } from "../../../contracts/src/schema.ts";
import { isTyped, type JudgeText, mapTexts, marked, unseenIn } from "../../../contracts/src/text/typed.ts";
import type { Route } from "../../../ports/http.ts";
import type { Identity } from "../../../ports/identity.ts";
import { type FieldError, fieldName } from "../field-errors.ts";

type Wanted = Pick<Route, "operation" | "query" | "body">;
type Sent = { readonly query: unknown; readonly body: unknown };
/** What stands below a schema: a typed text, any text, or members of which some are. */
type Typed = "text" | "all" | { readonly members: ReadonlyMap<string, Typed> } | { readonly each: Typed };

interface Judged {
  readonly sent: Sent;
  readonly errors: readonly FieldError[];
}

/** The request as it goes on, or what is wrong with it. */
export function judgeTypedText(route: Wanted, identity: Identity | undefined, sent: Sent): Judged {
  if (identity?.kind !== "operator") return { sent, errors: [] };
  const errors: FieldError[] = [];
  const tightens = isTightening(route.operation, sent.body);
  const judge = (text: string, place: string, path: readonly (string | number)[]): string => {
    if (tightens) return marked(text);
    const wrong = unseenIn(text);
    if (wrong !== undefined) errors.push({ field: fieldName(place, path), expected: wrong });
    return text;
  };
  const read = (place: "query" | "body"): unknown => {
    const typed = typedIn(route[place]);
    if (typed === undefined) return sent[place];
    return walk(typed, sent[place], [], (text, path) => judge(text, place, path));
  };
  return { sent: { query: read("query"), body: read("body") }, errors: errors.slice(0, errorCountMax) };
}

const errorCountMax = 20;

function isTightening(operation: Operation, body: unknown): boolean {
  const { tightens }: { readonly allowed: unknown; readonly tightens?: string } = operations[operation];
  const [when, member = ""] = tightens?.split(" ") ?? [];
  if (when === undefined || when === "always") return when === "always";
  const said =
    typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>)[member] : undefined;
  return when === "if" ? said === true : said === undefined;
}

/** The same value where nothing was wrong with it. A body is at most 64 levels deep (beyond-bound.ts). */
function walk(typed: Typed, value: unknown, path: Parameters<JudgeText>[1], judge: JudgeText): unknown {
  if (typed === "all") return mapTexts(value, judge, path);
  if (typed === "text") return typeof value === "string" ? judge(value, path) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    if (!("each" in typed)) return value;
    return value.map((one, index) => walk(typed.each, one, [...path, index], judge));
  }
  const members = Object.entries(value).map(([name, inner]) => {
    const below = "each" in typed ? typed.each : typed.members.get(name);
    return [name, below === undefined ? inner : walk(below, inner, [...path, name], judge)] as const;
  });
  return Object.fromEntries(members);
}

const known = new WeakMap<Schema, { readonly typed: Typed | undefined }>();

/** Read from a schema once. */
function typedIn(schema: Schema | undefined): Typed | undefined {
  if (schema === undefined) return undefined;
  const found = known.get(schema) ?? { typed: typedBelow(schema) };
  known.set(schema, found);
  return found.typed;
}

function typedBelow(schema: z.ZodType): Typed | undefined {
  if (isTyped(schema)) return schema instanceof z.ZodString ? "text" : "all";
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return typedBelow(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).flatMap(([name, inner]): [string, Typed][] => {
      const below = typedBelow(inner as z.ZodType);
      return below === undefined ? [] : [[name, below]];
    });
    return members.length === 0 ? undefined : { members: new Map(members) };
  }
  const each =
    schema instanceof z.ZodArray ? schema.element : schema instanceof z.ZodRecord ? schema.valueType : undefined;
  const below = each === undefined ? undefined : typedBelow(each as z.ZodType);
  return below === undefined ? undefined : { each: below };
}

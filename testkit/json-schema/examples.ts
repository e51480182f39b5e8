// Examples from schemas: one value that the schema accepts, with the values that its fields' names suggest. The document's writer holds each against the
// route's own schema, so an example is never wrong, only sometimes plain.
import { exampleEndings, exampleFormats, exampleNumbers, exampleTexts } from "./example-words.ts";
import { type JsonSchema, resolved, type Schemas } from "./json-schema.ts";

interface Wanted {
  readonly schemas: Schemas;
  /** A request has what it must have; an answer shows everything that it may have. */
  readonly optional: boolean;
}

const levelsMax = 6;

export function exampleOf(given: JsonSchema, wanted: Wanted, name = "", level = 0): unknown {
  const schema = resolved(given, wanted.schemas);
  if (schema.const !== undefined) return schema.const;
  const shown = schema.examples?.[0];
  if (shown !== undefined) return typed(shown, schema);
  if (schema.enum !== undefined) return schema.enum.includes(exampleTexts[name]) ? exampleTexts[name] : schema.enum[0];
  const options = schema.anyOf ?? schema.oneOf;
  const option = options?.find(({ type }) => type !== "null");
  if (option !== undefined) return exampleOf(option, wanted, name, level);
  return exampleOfType(schema, wanted, name, level);
}

function exampleOfType(schema: JsonSchema, wanted: Wanted, name: string, level: number): unknown {
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object":
      return objectExample(schema, wanted, level);
    case "array":
      return level >= levelsMax || schema.items === undefined ? [] : [exampleOf(schema.items, wanted, name, level + 1)];
    case "string":
      return textExample(name, schema);
    case "integer":
    case "number":
      return numberExample(name, schema);
    case "boolean":
      return schema.default ?? false;
    case "null":
      return null;
    default:
      return {};
  }
}

function objectExample(schema: JsonSchema, wanted: Wanted, level: number): object {
  const { properties = {}, required = [], additionalProperties } = schema;
  const entries = Object.entries(properties)
    .filter(([name]) => required.includes(name) || (wanted.optional ? level < levelsMax : isAlwaysShown(name)))
    .map(([name, member]) => [name, exampleOf(member, wanted, name, level + 1)] as const);
  if (entries.length > 0 || typeof additionalProperties !== "object" || !wanted.optional) {
    return Object.fromEntries(entries);
  }
  return { technology: exampleOf(additionalProperties, wanted, "technology", level + 1) };
}

/** What every change should carry, and what a person types. */
function isAlwaysShown(name: string): boolean {
  return name === "reason" || name === "confirmation";
}

function textExample(name: string, schema: JsonSchema): string {
  // The word that a person types stands in the description.
  const word = name === "confirmation" ? /The word ([A-Z ]+)[,.;]/.exec(schema.description ?? "")?.[1] : undefined;
  const candidates = [
    word,
    exampleTexts[name],
    ...(schema.format === "decimal" ? [byEnding(name)] : []),
    exampleFormats[schema.format ?? ""],
    byEnding(name),
    "text",
    "123456",
    "0a1b2c3d",
  ];
  const fits = candidates.find((text) => text !== undefined && isFitting(text, schema));
  return fits ?? "text";
}

function byEnding(name: string): string | undefined {
  return exampleEndings.find(([pattern]) => pattern.test(name))?.[1];
}

function isFitting(
  text: string,
  { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: JsonSchema,
): boolean {
  if (text.length < minLength || text.length > maxLength) return false;
  return pattern === undefined || new RegExp(pattern, "u").test(text);
}

function numberExample(name: string, { minimum, maximum, exclusiveMinimum, type }: JsonSchema): number {
  const wanted = exampleNumbers[name] ?? (type === "integer" ? 1 : 0.5);
  const low = Math.max(minimum ?? Number.NEGATIVE_INFINITY, wanted);
  const inside = Math.min(low, maximum ?? Number.POSITIVE_INFINITY);
  return exclusiveMinimum !== undefined && inside <= exclusiveMinimum ? exclusiveMinimum + 1 : inside;
}

/** Declarations write examples as text, whatever the field is. */
function typed(shown: unknown, { type }: JsonSchema): unknown {
  if (typeof shown !== "string") return shown;
  if (type === "integer" || type === "number") return Number(shown);
  return type === "boolean" ? shown === "true" : shown;
}

// The widest body that a route's description takes: every member, every list and map as long as it may be, every text as long as it may be, and not more bytes
// than a body may have. What has no bound of its own is as long as the body allows.
import { exampleOf } from "../../testkit/json-schema/examples.ts";
import { type JsonSchema, resolved, type Schemas } from "../../testkit/json-schema/json-schema.ts";

interface BoundedSchema extends JsonSchema {
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: BoundedSchema;
}

interface Making {
  readonly schemas: Schemas;
  /** Of what has no bound, and at most of what has one. */
  readonly countMax: number;
}

const levelsMax = 6;
const textMax = 2_000;
/** More in one list than any body holds. */
const countBegin = 262_144;

/** Undefined where nothing that fits is taken. */
export function widestBody(
  schema: JsonSchema,
  schemas: Schemas,
  bytesMax: number,
  accepts: (body: unknown) => boolean,
): string | undefined {
  for (let countMax = countBegin; countMax >= 1; countMax = Math.floor(countMax / 2)) {
    if (estimate(schema, { schemas, countMax }) > 4 * bytesMax) continue;
    const body = widestValue(schema, { schemas, countMax }, "", 0);
    const text = JSON.stringify(body);
    if (text === undefined || Buffer.byteLength(text) > bytesMax) continue;
    if (accepts(body)) return text;
  }
  const plain = exampleOf(schema, { schemas, optional: true });
  return accepts(plain) ? JSON.stringify(plain) : undefined;
}

/** Bytes, roughly, without making any. */
function estimate(given: JsonSchema, making: Making, level = 0): number {
  const schema = resolved(given, making.schemas) as BoundedSchema;
  if (level > levelsMax) return 2;
  const option = optionOf(schema);
  if (option !== undefined) return estimate(option, making, level);
  if (typeOf(schema) === "array") {
    return countOf(schema.maxItems, making) * (1 + estimate(schema.items ?? {}, making, level + 1));
  }
  if (typeOf(schema) !== "object") return typeOf(schema) === "string" ? Math.min(schema.maxLength ?? 10, textMax) : 8;
  const members = Object.values(schema.properties ?? {}).map((member) => 10 + estimate(member, making, level + 1));
  const own = members.reduce((sum, bytes) => sum + bytes, 2);
  return own + (mapMemberOf(schema) === undefined ? 0 : countOf(schema.maxProperties, making) * 12);
}

function widestValue(given: JsonSchema, making: Making, name: string, level: number, at = 0): unknown {
  const { schemas } = making;
  const schema = resolved(given, schemas) as BoundedSchema;
  if (schema.const !== undefined || schema.enum !== undefined || level > levelsMax) {
    return exampleOf(schema, { schemas, optional: false }, name);
  }
  const option = optionOf(schema);
  if (option !== undefined) return widestValue(option, making, name, level, at);
  switch (typeOf(schema)) {
    case "array":
      return Array.from({ length: countOf(schema.maxItems, making) }, (_, index) =>
        widestValue(schema.items ?? {}, making, name, level + 1, index),
      );
    case "object":
      return widestObject(schema, making, level, at);
    case "string":
      return widestText(schema, making, name, at);
    default:
      return exampleOf(schema, { schemas, optional: false }, name);
  }
}

function widestObject(schema: BoundedSchema, making: Making, level: number, at: number): object {
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => [name, widestValue(member, making, name, level + 1, at)] as const,
  );
  const member = mapMemberOf(schema);
  if (member === undefined) return Object.fromEntries(members);
  const count = countOf(schema.maxProperties, making);
  const more = Array.from(
    { length: count },
    (_, index) => [`k${index}`, widestValue(member, making, `k${index}`, level + 1, index)] as const,
  );
  return Object.fromEntries([...members, ...more]);
}

/** Each another, because lists may refuse what they have already. */
function widestText(schema: BoundedSchema, { schemas }: Making, name: string, at: number): string {
  const { pattern, maxLength = 10, minLength = 0, format } = schema;
  const fits = (text: string): boolean =>
    text.length >= minLength &&
    text.length <= (schema.maxLength ?? Number.POSITIVE_INFINITY) &&
    (pattern === undefined || new RegExp(pattern, "u").test(text));
  const example = String(exampleOf(schema, { schemas, optional: false }, name));
  const long = `${at}`.padEnd(Math.min(maxLength, textMax), "x");
  const tries = pattern === undefined && format === undefined ? [long] : [`${example}${at}`, `${at}`, long];
  return tries.find(fits) ?? example;
}

const countOf = (declared: number | undefined, { countMax }: Making): number =>
  Math.min(declared ?? countMax, countMax);

const optionOf = ({ anyOf, oneOf }: BoundedSchema): JsonSchema | undefined =>
  (anyOf ?? oneOf)?.find(({ type }) => type !== "null");

const typeOf = ({ type }: BoundedSchema): unknown => (Array.isArray(type) ? type[0] : type);

/** What a map holds; undefined for an object whose members are all named. */
function mapMemberOf({ additionalProperties, properties }: BoundedSchema): JsonSchema | undefined {
  if (typeof additionalProperties === "object") return additionalProperties;
  return additionalProperties === true || (additionalProperties === undefined && properties === undefined)
    ? { type: "string" }
    : undefined;
}

// Named schemas of an OpenAPI document. The library writes each name twice, once for what goes in and once for what comes out; here a name is one
// component wherever both say the same, and only those in use are kept.
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import {
  type JsonSchema,
  nameOfReference,
  referenceTo,
  type Schemas,
} from "../../../testkit/json-schema/json-schema.ts";

const inputSuffix = "Input";

interface Parts {
  readonly paths: Readonly<Record<string, object>>;
  readonly schemas: Schemas;
}

export function namedOnce(given: Parts): Parts {
  const opened: Parts = { ...given, schemas: mapValues(given.schemas, (schema, name) => openIfAnswer(schema, name)) };
  const used = reachable(opened.paths, opened.schemas);
  const renamed = new Map<string, string>();
  for (const name of used) {
    const plain = name.endsWith(inputSuffix) ? name.slice(0, -inputSuffix.length) : name;
    if (plain === name) continue;
    // What only goes in needs no suffix; what goes both ways has one only where the two differ.
    const isSame = isDeepStrictEqual(withoutSuffixes(opened.schemas[name]), withoutSuffixes(opened.schemas[plain]));
    if (!used.has(plain) || isSame) renamed.set(name, plain);
  }
  const kept = [...used].map((name) => [renamed.get(name) ?? name, opened.schemas[name]] as const);
  const rename = <Value>(value: Value): Value => withNames(value, renamed);
  return { paths: rename(opened.paths), schemas: rename(sortedEntries(kept)) };
}

/** An answer may have more than it has today: additions are no break. Requests stay exact, so that nothing misspelt is dropped. */
export function openToAdditions<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(openToAdditions) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, inner]) => !(key === "additionalProperties" && inner === false));
  return Object.fromEntries(entries.map(([key, inner]) => [key, openToAdditions(inner)])) as Value;
}

function openIfAnswer(schema: JsonSchema, name: string): JsonSchema {
  return name.endsWith(inputSuffix) ? schema : openToAdditions(schema);
}

function withoutSuffixes(schema: JsonSchema | undefined): unknown {
  if (schema === undefined) return undefined;
  return parseJson(JSON.stringify(schema).replaceAll(/("#\/components\/schemas\/\w+?)Input"/g, '$1"'));
}

function withNames<Value>(value: Value, renamed: ReadonlyMap<string, string>): Value {
  if (Array.isArray(value)) return value.map((one: unknown) => withNames(one, renamed)) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    const name = key === "$ref" && typeof inner === "string" ? renamed.get(nameOfReference(inner)) : undefined;
    return [key, name === undefined ? withNames(inner, renamed) : referenceTo(name)];
  });
  return Object.fromEntries(entries) as Value;
}

function reachable(paths: object, schemas: Schemas): ReadonlySet<string> {
  const wanted = new Set(["Problem"]);
  const follow = (value: unknown): void => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      follow(schemas[name] ?? {});
    }
  };
  follow(paths);
  return wanted;
}

function mapValues(record: Schemas, change: (value: JsonSchema, name: string) => JsonSchema): Schemas {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

function sortedEntries(entries: readonly (readonly [string, JsonSchema | undefined])[]): Schemas {
  const found = entries.flatMap(([name, schema]) => (schema === undefined ? [] : [[name, schema] as const]));
  return Object.fromEntries(found.sort(([left], [right]) => (left < right ? -1 : 1)));
}

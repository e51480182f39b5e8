// Values for requests, from their schemas and a seeded random: right ones, with what answers reported (an order's id, a halt's), and wrong ones.
import { exampleOf } from "../json-schema/examples.ts";
import { type JsonSchema, resolved, type Schemas } from "../json-schema/json-schema.ts";

/** Seeded; from 0 to below 1. */
export type Random = () => number;

/** The generator mulberry32: small, and the same everywhere. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <Value>(random: Random, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;

/** What answers reported, by the name of the field: bounded, the newest stay. */
export class Reported {
  readonly #values = new Map<string, unknown[]>();

  hear(value: unknown, depth = 0): void {
    if (depth > 6 || typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const one of value.slice(0, 5)) this.hear(one, depth + 1);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === "object") this.hear(inner, depth + 1);
      else if (typeof inner === "string" && inner !== "" && inner.length <= 200) this.#keep(name, inner);
    }
  }

  #keep(name: string, value: string): void {
    const known = this.#values.get(name) ?? [];
    if (known.includes(value)) return;
    if (known.length >= 40) known.shift();
    known.push(value);
    if (this.#values.size < 500 || this.#values.has(name)) this.#values.set(name, known);
  }

  of(name: string): readonly unknown[] {
    return this.#values.get(name) ?? [];
  }
}

export interface Making {
  readonly random: Random;
  readonly schemas: Schemas;
  readonly reported: Reported;
}

export function validValue(given: JsonSchema, making: Making, name = "", level = 0): unknown {
  const { random, schemas } = making;
  const schema = resolved(given, schemas);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(random, schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return validValue(pick(random, options), making, name, level);
  const type = Array.isArray(schema.type) ? pick(random, schema.type as readonly string[]) : schema.type;
  if (type === "object") return validObject(schema, making, level);
  if (type === "array") {
    const count = level > 4 ? 0 : Math.floor(random() * 3);
    return Array.from({ length: count }, () => validValue(schema.items ?? {}, making, name, level + 1));
  }
  if (type === "string") return validText(schema, making, name);
  if (type === "integer" || type === "number") return validNumber(schema, random, type === "integer");
  if (type === "boolean") return random() < 0.5;
  return type === "null" ? null : pick<unknown>(random, [1, "text", true, { any: "thing" }]);
}

function validObject(schema: JsonSchema, making: Making, level: number): object {
  const { properties = {}, required = [], additionalProperties } = schema;
  const entries = Object.entries(properties)
    .filter(([name]) => required.includes(name) || (level < 4 && making.random() < 0.4))
    .map(([name, member]) => [name, validValue(member, making, name, level + 1)]);
  if (entries.length === 0 && typeof additionalProperties === "object" && making.random() < 0.5) {
    entries.push(["technology", validValue(additionalProperties, making, "technology", level + 1)]);
  }
  return Object.fromEntries(entries) as object;
}

function validText(schema: JsonSchema, { random, schemas, reported }: Making, name: string): string {
  const { pattern, minLength = 0, maxLength = 2_000 } = schema;
  const fits = (text: string): boolean =>
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, "u").test(text));
  const known = reported.of(name).filter((value): value is string => typeof value === "string" && fits(value));
  if (known.length > 0 && random() < 0.6) return pick(random, known);
  const strange = [
    "x",
    "0",
    "-1",
    "𝔘nicode ✓",
    "'; drop table x; --",
    "a".repeat(Math.min(maxLength, 300)),
    "%2e%2e",
    "null",
  ];
  if (pattern === undefined && schema.format === undefined && random() < 0.3) {
    const chosen = pick(random, strange);
    if (fits(chosen)) return chosen;
  }
  return String(exampleOf(schema, { schemas, optional: false }, name));
}

function validNumber(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema & { readonly exclusiveMaximum?: number },
  random: Random,
  whole: boolean,
): number {
  const low = minimum ?? exclusiveMinimum ?? 0;
  const high = maximum ?? exclusiveMaximum ?? low + 1_000;
  const edge = random() < 0.2 && exclusiveMinimum === undefined && exclusiveMaximum === undefined;
  if (edge) return random() < 0.5 ? low : Math.min(high, Number.MAX_SAFE_INTEGER);
  const wide = low + random() * (Math.min(high, low + 1_000_000) - low);
  return whole ? Math.max(low, Math.floor(wide)) : wide;
}

/** A value of another type, or beyond every bound. */
export function wrongValue(random: Random): unknown {
  return pick<unknown>(random, [
    null,
    true,
    -1,
    1.5,
    1e308,
    2 ** 60,
    "",
    "\u0000",
    "\ud800",
    "x".repeat(20_000),
    [],
    [[[[[[]]]]]],
    {},
    { __proto__: null, constructor: "x" },
    Array.from({ length: 2_000 }, () => 1),
  ]);
}

// Whether a JSON Schema still says what it said to those who rely on it. Callers send requests: what was accepted must still be. Readers get answers:
// what was there must still be, and nothing may come that could not come before. Events and stored records go both ways.
import { closedEnums } from "./closed-enums.js";

/**
 * @typedef {"request" | "answer" | "both"} Direction
 * @typedef {{ before: object, after: object, direction: Direction, seen?: Set<string> }} Comparison
 */

/** The breaks between two schemas, each one line that begins with its place. */
export function schemaBreaks(place, before, after, comparison) {
  const seen = comparison.seen ?? new Set();
  const pair = `${before?.$ref} ${after?.$ref} ${comparison.direction}`;
  // A record that holds itself is compared once; what is reached again under the same names is the same.
  if (before?.$ref !== undefined && seen.has(pair)) return [];
  if (before?.$ref !== undefined) seen.add(pair);
  const [was, is] = [opened(before, comparison.before), opened(after, comparison.after)];
  const inner = { ...comparison, seen };
  const [wasOptions, isOptions] = [optionsOf(was), optionsOf(is)];
  if (wasOptions.length === 1 && isOptions.length === 1) return plainBreaks(place, wasOptions[0], isOptions[0], inner);
  return optionBreaks(place, wasOptions, isOptions, inner);
}

function opened(schema, root) {
  let found = schema ?? {};
  while (found.$ref !== undefined) found = at(root, found.$ref);
  return found;
}

function at(root, reference) {
  const steps = reference.replace(/^#\//, "").split("/");
  return steps.reduce((value, step) => value?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], root) ?? {};
}

function optionsOf(schema) {
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options;
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema];
}

function optionBreaks(place, wasOptions, isOptions, inner) {
  const fits = (one, others, swapped) =>
    others.some((other) => {
      const [was, is] = swapped ? [other, one] : [one, other];
      return schemaBreaks(place, was, is, { ...inner, seen: new Set(inner.seen) }).length === 0;
    });
  const lines = [];
  if (inner.direction !== "answer" && wasOptions.some((was) => !fits(was, isOptions, false))) {
    lines.push(`${place}: a form that was accepted is accepted no more`);
  }
  if (inner.direction !== "request" && isOptions.some((is) => !fits(is, wasOptions, true))) {
    lines.push(`${place}: a form may come that could not come before`);
  }
  return lines;
}

function plainBreaks(place, was, is, inner) {
  const typed = typeBreaks(place, was, is, inner);
  if (typed.length > 0) return typed;
  return [
    ...enumBreaks(place, was, is, inner),
    ...boundBreaks(place, was, is, inner),
    ...memberBreaks(place, was, is, inner),
    ...(was.items === undefined ? [] : schemaBreaks(`${place}[]`, was.items, is.items ?? {}, inner)),
    ...valueBreaks(place, was, is, inner),
  ];
}

function typeBreaks(place, was, is, { direction }) {
  if (was.type === is.type) return [];
  // Whatever it was, anything is accepted now; or anything could come, and now less does.
  if (is.type === undefined && direction === "request" && is.const === undefined && is.enum === undefined) return [];
  if (was.type === undefined && direction === "answer") return [];
  if (was.type === "number" && is.type === "integer" && direction === "answer") return [];
  if (was.type === "integer" && is.type === "number" && direction === "request") return [];
  return [`${place}: the type changed from ${was.type ?? "anything"} to ${is.type ?? "anything"}`];
}

function enumBreaks(place, was, is, { direction }) {
  const [before, after] = [valuesOf(was), valuesOf(is)];
  if (before === undefined && after === undefined) return [];
  if (before === undefined)
    return direction === "answer" ? [] : [`${place}: only some values are accepted now: ${after}`];
  if (after === undefined) return direction === "request" ? [] : [`${place}: any value may come now`];
  const gone = before.filter((value) => !after.includes(value));
  const added = after.filter((value) => !before.includes(value));
  const name = place.replaceAll("[]", "").split(".").at(-1) ?? "";
  const isClosed = closedEnums.includes(name) && direction !== "request";
  return [
    ...gone.map((value) => `${place}: the value ${JSON.stringify(value)} is gone`),
    ...(isClosed ? added.map((value) => `${place}: ${JSON.stringify(value)} was added to a closed enum`) : []),
  ];
}

function valuesOf({ enum: values, const: only }) {
  return values ?? (only === undefined ? undefined : [only]);
}

/** The lower the tighter, and the other way round; absent is no bound. */
const upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const lower = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];

function boundBreaks(place, was, is, { direction }) {
  if (direction === "answer") return [];
  const tighter = [
    ...upper.filter((name) => (is[name] ?? Number.POSITIVE_INFINITY) < (was[name] ?? Number.POSITIVE_INFINITY)),
    ...lower.filter((name) => (is[name] ?? Number.NEGATIVE_INFINITY) > (was[name] ?? Number.NEGATIVE_INFINITY)),
  ];
  const pattern = is.pattern !== undefined && is.pattern !== was.pattern ? ["pattern"] : [];
  return [...tighter, ...pattern].map(
    (name) => `${place}: ${name} was tightened from ${was[name] ?? "nothing"} to ${is[name]}`,
  );
}

function memberBreaks(place, was, is, inner) {
  if (was.type !== "object" && was.properties === undefined) return [];
  const [before, after] = [was.properties ?? {}, is.properties ?? {}];
  const required = (schema, name) => schema.required?.includes(name) === true;
  const readers = inner.direction !== "request";
  const writers = inner.direction !== "answer";
  const at = (name) => (place === "" ? name : `${place}.${name}`);
  const known = Object.keys(before).flatMap((name) => {
    if (after[name] === undefined) return isOpenMap(is) && !readers ? [] : [`${at(name)}: the field is gone`];
    const lines = schemaBreaks(at(name), before[name], after[name], inner);
    if (readers && required(was, name) && !required(is, name)) lines.push(`${at(name)}: the field may be missing now`);
    if (writers && !required(was, name) && required(is, name)) lines.push(`${at(name)}: the field is required now`);
    return lines;
  });
  const added = Object.keys(after).filter((name) => before[name] === undefined);
  const demanded = writers ? added.filter((name) => required(is, name)) : [];
  return [...known, ...demanded.map((name) => `${at(name)}: a required field was added`)];
}

function isOpenMap({ additionalProperties }) {
  return additionalProperties !== false && additionalProperties !== undefined;
}

function valueBreaks(place, was, is, inner) {
  const [before, after] = [was.additionalProperties, is.additionalProperties];
  if (typeof before !== "object" || typeof after !== "object") {
    const closed = after === false && before !== false && inner.direction !== "answer";
    return closed ? [`${place}: members that are not named are refused now`] : [];
  }
  return schemaBreaks(`${place}.*`, before, after, inner);
}

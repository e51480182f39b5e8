// One request of an operation: right, or wrong in one of many ways.
import { operations } from "../../contracts/src/authority.ts";
import { mapTexts, marked } from "../../contracts/src/text/typed.ts";
import type { FuzzedOperation, Parameter } from "./documents.ts";
import { type Making, pick, type Random, validValue, wrongValue } from "./values.ts";

export interface FuzzedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** What was done to it; undefined for a right one. */
  readonly wrong: string | undefined;
  /** A wrong one that must not be answered as if it were right. */
  readonly mustFail: boolean;
}

export function rightRequest(operation: FuzzedOperation, making: Making): FuzzedRequest {
  const { random } = making;
  const params = valuesFor(operation.parameters, making);
  const isExample = operation.body !== undefined && random() < 0.3;
  const body =
    operation.body === undefined ? undefined : isExample ? operation.bodyExample : validValue(operation.body, making);
  return {
    method: operation.method,
    url: addressOf(operation, params),
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(random() < 0.05 ? { "if-none-match": "*" } : {}),
      ...headersFor(operation.parameters, making),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    wrong: undefined,
    mustFail: false,
  };
}

type Values = Map<string, string>;

function valuesFor(parameters: readonly Parameter[], making: Making): Values {
  const chosen = parameters.filter(
    ({ in: place, required }) => place !== "header" && (required === true || making.random() < 0.5),
  );
  return new Map(chosen.map((one) => [one.name, textOf(one, making)]));
}

function headersFor(parameters: readonly Parameter[], making: Making): Record<string, string> {
  const chosen = parameters.filter(
    ({ in: place, required }) => place === "header" && (required === true || making.random() < 0.3),
  );
  return Object.fromEntries(chosen.map((one) => [one.name.toLowerCase(), encodeURIComponent(textOf(one, making))]));
}

function textOf({ schema, name, example }: Parameter, making: Making): string {
  if (example !== undefined && making.random() < 0.4) return String(example);
  return String(validValue(schema, making, name));
}

function addressOf({ baseUrl, path, parameters }: FuzzedOperation, values: Values, more = ""): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => encodeURIComponent(values.get(name) ?? "x"));
  const query = new URLSearchParams();
  for (const { in: place, name } of parameters) {
    const value = place === "query" ? values.get(name) : undefined;
    if (value !== undefined) query.set(name, value);
  }
  const text = [query.toString(), more].filter((part) => part !== "").join("&");
  return `${baseUrl}${filled}${text === "" ? "" : `?${text}`}`;
}

type Spoil = (
  operation: FuzzedOperation,
  right: FuzzedRequest,
  making: Making,
) => Partial<FuzzedRequest> & { readonly wrong: string };

const spoils: readonly Spoil[] = [
  (_operation, right) => ({
    wrong: "an unknown parameter",
    url: `${right.url}${right.url.includes("?") ? "&" : "?"}no_such=1`,
    mustFail: false,
  }),
  (operation, _right, making) => ({
    wrong: "a wrong value in the address",
    url: addressOf(operation, new Map(operation.parameters.map(({ name }) => [name, oddText(making.random)]))),
  }),
  (operation) => ({
    wrong: "a path that is nowhere",
    url: `${operation.baseUrl}${operation.path.replaceAll(/\{\w+\}/g, "%00")}/x`,
  }),
  (operation, right, { random }) => ({
    wrong: "another method",
    method: pick(random, ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]),
    body: undefined,
    url: right.url,
    headers: {},
    mustFail: false,
    ...(operation.isStream ? { method: "PUT" } : {}),
  }),
  (_operation, right) => ({
    wrong: "another type of body",
    headers: { ...right.headers, "content-type": "text/plain" },
    mustFail: right.body !== undefined,
    ...(right.body === undefined ? {} : {}),
  }),
  (_operation, right) => ({
    wrong: "a body that breaks off",
    body: right.body === undefined ? undefined : `${right.body.slice(0, -1)}`,
    mustFail: right.body !== undefined,
  }),
  (_operation, right) => ({
    wrong: "a name twice",
    body: right.body === undefined ? undefined : right.body.replace(/^\{/, '{"reason":"a","reason":"b",'),
    mustFail: right.body !== undefined && right.body !== "{}",
  }),
];

function oddText(random: Random): string {
  return pick(random, [
    "",
    " ",
    "-1",
    "1e9",
    "0x10",
    "\u0000",
    "../..",
    "a b",
    "☃",
    "x".repeat(3_000),
    "%",
    "null",
    "[]",
    "9".repeat(30),
  ]);
}

export function wrongRequest(operation: FuzzedOperation, making: Making): FuzzedRequest {
  const right = rightRequest(operation, making);
  if (operation.body !== undefined && making.random() < 0.6) return withWrongBody(operation, right, making);
  return { ...right, ...pick(making.random, spoils)(operation, right, making) };
}

function withWrongBody(operation: FuzzedOperation, right: FuzzedRequest, making: Making): FuzzedRequest {
  const { random } = making;
  const spoiled = spoiledBody(JSON.parse(right.body ?? "{}") as Record<string, unknown>, random);
  const body = JSON.stringify(spoiled);
  const read: unknown = JSON.parse(body);
  // What tightens takes a text that cannot be seen, with marks in its place.
  const isMarked = tightens(operation) && operation.acceptsBody(mapTexts(read, marked));
  return { ...right, body, wrong: "a wrong body", mustFail: !operation.acceptsBody(read) && !isMarked };
}

function tightens({ name }: FuzzedOperation): boolean {
  const id = name.slice(name.indexOf(" ") + 1);
  const all: Readonly<Record<string, object>> = operations;
  return "tightens" in (all[`${id.slice(0, 1).toUpperCase()}${id.slice(1)}`] ?? {});
}

function spoiledBody(body: Record<string, unknown>, random: Random): unknown {
  const names = Object.keys(body);
  const way = Math.floor(random() * 5);
  if (way === 0) return wrongValue(random);
  if (way === 1) return { ...body, no_such_field: 1 };
  const name = names.length === 0 ? undefined : pick(random, names);
  if (name === undefined) return { no_such_field: wrongValue(random) };
  if (way === 2) {
    const { [name]: _gone, ...rest } = body;
    return rest;
  }
  return { ...body, [name]: wrongValue(random) };
}

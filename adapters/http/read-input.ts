// What a request brought, as its route's schemas make it. It is strict: without a schema for the query there must be none, and
// without one for the body there must be none, because a field that is silently ignored is a wish that its sender believes granted.
import type { FastifyRequest } from "fastify";
import type { Schema } from "../../contracts/src/schema.ts";
import type { HttpRequest, Route } from "../../ports/http.ts";
import { type FieldError, fieldErrors, unknownFields } from "./field-errors.ts";

export type Input = Pick<HttpRequest, "params" | "query" | "body">;

type ReadInput =
  | { readonly ok: true; readonly input: Input }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

export function readInput(
  route: Pick<Route, "params" | "query" | "body">,
  request: Pick<FastifyRequest, "params" | "query" | "body">,
): ReadInput {
  const params = read("path", route.params, request.params);
  const query = route.query === undefined ? readEmpty(request.query) : read("query", route.query, request.query);
  // A route without a schema for its body has refused one long before this.
  const body = read("body", route.body, request.body);
  const errors = [params, query, body].flatMap((part) => part.errors);
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, input: { params: params.value, query: query.value, body: body.value } };
}

interface Part {
  readonly value?: unknown;
  readonly errors: readonly FieldError[];
}

function read(place: string, schema: Schema | undefined, value: unknown): Part {
  if (schema === undefined) return { errors: [] };
  const result = schema.safeParse(value);
  return result.success
    ? { value: result.data, errors: [] }
    : { errors: fieldErrors(place, result.error.issues, value) };
}

function readEmpty(query: unknown): Part {
  const names = typeof query === "object" && query !== null ? Object.keys(query) : [];
  return { errors: unknownFields("query", names) };
}

/** Whether a request announces a body, by its headers alone. */
export function hasBody(headers: FastifyRequest["headers"]): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && Number(length) !== 0);
}

/** What is said of a body in a form that is not decoded here; undefined for one that is sent as it is. */
export function encodingRefusal({ "content-encoding": named }: FastifyRequest["headers"]): string | undefined {
  const coding = named?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return undefined;
  return "The body must be sent as it is: no Content-Encoding is decoded here.";
}

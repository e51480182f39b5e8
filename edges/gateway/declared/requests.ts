// What a declared message is in an HTTP request: the schemas of path, query and body, and the message that they make. Fields that the path does not
// name are the query of GET and DELETE, and the body of POST and PUT. A field that is not known is refused: a misspelt limit must not be dropped.
import { z } from "zod";
import type { DeclaredRoute, FieldShape } from "../../../contracts/src/declared.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import type { HttpRequest, Route } from "../../../ports/http.ts";
import { shapeOf } from "./answers.ts";
import { askedSchema, jsonSchema } from "./field-schema.ts";

type Place = "params" | "query" | "body";

export function requestSchemas(route: DeclaredRoute): Pick<Route, Place> {
  const fields = askedFields(route.request);
  const inPath = namesIn(route.path);
  const params = fields.filter((field) => inPath.has(nameOf(field)));
  const rest = fields.filter((field) => !inPath.has(nameOf(field)));
  const atLeastOne = shapeOf(route.request).atLeastOneOf ?? [];
  const isBody = route.method === "POST" || route.method === "PUT";
  return {
    ...(params.length === 0 ? {} : { params: objectOf(params, askedSchema, []) }),
    ...(isBody || rest.length > 0
      ? { [isBody ? "body" : "query"]: objectOf(rest, isBody ? bodySchema : askedText, atLeastOne) }
      : {}),
  };
}

function askedFields(message: string): readonly FieldShape[] {
  return shapeOf(message).fields.filter(({ hidden, answerOnly }) => !hidden && !answerOnly);
}

const nameOf = ({ name, httpName }: FieldShape): string => httpName ?? name;

function namesIn(path: string): ReadonlySet<string> {
  return new Set([...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name));
}

function objectOf(
  fields: readonly FieldShape[],
  schemaOf: (field: FieldShape) => z.ZodType,
  atLeastOne: readonly string[],
): z.ZodType {
  const members = fields.map((field) => [nameOf(field), askedMember(field, schemaOf(field))] as const);
  const object = z.strictObject(Object.fromEntries(members));
  if (atLeastOne.length === 0) return object;
  const message = `expected at least one of ${atLeastOne.join(" and ")}`;
  return object.refine((body) => atLeastOne.some((name) => body[name] !== undefined), { message });
}

function askedMember(field: FieldShape, schema: z.ZodType): z.ZodType {
  const { description, example, required } = field;
  const words = {
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
  const member = required ? schema : schema.optional();
  return Object.keys(words).length === 0 ? member : member.meta(words);
}

const askedText = (field: FieldShape): z.ZodType => declaredText(field, askedSchema(field));

/** Whether a person may write it anew, or why it is taken as it is. */
function declaredText(field: FieldShape, schema: z.ZodType): z.ZodType {
  if (field.typed) return typed(schema);
  return field.asItIs === undefined ? schema : asItIs(schema.meta({}), field.asItIs);
}

function bodySchema(field: FieldShape): z.ZodType {
  const one =
    field.message === undefined
      ? declaredText(field, jsonSchema(field))
      : objectOf(askedFields(field.message), bodySchema, []);
  if (!field.list) return one;
  const list = z.array(one);
  return field.maxCount === undefined ? list : list.max(field.maxCount);
}

type Members = Readonly<Record<string, unknown>>;

/** The message of a request that passed those schemas. */
export function messageOf<Message extends object>(route: DeclaredRoute, request: HttpRequest): Message {
  const asked = { ...(request.body as Members), ...(request.query as Members), ...(request.params as Members) };
  // The fields are those of the message, each of its type, because the schemas are made from the same declaration.
  return wireMessage(route.request, asked) as Message;
}

function wireMessage(message: string, asked: Members): Members {
  const members = shapeOf(message).fields.map((field) => [field.name, wireValue(field, asked[nameOf(field)])] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function wireValue(field: FieldShape, asked: unknown): unknown {
  if (asked === undefined) return field.optional ? undefined : (field.whenAbsent ?? absent(field));
  const { message, list } = field;
  if (message === undefined) return asked;
  return list
    ? (asked as readonly Members[]).map((one) => wireMessage(message, one))
    : wireMessage(message, asked as Members);
}

/** What protobuf has for a field that is not there. */
function absent({ type, list }: FieldShape): unknown {
  if (list) return [];
  if (type === "map") return {};
  if (type === "text") return "";
  if (type === "boolean") return false;
  return type === "whole" || type === "number" ? 0 : undefined;
}

// The OpenAPI 3.1 document of one listener, made from its routes and the table of authority. It is committed and compared, so it is
// the same, byte for byte, whenever the routes are: paths and components are sorted, and nothing in it depends on a running server.
import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import { z } from "zod";
import { intakeTypes } from "../../adapters/http/body/intake.ts";
import { isForAnyone } from "../../adapters/http/identity-guard.ts";
import { type Allowed, operations } from "../../contracts/src/authority.ts";
import { Defect } from "../../contracts/src/fault.ts";
import { version } from "../../contracts/src/generated/version.ts";
import { takesIdempotencyKey } from "../../contracts/src/idempotency.ts";
import type { Listener, Route } from "../../ports/http.ts";
import type { JsonSchema, Schemas } from "../../testkit/json-schema/json-schema.ts";
import { namedOnce, openToAdditions } from "./describe/components.ts";
import { answerHeaders, answersUnchanged, askedHeaders, headersOf, referencesTo } from "./describe/headers.ts";
import { type DescribedOperation, withExamples } from "./describe/operation-examples.ts";
import { tagOf } from "./describe/tags.ts";

type Document = NonNullable<FastifyDynamicSwaggerOptions["openapi"]>;
const titles: Readonly<Record<Listener, string>> = {
  operator: "Portcullis operator API",
  public: "Portcullis public API",
};

/** What every failing answer is (RFC 9457); kept by hand, because the library would emit it twice. */
const problemSchema: NonNullable<NonNullable<Document["components"]>["schemas"]>[string] = {
  type: "object",
  description: "What went wrong (RFC 9457). `code` is stable; the registry of codes lists them all.",
  required: ["type", "title", "status", "instance", "code", "request_id"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string" },
    code: { type: "string" },
    request_id: { type: "string" },
    errors: {
      type: "array",
      description: "What is wrong with which field of the request.",
      items: {
        type: "object",
        required: ["field", "expected"],
        properties: { field: { type: "string" }, expected: { type: "string" } },
      },
    },
    id: { type: "string", description: "Of IDEMPOTENT_ANSWER_NOT_KEPT: what the first request made." },
  },
};

const problemExample = {
  type: "urn:portcullis:problem:NOT_FOUND",
  title: "Not Found",
  status: 404,
  detail: "There is no such order.",
  instance: "/v1/oms/orders/o-1",
  code: "NOT_FOUND",
  request_id: "0197f2a0c4d87e6e9f31a5b2c8d4e6f0",
};

const skeleton = (listener: Listener): Document => ({
  openapi: "3.1.0",
  info: {
    title: titles[listener],
    version,
    description:
      "Errors are RFC 9457 problem documents with a stable `code`. Answers may get more members within v1: ignore those that you do not know.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "An access token of a login, or a service token." },
    },
    responses: {
      Problem: {
        description: "What went wrong.",
        headers: referencesTo(["X-Request-Id", "Retry-After"]),
        content: {
          "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" }, example: problemExample },
        },
      },
    },
    headers: { ...answerHeaders },
    schemas: { Problem: problemSchema },
  },
});

export async function openApiOf(routes: readonly Route[], listener: Listener): Promise<object> {
  const mine = routes.filter((route) => route.listeners.includes(listener));
  const ids = new Set(mine.map((route) => route.id));
  if (ids.size !== mine.length) throw new Defect(`Two routes of the ${listener} listener share an id.`);
  // Loaded here and not at the top: nothing but the document needs them.
  const [{ fastify }, { default: swagger }, zodProvider] = await Promise.all([
    import("fastify"),
    import("@fastify/swagger"),
    import("fastify-type-provider-zod"),
  ]);
  const app = fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(zodProvider.validatorCompiler).setSerializerCompiler(zodProvider.serializerCompiler);
  await app.register(swagger, {
    openapi: skeleton(listener),
    transform: zodProvider.jsonSchemaTransform,
    transformObject: zodProvider.jsonSchemaTransformObject,
  });
  for (const route of mine) {
    // OpenAPI has no word for a parameter with slashes in it; who writes them as %2F is understood as well.
    const url = route.path.replace(/\*$/, "");
    app.route({ method: route.method, url, schema: described(route), handler: async () => undefined });
  }
  try {
    await app.ready();
    return tidied(app.swagger() as Document, mine, listener);
  } finally {
    await app.close();
  }
}

/** The library knows these; its plug-in adds the words of OpenAPI to them. */
interface Described extends FastifySchema {
  readonly [extension: `x-${string}`]: unknown;
}

function described(route: Route): Described {
  const { allowed, sentence }: { readonly allowed: Allowed; readonly sentence: string } = operations[route.operation];
  const instead = route.deprecated === undefined ? "" : ` Deprecated: use ${route.deprecated.instead}.`;
  const words = {
    operationId: route.id,
    summary: route.sentence,
    description: `${route.operation}: ${sentence} ${whoMay(allowed)}${instead}`,
    security: isForAnyone(route.operation) ? [] : [{ bearer: [] }],
    "x-operation": route.operation,
    "x-allowed": allowed,
  };
  return {
    ...words,
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.body === undefined ? {} : { body: route.body }),
    ...(route.intake === undefined ? {} : { consumes: intakeTypes }),
    response: Object.fromEntries(
      Object.entries(route.answers).map(([status, answer]) => [status, answered(answer, route)]),
    ),
  };
}

function whoMay(allowed: Allowed): string {
  if (allowed === "anyone") return "Anyone may.";
  if (allowed === "authenticated") return "Whoever holds a good token may.";
  return `Roles that may: ${allowed.join(", ")}.`;
}

function answered(answer: Route["answers"][number], { follows }: Route): object {
  const lines = follows === true ? { "application/x-ndjson": { schema: z.string() } } : {};
  return { description: "All is well.", content: { ...contentOf(answer), ...lines } };
}

function contentOf(answer: Route["answers"][number]): object {
  if (answer === "events") return { "text/event-stream": { schema: z.string() } };
  if (answer === "html" || answer === "css") return { [`text/${answer}`]: { schema: z.string() } };
  if (answer === "text") return { "text/plain": { schema: z.string() } };
  if (answer === "bytes") return { "application/octet-stream": { schema: z.string().meta({ format: "binary" }) } };
  return { "application/json": { schema: answer } };
}

/** The failing answers of every operation, its headers and examples, and everything in a fixed order. */
function tidied(document: Document, routes: readonly Route[], listener: Listener): object {
  const byId = new Map(routes.map((route) => [route.id, route]));
  const methods = ["get", "post", "put", "delete"] as const;
  const schemas = { ...(document.components?.schemas as Schemas), Problem: problemSchema as JsonSchema };
  const paths = sorted(document.paths ?? {}, (item) => {
    const entries = methods.flatMap((method) => {
      const operation = item?.[method] as DescribedOperation | undefined;
      const route = byId.get(operation?.operationId ?? "");
      return operation === undefined || route === undefined
        ? []
        : [[method, completed(operation, route, listener, schemas)] as const];
    });
    return Object.fromEntries(entries);
  });
  const { openapi, info, components } = document;
  const named = namedOnce({ paths, schemas });
  const tags = new Map(routes.map((route) => tagOf(route.path, listener)).map((tag) => [tag.name, tag]));
  const others = { securitySchemes: components?.securitySchemes, responses: components?.responses };
  return {
    openapi,
    info,
    tags: [...tags.values()].sort((left, right) => (left.name < right.name ? -1 : 1)),
    paths: named.paths,
    components: { ...others, headers: components?.headers, schemas: named.schemas },
  };
}

function completed(operation: DescribedOperation, route: Route, listener: Listener, schemas: Schemas): object {
  const { operationId, summary, description, ...rest } = withExamples(operation, route, schemas);
  const headers = referencesTo(headersOf(route, listener, operation));
  const good = Object.entries(rest.responses ?? {}).map(([status, answer]) => [
    status,
    { ...openToAdditions(answer), headers },
  ]);
  const tags = [tagOf(route.path, listener).name];
  const deprecated = route.deprecated === undefined ? {} : { deprecated: true };
  const responses = { ...Object.fromEntries(good), ...problemsOf(route) };
  const asked = [...(rest.parameters ?? []), ...askedHeaders(route)];
  const parameters = asked.length === 0 ? {} : { parameters: asked };
  const unchanged = answersUnchanged(route, listener)
    ? { 304: { description: "What If-None-Match names is still how things stand.", headers } }
    : {};
  return {
    operationId,
    tags,
    summary,
    description,
    ...deprecated,
    ...rest,
    ...parameters,
    responses: { ...unchanged, ...responses },
  };
}

function problemsOf(route: Route): object {
  const problems: readonly (readonly [string, string])[] = [
    ["400", "The request is not one that this route understands."],
    ...(isForAnyone(route.operation)
      ? []
      : [
          ["401", "The caller did not prove who they are."] as const,
          ["403", "The caller is known and may not do this."] as const,
        ]),
    ...(route.publicCost !== undefined
      ? [["429", "This address has no tokens left; Retry-After says when it has."] as const]
      : []),
    ...(route.attemptsPerMinuteMax === undefined
      ? []
      : [["429", `More than ${route.attemptsPerMinuteMax} attempts in a minute.`] as const]),
    ...(takesIdempotencyKey(route)
      ? [["409", "Refused as things stand, or for its Idempotency-Key; `code` says which."] as const]
      : []),
    ["default", "Anything else that went wrong."],
  ];
  return Object.fromEntries(
    problems.map(([status, description]) => [status, { $ref: "#/components/responses/Problem", description }]),
  );
}

function sorted<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Record<string, Result> {
  const names = Object.keys(record).sort();
  return Object.fromEntries(names.map((name) => [name, change(record[name] as Value)]));
}

// The OpenAPI 3.1 document of one listener, made from its routes and the table of authority. It is committed and compared, so it is
// the same, byte for byte, whenever the routes are: paths and components are sorted, and nothing in it depends on a running server.
import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import { z } from "zod";
import { type Allowed, operations } from "../../contracts/src/authority.ts";
import { Defect } from "../../contracts/src/fault.ts";
import type { Listener, Route } from "../../ports/http.ts";
import { isForAnyone } from "./identity-guard.ts";

type Document = NonNullable<FastifyDynamicSwaggerOptions["openapi"]>;
type Schemas = Readonly<Record<string, object>>;

interface DescribedOperation {
  readonly operationId?: string;
  readonly responses?: object;
}

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
  },
};

const skeleton = (listener: Listener): Document => ({
  openapi: "3.1.0",
  info: {
    title: titles[listener],
    version: "1",
    description: "Errors are RFC 9457 problem documents with a stable `code`.",
  },
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "An access token of a login, or a service token." },
    },
    responses: {
      Problem: {
        description: "What went wrong.",
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
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
    return tidied(app.swagger() as Document, mine);
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
  const words = {
    operationId: route.id,
    summary: route.sentence,
    description: `${route.operation}: ${sentence} ${whoMay(allowed)}`,
    security: isForAnyone(route.operation) ? [] : [{ bearer: [] }],
    "x-operation": route.operation,
    "x-allowed": allowed,
  };
  return {
    ...words,
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.body === undefined ? {} : { body: route.body }),
    response: Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, answered(answer)])),
  };
}

function whoMay(allowed: Allowed): string {
  if (allowed === "anyone") return "Anyone may.";
  if (allowed === "authenticated") return "Whoever holds a good token may.";
  return `Roles that may: ${allowed.join(", ")}.`;
}

function answered(answer: Route["answers"][number]): object {
  return { description: "All is well.", content: contentOf(answer) };
}

function contentOf(answer: Route["answers"][number]): object {
  if (answer === "events") return { "text/event-stream": { schema: z.string() } };
  if (answer === "text") return { "text/plain": { schema: z.string() } };
  if (answer === "bytes") return { "application/octet-stream": { schema: z.string().meta({ format: "binary" }) } };
  return { "application/json": { schema: answer } };
}

/** The failing answers of every operation, and everything in a fixed order. */
function tidied(document: Document, routes: readonly Route[]): object {
  const byId = new Map(routes.map((route) => [route.id, route]));
  const methods = ["get", "post", "put", "delete"] as const;
  const paths = sorted(document.paths ?? {}, (item) => {
    const entries = methods.flatMap((method) => {
      const operation: DescribedOperation | undefined = item?.[method];
      const route = byId.get(operation?.operationId ?? "");
      return operation === undefined || route === undefined ? [] : [[method, withProblems(operation, route)] as const];
    });
    return Object.fromEntries(entries);
  });
  const { openapi, info, components } = document;
  const schemas = reachable(paths, { ...components?.schemas, Problem: problemSchema });
  return { openapi, info, paths, components: { ...skeletonParts(components), schemas } };
}

function skeletonParts(components: Document["components"]): object {
  return { securitySchemes: components?.securitySchemes, responses: components?.responses };
}

function withProblems(operation: DescribedOperation, route: Route): object {
  const problems: readonly (readonly [string, string])[] = [
    ["400", "The request is not one that this route understands."],
    ...(isForAnyone(route.operation)
      ? []
      : [
          ["401", "The caller did not prove who they are."] as const,
          ["403", "The caller is known and may not do this."] as const,
        ]),
    ...(route.attemptsPerMinuteMax === undefined
      ? []
      : [["429", `More than ${route.attemptsPerMinuteMax} attempts in a minute.`] as const]),
    ["default", "Anything else that went wrong."],
  ];
  const failing = problems.map(([status, description]) => [
    status,
    { $ref: "#/components/responses/Problem", description },
  ]);
  return { ...operation, responses: { ...operation.responses, ...Object.fromEntries(failing) } };
}

/** A schema with an id becomes a component, one for what goes in and one for what comes out; only those in use are kept. */
function reachable(paths: object, schemas: Schemas): Schemas {
  const wanted = new Set(["Problem"]);
  const follow = (value: unknown): void => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      follow(schemas[name] ?? {});
    }
  };
  follow(paths);
  return sorted(Object.fromEntries(Object.entries(schemas).filter(([name]) => wanted.has(name))), (schema) => schema);
}

function sorted<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Record<string, Result> {
  const names = Object.keys(record).sort();
  return Object.fromEntries(names.map((name) => [name, change(record[name] as Value)]));
}

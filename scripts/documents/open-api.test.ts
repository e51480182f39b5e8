// The OpenAPI document: true to the routes and the table, the same whenever they are, and good enough for a typed client.
import openapiTypescript, { astToString } from "openapi-typescript";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { joinedOpenApi } from "../../adapters/http/joined-open-api.ts";
import { Defect } from "../../contracts/src/fault.ts";
import type { Route } from "../../ports/http.ts";
import { hello as greeting } from "../../testkit/http/test-client.ts";
import { openApiOf } from "./open-api.ts";

const hello: Route = { ...greeting, path: "/v1/healthz" };
const token = z.object({ id: z.string(), name: z.string().meta({ description: "Its name." }) });
const rotate: Route = {
  id: "rotateToken",
  method: "POST",
  path: "/v1/service-tokens/:token_id/rotate",
  listeners: ["operator"],
  sentence: "Replaces a token.",
  operation: "RotateServiceToken",
  params: z.object({ token_id: z.string().max(64) }),
  query: z.strictObject({ limit: z.coerce.number().int().max(100).optional() }),
  body: z.strictObject({ overlap_s: z.int().min(0).default(0), proof: z.string().optional() }),
  answers: { 201: token },
  attemptsPerMinuteMax: 10,
  handle: async () => ({ status: 201, body: {} }),
};
const list: Route = {
  ...rotate,
  id: "listTokens",
  method: "GET",
  path: "/v1/service-tokens",
  operation: "ListServiceTokens",
};
const lists: Route = withoutInput(list, { 200: z.array(token) });
const remove: Route = withoutInput({ ...list, id: "removeTokens", method: "DELETE" }, { 200: token });
const routes = [rotate, remove, hello, lists];

function withoutInput(route: Route, answers: Route["answers"]): Route {
  const { params: _params, query: _query, body: _body, attemptsPerMinuteMax: _max, ...rest } = route;
  return { ...rest, answers };
}

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

async function documentOf(given: readonly Route[] = routes): Promise<Document> {
  return (await openApiOf(given, "operator")) as Document;
}

describe("the OpenAPI document", () => {
  it("describes an operation with its authority, input, answers and problems", async () => {
    const { openapi, paths } = await documentOf();
    expect(openapi).toBe("3.1.0");
    const problem = (description: string) => ({ $ref: "#/components/responses/Problem", description });
    expect(paths["/v1/service-tokens/{token_id}/rotate"]?.["post"]).toEqual({
      operationId: "rotateToken",
      tags: ["service tokens"],
      summary: "Replaces a token.",
      description: "RotateServiceToken: Replace a machine's token by a new one. Roles that may: admin.",
      security: [{ bearer: [] }],
      "x-operation": "RotateServiceToken",
      "x-allowed": ["admin"],
      parameters: [
        {
          in: "query",
          name: "limit",
          required: false,
          schema: { type: "integer", minimum: -9007199254740991, maximum: 100 },
        },
        {
          in: "path",
          name: "token_id",
          required: true,
          schema: { type: "string", maxLength: 64 },
          example: "1",
        },
        {
          in: "header",
          name: "Idempotency-Key",
          required: false,
          description: expect.stringContaining("24 hours"),
          schema: { type: "string", minLength: 1, maxLength: 255 },
        },
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: {
                overlap_s: { default: 0, type: "integer", minimum: 0, maximum: 9007199254740991 },
                proof: { type: "string" },
              },
              additionalProperties: false,
            },
            example: {},
          },
        },
      },
      responses: {
        201: {
          description: "All is well.",
          headers: {
            "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
            "Idempotent-Replay": { $ref: "#/components/headers/Idempotent-Replay" },
          },
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: { id: { type: "string" }, name: { description: "Its name.", type: "string" } },
                required: ["id", "name"],
              },
              example: { id: "0197f2a0c4d87e6e9f31a5b2c8d4e6f0", name: "AAPL" },
            },
          },
        },
        400: problem("The request is not one that this route understands."),
        401: problem("The caller did not prove who they are."),
        403: problem("The caller is known and may not do this."),
        409: problem("Refused as things stand, or for its Idempotency-Key; `code` says which."),
        429: problem("More than 10 attempts in a minute."),
        default: problem("Anything else that went wrong."),
      },
    });
  });

  it("says that a route with an intake of its own takes its body as text as well", async () => {
    const intake: NonNullable<Route["intake"]> = {
      bodyBytesMax: 10,
      answerMsMax: 1_000,
      admits: () => true,
      refuse: async () => ({ status: 400, body: {} }),
    };
    const contentOf = async (route: Route) => {
      const { paths } = await documentOf([route]);
      const described = paths["/v1/service-tokens/{token_id}/rotate"]?.["post"]?.["requestBody"];
      return (described as { readonly content: Readonly<Record<string, unknown>> }).content;
    };
    const content = await contentOf({ ...rotate, intake });
    expect(Object.keys(content)).toEqual(["application/json", "text/plain"]);
    expect(content["text/plain"]).toEqual(content["application/json"]);
    expect(Object.keys(await contentOf(rotate))).toEqual(["application/json"]);
  });

  it("asks no token where anyone may, and describes text", async () => {
    const { paths } = await documentOf();
    const operation = paths["/v1/healthz"]?.["get"];
    expect(operation).toMatchObject({ security: [], "x-allowed": "anyone" });
    expect(Object.keys(operation?.["responses"] ?? {})).toEqual(["200", "400", "default"]);
    expect(operation?.["responses"]).toMatchObject({
      200: { content: { "text/plain": { schema: { type: "string" } } } },
    });
  });

  it("has one listener's routes, in a fixed order however they came", async () => {
    const shown = JSON.stringify(await documentOf());
    expect(JSON.stringify(await documentOf([...routes].reverse()))).toBe(shown);
    expect(JSON.stringify(await documentOf())).toBe(shown);
    const { paths } = await documentOf();
    expect(Object.keys(paths)).toEqual(["/v1/healthz", "/v1/service-tokens", "/v1/service-tokens/{token_id}/rotate"]);
    expect(Object.keys(paths["/v1/service-tokens"] ?? {})).toEqual(["get", "delete"]);
    const open = (await openApiOf(routes, "public")) as Document;
    expect(Object.keys(open.paths)).toEqual(["/v1/healthz"]);
  });

  it("of both listeners has every route, and says where those of the public one are", async () => {
    const order = z.object({ symbol: z.string() }).meta({ id: "OpenApiTestQuote" });
    const quote: Route = {
      ...lists,
      id: "getQuote",
      path: "/v1/quotes",
      listeners: ["public"],
      answers: { 200: order },
    };
    const both = [...routes, quote];
    const [own, open] = [await openApiOf(both, "operator"), await openApiOf(both, "public")];
    const { paths, components } = joinedOpenApi(own, open, "http://127.0.0.1:8081") as Document;
    expect(Object.keys(paths)).toEqual([
      "/v1/healthz",
      "/v1/quotes",
      "/v1/service-tokens",
      "/v1/service-tokens/{token_id}/rotate",
    ]);
    expect(paths["/v1/quotes"]?.["get"]).toMatchObject({ servers: [{ url: "http://127.0.0.1:8081" }] });
    expect(paths["/v1/healthz"]).toEqual((own as Document).paths["/v1/healthz"]);
    expect(Object.keys(components.schemas)).toEqual(["OpenApiTestQuote", "Problem"]);
  });

  it("has no component that nobody refers to, and each that somebody does", async () => {
    const order = z.object({ symbol: z.string() }).meta({ id: "OpenApiTestOrder" });
    z.object({ unused: z.string() }).meta({ id: "OpenApiTestUnused" });
    expect(Object.keys((await documentOf()).components.schemas)).toEqual(["Problem"]);
    const named = { ...rotate, body: order, answers: { 201: z.object({ orders: z.array(order) }) } };
    const { components } = await documentOf([named]);
    expect(Object.keys(components.schemas)).toEqual(["OpenApiTestOrder", "Problem"]);
  });

  it("names what goes in apart from what comes out only where the two differ, and alone by its plain name", async () => {
    const strict = z.strictObject({ symbol: z.string() }).meta({ id: "OpenApiTestStrict" });
    const both = await documentOf([{ ...rotate, body: strict, answers: { 201: strict } }]);
    expect(Object.keys(both.components.schemas)).toEqual(["OpenApiTestStrict", "OpenApiTestStrictInput", "Problem"]);
    expect(both.components.schemas["OpenApiTestStrict"]).not.toHaveProperty("additionalProperties");
    expect(both.components.schemas["OpenApiTestStrictInput"]).toHaveProperty("additionalProperties", false);
    const one = await documentOf([{ ...rotate, body: strict }]);
    expect(Object.keys(one.components.schemas)).toEqual(["OpenApiTestStrict", "Problem"]);
    expect(one.components.schemas["OpenApiTestStrict"]).toHaveProperty("additionalProperties", false);
  });

  it("takes a route's own example, and refuses one that the route would refuse", async () => {
    const given = { ...rotate, example: { params: { token_id: "t-7" }, body: { overlap_s: 5 } } };
    const { paths } = await documentOf([given]);
    const operation = paths["/v1/service-tokens/{token_id}/rotate"]?.["post"];
    expect(operation).toMatchObject({
      parameters: [{ name: "limit" }, { name: "token_id", example: "t-7" }, { name: "Idempotency-Key" }],
      requestBody: { content: { "application/json": { example: { overlap_s: 5 } } } },
    });
    const wrong = { ...rotate, example: { body: { overlap: 5 } } };
    await expect(documentOf([wrong])).rejects.toThrow(/The example of rotateToken .*overlap/);
  });

  it("has every route in a chapter, and says which are left behind", async () => {
    const nowhere = { ...rotate, path: "/v1/elsewhere/:token_id" };
    await expect(documentOf([nowhere])).rejects.toThrow(/no place in the reference/);
    const deprecated = { since: "2026-11-15", sunset: "2027-06-01", instead: "issueServiceToken" };
    const { paths } = await documentOf([{ ...rotate, deprecated }]);
    const operation = paths["/v1/service-tokens/{token_id}/rotate"]?.["post"];
    expect(operation).toMatchObject({
      deprecated: true,
      description: expect.stringContaining("use issueServiceToken"),
    });
    expect(Object.keys(operation?.["responses"] as object)).toContain("201");
    expect(operation).toHaveProperty("responses.201.headers.Sunset");
  });

  it("two routes of one name are a mistake of ours", async () => {
    await expect(openApiOf([hello, { ...rotate, id: hello.id }], "operator")).rejects.toThrow(Defect);
  });

  it("gives a client its types", async () => {
    const document = await openApiOf(routes, "operator");
    // The generator changes what it is given.
    const types = astToString(await openapiTypescript(structuredClone(document) as never));
    for (const words of ["rotateToken: {", "token_id: string;", "overlap_s?: number;", '"application/problem+json"']) {
      expect(types).toContain(words);
    }
  });
});

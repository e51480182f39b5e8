// The OpenAPI documents of both listeners.
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { publicCost } from "../public-data.ts";
import { openApiAnswer } from "../schemas/platform.ts";

/** This API as a document that programs read; clients are generated from it. */
export function openApi(parts: Pick<GatewayParts, "openApi">): Route {
  return defineRoute({
    id: "getOpenApi",
    method: "GET",
    path: "/v1/openapi.json",
    listeners: ["operator"],
    sentence: "Every route of both listeners as an OpenAPI document.",
    operation: "ReadSchema",
    answers: { 200: openApiAnswer },
    handle: async () => ({ status: 200, body: await parts.openApi() }),
  });
}

/** The public API as a document that programs read. */
export function publicOpenApi(parts: Pick<GatewayParts, "publicOpenApi">): Route {
  return defineRoute({
    id: "getPublicOpenApi",
    method: "GET",
    path: "/v1/openapi.json",
    listeners: ["public"],
    sentence: "The public API as an OpenAPI document.",
    operation: "ReadSchema",
    publicCost,
    answers: { 200: openApiAnswer },
    handle: async () => ({ status: 200, body: await parts.publicOpenApi() }),
  });
}

// The OpenAPI documents of both listeners.
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import { keptDocument } from "../kept-document.ts";
import type { GatewayParts } from "../parts.ts";
import { publicCost } from "../public-data.ts";
import { openApiAnswer } from "../schemas/platform.ts";

const json = "application/json; charset=utf-8";

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
    document: true,
    handle: keptDocument({ contentType: json, make: async () => JSON.stringify(await parts.openApi()) }),
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
    document: true,
    handle: keptDocument({ contentType: json, make: async () => JSON.stringify(await parts.publicOpenApi()) }),
  });
}

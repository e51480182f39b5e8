// This API as a document that programs read; clients are generated from it.
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { openApiAnswer } from "../schemas/platform.ts";

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

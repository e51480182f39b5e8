// The public API as a document that programs read.
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { publicRequestsPerMinuteMax } from "../public-data.ts";
import { openApiAnswer } from "../schemas/platform.ts";

export function publicOpenApi(parts: Pick<GatewayParts, "publicOpenApi">): Route {
  return defineRoute({
    id: "getPublicOpenApi",
    method: "GET",
    path: "/v1/openapi.json",
    listeners: ["public"],
    sentence: "The public API as an OpenAPI document.",
    operation: "ReadSchema",
    attemptsPerMinuteMax: publicRequestsPerMinuteMax,
    answers: { 200: openApiAnswer },
    handle: async () => ({ status: 200, body: await parts.publicOpenApi() }),
  });
}

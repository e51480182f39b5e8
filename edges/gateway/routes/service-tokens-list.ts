// Every machine's token by name, never by value.
import { z } from "zod";
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { serviceTokenAnswer, serviceTokenJson } from "../schemas/service-token.ts";

export function serviceTokensList(parts: Pick<GatewayParts, "serviceTokens">): Route {
  return defineRoute({
    id: "listServiceTokens",
    method: "GET",
    path: "/v1/service-tokens",
    listeners: ["operator"],
    sentence: "Every machine's token, newest first; never its value.",
    operation: "ListServiceTokens",
    answers: { 200: z.array(serviceTokenAnswer) },
    handle: async () => ({ status: 200, body: (await parts.serviceTokens.list()).map(serviceTokenJson) }),
  });
}

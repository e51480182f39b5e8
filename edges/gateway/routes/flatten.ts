// GET /v1/flatten: how far a flatten has come.
import type { Flatten, GetFlattenRequest } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { flattenAnswer, flattenQuery } from "../schemas/halts.ts";

export function flatten(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getFlatten",
    method: "GET",
    path: "/v1/flatten",
    listeners: ["operator"],
    sentence: "See how far a flatten has come.",
    operation: "GetFlatten",
    query: flattenQuery,
    answers: { 200: flattenAnswer },
    handle: async (request) => {
      const outcome = await askService<GetFlattenRequest, Flatten>(parts, request, {
        service: "HaltDesk",
        method: "GetFlatten",
        message: { flatten_id: request.query.flatten_id },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

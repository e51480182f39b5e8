// GET /v1/drills: what drills measured.
import type { Drills, ListDrillsRequest } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { drillsAnswer, drillsQuery, toldDrill } from "../schemas/halts.ts";

export function drillsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listDrills",
    method: "GET",
    path: "/v1/drills",
    listeners: ["operator"],
    sentence: "See what drills measured.",
    operation: "ListDrills",
    query: drillsQuery,
    answers: { 200: drillsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListDrillsRequest, Drills>(parts, request, {
        service: "HaltDesk",
        method: "ListDrills",
        message: { count_max: request.query.count_max ?? 0 },
      });
      return answerTo(outcome, 200, ({ drills }) => plain(drills.map(toldDrill)));
    },
  });
}

// GET /v1/riskengine/stops: the synthetic stops: those that rest, and those that fired and wait for their exit.
import type { ListStopsRequest, Stops } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { stopsAnswer, stopsQuery, toldStop } from "../schemas/risk-workers.ts";

export function stopsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listStops",
    method: "GET",
    path: "/v1/riskengine/stops",
    listeners: ["operator"],
    sentence: "List the synthetic stops.",
    operation: "ListStops",
    query: stopsQuery,
    answers: { 200: stopsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListStopsRequest, Stops>(parts, request, {
        service: "RiskWorkers",
        method: "ListStops",
        message: {
          fund_id: request.query.fund_id,
          owed_only: request.query.owed ?? false,
          ended_hours: request.query.ended_hours,
        },
      });
      const answer = answerTo(outcome, 200, ({ stops }) => plain(stops.map(toldStop)));
      const headers = { "portcullis-stops-enabled": String(outcome.ok && outcome.value.enabled) };
      return answer.status < 400 ? { ...answer, headers } : answer;
    },
  });
}

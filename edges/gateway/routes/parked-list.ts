// GET /v1/operations/parked: events that a subscription could not handle and put aside.
import type { ListParkedRequest, ParkedEvents } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { parkedEventsAnswer, parkedQuery, toldParked } from "../schemas/parked.ts";

export function parkedList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listParked",
    method: "GET",
    path: "/v1/operations/parked",
    listeners: ["operator"],
    sentence: "List the events that a subscription put aside, oldest first.",
    operation: "ListParked",
    query: parkedQuery,
    answers: { 200: parkedEventsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListParkedRequest, ParkedEvents>(parts, request, {
        service: "RiskWorkers",
        method: "ListParked",
        message: { count_max: request.query.count_max ?? 0 },
      });
      return answerTo(outcome, 200, ({ total, events }) => plain({ total, events: events.map(toldParked) }));
    },
  });
}

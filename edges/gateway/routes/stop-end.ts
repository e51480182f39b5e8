// POST /v1/riskengine/stops/:stop_id/end: ends a stop that fired, without its exit.
import type { EndStopRequest, Stop } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { endStopBody, stopAnswer, stopParams, toldStop } from "../schemas/risk-workers.ts";

export function stopEnd(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "endStop",
    method: "POST",
    path: "/v1/riskengine/stops/:stop_id/end",
    listeners: ["operator"],
    sentence: "End a stop that fired, without its exit.",
    operation: "EndStop",
    params: stopParams,
    body: endStopBody,
    answers: { 200: stopAnswer },
    handle: async (request) => {
      const outcome = await askService<EndStopRequest, Stop>(parts, request, {
        service: "RiskWorkers",
        method: "EndStop",
        message: { stop_id: request.params.stop_id, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, (stop) => plain(toldStop(stop)));
    },
  });
}

// POST /v1/drills: trips a halt of the drill scope and measures what follows.
import type { Drill, RunDrillRequest } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { drillAnswer, drillBody, toldDrill } from "../schemas/halts.ts";

/** A drill waits for orders to be cancelled and for people to be told. */
const timeoutMs = 25_000;

export function drillRun(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "runDrill",
    method: "POST",
    path: "/v1/drills",
    listeners: ["operator"],
    sentence: "Trip a halt of the drill scope, and measure how long blocking, cancelling and telling people took.",
    operation: "RunDrill",
    body: drillBody,
    answers: { 201: drillAnswer },
    handle: async (request) => {
      const outcome = await askService<RunDrillRequest, Drill>(parts, request, {
        service: "HaltDesk",
        method: "RunDrill",
        message: { reason: request.body.reason ?? "" },
        timeoutMs,
      });
      return answerTo(outcome, 201, (drill) => plain(toldDrill(drill)));
    },
  });
}

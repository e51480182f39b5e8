// POST /v1/operations/parked/discard: decides that an event that was put aside is never handled. What is held needs a proof of the second factor.
import type { DiscardParkedRequest, ParkedEvent } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { discardParkedBody, parkedEventAnswer, toldParked } from "../schemas/parked.ts";

export function parkedDiscard(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "discardParked",
    method: "POST",
    path: "/v1/operations/parked/discard",
    listeners: ["operator"],
    sentence: "Decide that an event that was put aside is never handled.",
    operation: "DiscardParked",
    body: discardParkedBody,
    answers: { 200: parkedEventAnswer },
    handle: async (request) => {
      const { reason = "", step_up_proof = "" } = request.body;
      const outcome = await askService<DiscardParkedRequest, ParkedEvent>(parts, request, {
        service: "RiskWorkers",
        method: "DiscardParked",
        message: { ...request.body, reason, step_up_proof },
      });
      return answerTo(outcome, 200, (event) => plain(toldParked(event)));
    },
  });
}

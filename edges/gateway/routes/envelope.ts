// GET /v1/riskengine/envelopes/:fund_id: a fund's limits as the engine applies them now.
import type { EnvelopeRequest, RiskEnvelope } from "../../../contracts/src/generated/svc/v1/envelope.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { envelopeAnswer, fundParams } from "../schemas/envelope.ts";

export function envelope(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getEnvelope",
    method: "GET",
    path: "/v1/riskengine/envelopes/:fund_id",
    listeners: ["operator"],
    sentence: "Read a fund's limits.",
    operation: "GetEnvelope",
    params: fundParams,
    answers: { 200: envelopeAnswer },
    handle: async (request) => {
      const message: EnvelopeRequest = { fund_id: request.params.fund_id };
      const outcome = await askService<EnvelopeRequest, RiskEnvelope>(parts, request, {
        service: "RiskEngine",
        method: "GetEnvelope",
        message,
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

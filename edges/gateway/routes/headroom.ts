// GET /v1/riskengine/headroom: how much more of a symbol a fund may trade right now, and which limit binds.
import type { Headroom, HeadroomRequest } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { headroomAnswer, headroomQuery } from "../schemas/risk.ts";

export function headroom(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getHeadroom",
    method: "GET",
    path: "/v1/riskengine/headroom",
    listeners: ["operator"],
    sentence: "Ask how much more of a symbol a fund may trade right now, and which limit binds.",
    operation: "GetHeadroom",
    query: headroomQuery,
    answers: { 200: headroomAnswer },
    handle: async (request) => {
      const { fund_id, symbol, side } = request.query;
      const outcome = await askService<HeadroomRequest, Headroom>(parts, request, {
        service: "RiskEngine",
        method: "GetHeadroom",
        message: { fund_id, symbol, side },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

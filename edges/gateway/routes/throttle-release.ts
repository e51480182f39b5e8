// POST /v1/riskengine/throttles/:strategy_id/release: lets a strategy trade again after its repeated-execution throttle tripped.
import type { ReleaseThrottleRequest, ThrottleStatus } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { releaseThrottleBody, strategyParams, throttleAnswer } from "../schemas/risk.ts";

export function throttleRelease(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "releaseThrottle",
    method: "POST",
    path: "/v1/riskengine/throttles/:strategy_id/release",
    listeners: ["operator"],
    sentence: "Let a strategy trade again after its throttle tripped.",
    operation: "ReleaseThrottle",
    params: strategyParams,
    body: releaseThrottleBody,
    answers: { 200: throttleAnswer },
    handle: async (request) => {
      const outcome = await askService<ReleaseThrottleRequest, ThrottleStatus>(parts, request, {
        service: "RiskEngine",
        method: "ReleaseThrottle",
        // Whether one is needed is the engine's to say, with its own code.
        message: { strategy_id: request.params.strategy_id, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

// POST /v1/research/strategies/:strategy_id: a strategy's status or allocation; what is not named stays.
import type { SetStrategyRequest, Strategy } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { setStrategyBody, strategyAnswer } from "../schemas/research.ts";
import { strategyParams } from "../schemas/risk.ts";

export function strategySet(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "setStrategy",
    method: "POST",
    path: "/v1/research/strategies/:strategy_id",
    listeners: ["operator"],
    sentence: "Change a strategy's status or allocation.",
    operation: "SetStrategy",
    params: strategyParams,
    body: setStrategyBody,
    answers: { 200: strategyAnswer },
    handle: async (request) => {
      const outcome = await askService<SetStrategyRequest, Strategy>(parts, request, {
        service: "Research",
        method: "SetStrategy",
        message: { ...request.body, strategy_id: request.params.strategy_id, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

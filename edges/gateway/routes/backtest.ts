// GET /v1/research/strategies/:strategy_id/backtest: a strategy's backtest, day by day.
import type { Backtest, GetBacktestRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { backtestAnswer } from "../schemas/research.ts";
import { strategyParams } from "../schemas/risk.ts";

export function backtest(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getBacktest",
    method: "GET",
    path: "/v1/research/strategies/:strategy_id/backtest",
    listeners: ["operator"],
    sentence: "Get a strategy's backtest.",
    operation: "GetBacktest",
    params: strategyParams,
    answers: { 200: backtestAnswer },
    handle: async (request) => {
      const outcome = await askService<GetBacktestRequest, Backtest>(parts, request, {
        service: "Research",
        method: "GetBacktest",
        message: { strategy_id: request.params.strategy_id },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

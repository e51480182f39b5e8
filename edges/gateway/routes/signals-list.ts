// GET /v1/research/strategies/:strategy_id/signals: a strategy's signals and what came of them, newest first.
import type { ListSignalsRequest, Signals } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { signalsAnswer, signalsQuery } from "../schemas/research.ts";
import { strategyParams } from "../schemas/risk.ts";

export function signalsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listSignals",
    method: "GET",
    path: "/v1/research/strategies/:strategy_id/signals",
    listeners: ["operator"],
    sentence: "List a strategy's signals and what came of them, newest first.",
    operation: "ListSignals",
    params: strategyParams,
    query: signalsQuery,
    answers: { 200: signalsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListSignalsRequest, Signals>(parts, request, {
        service: "Research",
        method: "ListSignals",
        message: { strategy_id: request.params.strategy_id, count_max: request.query.count_max ?? 100 },
      });
      return answerTo(outcome, 200, ({ signals }) => plain(signals));
    },
  });
}

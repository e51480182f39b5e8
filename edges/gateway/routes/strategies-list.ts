// GET /v1/research/strategies: the strategies, what they may work with and what came of it.
import type { ListStrategiesRequest, Strategies } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { strategiesAnswer, strategiesQuery } from "../schemas/research.ts";

export function strategiesList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listStrategies",
    method: "GET",
    path: "/v1/research/strategies",
    listeners: ["operator"],
    sentence: "List the strategies.",
    operation: "ListStrategies",
    query: strategiesQuery,
    answers: { 200: strategiesAnswer },
    handle: async (request) => {
      const outcome = await askService<ListStrategiesRequest, Strategies>(parts, request, {
        service: "Research",
        method: "ListStrategies",
        message: { fund_id: request.query.fund_id },
      });
      return answerTo(outcome, 200, ({ strategies }) => plain(strategies));
    },
  });
}

// GET /v1/riskengine/losses: losses against their baselines and limits.
import type { ListLossesRequest, Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { lossesAnswer, lossesQuery } from "../schemas/halts.ts";

export function lossesList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listLosses",
    method: "GET",
    path: "/v1/riskengine/losses",
    listeners: ["operator"],
    sentence: "See losses against their baselines and limits.",
    operation: "ListLosses",
    query: lossesQuery,
    answers: { 200: lossesAnswer },
    handle: async (request) => {
      const outcome = await askService<ListLossesRequest, Losses>(parts, request, {
        service: "RiskEngine",
        method: "ListLosses",
        message: { fund_id: request.query.fund_id },
      });
      return answerTo(outcome, 200, ({ losses }) => plain(losses));
    },
  });
}

// GET /v1/riskengine/differences: where our positions and the broker's differ or did, newest first.
import type { Differences, ListDifferencesRequest } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { differencesAnswer, differencesQuery } from "../schemas/risk-workers.ts";

export function differencesList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listDifferences",
    method: "GET",
    path: "/v1/riskengine/differences",
    listeners: ["operator"],
    sentence: "List where our positions and the broker's differ, newest first.",
    operation: "ListDifferences",
    query: differencesQuery,
    answers: { 200: differencesAnswer },
    handle: async (request) => {
      const { fund_id, open, count_max } = request.query;
      const outcome = await askService<ListDifferencesRequest, Differences>(parts, request, {
        service: "RiskWorkers",
        method: "ListDifferences",
        message: { fund_id, open_only: open ?? false, count_max: count_max ?? 100 },
      });
      return answerTo(outcome, 200, ({ differences }) => plain(differences));
    },
  });
}

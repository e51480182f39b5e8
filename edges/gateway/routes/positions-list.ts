// GET /v1/oms/positions: what the funds hold, per strategy and symbol.
import type { ListPositionsRequest, Positions } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { positionsAnswer, positionsQuery, toldPosition } from "../schemas/orders.ts";

export function positionsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getPositions",
    method: "GET",
    path: "/v1/oms/positions",
    listeners: ["operator"],
    sentence: "List what the funds hold, per strategy and symbol.",
    operation: "ListPositions",
    query: positionsQuery,
    answers: { 200: positionsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListPositionsRequest, Positions>(parts, request, {
        service: "Oms",
        method: "ListPositions",
        message: { fund_id: request.query.fund_id },
      });
      return answerTo(outcome, 200, ({ positions }) => plain(positions.map(toldPosition)));
    },
  });
}

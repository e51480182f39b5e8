// GET /v1/riskengine/decisions/:order_id: why an order was approved or denied, the whole record of it.

import { Fault } from "../../../contracts/src/fault.ts";
import type { DecisionRecords, GetDecisionsRequest } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { decisionsAnswer, orderParams } from "../schemas/risk.ts";

export function decisions(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getDecisions",
    method: "GET",
    path: "/v1/riskengine/decisions/:order_id",
    listeners: ["operator"],
    sentence: "Read every decision about an order, oldest first.",
    operation: "GetDecisions",
    params: orderParams,
    answers: { 200: decisionsAnswer },
    handle: async (request) => {
      const outcome = await askService<GetDecisionsRequest, DecisionRecords>(parts, request, {
        service: "RiskDesk",
        method: "GetDecisions",
        message: { order_id: request.params.order_id },
      });
      if (outcome.ok && outcome.value.records.length === 0) {
        throw new Fault("NOT_FOUND", "No decision about an order of that id is on record.", { retry: "never" });
      }
      // What replay starts from is the engine's own form, and nothing to read.
      return answerTo(outcome, 200, ({ records }) =>
        plain(records.map(({ order, decision }) => ({ order, decision }))),
      );
    },
  });
}

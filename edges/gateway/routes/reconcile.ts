// POST /v1/riskengine/reconciliations: compares our positions with the broker's now.
import type { ReconcileRequest, Reconciliation } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { reconcileBody, reconciliationAnswer } from "../schemas/risk-workers.ts";

export function reconcile(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "reconcile",
    method: "POST",
    path: "/v1/riskengine/reconciliations",
    listeners: ["operator"],
    sentence: "Compare our positions with the broker's now.",
    operation: "Reconcile",
    body: reconcileBody,
    answers: { 200: reconciliationAnswer },
    handle: async (request) => {
      const outcome = await askService<ReconcileRequest, Reconciliation>(parts, request, {
        service: "RiskWorkers",
        method: "Reconcile",
        message: { fund_id: request.body.fund_id },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

// GET /v1/riskengine/approvals: what is reserved, order by order.
import type { Approvals, ListApprovalsRequest } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { approvalsAnswer, approvalsQuery } from "../schemas/approvals.ts";

export function approvalsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listApprovals",
    method: "GET",
    path: "/v1/riskengine/approvals",
    listeners: ["operator"],
    sentence: "See what is reserved, order by order.",
    operation: "ListApprovals",
    query: approvalsQuery,
    answers: { 200: approvalsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListApprovalsRequest, Approvals>(parts, request, {
        service: "RiskEngine",
        method: "ListApprovals",
        message: { fund_id: request.query.fund_id, unsent: request.query.unsent ?? false },
      });
      return answerTo(outcome, 200, ({ approvals }) => plain(approvals));
    },
  });
}

// POST /v1/riskengine/approvals/:order_id/release: frees what is reserved for an approval that was not sent.
import type { Approval, ReleaseApprovalRequest } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { approvalAnswer, approvalParams } from "../schemas/approvals.ts";
import { releaseThrottleBody } from "../schemas/risk.ts";

export function approvalRelease(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "releaseApproval",
    method: "POST",
    path: "/v1/riskengine/approvals/:order_id/release",
    listeners: ["operator"],
    sentence: "Free what is reserved for an approval that was not sent.",
    operation: "ReleaseApproval",
    params: approvalParams,
    body: releaseThrottleBody,
    answers: { 200: approvalAnswer },
    handle: async (request) => {
      const outcome = await askService<ReleaseApprovalRequest, Approval>(parts, request, {
        service: "RiskEngine",
        method: "ReleaseApproval",
        // Whether one is needed is the engine's to say, with its own code.
        message: { order_id: request.params.order_id, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

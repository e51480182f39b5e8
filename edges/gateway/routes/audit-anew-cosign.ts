// POST /v1/operations/audit/anew/:request_id/cosign: the second person signs, and the new log begins.
import type { AuditAnew, CosignAuditAnewRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, wholeLogTimeoutMs } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { anewAnswer, anewCosignBody, anewParams } from "../schemas/audit.ts";

export function auditAnewCosign(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "cosignAuditAnew",
    method: "POST",
    path: "/v1/operations/audit/anew/:request_id/cosign",
    listeners: ["operator"],
    sentence:
      "Sign somebody else's request to close the broken audit log: it is verified once more, closed, and another begins.",
    operation: "CosignAuditAnew",
    params: anewParams,
    body: anewCosignBody,
    answers: { 200: anewAnswer },
    handle: (request) =>
      askAudit<CosignAuditAnewRequest, AuditAnew>(parts, request, {
        service: "AuditDesk",
        method: "CosignAuditAnew",
        message: {
          request_id: request.params.request_id,
          step_up_proof: request.body.step_up_proof ?? "",
          confirmation: request.body.confirmation ?? "",
        },
        timeoutMs: wholeLogTimeoutMs,
        tell: plain,
      }),
  });
}

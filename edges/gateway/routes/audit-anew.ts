// POST /v1/operations/audit/anew: an admin asks for a broken log to be closed and another to be begun. Nothing is done before a second person signs.
import type { AuditAnew, BeginAuditAnewRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { anewAnswer, anewBody } from "../schemas/audit.ts";

export function auditAnew(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "beginAuditAnew",
    method: "POST",
    path: "/v1/operations/audit/anew",
    listeners: ["operator"],
    sentence: "Ask for a broken audit log to be closed and another to be begun; a second person signs.",
    operation: "BeginAuditAnew",
    body: anewBody,
    answers: { 200: anewAnswer },
    handle: (request) =>
      askAudit<BeginAuditAnewRequest, AuditAnew>(parts, request, {
        service: "AuditDesk",
        method: "BeginAuditAnew",
        message: {
          reason: request.body.reason ?? "",
          step_up_proof: request.body.step_up_proof ?? "",
          confirmation: request.body.confirmation ?? "",
        },
        tell: plain,
      }),
  });
}

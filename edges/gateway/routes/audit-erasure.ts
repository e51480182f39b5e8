// POST /v1/operations/audit/erasures: destroys the key of what is sealed about a person. It needs a reason and a proof of the second factor.
import type { AuditErasure, EraseAuditSubjectRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { erasureAnswer, erasureBody } from "../schemas/audit.ts";

export function auditErasure(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "eraseAuditSubject",
    method: "POST",
    path: "/v1/operations/audit/erasures",
    listeners: ["operator"],
    sentence: "Destroy the key of what the audit log holds sealed about a person.",
    operation: "EraseAuditSubject",
    body: erasureBody,
    answers: { 200: erasureAnswer },
    handle: (request) =>
      askAudit<EraseAuditSubjectRequest, AuditErasure>(parts, request, {
        service: "AuditDesk",
        method: "EraseAuditSubject",
        message: {
          subject_id: request.body.subject_id,
          reason: request.body.reason ?? "",
          step_up_proof: request.body.step_up_proof ?? "",
          confirmation: request.body.confirmation ?? "",
        },
        tell: ({ subject_id, sequences }) => plain({ subject_id, sequences }),
      }),
  });
}

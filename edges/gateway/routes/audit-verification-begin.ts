// POST /v1/operations/audit/verifications: begins a verification that may take longer than a request; its run tells how far it is.
import type { AuditRun, BeginAuditVerificationRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, logIn, runJson } from "../ask-audit.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { beginVerificationBody, runAnswer } from "../schemas/audit.ts";

export function auditVerificationBegin(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "beginAuditVerification",
    method: "POST",
    path: "/v1/operations/audit/verifications",
    listeners: ["operator"],
    sentence: "Begin to verify the audit chain, however long it takes; the run tells how far it is.",
    operation: "BeginAuditVerification",
    body: beginVerificationBody,
    answers: { 201: runAnswer },
    handle: (request) =>
      askAudit<BeginAuditVerificationRequest, AuditRun>(parts, request, {
        service: "AuditDesk",
        method: "BeginAuditVerification",
        message: { from_sequence: request.body.from_sequence ?? 0, ...logIn(request.body) },
        status: 201,
        tell: runJson,
      }),
  });
}

// POST /v1/operations/audit/inspections: begins an inspection that may take longer than a request; its run tells how far it is.
import type { AuditRun, InspectAuditRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, runJson } from "../ask-audit.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { inspectBody, runAnswer } from "../schemas/audit.ts";

export function auditInspectionBegin(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "beginAuditInspection",
    method: "POST",
    path: "/v1/operations/audit/inspections",
    listeners: ["operator"],
    sentence: "Begin to inspect the audit log, however long it takes; the run tells how far it is.",
    operation: "BeginAuditInspection",
    body: inspectBody,
    answers: { 201: runAnswer },
    handle: (request) =>
      askAudit<InspectAuditRequest, AuditRun>(parts, request, {
        service: "AuditDesk",
        method: "BeginAuditInspection",
        message: { rebuild: request.body.rebuild ?? false },
        status: 201,
        tell: runJson,
      }),
  });
}

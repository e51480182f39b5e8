// POST /v1/operations/audit/inspect: derives everything that can be derived anew and compares, and writes it when asked to.
import type { AuditInspection, InspectAuditRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, wholeLogTimeoutMs } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { inspectBody, inspectionAnswer } from "../schemas/audit.ts";

export function auditInspect(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "inspectAudit",
    method: "POST",
    path: "/v1/operations/audit/inspect",
    listeners: ["operator"],
    sentence: "Derive chain, tree, tiles and index of the audit log anew and compare.",
    operation: "InspectAudit",
    body: inspectBody,
    answers: { 200: inspectionAnswer },
    handle: (request) =>
      askAudit<InspectAuditRequest, AuditInspection>(parts, request, {
        service: "AuditDesk",
        method: "InspectAudit",
        message: { rebuild: request.body.rebuild ?? false },
        timeoutMs: wholeLogTimeoutMs,
        tell: plain,
      }),
  });
}

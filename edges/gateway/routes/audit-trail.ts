// GET /v1/operations/audit: everything that was done to one subject, oldest first.
import type { AuditTrail, AuditTrailRequest } from "../../../contracts/src/generated/svc/v1/audit.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, entryJson } from "../ask-audit.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { trailAnswer, trailQuery } from "../schemas/audit.ts";

export function auditTrail(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getAuditTrail",
    method: "GET",
    path: "/v1/operations/audit",
    listeners: ["operator"],
    sentence: "Read the entries about one subject, oldest first.",
    operation: "GetAuditTrail",
    query: trailQuery,
    answers: { 200: trailAnswer },
    handle: (request) =>
      askAudit<AuditTrailRequest, AuditTrail>(parts, request, {
        service: "Operations",
        method: "GetAuditTrail",
        message: { subject_id: request.query.subject_id },
        tell: ({ entries }) => entries.map(entryJson),
      }),
  });
}

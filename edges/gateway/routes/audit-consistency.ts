// GET /v1/operations/audit/consistency: the proof that the log only grew, for whoever kept a checkpoint and comes back later.
import type { AuditConsistency, AuditConsistencyRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { consistencyAnswer, consistencyQuery } from "../schemas/audit.ts";

export function auditConsistency(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getAuditConsistency",
    method: "GET",
    path: "/v1/operations/audit/consistency",
    listeners: ["operator"],
    sentence: "Get the proof that the audit chain of one size is the beginning of that of another.",
    operation: "GetAuditConsistency",
    query: consistencyQuery,
    answers: { 200: consistencyAnswer },
    handle: (request) =>
      askAudit<AuditConsistencyRequest, AuditConsistency>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditConsistency",
        message: { first_size: request.query.first_size, second_size: request.query.second_size ?? 0 },
        // No note is no text to be verified, so it is left out.
        tell: ({ checkpoint, ...proved }) => plain(checkpoint === "" ? proved : { ...proved, checkpoint }),
      }),
  });
}

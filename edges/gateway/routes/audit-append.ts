// POST /v1/operations/audit: one more entry, whose actor is whoever proved to be calling. It is answered when the entry is durable.
import type { AppendAuditRequest, AuditEntry } from "../../../contracts/src/generated/svc/v1/audit.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, entryJson } from "../ask-audit.ts";
import { declaredPlace } from "../declared/route.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { appendBody, entryAnswer } from "../schemas/audit.ts";

export function auditAppend(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("appendAudit"),
    body: appendBody,
    answers: { 201: entryAnswer },
    handle: async (request) => {
      const { action, subject_id, data, idempotency_key } = request.body;
      const key = idempotency_key === undefined ? {} : { idempotency_key };
      return askAudit<AppendAuditRequest, AuditEntry>(parts, request, {
        service: "Operations",
        method: "AppendAudit",
        message: { actor: callerOf(request).actor, action, subject_id, data: data ?? {}, ...key },
        status: 201,
        tell: entryJson,
      });
    },
  });
}

// GET /v1/operations/audit/status: how far the audit chain reaches and who vouches for it.
import type { AuditStatus, AuditStatusRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { statusAnswer } from "../schemas/audit.ts";

export function auditStatus(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getAuditStatus",
    method: "GET",
    path: "/v1/operations/audit/status",
    listeners: ["operator"],
    sentence: "See how far the audit chain reaches and who vouches for it.",
    operation: "GetAuditStatus",
    answers: { 200: statusAnswer },
    handle: (request) =>
      askAudit<AuditStatusRequest, AuditStatus>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditStatus",
        message: {},
        tell: told,
      }),
  });
}

/** On the wire what was never there is an empty text; in JSON it is not there. */
function told(status: AuditStatus): object {
  const { checkpoint, verified_at, verified, key_terms, anchors, complaint, log, closed_logs, ...rest } = status;
  const orNothing = (text: string): string | undefined => (text === "" ? undefined : text);
  return plain({
    ...rest,
    checkpoint: orNothing(checkpoint),
    verified_at: orNothing(verified_at),
    verified: orNothing(verified),
    key_terms: key_terms.map((term) => ({ ...term, to_size: term.to_size === 0 ? undefined : term.to_size })),
    anchors: anchors.map((anchor) => ({ ...anchor, complaint: orNothing(anchor.complaint) })),
    complaint: orNothing(complaint),
    ...(log > 1 && { log, closed_logs: closed_logs.map((closed) => ({ ...closed })) }),
  });
}

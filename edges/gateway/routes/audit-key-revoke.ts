// POST /v1/operations/audit/keys/:key_id/revoke: takes a key out of force for good; the one that signs now is rotated away first.
import type { AuditKeyChange, RevokeAuditKeyRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { keyChangeAnswer, keyChangeBody, keyParams } from "../schemas/audit.ts";

export function auditKeyRevoke(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "revokeAuditKey",
    method: "POST",
    path: "/v1/operations/audit/keys/:key_id/revoke",
    listeners: ["operator"],
    sentence: "Take a key of the audit log out of force for good.",
    operation: "RevokeAuditKey",
    params: keyParams,
    body: keyChangeBody,
    answers: { 200: keyChangeAnswer },
    handle: (request) =>
      askAudit<RevokeAuditKeyRequest, AuditKeyChange>(parts, request, {
        service: "AuditDesk",
        method: "RevokeAuditKey",
        message: {
          key_id: request.params.key_id,
          reason: request.body.reason ?? "",
          step_up_proof: request.body.step_up_proof ?? "",
        },
        status: 200,
        tell: plain,
      }),
  });
}

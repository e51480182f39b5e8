// POST /v1/operations/audit/keys/rotate: a new key that signs the checkpoints. It needs a reason and a proof of the second factor.
import type { AuditKeyChange, RotateAuditKeyRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { keyChangeAnswer, keyChangeBody } from "../schemas/audit.ts";

export function auditKeyRotate(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "rotateAuditKey",
    method: "POST",
    path: "/v1/operations/audit/keys/rotate",
    listeners: ["operator"],
    sentence: "Give the audit log a new key that signs its checkpoints.",
    operation: "RotateAuditKey",
    body: keyChangeBody,
    answers: { 200: keyChangeAnswer },
    handle: (request) =>
      askAudit<RotateAuditKeyRequest, AuditKeyChange>(parts, request, {
        service: "AuditDesk",
        method: "RotateAuditKey",
        message: { reason: request.body.reason ?? "", step_up_proof: request.body.step_up_proof ?? "" },
        status: 200,
        tell: plain,
      }),
  });
}

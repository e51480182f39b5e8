// GET /v1/operations/audit/entries/:sequence/proof: one entry as a file that verifies without us.
import type { AuditProof, AuditProofRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAuditText } from "../ask-audit.ts";
import { declared, declaredMessage } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";

export function auditProof(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("getAuditProof"),
    handle: (request) =>
      askAuditText<AuditProofRequest, AuditProof>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditProof",
        message: declaredMessage("getAuditProof", request),
        textOf: ({ file }) => file,
      }),
  };
}

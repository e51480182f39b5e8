// GET /v1/operations/audit/entries/:sequence/proof: one entry as a file that verifies without us.
import type { AuditProof, AuditProofRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAuditText } from "../ask-audit.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { sequenceParams } from "../schemas/audit.ts";

export function auditProof(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getAuditProof",
    method: "GET",
    path: "/v1/operations/audit/entries/:sequence/proof",
    listeners: ["operator"],
    sentence: "Get the proof that an entry is in the audit chain, as a C2SP tlog-proof file.",
    operation: "GetAuditProof",
    params: sequenceParams,
    answers: { 200: "text" },
    handle: (request) =>
      askAuditText<AuditProofRequest, AuditProof>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditProof",
        message: { sequence: request.params.sequence },
        textOf: ({ file }) => file,
      }),
  });
}

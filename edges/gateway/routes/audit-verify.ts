// GET /v1/operations/audit/verify: whether the chain is whole, and how much of that rests on whose word.
import type { AuditVerification, VerifyAuditRequest } from "../../../contracts/src/generated/svc/v1/audit.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, logIn, wholeLogTimeoutMs } from "../ask-audit.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { verificationAnswer, verifyQuery } from "../schemas/audit.ts";

export function auditVerify(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "verifyAudit",
    method: "GET",
    path: "/v1/operations/audit/verify",
    listeners: ["operator"],
    sentence:
      "Verify the audit chain within 25 s; a broken one is the problem CHAIN_INTEGRITY with the place, for a long one begin a verification.",
    operation: "VerifyAudit",
    query: verifyQuery,
    answers: { 200: verificationAnswer },
    handle: (request) =>
      askAudit<VerifyAuditRequest, AuditVerification>(parts, request, {
        service: "Operations",
        method: "VerifyAudit",
        message: { from_sequence: request.query.from_sequence ?? 0, ...logIn(request.query) },
        timeoutMs: wholeLogTimeoutMs,
        tell: (verification) => verification,
      }),
  });
}

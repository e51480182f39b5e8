// GET /v1/operations/audit/bundle-head: the beginning of a bundle that verifies offline; its entries are read page by page.
import type { AuditBundleHead, AuditBundleRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, logIn } from "../ask-audit.ts";
import { plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { bundleHeadAnswer, bundleQuery } from "../schemas/audit.ts";

export function auditBundleHead(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getAuditBundleHead",
    method: "GET",
    path: "/v1/operations/audit/bundle-head",
    listeners: ["operator"],
    sentence: "Begin the export of a part of the audit chain: the first two lines of its bundle.",
    operation: "GetAuditBundleHead",
    query: bundleQuery,
    answers: { 200: bundleHeadAnswer },
    handle: (request) =>
      askAudit<AuditBundleRequest, AuditBundleHead>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditBundleHead",
        message: {
          from_sequence: request.query.from_sequence ?? 0,
          count: request.query.count ?? 0,
          ...logIn(request.query),
        },
        tell: plain,
      }),
  });
}

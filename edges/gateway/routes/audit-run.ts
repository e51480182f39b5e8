// GET /v1/operations/audit/runs/:run_id: how far a long verification or inspection is. It waits some seconds for the end, so asking at once again is right.
import type { AuditRun, WatchAuditRunRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, runJson } from "../ask-audit.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { runAnswer, runParams } from "../schemas/audit.ts";

export function auditRun(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "watchAuditRun",
    method: "GET",
    path: "/v1/operations/audit/runs/:run_id",
    listeners: ["operator"],
    sentence: "See how far a long verification or inspection is, and what came of it.",
    operation: "WatchAuditRun",
    params: runParams,
    answers: { 200: runAnswer },
    handle: (request) =>
      askAudit<WatchAuditRunRequest, AuditRun>(parts, request, {
        service: "AuditDesk",
        method: "WatchAuditRun",
        message: { run_id: request.params.run_id },
        status: 200,
        tell: runJson,
      }),
  });
}

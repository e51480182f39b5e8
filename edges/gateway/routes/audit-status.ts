// GET /v1/operations/audit/status: how far the audit chain reaches and who vouches for it.
import type { AuditStatus } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askDeclared, declared, declaredTold } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";

export function auditStatus(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("getAuditStatus"),
    handle: async (request) =>
      answerTo(await askDeclared<AuditStatus>("getAuditStatus", parts, request, {}), 200, told),
  };
}

/** The number of a log and the closed ones are told once there is more than one. */
function told(status: AuditStatus): object {
  const all = declaredTold("getAuditStatus", status);
  return status.log > 1 ? all : { ...all, log: undefined, closed_logs: undefined };
}

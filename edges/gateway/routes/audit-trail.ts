// GET /v1/operations/audit: everything that was done to one subject, oldest first, page by page. The address of the next page says how many entries
// went before, so that the last one can prove that none was left out; a header says when it cannot.
import type { AuditTrail, AuditTrailRequest } from "../../../contracts/src/generated/svc/v1/audit.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit, entryJson, logIn } from "../ask-audit.ts";
import { declarationOf, declaredMessage, declaredRequest } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";
import { trailAnswer } from "../schemas/audit.ts";

export function auditTrail(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declaredRequest("getAuditTrail"),
    answers: { 200: trailAnswer },
    handle: async (request) => {
      const asked = declaredMessage<AuditTrailRequest>("getAuditTrail", request);
      const headers: Record<string, string> = {};
      const answer = await askAudit<AuditTrailRequest, AuditTrail>(parts, request, {
        service: "Operations",
        method: "GetAuditTrail",
        message: asked,
        tell: ({ entries, next_sequence, next_log, complete, logs = [] }) => {
          // What closed logs hold proves nothing about the one that is written.
          const count = entries.length - logs.length;
          if (next_sequence > 0) headers["link"] = nextPage(asked, count, next_sequence, next_log ?? 0);
          else if (complete === false) headers["portcullis-completeness"] = "not-proven-yet";
          return entries.map((entry, at) => ({ ...entryJson(entry), ...logIn({ log: logs[at] }) }));
        },
      });
      if (answer.status >= 400 || Object.keys(headers).length === 0) return answer;
      return { ...answer, headers: { ...answer.headers, ...headers } };
    },
  };
}

/** RFC 8288. What went before is counted only when all of it was. */
function nextPage(asked: AuditTrailRequest, count: number, next: number, log: number): string {
  const query = new URLSearchParams({ subject_id: asked.subject_id, from_sequence: String(next) });
  query.set("count_max", String(asked.count_max));
  if (log > 0) query.set("log", String(log));
  const before = asked.from_sequence === 0 ? 0 : asked.count_before;
  if (before !== undefined && log === 0) query.set("count_before", String(before + count));
  return `<${declarationOf("getAuditTrail").path}?${query}>; rel="next"`;
}

// GET /v1/operations/audit/log/tile/...: tiles of the tree and bundles of entries where readers of C2SP logs look for them. A full tile never
// changes, so whoever has it may keep it; a partial one is soon replaced by a wider one.
import type { AuditTile, AuditTileRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { tileParams } from "../schemas/audit.ts";

export function auditTile(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("getAuditTile"),
    params: tileParams,
    answers: { 200: "bytes" },
    handle: async (request) => {
      const path = `tile/${request.params.path}`;
      const answer = await askAudit<AuditTileRequest, AuditTile>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditTile",
        message: { path },
        tell: ({ content }) => content,
      });
      const isFull = answer.status === 200 && !path.includes(".p/");
      // Private, because it was given to somebody who may read it.
      const kept = isFull ? "private, max-age=31536000, immutable" : "no-store";
      return { ...answer, headers: { ...answer.headers, "cache-control": kept } };
    },
  });
}

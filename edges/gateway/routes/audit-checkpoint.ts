// GET /v1/operations/audit/log/checkpoint: the newest checkpoint where readers of C2SP logs look for it.
import type { AuditTile, AuditTileRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { askAuditText } from "../ask-audit.ts";
import { declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";

export function auditCheckpoint(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("getAuditCheckpoint"),
    answers: { 200: "text" },
    handle: async (request) => {
      const answer = await askAuditText<AuditTileRequest, AuditTile>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditTile",
        message: { path: "checkpoint" },
        textOf: ({ content }) => new TextDecoder().decode(content),
      });
      // The next one replaces it within a second.
      return { ...answer, headers: { "cache-control": "no-store" } };
    },
  });
}

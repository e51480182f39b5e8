// Every session of one person ended at once, for example when a laptop is lost.
import { revocationMsMax } from "../../../contracts/src/authority.ts";
import type { Route } from "../../../ports/http.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { revokeSessionsAnswer, revokeSessionsBody } from "../schemas/identity.ts";

export function sessionsRevoke(parts: Pick<GatewayParts, "sessions">): Route {
  return defineRoute({
    id: "revokeSessions",
    method: "POST",
    path: "/v1/auth/sessions/revoke",
    listeners: ["operator"],
    sentence: "End every session of a person.",
    operation: "RevokeSessions",
    body: revokeSessionsBody,
    answers: { 200: revokeSessionsAnswer },
    handle: async (request) => {
      const { actor, reason } = request.body;
      const { known } = await parts.sessions.revokeAll(callerOf(request), actor, reason);
      return { status: 200, body: { effective_within_ms: revocationMsMax, known } };
    },
  });
}

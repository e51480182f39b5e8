// The caller's own way out: its session and every token of it end here.
import { revocationMsMax } from "../../../contracts/src/authority.ts";
import type { Route } from "../../../ports/http.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { endedAnswer, logOutBody } from "../schemas/identity.ts";

export function logOut(parts: Pick<GatewayParts, "sessions">): Route {
  return defineRoute({
    id: "logOut",
    method: "POST",
    path: "/v1/auth/logout",
    listeners: ["operator"],
    sentence: "End your own session and its tokens.",
    operation: "LogOut",
    body: logOutBody,
    answers: { 200: endedAnswer },
    handle: async (request) => {
      await parts.sessions.logOut(callerOf(request));
      return { status: 200, body: { effective_within_ms: revocationMsMax } };
    },
  });
}

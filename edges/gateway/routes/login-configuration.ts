// How to log in here, for a caller that knows nothing but the address: the metadata of a protected resource (RFC 9728). The
// time is in it because a clock that is wrong is the commonest reason for one-time codes and tokens that are refused.
import * as instant from "../../../contracts/src/instant.ts";
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { loginConfigurationAnswer } from "../schemas/login.ts";

export function loginConfiguration(parts: Pick<GatewayParts, "login" | "clock">): Route {
  return defineRoute({
    id: "getLoginConfiguration",
    method: "GET",
    path: "/.well-known/oauth-protected-resource",
    listeners: ["operator"],
    sentence: "Which issuer to log in at, and as which client.",
    operation: "LogIn",
    answers: { 200: loginConfigurationAnswer },
    handle: async () => {
      const { login, clock } = parts;
      return {
        status: 200,
        body: {
          resource: login.resource(),
          authorization_servers: [login.issuer()],
          bearer_methods_supported: ["header"],
          scopes_supported: login.scopes.split(" "),
          client_id: login.clientId,
          audience: login.audience,
          scopes: login.scopes,
          development_login: login.developmentLogin,
          time: instant.format(clock.now()),
        },
      };
    },
  });
}

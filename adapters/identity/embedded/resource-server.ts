// The platform as the library sees it: the one party that access tokens are for, whatever name a client used for it.
import type { ResourceServer } from "oidc-provider";
import { embeddedAudience } from "../verifier/token-issuer.ts";

export function resourceServer(accessTokenS: number): ResourceServer {
  return {
    scope: "",
    audience: embeddedAudience,
    accessTokenTTL: accessTokenS,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg: "ES256" } },
  };
}

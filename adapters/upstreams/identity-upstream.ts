// Identity as something that the platform needs: whether this process can tell who is calling and, with an issuer of the user's own, whether that
// answers now. Its keys stay good for a day while it is away, and nobody can log in meanwhile.
import type { Verifier } from "../../ports/identity.ts";
import type { Upstream } from "../../ports/upstream.ts";
import { httpStatus } from "./http-status.ts";

interface IdentityUpstreamOptions {
  readonly verifier: Pick<Verifier, "health">;
  /** The user's own; undefined with the embedded provider, which lives in the gateway and whose keys lie in the store. */
  readonly issuer: string | undefined;
}

export function identityUpstream({ verifier, issuer }: IdentityUpstreamOptions): Upstream {
  return {
    name: "identity",
    async ask(signal) {
      const own = verifier.health();
      if (own.status !== "ok" || issuer === undefined) return own;
      const status = await httpStatus({ url: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, signal });
      if (status === 200) return { status: "ok" };
      return { status: "failing", complaint: `The issuer ${issuer} answers with status ${status}.` };
    },
  };
}

// Who the platform takes the caller for: what its token proved, and how a person's second factor stands.
import * as instant from "../../../contracts/src/instant.ts";
import type { Route } from "../../../ports/http.ts";
import type { FactorStatus } from "../../../ports/identity.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { identityAnswer } from "../schemas/identity.ts";

export function identity(parts: Pick<GatewayParts, "secondFactors">): Route {
  return defineRoute({
    id: "getIdentity",
    method: "GET",
    path: "/v1/auth/identity",
    listeners: ["operator"],
    sentence: "Who the platform takes you for, and until when.",
    operation: "ReadIdentity",
    answers: { 200: identityAnswer },
    handle: async (request) => {
      const caller = callerOf(request);
      const factor = caller.kind === "operator" ? factorJson(await parts.secondFactors.status(caller)) : null;
      return {
        status: 200,
        body: {
          actor: caller.actor,
          kind: caller.kind,
          name: caller.name,
          roles: caller.roles,
          ...(caller.operations === undefined ? {} : { operations: caller.operations }),
          issuer: caller.issuer,
          issued_at: instant.format(caller.issuedAt),
          expires_at: instant.format(caller.expiresAt),
          second_factor: factor,
        },
      };
    },
  });
}

function factorJson(status: FactorStatus): object {
  return {
    enrolled_at: status.enrolledAt === undefined ? null : instant.format(status.enrolledAt),
    recovery_codes_left: status.recoveryCodesLeft,
    locked_until: status.lockedUntil === undefined ? null : instant.format(status.lockedUntil),
  };
}

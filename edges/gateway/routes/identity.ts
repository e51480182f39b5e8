// Who is calling, and the end of logins and keys.

import { revocationMsMax } from "../../../contracts/src/authority.ts";
import * as instant from "../../../contracts/src/instant.ts";
import type { Route } from "../../../ports/http.ts";
import type { DeviceLogin, FactorStatus } from "../../../ports/identity.ts";
import { denied } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import {
  identityAnswer,
  logOutAnswer,
  logOutBody,
  revokeSessionsAnswer,
  revokeSessionsBody,
  rotateSigningKeysAnswer,
  rotateSigningKeysBody,
} from "../schemas/identity.ts";
import { loginConfigurationAnswer } from "../schemas/login.ts";

/** Who the platform takes the caller for: what its token proved, and how a person's second factor stands. */
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
          ...(caller.funds === undefined ? {} : { funds: [...caller.funds] }),
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

/** The caller's own way out: its session and every token of it end here. */
export function logOut(parts: Pick<GatewayParts, "sessions">): Route {
  return defineRoute({
    id: "logOut",
    method: "POST",
    path: "/v1/auth/logout",
    listeners: ["operator"],
    sentence: "End your own session and its tokens.",
    operation: "LogOut",
    body: logOutBody,
    answers: { 200: logOutAnswer },
    handle: async (request) => {
      const { deviceLogins, endedCookie } = await parts.sessions.logOut(callerOf(request));
      return {
        status: 200,
        body: { effective_within_ms: revocationMsMax, device_logins: deviceLogins.map(deviceLoginJson) },
        ...(endedCookie === undefined ? {} : { headers: { "set-cookie": withoutCookie(endedCookie) } }),
      };
    },
  });
}

function deviceLoginJson({ sessionId, program, address, approvedAt, expiresAt }: DeviceLogin): object {
  return {
    session_id: sessionId,
    program,
    address,
    approved_at: instant.format(approvedAt),
    expires_at: instant.format(expiresAt),
  };
}

/** It opens nothing any more, so the browser need not keep it. */
function withoutCookie({ name, path }: { readonly name: string; readonly path: string }): string {
  return `${name}=; Path=${path}; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax`;
}

/**
 * How to log in here, for a caller that knows nothing but the address: the metadata of a protected resource (RFC 9728). The
 * time is in it because a clock that is wrong is the commonest reason for one-time codes and tokens that are refused.
 */
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
          web_client_id: login.webClientId,
          audience: login.audience,
          scopes: login.scopes,
          development_login: login.developmentLogin,
          time: instant.format(clock.now()),
        },
      };
    },
  });
}

/** Every session of one person ended at once, for example when a laptop is lost. */
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

const confirmationWord = "ROTATE";

/** A new key for the tokens of the embedded provider. With your own issuer the keys are its business, and the answer says so. */
export function signingKeysRotate(parts: Pick<GatewayParts, "signingKeys" | "login">): Route {
  return defineRoute({
    id: "rotateSigningKeys",
    method: "POST",
    path: "/v1/auth/signing-keys/rotate",
    listeners: ["operator"],
    sentence: "Replace the key that signs tokens.",
    operation: "RotateSigningKeys",
    body: rotateSigningKeysBody,
    answers: { 200: rotateSigningKeysAnswer },
    handle: async (request) => {
      const caller = callerOf(request);
      if (parts.signingKeys === undefined) {
        const reason = `Tokens here are signed by ${parts.login.issuer()}: rotate its keys there.`;
        return denied({ denial: { code: "SIGNING_KEYS_EXTERNAL", reason } });
      }
      if (request.body.retire === "at_once" && request.body.confirmation !== confirmationWord) {
        const reason = `This logs everybody out. Type ${confirmationWord} to confirm. Nothing was replaced.`;
        return denied({ denial: { code: "CONFIRMATION_WRONG", reason } });
      }
      const retire = request.body.retire === "at_once" ? "at once" : "after overlap";
      const { keyId } = await parts.signingKeys.rotate(caller, retire, request.body.reason);
      return { status: 200, body: { key_id: keyId } };
    },
  });
}

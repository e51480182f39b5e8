// Talking to the OIDC issuer, whichever it is: the device flow for people, the development grant for a platform on this machine, renewal and
// revocation. The library does the protocol; here it is decided what is trusted and what is said when it fails.

import { hostname } from "node:os";
import type { Configuration, CustomFetch, DeviceAuthorizationResponse, TokenEndpointResponse } from "openid-client";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Timers } from "../../../ports/timers.ts";
import { connectionProblem, interrupted, loginRefusal, Refusal } from "../failure.ts";
import { isLoopback } from "../settings.ts";
import { clean, instantOfUnixSeconds, shortTime } from "../text/text.ts";

/** Where and as whom to log in; the server says it, and a profile remembers it. */
export interface IssuerFacts {
  readonly issuer: string;
  readonly client_id: string;
  readonly audience: string;
}

export interface Tokens {
  readonly token: string;
  readonly token_kind: "access_token" | "id_token";
  readonly expires_at: string;
  readonly refresh_token?: string;
}

export interface DeviceCode {
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string | undefined;
  readonly expires_in: number;
}

const developmentGrant = "urn:portcullis:params:oauth:grant-type:development";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const requestTimeoutS = 10;
/** How far this machine's clock may be from the issuer's. */
const clockToleranceS = 60;

async function discover(
  facts: IssuerFacts,
  timeoutS = requestTimeoutS,
): Promise<{ oidc: typeof import("openid-client"); found: Configuration }> {
  const url = issuerUrl(facts.issuer);
  const oidc = await import("openid-client");
  const metadata = { [oidc.clockTolerance]: clockToleranceS };
  const execute = url.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  try {
    const options = { execute, timeout: timeoutS, [oidc.customFetch]: namedFetch };
    return { oidc, found: await oidc.discovery(url, facts.client_id, metadata, oidc.None(), options) };
  } catch (error) {
    throw issuerFailure(error, facts.issuer);
  }
}

/** Whether the issuer answers as one, within that time, and what ctl needs of it. */
export async function lookAt(facts: IssuerFacts, timeoutMs: number): Promise<{ readonly hasDeviceFlow: boolean }> {
  const { found } = await discover(facts, timeoutMs / 1_000);
  return { hasDeviceFlow: found.serverMetadata().device_authorization_endpoint !== undefined };
}

/** Whoever is asked to approve sees this beside the code: it must be their own program on their own machine. */
const namedFetch: CustomFetch = (url, { body, ...request }) => {
  const headers = new Headers(request.headers);
  const host = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, "")
    .slice(0, 63);
  headers.set("user-agent", `ctl on ${host} (${process.platform} ${process.arch})`);
  return fetch(url, { ...request, headers, body: body ?? null });
};

function issuerUrl(issuer: string): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(issuer))) return url;
  throw new Refusal(
    exitCodes.failed,
    "IDENTITY_UNAVAILABLE",
    `The issuer ${clean(issuer)} is not an https address, and plain http is for this machine only.`,
    "Serve it over https, or run ctl on the machine where it listens.",
  );
}

export interface DeviceLogin {
  readonly scope: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  show(code: DeviceCode): void;
}

/** Shows a code and waits until it was approved in a browser, refused or ran out. */
export async function deviceLogin(facts: IssuerFacts, login: DeviceLogin): Promise<Tokens> {
  const { oidc, found } = await discover(facts);
  if (found.serverMetadata().device_authorization_endpoint === undefined) {
    const hint = `Set PORTCULLIS_TOKEN to a token that you got in another way.`;
    throw loginRefusal(`The issuer ${facts.issuer} has no device flow.`, hint);
  }
  let started: DeviceAuthorizationResponse;
  try {
    started = await oidc.initiateDeviceAuthorization(found, { scope: login.scope });
  } catch (error) {
    throw issuerFailure(error, facts.issuer);
  }
  login.show({ ...started, verification_uri_complete: started.verification_uri_complete });
  const ask = () => oidc.genericGrantRequest(found, deviceGrant, { device_code: started.device_code });
  return pick(facts, await poll(ask, started, facts.issuer, login), login.clock.now());
}

/**
 * RFC 8628, section 3.5: wait, ask, and wait longer when asked to. The library has such a loop too, but it hears Ctrl-C only every five
 * seconds and gives up at the first lost connection, which a login that lasts minutes must survive.
 */
async function poll(
  ask: () => Promise<TokenEndpointResponse>,
  started: DeviceAuthorizationResponse,
  issuer: string,
  { clock, timers, signal }: DeviceLogin,
): Promise<TokenEndpointResponse> {
  const endsAt = plusMilliseconds(clock.now(), started.expires_in * 1_000);
  let intervalMs = (started.interval ?? 5) * 1_000;
  for (;;) {
    await timers.sleep(intervalMs, signal);
    if (signal.aborted) throw interrupted();
    if (clock.now() >= endsAt) throw loginRefusal(oauthSentences.expired_token);
    try {
      return await ask();
    } catch (error) {
      const answer = (error as { error?: unknown } | undefined)?.error;
      if (answer === "slow_down") intervalMs += 5_000;
      else if (isPassing(error)) intervalMs = Math.min(intervalMs * 2, 30_000);
      else if (answer !== "authorization_pending") throw issuerFailure(error, issuer);
    }
  }
}

/** What passes by itself: a lost connection, no answer in time, an issuer that starts, has too much to do or trouble of its own. */
function isPassing(error: unknown): boolean {
  const status = answeredStatus(error) ?? 0;
  const isLate = (error as { code?: unknown } | undefined)?.code === "OAUTH_TIMEOUT";
  return connectionProblem(error) !== undefined || isLate || status === 429 || status >= 500;
}

/** The library hands on the status of an OAuth error, and the whole answer when it was none. */
function answeredStatus(error: unknown): number | undefined {
  const { status, cause } = (error ?? {}) as { status?: unknown; cause?: unknown };
  if (cause instanceof Response) return cause.status;
  return typeof status === "number" ? status : undefined;
}

/** Only a platform with development operators knows this grant. */
export async function developmentLogin(
  facts: IssuerFacts,
  who: { readonly name: string; readonly password: string; readonly scope: string },
  now: Instant,
): Promise<Tokens> {
  const { oidc, found } = await discover(facts);
  try {
    return pick(facts, await oidc.genericGrantRequest(found, developmentGrant, { ...who }), now);
  } catch (error) {
    throw issuerFailure(error, facts.issuer);
  }
}

export async function renew(
  facts: IssuerFacts,
  kept: Pick<Tokens, "refresh_token" | "token_kind">,
  now: Instant,
): Promise<Tokens> {
  const { oidc, found } = await discover(facts);
  try {
    const response = await oidc.refreshTokenGrant(found, kept.refresh_token ?? "");
    const picked = pick(facts, response, now);
    // An issuer that does not rotate sends no new refresh token: the old one stays good.
    return picked.refresh_token === undefined && kept.refresh_token !== undefined
      ? { ...picked, refresh_token: kept.refresh_token }
      : picked;
  } catch (error) {
    throw issuerFailure(error, facts.issuer);
  }
}

/** Ends a refresh token at its issuer. Answers whether it was done; an issuer may have no such endpoint. */
export async function revoke(facts: IssuerFacts, refreshToken: string): Promise<"revoked" | "no endpoint"> {
  const { oidc, found } = await discover(facts);
  if (found.serverMetadata().revocation_endpoint === undefined) return "no endpoint";
  try {
    await oidc.tokenRevocation(found, refreshToken, { token_type_hint: "refresh_token" });
    return "revoked";
  } catch (error) {
    throw issuerFailure(error, facts.issuer);
  }
}

/** The token that the server will accept: the access token when it is a JWT for that audience, else the ID token. */
function pick(facts: IssuerFacts, response: TokenEndpointResponse, now: Instant): Tokens {
  const refresh = response.refresh_token === undefined ? {} : { refresh_token: response.refresh_token };
  for (const token_kind of ["access_token", "id_token"] as const) {
    const token = response[token_kind];
    const claims = token === undefined ? undefined : claimsOf(token);
    if (token === undefined || claims === undefined || !audiences(claims["aud"]).includes(facts.audience)) continue;
    return { token, token_kind, expires_at: expiry(claims["exp"], response.expires_in, now), ...refresh };
  }
  throw loginRefusal(
    `None of the tokens from ${facts.issuer} is for the audience ${facts.audience}.`,
    "The server's identity.audience and the issuer's client must agree; an administrator can mend that.",
  );
}

function audiences(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function expiry(exp: unknown, expiresInS: number | undefined, now: Instant): string {
  if (typeof exp === "number" && Number.isFinite(exp)) return shortTime(instantOfUnixSeconds(exp));
  return shortTime(plusMilliseconds(now, (expiresInS ?? 0) * 1_000));
}

/** What a JWT says, unverified: the server verifies it, ctl only chooses. Undefined for an opaque token. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const value: unknown = parseJson(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Not JSON inside: then it is no JWT.
    return undefined;
  }
}

const oauthSentences = {
  access_denied: "The login was refused in the browser.",
  expired_token: "The code ran out before it was approved.",
  invalid_grant: "The issuer does not accept this login: it is wrong, ended, ran out or was revoked.",
  invalid_client: "The issuer does not know this client.",
  unauthorized_client: "The issuer does not allow this client to log in this way.",
  unsupported_grant_type: "The issuer does not know this kind of login.",
} as const;

/** The issuer's error in our words. Nothing that was sent is repeated: it may have held a token. */
function issuerFailure(error: unknown, issuer: string): Refusal {
  if (error instanceof Refusal) return error;
  const oauthCode = (error as { error?: unknown } | undefined)?.error;
  if (typeof oauthCode === "string" && !isPassing(error)) {
    const description = (error as { error_description?: unknown }).error_description;
    const said = typeof description === "string" ? ` It says: ${clean(description).slice(0, 300)}` : "";
    const known = (oauthSentences as Readonly<Record<string, string>>)[oauthCode];
    return loginRefusal(known ?? `The issuer answered ${clean(oauthCode).slice(0, 80)}.${said}`);
  }
  const status = answeredStatus(error);
  // On this machine it is the platform's own, which listens before it can log anybody in.
  if (status === 503 && oauthCode === undefined && isLoopback(issuer)) {
    const detail = "The platform is still starting, or its login has trouble (status 503).";
    return new Refusal(exitCodes.unavailable, "IDENTITY_UNAVAILABLE", detail, "Try again in a moment.", error);
  }
  const said = status === undefined ? messageOf(error) : `status ${status}`;
  const why = connectionProblem(error) ?? said;
  const detail = `The issuer ${clean(issuer)} did not answer as it should (${why}).`;
  return new Refusal(exitCodes.unavailable, "IDENTITY_UNAVAILABLE", detail, "`ctl doctor` looks closer.", error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? clean(error.message).slice(0, 200) : "no reason";
}

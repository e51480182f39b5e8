// The code flow with PKCE, at the embedded provider or the user's issuer. Tokens stay in memory; what has to survive the way to the login page and back is
// the verifier of that one login, kept for this tab only and dropped as it is used. At our own origin a login that the browser still has is taken up
// without leaving the page.
import * as oidc from "openid-client";
import { parseJson } from "../../../contracts/src/parse-json.ts";

interface LoginPlace {
  readonly issuer: string;
  readonly clientId: string;
  readonly audience: string;
  readonly scopes: string;
  readonly redirectUri: string;
}

export interface Tokens {
  readonly token: string;
  readonly refreshToken: string | undefined;
  /** In seconds from the answer on. */
  readonly lastsS: number;
}

type LoginResult = { readonly tokens: Tokens; readonly returnTo: string };

const keptPrefix = "portcullis-login:";

export interface Provider {
  /** Leaves for the login page; comes back to `returnTo`. */
  begin(returnTo: string): Promise<void>;
  /** What the address of the callback leads to. */
  complete(callback: URL): Promise<LoginResult>;
  /** A login that this browser still has; undefined when a person has to do something. */
  silently(): Promise<Tokens | undefined>;
  refresh(refreshToken: string): Promise<Tokens | undefined>;
}

export async function openProvider(place: LoginPlace): Promise<Provider> {
  const issuer = new URL(place.issuer);
  const insecure = issuer.protocol === "http:" ? { execute: [oidc.allowInsecureRequests] } : {};
  const found = await oidc.discovery(issuer, place.clientId, undefined, oidc.None(), insecure);
  const isOurs = issuer.origin === new URL(place.redirectUri).origin;

  const asked = async (more: Readonly<Record<string, string>>) => {
    const verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const address = oidc.buildAuthorizationUrl(found, {
      redirect_uri: place.redirectUri,
      scope: place.scopes,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      ...more,
    });
    return { verifier, state, address };
  };
  const redeem = async (callback: URL, verifier: string, state: string): Promise<Tokens> => {
    const answer = await oidc.authorizationCodeGrant(found, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    return chosen(answer, place.audience);
  };

  return {
    async begin(returnTo) {
      const { verifier, state, address } = await asked({});
      for (const key of Object.keys(sessionStorage)) if (key.startsWith(keptPrefix)) sessionStorage.removeItem(key);
      sessionStorage.setItem(`${keptPrefix}${state}`, JSON.stringify({ verifier, returnTo }));
      location.assign(address);
    },
    async complete(callback) {
      const state = callback.searchParams.get("state") ?? "";
      const text = sessionStorage.getItem(`${keptPrefix}${state}`);
      sessionStorage.removeItem(`${keptPrefix}${state}`);
      if (text === null) throw new Error("This login was not begun in this tab, or it was completed before.");
      const { verifier, returnTo } = parseJson(text) as { readonly verifier: string; readonly returnTo: string };
      return { tokens: await redeem(callback, verifier, state), returnTo: ownPath(returnTo) };
    },
    async silently() {
      // Another origin answers no page of ours: there the way leads over its own page, which returns by itself.
      if (!isOurs) return undefined;
      const { verifier, state, address } = await asked({ prompt: "none" });
      const answer = await fetch(address, { credentials: "same-origin" });
      await answer.body?.cancel();
      const end = new URL(answer.url);
      return end.searchParams.has("code") ? redeem(end, verifier, state) : undefined;
    },
    async refresh(refreshToken) {
      try {
        return chosen(await oidc.refreshTokenGrant(found, refreshToken), place.audience);
      } catch {
        // Used, ended or lost on the way: it is not sent a second time, a login that the browser still has helps instead.
        return undefined;
      }
    },
  };
}

/** A path of ours and nothing else: what comes back from storage is not trusted with an address. */
export function ownPath(text: string): string {
  return /^\/(?![/\\])/.test(text) ? text : "/";
}

interface Answered {
  readonly access_token: string;
  readonly id_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
}

/** The token that the server accepts: the access token when it is a JWT for its audience, else the ID token; the server verifies either. */
export function chosen(answer: Answered, audience: string): Tokens {
  const isMeant = (token: string | undefined): boolean => {
    const aud = token === undefined ? undefined : audienceOf(token);
    return Array.isArray(aud) ? aud.includes(audience) : aud === audience;
  };
  const token = [answer.access_token, answer.id_token].find(isMeant);
  if (token === undefined) {
    throw new Error(
      `None of the issuer's tokens is for the audience ${audience}: identity.audience and the issuer's client must agree.`,
    );
  }
  return { token, refreshToken: answer.refresh_token, lastsS: answer.expires_in ?? 60 };
}

function audienceOf(token: string): unknown {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return undefined;
  try {
    return (parseJson(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as { readonly aud?: unknown }).aud;
  } catch {
    // No JSON inside: then it is no JWT.
    return undefined;
  }
}

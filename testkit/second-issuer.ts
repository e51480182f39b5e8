// Any OIDC issuer: one that is not ours, on a port of its own, with its own people, keys and claims. People log in by name alone and
// consent is taken for granted: it shows that the platform works with an issuer that it does not run, not how to run one.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { type Configuration, Provider } from "oidc-provider";
import { openBrowser } from "./form-browser.ts";

export interface SecondIssuerAccount {
  readonly name: string;
  readonly roles: readonly string[];
}

export interface SecondIssuerOptions {
  /** Default: any free one. */
  readonly port?: number;
  readonly accounts: readonly SecondIssuerAccount[];
  /** Where its tokens list roles; dots lead into nested objects. Default: roles. */
  readonly rolesClaim?: string;
  /** With it, access tokens are JWTs meant for this audience; without, they are opaque and only ID tokens can be verified. */
  readonly audience?: string;
  /** What it signs with; default ES256, because a new RSA key takes its time. */
  readonly algorithm?: "ES256" | "RS256";
  /** How long access and ID tokens are good for; default 300. */
  readonly tokenS?: number;
}

export interface SecondIssuer {
  readonly issuer: string;
  readonly clientId: string;
  /** Goes through the pages of the device flow as a browser would, logging in under that name. */
  approve(userCode: string, name: string): Promise<void>;
  /** A token that this issuer signs, with these claims on top of the usual ones of an ID token; null removes one. */
  mint(claims: Readonly<Record<string, unknown>>, options?: { readonly typ?: string }): Promise<string>;
  stop(): Promise<void>;
}

const clientId = "portcullis-elsewhere";
const keyId = "second-issuer-1";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export async function startSecondIssuer(options: SecondIssuerOptions): Promise<SecondIssuer> {
  const algorithm = options.algorithm ?? "ES256";
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const server = createServer();
  await listen(server, options.port ?? 0);
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, await configurationOf(options, privateKey));
  const answer = provider.callback();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const handled = request.url?.startsWith("/interaction/")
      ? interact(provider, options, request, response)
      : answer(request, response);
    void Promise.resolve(handled).catch((thrown: unknown) => response.writeHead(500).end(String(thrown)));
  });
  return {
    issuer,
    clientId,
    approve: (userCode, name) => approve(issuer, userCode, name),
    mint: (claims, minting = {}) => mint({ issuer, algorithm, privateKey, claims, typ: minting.typ ?? "JWT" }),
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}

/** The roles as a token carries them: under one name, or nested. */
function rolesClaims(options: SecondIssuerOptions, name: string): Record<string, unknown> {
  const roles = options.accounts.find((account) => account.name === name)?.roles ?? [];
  const path = (options.rolesClaim ?? "roles").split(".");
  return path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), roles) as Record<string, unknown>;
}

async function configurationOf(options: SecondIssuerOptions, privateKey: CryptoKey): Promise<Configuration> {
  const algorithm = options.algorithm ?? "ES256";
  const jwk = { ...(await exportJWK(privateKey)), kid: keyId, alg: algorithm, use: "sig" };
  const tokenS = options.tokenS ?? 300;
  const [firstStep = "roles"] = (options.rolesClaim ?? "roles").split(".");
  const page = (html: string): string => `<!DOCTYPE html><title>Second issuer</title>${html}`;
  return {
    clients: [
      {
        client_id: clientId,
        client_name: "Portcullis",
        application_type: "native",
        token_endpoint_auth_method: "none",
        grant_types: [deviceGrant, "authorization_code", "refresh_token"],
        response_types: ["code"],
        id_token_signed_response_alg: algorithm,
        redirect_uris: ["http://127.0.0.1/auth/callback"],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["of-a-test-issuer"] },
    claims: { openid: ["sub", firstStep], profile: ["name", "preferred_username"] },
    conformIdTokenClaims: false,
    ttl: {
      AccessToken: tokenS,
      IdToken: tokenS,
      DeviceCode: 600,
      Grant: 3_600,
      Interaction: 600,
      RefreshToken: 3_600,
      Session: 3_600,
    },
    // A page in a browser fetches its tokens from here.
    clientBasedCORS: () => true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_ctx, sub) =>
      options.accounts.some((account) => account.name === sub)
        ? {
            accountId: sub,
            claims: async () => ({ sub, name: sub, preferred_username: sub, ...rolesClaims(options, sub) }),
          }
        : undefined,
    extraTokenClaims: (_ctx, token) =>
      "accountId" in token && typeof token.accountId === "string" ? rolesClaims(options, token.accountId) : undefined,
    loadExistingGrant: grantEverything,
    renderError: (ctx, out) => {
      ctx.type = "html";
      ctx.body = page(`<p role="alert">${out.error}</p>`);
    },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, form, _out, error) => {
          const alert = error === undefined ? "" : `<p role="alert">${error.name}</p>`;
          ctx.body = page(`${alert}${form}<button type="submit" form="op.deviceInputForm">Continue</button>`);
        },
        userCodeConfirmSource: (ctx, form, _client, _device, code) => {
          ctx.body = page(
            `<p>${code}</p>${form}<button type="submit" form="op.deviceConfirmForm" autofocus>Confirm</button>`,
          );
        },
        successSource: (ctx) => {
          ctx.body = page("<p>You are logged in. You can close this page.</p>");
        },
      },
      ...(options.audience === undefined
        ? {}
        : { resourceIndicators: jwtAccessTokens(options.audience, tokenS, algorithm) }),
    },
  };
}

type ResourceIndicators = NonNullable<NonNullable<Configuration["features"]>["resourceIndicators"]>;

function jwtAccessTokens(audience: string, tokenS: number, alg: "ES256" | "RS256"): ResourceIndicators {
  return {
    enabled: true,
    defaultResource: () => `urn:${audience}`,
    useGrantedResource: () => true,
    getResourceServerInfo: () => ({
      scope: "",
      audience,
      accessTokenTTL: tokenS,
      accessTokenFormat: "jwt",
      jwt: { sign: { alg } },
    }),
  };
}

const grantEverything: NonNullable<Configuration["loadExistingGrant"]> = async (ctx) => {
  const { provider, client, session, requestParamScopes } = ctx.oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const known = session.grantIdFor(client.clientId);
  const found = known === undefined ? undefined : await provider.Grant.find(known);
  const grant = found ?? new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope([...requestParamScopes].join(" "));
  await grant.save();
  return grant;
};

/** The login page: whoever names an account is that account. */
async function interact(
  provider: Provider,
  options: SecondIssuerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "POST") {
    const { prompt } = await provider.interactionDetails(request, response);
    // Native clients are always asked for consent; here it is given at once.
    if (prompt.name === "consent") {
      return provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
    }
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(`<!DOCTYPE html><html lang="en"><title>Second issuer</title><form method="post" action="${request.url}">
<label>Name <input name="name" autofocus></label><button type="submit">Log in</button></form></html>`);
    return;
  }
  const name = new URLSearchParams(await bodyOf(request)).get("name") ?? "";
  const isKnown = options.accounts.some((account) => account.name === name);
  const refusal = { error: "access_denied", error_description: "there is nobody of that name" };
  await provider.interactionFinished(request, response, isKnown ? { login: { accountId: name } } : refusal);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > 10_000) throw new Error("the form is too long");
  }
  return text;
}

async function approve(issuer: string, userCode: string, name: string): Promise<void> {
  const browser = openBrowser();
  await browser.open(`${issuer}/device`);
  await browser.submit({ user_code: userCode });
  await browser.submit({});
  const last = await browser.submit({ name });
  if (!last.includes("You are logged in")) throw new Error(`the device flow did not end well: ${last.slice(0, 500)}`);
}

interface Minting {
  readonly issuer: string;
  readonly algorithm: string;
  readonly privateKey: CryptoKey;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly typ: string;
}

async function mint({ issuer, algorithm, privateKey, claims, typ }: Minting): Promise<string> {
  const nowS = Math.floor(Date.now() / 1_000);
  const usual: Record<string, unknown> = { iss: issuer, aud: clientId, sub: "somebody", iat: nowS, exp: nowS + 300 };
  const payload = Object.fromEntries(
    Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== null),
  ) as JWTPayload;
  return new SignJWT(payload).setProtectedHeader({ alg: algorithm, kid: keyId, typ }).sign(privateKey);
}

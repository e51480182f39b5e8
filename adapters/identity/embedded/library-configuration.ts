// What the library is told to be: two public clients, the device flow and the code flow with PKCE, signed access tokens for the platform,
// refresh tokens that are used once, and nothing else.
import type { ClientMetadata, Configuration, JWK } from "oidc-provider";
import * as instant from "../../../contracts/src/instant.ts";
import { accountFinder, checkLengths, loginPolicy, personOf, remainingS } from "./accounts.ts";
import { deskGrant } from "./desk-grant.ts";
import { developmentGrantType } from "./development-grant.ts";
import { deviceInfoOf, libraryPages } from "./device-pages.ts";
import { accepted, type KeyRing } from "./key-ring.ts";
import type { Library } from "./load-library.ts";
import {
  cliClientId,
  type EmbeddedProviderOptions,
  resourceIndicator,
  scopes,
  sessionCookieName,
  webClientId,
} from "./options.ts";
import { resourceServer } from "./resource-server.ts";
import { createStateAdapter, type StateOptions, sessionIdOf } from "./state-adapter.ts";

export interface LibraryOptions extends EmbeddedProviderOptions {
  readonly library: Library;
  readonly state: StateOptions;
  readonly cookieKeys: readonly string[];
  readonly redirectUris: readonly string[];
  readonly formOrigins: readonly string[];
}

const codeS = 60;
const deviceCodeS = 600;
const interactionS = 900;
/** A browser that has not logged in yet. */
const strangerS = 900;

export function libraryConfiguration(options: LibraryOptions, ring: KeyRing): Configuration {
  const issuer = new URL(options.issuer);
  const cookie = { httpOnly: true, sameSite: "lax", signed: true, secure: issuer.protocol === "https:" } as const;
  return {
    adapter: (model) => createStateAdapter(model, options.state),
    clients: clients(options),
    jwks: { keys: accepted(ring).map((key) => ({ ...key.jwk, kid: key.kid, alg: "ES256", use: "sig" }) as JWK) },
    cookies: {
      keys: [...options.cookieKeys],
      names: { session: sessionCookieName, interaction: "portcullis_interaction", resume: "portcullis_resume" },
      long: { ...cookie, path: issuer.pathname },
      short: cookie,
    },
    clientAuthMethods: ["none"],
    clientDefaults: { id_token_signed_response_alg: "ES256", token_endpoint_auth_method: "none" },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    responseTypes: ["code"],
    scopes: [...scopes],
    claims: { openid: ["sub"], profile: ["name", "preferred_username", "roles"], auth_time: null, amr: null },
    conformIdTokenClaims: false,
    clockTolerance: 5,
    // The library takes a page of our own origin for a foreign one; it is the only one that may.
    clientBasedCORS: (_context, origin, client) => client.clientId === webClientId && origin === issuer.origin,
    pkce: { required: () => true },
    features: features(options),
    interactions: {
      policy: loginPolicy(options.library),
      url: (_context, interaction) => `${issuer.pathname}/interaction/${interaction.uid}`,
    },
    findAccount: accountFinder(options),
    renderError: libraryPages(options.formOrigins).renderError,
    extraTokenClaims: (context, token) => {
      const person = personOf(context.oidc.account);
      const grantId = "grantId" in token ? token.grantId : undefined;
      if (person === undefined || grantId === undefined) return undefined;
      return { name: person.name, roles: [...person.roles], sid: sessionIdOf(grantId) };
    },
    ...lasting(options),
  };
}

function clients(options: LibraryOptions): ClientMetadata[] {
  const cliGrants = ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"];
  return [
    {
      client_id: cliClientId,
      client_name: "Portcullis command line",
      application_type: "native",
      grant_types: options.development ? [...cliGrants, developmentGrantType] : cliGrants,
      response_types: [],
      redirect_uris: [],
    },
    {
      client_id: webClientId,
      client_name: "Portcullis web desk",
      application_type: "web",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      response_modes: ["query"],
      redirect_uris: [...options.redirectUris],
      post_logout_redirect_uris: options.redirectUris.map((uri) => new URL("/", uri).href),
    },
  ];
}

/** Said one by one, because some are on by default and the next release may turn on more: what is not needed is not there to attack. */
const unused = {
  attestClientAuth: { enabled: false },
  backchannelLogout: { enabled: false },
  ciba: { enabled: false },
  claimsParameter: { enabled: false },
  clientCredentials: { enabled: false },
  clientIdMetadataDocument: { enabled: false },
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  encryption: { enabled: false },
  externalSigningSupport: { enabled: false },
  fapi: { enabled: false },
  introspection: { enabled: false },
  jwtIntrospection: { enabled: false },
  jwtResponseModes: { enabled: false },
  jwtUserinfo: { enabled: false },
  mTLS: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  registration: { enabled: false },
  registrationManagement: { enabled: false },
  requestObjects: { enabled: false },
  richAuthorizationRequests: { enabled: false },
  rpMetadataChoices: { enabled: false },
  userinfo: { enabled: false },
  webMessageResponseMode: { enabled: false },
} as const satisfies Configuration["features"];

function features(options: LibraryOptions): NonNullable<Configuration["features"]> {
  const pages = libraryPages(options.formOrigins);
  const parent = new URL(".", options.issuer).href.replace(/\/$/, "");
  const names = new Set([resourceIndicator, parent, `${parent}/`]);
  return {
    ...unused,
    deviceFlow: {
      enabled: true,
      charset: "base-20",
      mask: "****-****",
      deviceInfo: (context) => {
        checkLengths(context, options.library);
        return deviceInfoOf(context);
      },
      userCodeInputSource: pages.userCodeInputSource,
      userCodeConfirmSource: pages.userCodeConfirmSource,
      successSource: pages.successSource,
    },
    revocation: { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: pages.logoutSource,
      postLogoutSuccessSource: pages.postLogoutSuccessSource,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resourceIndicator,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, indicator) => {
        if (!names.has(indicator)) throw new options.library.errors.InvalidTarget();
        return resourceServer(options.accessTokenS);
      },
    },
  };
}

/** How long things last. Whatever a login brings forth ends with the login. */
function lasting(options: LibraryOptions): Configuration {
  const left = (loginS: number | undefined): number => {
    const since = loginS ?? Math.floor(instant.toUnixMs(options.clock.now()) / 1_000);
    return Math.max(1, remainingS(since, options));
  };
  return {
    ttl: {
      AccessToken: options.accessTokenS,
      IdToken: options.accessTokenS,
      AuthorizationCode: codeS,
      DeviceCode: deviceCodeS,
      Interaction: interactionS,
      Grant: options.sessionS,
      RefreshToken: (_context, token) => left(token.authTime ?? token.iiat),
      Session: (_context, session) => (session.loginTs === undefined ? strangerS : left(session.loginTs)),
    },
    rotateRefreshToken: true,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    // The web desk's tokens end when its browser logs out; a device's do not.
    expiresWithSession: (context) => context.oidc.client?.clientId === webClientId,
    // Every approval is a grant of its own: an older one is never taken up again. Our own desk needs no approval.
    loadExistingGrant: async (context) => {
      const grantId = context.oidc.result?.consent?.grantId;
      return grantId === undefined
        ? deskGrant(context, options.state.scope)
        : context.oidc.provider.Grant.find(grantId);
    },
    revokeGrantPolicy: () => true,
  };
}

// Logging in with a name and a password at the token endpoint, for development only: `ctl auth login --dev` and tests have no browser. What
// comes of it is a session like any other, with its events, its refresh token and its end.
import type { TokenEndpointGrantContext } from "oidc-provider";
import * as instant from "../../../contracts/src/instant.ts";
import { accountOf } from "./accounts.ts";
import type { Library, ProviderInstance } from "./load-library.ts";
import { newGrant } from "./new-grant.ts";
import { type EmbeddedProviderOptions, resourceIndicator, scopes } from "./options.ts";
import { remoteAddressOf } from "./request-scope.ts";
import { resourceServer } from "./resource-server.ts";

export const developmentGrantType = "urn:portcullis:params:oauth:grant-type:development";

interface Parameters {
  readonly name?: unknown;
  readonly password?: unknown;
}

type Context = TokenEndpointGrantContext<Parameters>;

type DevelopmentGrantOptions = Pick<EmbeddedProviderOptions, "people" | "clock" | "accessTokenS"> & {
  readonly library: Library;
};

export function registerDevelopmentGrant(provider: ProviderInstance, options: DevelopmentGrantOptions): void {
  const { CustomOIDCProviderError, InvalidRequest } = options.library.errors;
  const refusal = (context: Context, retryAfterS: number | undefined): Error => {
    if (retryAfterS === undefined)
      return new CustomOIDCProviderError("invalid_grant", "the name or the password is wrong");
    const seconds = Math.ceil(retryAfterS);
    context.set("retry-after", String(seconds));
    return new CustomOIDCProviderError("invalid_grant", `too many attempts; try again in ${seconds} s`);
  };
  const handle = async (context: Context): Promise<void> => {
    const { name, password } = context.oidc.params;
    if (typeof name !== "string" || typeof password !== "string" || name === "" || password === "") {
      throw new InvalidRequest("name and password are needed");
    }
    const proved = await options.people.authenticate(name, password, remoteAddressOf(context.req));
    if (!proved.ok) throw refusal(context, proved.retryAfterS);
    context.oidc.entity("Account", accountOf(proved));
    context.body = await issueTokens(provider, context, proved.name, options);
  };
  provider.registerGrantType(developmentGrantType, handle, ["name", "password"]);
}

async function issueTokens(
  provider: ProviderInstance,
  context: Context,
  accountId: string,
  options: DevelopmentGrantOptions,
): Promise<object> {
  const { client } = context.oidc;
  const scope = scopes.join(" ");
  const grant = newGrant(provider, { accountId, clientId: client.clientId, scope });
  const grantId = await grant.save();
  context.oidc.entity("Grant", grant);
  const login = { accountId, client, grantId, gty: "development", scope };

  const access = new provider.AccessToken({ ...login, scope: "" });
  access.resourceServer = new provider.ResourceServer(resourceIndicator, resourceServer(options.accessTokenS));
  context.oidc.entity("AccessToken", access);
  const accessToken = await access.save();

  const authTime = Math.floor(instant.toUnixMs(options.clock.now()) / 1_000);
  const refresh = new provider.RefreshToken({
    ...login,
    authTime,
    amr: ["pwd"],
    resource: resourceIndicator,
    rotations: 0,
  });
  context.oidc.entity("RefreshToken", refresh);
  const refreshToken = await refresh.save();

  const claims = await context.oidc.account?.claims("id_token", scope, {}, []);
  const idToken = new provider.IdToken({ ...claims, auth_time: authTime, amr: ["pwd"] }, { ctx: context });
  Object.assign(idToken, { scope });
  return {
    access_token: accessToken,
    expires_in: access.expiration,
    id_token: await idToken.issue({ use: "idtoken" }),
    refresh_token: refreshToken,
    scope,
    token_type: "Bearer",
  };
}

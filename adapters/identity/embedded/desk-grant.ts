// The web desk is our own client: whoever logs in here is not asked to approve it, so that a reload returns without a click. One grant belongs to one
// login of a browser: its tabs are one session. A session whose grant was ended is not found any more (state-adapter.ts), so what is kept here lives.
import type { Grant, KoaContextWithOIDC } from "oidc-provider";
import { newGrant } from "./new-grant.ts";
import { scopes, webClientId } from "./options.ts";
import type { RequestScope } from "./request-scope.ts";

/** The grant under which this browser's desk has its tokens; undefined for every other client, which asks for approval. */
export async function deskGrant(context: KoaContextWithOIDC, scope: RequestScope): Promise<Grant | undefined> {
  const { client, session, params, provider } = context.oidc;
  if (client?.clientId !== webClientId || session?.accountId === undefined) return undefined;
  // Somebody else may be about to log in: what ends with the older login must not take theirs along.
  if (context.oidc.prompts.has("login") && context.oidc.result?.login === undefined) return undefined;
  const kept = await keptGrant(context);
  if (kept !== undefined) return kept;
  const asked = String(params?.["scope"] ?? "").split(" ");
  const grant = newGrant(provider, {
    accountId: session.accountId,
    clientId: webClientId,
    scope: scopes.filter((name) => asked.includes(name)).join(" "),
  });
  await scope.granting({ sessionUid: session.uid }, () => grant.save());
  return grant;
}

/** Of this login: one from before the last password belongs to a login that is over. */
async function keptGrant({ oidc }: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { session, provider } = oidc;
  const grantId = session?.grantIdFor(webClientId);
  if (grantId === undefined || session?.loginTs === undefined) return undefined;
  const grant = await provider.Grant.find(grantId);
  const isOurs = grant?.accountId === session.accountId && (grant?.iat ?? 0) >= session.loginTs;
  return isOurs ? grant : undefined;
}

// The web desk is our own client: whoever logs in here is not asked to approve it, so that a reload returns without a click. One grant belongs to one
// login of a browser: its tabs are one session, and ending that session ends the login of the browser as well.
import type { Grant, KoaContextWithOIDC } from "oidc-provider";
import * as instant from "../../../contracts/src/instant.ts";
import type { Library } from "./load-library.ts";
import { newGrant } from "./new-grant.ts";
import { actorOf, type EmbeddedProviderOptions, scopes, subjectOf, webClientId } from "./options.ts";
import { sessionIdOf } from "./state-adapter.ts";

type DeskOptions = Pick<EmbeddedProviderOptions, "issuer" | "revocations" | "clock">;

/** The grant under which this browser's desk has its tokens; undefined for every other client, which asks for approval. */
export async function deskGrant(context: KoaContextWithOIDC, options: DeskOptions): Promise<Grant | undefined> {
  const { client, session, params, provider } = context.oidc;
  if (client?.clientId !== webClientId || session?.accountId === undefined) return undefined;
  // Somebody else may be about to log in: what ends with the older login must not take theirs along.
  if (context.oidc.prompts.has("login") && context.oidc.result?.login === undefined) return undefined;
  const kept = await keptGrant(context);
  // One that was ended is not replaced: the check below asks for the password first.
  if (kept !== undefined) return (await isEnded(kept, session.accountId, options)) ? undefined : kept;
  const asked = String(params?.["scope"] ?? "").split(" ");
  const grant = newGrant(provider, {
    accountId: session.accountId,
    clientId: webClientId,
    scope: scopes.filter((scope) => asked.includes(scope)).join(" "),
  });
  await grant.save();
  return grant;
}

/** Whether the desk's session of this very login was ended: then the password is asked for again. */
async function isDeskLoggedOut(context: KoaContextWithOIDC, options: DeskOptions): Promise<boolean> {
  const { client, session } = context.oidc;
  if (client?.clientId !== webClientId || session?.accountId === undefined) return false;
  const kept = await keptGrant(context);
  return kept !== undefined && (await isEnded(kept, session.accountId, options));
}

/** Of this login: one from before the last password belongs to a session that is over. */
async function keptGrant({ oidc }: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { session, provider } = oidc;
  const grantId = session?.grantIdFor(webClientId);
  if (grantId === undefined || session?.loginTs === undefined) return undefined;
  const grant = await provider.Grant.find(grantId);
  const isOurs = grant?.accountId === session.accountId && (grant?.iat ?? 0) >= session.loginTs;
  return isOurs ? grant : undefined;
}

async function isEnded(grant: Grant, name: string, { issuer, revocations, clock }: DeskOptions): Promise<boolean> {
  return revocations.isRevoked({
    sessionId: sessionIdOf(grant.jti),
    subject: subjectOf(issuer, name),
    actor: actorOf(name),
    issuedAt: instant.earlier(instant.fromUnixMs((grant.iat ?? 0) * 1_000), clock.now()),
  });
}

/** One more question before a code is given. */
export function loggedOutCheck(library: Library, options: DeskOptions) {
  return new library.policy.Check("desk_logged_out", "the desk was logged out", (context) =>
    isDeskLoggedOut(context, options),
  );
}

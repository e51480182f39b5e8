// What an approval leads to: a grant of a person to a client, for our API and nothing else.
import type { ProviderInstance } from "./load-library.ts";
import { resourceIndicator } from "./options.ts";

export function newGrant(
  provider: Pick<ProviderInstance, "Grant">,
  facts: { readonly accountId: string; readonly clientId: string; readonly scope: string },
): InstanceType<ProviderInstance["Grant"]> {
  const grant = new provider.Grant({ accountId: facts.accountId, clientId: facts.clientId });
  grant.addOIDCScope(facts.scope);
  grant.addResourceScope(resourceIndicator, "");
  return grant;
}

// Opens oidc-provider only where it is needed, and by its inner files: the package's front door writes to the terminal on a runtime
// that it does not test, and the terminal belongs to the operator. The version is pinned, and a test opens every file named here.
import { Defect } from "../../../contracts/src/fault.ts";

export async function loadLibrary() {
  const [{ Provider }, errors, { AlreadyUsedError }, policy] = await Promise.all([
    import("oidc-provider/lib/provider.js"),
    import("oidc-provider/lib/helpers/errors.js"),
    import("oidc-provider/lib/helpers/re_render_errors.js"),
    import("oidc-provider/lib/helpers/interaction_policy/index.js"),
  ]);
  return { Provider, errors, AlreadyUsedError, policy };
}

export type Library = Awaited<ReturnType<typeof loadLibrary>>;
export type ProviderInstance = InstanceType<Library["Provider"]>;

/** The library names its stored things after its classes; a bundler that renames a class would make old rows unreadable. */
export function checkModelNames(provider: ProviderInstance): void {
  const { AccessToken, AuthorizationCode, DeviceCode, Grant, Interaction, RefreshToken, Session } = provider;
  const models = { AccessToken, AuthorizationCode, DeviceCode, Grant, Interaction, RefreshToken, Session };
  for (const [name, model] of Object.entries(models)) {
    if (model.name !== name)
      throw new Defect(`oidc-provider's ${name} is called ${model.name}: it must not be bundled`);
  }
}

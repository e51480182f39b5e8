// Types for the files of oidc-provider that load-library.ts opens directly; the package itself describes only its front door.
declare module "oidc-provider/lib/provider.js" {
  import type { Provider as ProviderClass } from "oidc-provider";
  export const Provider: typeof ProviderClass;
}

declare module "oidc-provider/lib/helpers/errors.js" {
  import type { errors } from "oidc-provider";
  export const CustomOIDCProviderError: typeof errors.CustomOIDCProviderError;
  export const InvalidGrant: typeof errors.InvalidGrant;
  export const InvalidRequest: typeof errors.InvalidRequest;
  export const InvalidTarget: typeof errors.InvalidTarget;
  export const SessionNotFound: typeof errors.SessionNotFound;
}

declare module "oidc-provider/lib/helpers/re_render_errors.js" {
  /** Shows the page for a device's code again, with its own sentence. */
  export class AlreadyUsedError extends Error {
    constructor(userCode?: string);
  }
}

declare module "oidc-provider/lib/helpers/interaction_policy/index.js" {
  import type { interactionPolicy } from "oidc-provider";
  export const base: typeof interactionPolicy.base;
  export const Check: typeof interactionPolicy.Check;
}

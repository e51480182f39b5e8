// The section `identity` of the configuration: the embedded provider's times, or your own issuer and how its tokens are read.
import { z } from "zod";
import { roles } from "../../contracts/src/authority.ts";
import { key } from "./key-facts.ts";
import { dayS, section, text, whole } from "./key-forms.ts";
import { isIssuerUrl } from "./value-forms.ts";

/** Where a claim stands in a token: names with dots between them. */
const claim = (standard: string, environment: string, sentence: string) =>
  key(
    z
      .string()
      .regex(/^[^\s.]+(\.[^\s.]+)*$/)
      .max(256)
      .default(standard),
    { sentence, environment, expected: "a claim's name; dots lead into nested objects, as in realm_access.roles" },
  );

export const identity = section({
  issuer: key(z.string().refine(isIssuerUrl).optional(), {
    sentence: "Your own OIDC issuer; its people replace those of the embedded provider.",
    environment: "PORTCULLIS_OIDC_ISSUER",
    expected: "a URL such as https://login.example/realms/desk; http:// only to this machine",
    whenAbsent: "the embedded provider",
  }),
  client_id: key(text(256).optional(), {
    sentence: "The id under which your issuer knows Portcullis; a public client that may use the device flow.",
    environment: "PORTCULLIS_OIDC_CLIENT_ID",
    expected: "text of 1 to 256 characters",
    whenAbsent: "none; needed with `identity.issuer`",
  }),
  web_client_id: key(text(256).optional(), {
    sentence:
      "The id under which your issuer knows the web desks; a public client with the code flow, PKCE and the address /auth/callback.",
    environment: "PORTCULLIS_OIDC_WEB_CLIENT_ID",
    expected: "text of 1 to 256 characters",
    whenAbsent: "`identity.client_id`",
  }),
  audience: key(text(256).optional(), {
    sentence: "Whom a token of your issuer must be meant for.",
    environment: "PORTCULLIS_OIDC_AUDIENCE",
    expected: "text of 1 to 256 characters",
    whenAbsent: "`identity.client_id`, which is what ID tokens name",
  }),
  scopes: key(
    z
      .string()
      .regex(/^[!#-[\]-~]+( [!#-[\]-~]+)*$/)
      .max(1_024)
      .default("openid profile offline_access"),
    {
      sentence: "The scopes that `ctl` asks your issuer for.",
      environment: "PORTCULLIS_OIDC_SCOPES",
      expected: "scopes separated by single spaces",
    },
  ),
  roles_claim: claim("roles", "PORTCULLIS_OIDC_ROLES_CLAIM", "The claim of your issuer's tokens that lists the roles."),
  name_claim: claim("sub", "PORTCULLIS_OIDC_NAME_CLAIM", "The claim that names the person in records."),
  role_names: z.record(text(256), key(z.enum(roles), { sentence: "Our role for that value." })).default({}),
  access_token_s: key(whole(30, 3_600).default(300), {
    sentence: "How long a token of the embedded provider is good for, in seconds.",
    environment: "PORTCULLIS_ACCESS_TOKEN_S",
  }),
  session_s: key(whole(300, 30 * dayS).default(43_200), {
    sentence: "How long a login at the embedded provider lasts before the password is asked again, in seconds.",
    environment: "PORTCULLIS_SESSION_S",
  }),
  signing_key_s: key(whole(3_600, 3_650 * dayS).default(30 * dayS), {
    sentence: "The age at which the embedded provider replaces the key that signs tokens, in seconds.",
    environment: "PORTCULLIS_SIGNING_KEY_S",
  }),
});

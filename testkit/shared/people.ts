// People of one test file on the shared platform, made as an administrator makes them, each with a second factor of their own: codes are good once, and
// a login that one file ends must not be that of another. They are locked out again when the file ends.
import { TOTP } from "otpauth";
import { type DevelopmentOperator, logInAs } from "../login.ts";
import type { RunningPlatform } from "../platform.ts";
import type { Asking } from "./asking.ts";

/** As the development operators have them. */
const rolesOf = {
  duty: ["operator", "risk_officer", "admin"],
  relief: ["operator", "risk_officer"],
  viewer: ["viewer"],
} as const;

export type PersonKind = keyof typeof rolesOf;

export async function makePerson(
  platform: RunningPlatform,
  { ask, askProven }: Asking,
  kind: PersonKind,
  name: string,
): Promise<DevelopmentOperator> {
  const roles = rolesOf[kind];
  const named = { action: "AddOperator", parameters: { name, roles } } as const;
  const added = await askProven("POST", "/v1/auth/operators", named, { name, roles, reason: "a person of a test" });
  const { password } = added as { readonly password: string };
  const person = { name, roles, password, totp_secret: "" };
  const { access_token: token } = await logInAs(platform, person);
  const begun = await ask("POST", "/v1/auth/second-factor", {}, token);
  const { secret } = begun as { readonly secret: string };
  // A step back, so that the codes of now are still theirs.
  const code = new TOTP({ secret }).generate({ timestamp: Date.now() - 30_000 });
  await ask("POST", "/v1/auth/second-factor/confirm", { code }, token);
  return { ...person, totp_secret: secret };
}

export async function lockOut({ askProven }: Asking, name: string): Promise<void> {
  const named = { action: "DisableOperator", parameters: { name, keep_tokens: true } } as const;
  const body = { keep_tokens: true, reason: "the test file of theirs has ended" };
  await askProven("POST", `/v1/auth/operators/${name}/disable`, named, body);
}

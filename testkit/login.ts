// Tokens of the development operators of a running platform, got as `ctl auth login --dev` gets them, for tests that call it from outside.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { fetchOnNewConnection } from "./http/fetch-on-new-connection.ts";
import type { RunningPlatform } from "./platform.ts";

export interface DevelopmentOperator {
  readonly name: string;
  readonly roles: readonly string[];
  readonly password: string;
  readonly totp_secret: string;
}

export interface DevelopmentCredentials {
  readonly operators: readonly DevelopmentOperator[];
  readonly service_token: string;
}

export interface LoginTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly expires_in: number;
}

export function developmentCredentials(dataFolder: string): DevelopmentCredentials {
  return JSON.parse(readFileSync(join(dataFolder, "dev-credentials.json"), "utf8")) as DevelopmentCredentials;
}

export function developmentOperator(dataFolder: string, name: string): DevelopmentOperator {
  const found = developmentCredentials(dataFolder).operators.find((operator) => operator.name === name);
  if (found === undefined) throw new Error(`there is no development operator ${name}`);
  return found;
}

export function operatorUrl(platform: RunningPlatform): string {
  return `http://${platform.runFile().addresses["gateway"]}`;
}

/** Asks the token endpoint; the answer's status and document, whatever they are. */
export async function askToken(
  base: string,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const answer = await fetchOnNewConnection(`${base}/oidc/token`, {
    method: "POST",
    body: new URLSearchParams({ ...form }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** A person, or a development operator by name. */
export type Who = string | DevelopmentOperator;

export const personOf = (platform: RunningPlatform, who: Who): DevelopmentOperator =>
  typeof who === "string" ? developmentOperator(platform.dataFolder, who) : who;

export async function logInAs(platform: RunningPlatform, who: Who): Promise<LoginTokens> {
  const { name, password } = personOf(platform, who);
  const { status, body } = await askToken(operatorUrl(platform), {
    grant_type: "urn:portcullis:params:oauth:grant-type:development",
    client_id: "portcullis-cli",
    scope: "openid profile offline_access",
    name,
    password,
  });
  if (status !== 200) throw new Error(`the login of ${name} was refused: ${JSON.stringify(body)}`);
  return body as unknown as LoginTokens;
}

/** The token that health checks and metrics of a test use; asked anew each time, because tokens are short-lived. */
export async function bearerOf(platform: RunningPlatform, who: Who): Promise<Readonly<Record<string, string>>> {
  return { authorization: `Bearer ${(await logInAs(platform, who)).access_token}` };
}

/** A token for a program of ours with these rights, issued as an administrator does it: with the code of a second factor. */
export async function issueServiceToken(
  platform: RunningPlatform,
  name: string,
  operations: readonly string[],
): Promise<string> {
  const headers = { ...(await bearerOf(platform, "duty")), "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const document = (await answer.json()) as Record<string, unknown>;
    if (answer.status !== 201) throw new Error(`${path} was refused: ${JSON.stringify(document)}`);
    return document;
  };
  const parameters = { name, operations, expires_in_s: 86_400 };
  const totp = new TOTP({ secret: developmentOperator(platform.dataFolder, "duty").totp_secret }).generate();
  const { proof } = await post("/v1/auth/step-up", { action: "IssueServiceToken", parameters, totp });
  return String((await post("/v1/service-tokens", { ...parameters, step_up_proof: proof }))["token"]);
}

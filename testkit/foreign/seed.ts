// Seeds the LIVE fund of the guide on a running platform, from the files that the guide shows, beside whatever is there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { bearerOf, developmentOperator, operatorUrl } from "../login.ts";
import { type Platform, pause } from "../platform.ts";

const seeds = join(import.meta.dirname, "..", "..", "examples", "seed");
const kinds = ["calendars", "instruments", "funds"] as const;
const waitMsMax = 60_000;
type Content = readonly Readonly<Record<string, unknown>>[];

export function seedOf(name: string): unknown {
  return JSON.parse(readFileSync(join(seeds, `${name}.json`), "utf8"));
}

export async function askAs(
  platform: Platform,
  method: string,
  path: string,
  body?: object,
  /** A proof is good in the login that made it alone. */
  login?: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const headers = { ...(login ?? (await bearerOf(platform, "duty"))), "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { method, headers, ...sent });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** Of the development token, which tests publish with. */
const valuer = "order-management";

export async function seedForeignFund(platform: Platform): Promise<void> {
  for (const kind of kinds) {
    const { body: before } = await askAs(platform, "GET", `/v1/treasury/reference/${kind}`);
    const seeded = (seedOf(kind) as Content).map((one) => (kind === "funds" ? { ...one, valued_by: valuer } : one));
    const content = [...(before["content"] as Content), ...seeded];
    const document = { version: Number(before["version"]) + 1, content, reason: "seeded by a test" };
    const { status, body } = await askAs(platform, "PUT", `/v1/treasury/reference/${kind}`, document);
    if (status !== 200) throw new Error(`${kind} were refused: ${JSON.stringify(body)}`);
  }
  await limit(platform);
}

/** Tried again, because the risk engine hears of the fund over the bus, and because a code opens one action. */
async function limit(platform: Platform): Promise<void> {
  const envelope = { ...(seedOf("envelope") as object), version: 1, reason: "seeded by a test" };
  const secret = developmentOperator(platform.dataFolder, "duty").totp_secret;
  const login = await bearerOf(platform, "duty");
  let refused: unknown;
  for (const until = Date.now() + waitMsMax; Date.now() < until; await pause(5_000)) {
    const totp = new TOTP({ secret }).generate();
    const action = { action: "UpdateEnvelope", parameters: envelope, totp };
    const proved = await askAs(platform, "POST", "/v1/auth/step-up", action, login);
    const changed = { ...envelope, step_up_proof: proved.body["proof"] };
    const done = await askAs(platform, "PUT", "/v1/riskengine/envelopes/harbor", changed, login);
    if (done.status === 200) return;
    refused = [proved.status === 201 ? "proved" : proved.body, done.body];
  }
  throw new Error(`the limits were refused: ${JSON.stringify(refused)}`);
}

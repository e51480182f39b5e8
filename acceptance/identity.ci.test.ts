// Who may call, over restarts: what a platform that was killed knows of logins and keys when it comes back, what it never wrote, and who is gone in production.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { askToken, developmentCredentials, logInAs, operatorUrl } from "../testkit/login.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";

const folder = temporaryFolder("identity-restarts");
const environment = { PORTCULLIS_ACCESS_TOKEN_S: "120", PORTCULLIS_LOG_LEVEL: "debug" };
let platform: Platform;
let earlierOutput = "";
/** Everything that must not be found in anything that was written. */
const secrets = new Set<string>();

beforeAll(async () => {
  giveMadeDatabase(join(folder, "data"));
  platform = startPlatform({ dataFolder: join(folder, "data"), environment });
  await platform.ready();
}, 120_000);

afterAll(async () => {
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function identityStatus(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/auth/identity`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

async function limitsStatus(token: string): Promise<string> {
  const client = testClient(addressOf(platform, "riskengine"), { token });
  try {
    return (await client.call("RiskEngine", "GetEnvelope", { fund_id: "nobody" }, { deadlineMs: 20_000 })).status;
  } finally {
    client.close();
  }
}

function refresh(token: string): ReturnType<typeof askToken> {
  const form = { grant_type: "refresh_token", client_id: "portcullis-cli", refresh_token: token };
  return askToken(operatorUrl(platform), form);
}

function filesUnder(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe("from outside", { timeout: 120_000 }, () => {
  test("after kill -9 and a restart on a free port, logins, keys and used codes are as they were", async () => {
    const tokens = await logInAs(platform, "duty");
    for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token]) secrets.add(token);
    const { port } = new URL(operatorUrl(platform));
    earlierOutput += platform.stdout() + platform.stderr();
    platform.signal("SIGKILL");
    await platform.exited;
    await eventually("everything ended", () => platform.processes().length === 0);
    platform = startPlatform({ dataFolder: join(folder, "data"), environment });
    await platform.ready();
    expect(new URL(operatorUrl(platform)).port).toBe(port);
    expect(await identityStatus(tokens.access_token)).toBe(200);
    expect(await limitsStatus(tokens.access_token)).toBe("NOT_FOUND");
    const renewed = await refresh(tokens.refresh_token);
    expect(renewed.status).toBe(200);
    for (const name of ["access_token", "refresh_token"]) secrets.add(String(renewed.body[name]));
    // Using the old one again is theft or a copy: the whole login ends.
    expect((await refresh(tokens.refresh_token)).status).toBe(400);
    expect((await refresh(String(renewed.body["refresh_token"]))).status).toBe(400);
  });

  test("nothing that was written over the restart has a password, a code's secret or a token in clear", async () => {
    const credentials = developmentCredentials(platform.dataFolder);
    for (const { password, totp_secret } of credentials.operators) secrets.add(password).add(totp_secret);
    secrets.add(credentials.service_token);
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
    const written = new Map<string, Buffer>([
      ["the output", Buffer.from(earlierOutput + platform.stdout() + platform.stderr())],
    ]);
    for (const path of filesUnder(platform.dataFolder))
      if (!path.endsWith("dev-credentials.json")) written.set(path, readFileSync(path));
    expect(written.size).toBeGreaterThan(100);
    const inClear = [...written].flatMap(([where, bytes]) =>
      [...secrets].filter((secret) => bytes.includes(secret)).map((secret) => `${secret.slice(0, 6)}… in ${where}`),
    );
    expect(inClear).toEqual([]);
  });

  test("in production the development operators are gone", async () => {
    platform = startPlatform({
      dataFolder: join(folder, "data"),
      environment: { ...environment, PORTCULLIS_MODE: "production" },
    });
    await platform.ready();
    await expect.poll(() => platform.health()).toBe(200);
    expect(existsSync(join(platform.dataFolder, "dev-credentials.json"))).toBe(false);
    const asked = await askToken(operatorUrl(platform), {
      grant_type: "urn:portcullis:params:oauth:grant-type:development",
      client_id: "portcullis-cli",
      name: "duty",
      password: "whatever",
    });
    expect(asked).toMatchObject({ status: 400, body: { error: "unsupported_grant_type" } });
  });
});

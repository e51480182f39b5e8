// What the charting webhook says where the configuration, the secrets store or a slow sender stands in the way, on a running platform: each with its code, and
// nothing that was refused is an order.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rawConnection } from "../testkit/fuzz/raw-connection.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { alertWith, publishedAddress, sendPaced, writeFundSecrets } from "../testkit/webhook-sender.ts";

const secrets = {
  alpha: "alpha-secret-0123456789",
  beta: "beta-secret-0123456789",
  lively: "lively-secret-0123456789",
};
const timeout = 240_000;
let platform: Platform;

beforeAll(async () => {
  const path = join(temporaryFolder("webhook-settings"), "portcullis.yaml");
  writeFileSync(path, "tradingview:\n  require_time: true\n");
  platform = startPlatform({ environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1", PORTCULLIS_CONFIG: path } });
  await platform.ready();
  await writeFundSecrets(platform, secrets);
}, timeout);
afterAll(() => platform.end());

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const { access_token: token } = await logInAs(platform, "duty");
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const read: unknown = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(read)}`);
  return read;
}

const bitcoin = { fund_id: "beta", strategy_id: "beta-trend", symbol: "COINBASE:BTCUSD", quantity: "0.01" };

test("an alert without a time is refused where one is required", { timeout }, async () => {
  const { status, body } = await sendPaced(platform, alertWith(secrets.alpha, { idempotency_key: "no-time-in-it" }));
  expect([status, body["code"]]).toEqual([422, "WEBHOOK_ALERT_TIME_MISSING"]);
});

test("a LIVE fund that nobody named is refused", { timeout }, async () => {
  const path = "/v1/treasury/reference/funds";
  const { version, content } = (await ask("GET", path)) as { version: number; content: Record<string, unknown>[] };
  const lively = { ...content[0], fund_id: "lively", mode: "LIVE", strategies: [] };
  await ask("PUT", path, { version: version + 1, content: [...content, lively], reason: "a live fund" });
  const { status, body } = await sendPaced(platform, alertWith(secrets.lively, { fund_id: "lively" }));
  expect([status, body["code"], body["detail"]]).toEqual([
    422,
    "WEBHOOK_FUND_NOT_ENABLED",
    expect.stringContaining("tradingview.live_funds"),
  ]);
});

test("an alert whose broker is unclear is accepted, and row and chat say that it failed", { timeout }, async () => {
  const path = "/v1/riskengine/envelopes/beta";
  const before = (await ask("GET", path)) as Record<string, unknown>;
  const { updated_by: _by, updated_at: _at, loosening: _loosening, hash: _hash, ...limits } = before;
  const none = { ...limits, version: Number(before["version"]) + 1, allowed_brokers: [], reason: "no broker" };
  await ask("PUT", path, none);
  const { status, body } = await sendPaced(platform, alertWith(secrets.beta, bitcoin));
  expect([status, body["status"]]).toEqual([202, "accepted"]);
  let row: Record<string, unknown> = {};
  await eventually(
    "the alert ends",
    async () => {
      row = (await ask("GET", `/v1/signals/${String(body["signal_id"])}`)) as Record<string, unknown>;
      return row["status"] !== "ACCEPTED";
    },
    60_000,
  );
  expect(row).toMatchObject({ status: "FAILED", code: "WEBHOOK_BROKER_UNCLEAR" });
  expect(row).not.toHaveProperty("order_state");
  const isSaid = (line: string) => line.includes(String(body["signal_id"])) && line.includes("WEBHOOK_BROKER_UNCLEAR");
  await eventually("it is in chat", () => platform.stdout().split("\n").some(isSaid), 30_000);
});

test("a body that never ends gets 408 before its sender gives up", { timeout }, async () => {
  const [host = "", port = ""] = (platform.runFile().addresses["gateway.public"] ?? "").split(":");
  const connection = await rawConnection(host, Number(port));
  const head = `POST /tradingview/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\nx-forwarded-for: ${publishedAddress}\r\n`;
  await connection.write(Buffer.from(`${head}content-length: 200\r\n\r\n{"secret": `));
  const begun = performance.now();
  const answer = await connection.answer(20_000);
  connection.close();
  expect([answer?.status, /"code":"([A-Z_]+)"/.exec(answer?.text ?? "")?.[1]]).toEqual([408, "DEADLINE_EXCEEDED"]);
  // Two and a half seconds, and what a busy machine adds.
  expect(performance.now() - begun).toBeLessThan(8_000);
});

test("secrets that cannot be read are 503, and the resend is taken", { timeout }, async () => {
  const file = join(platform.dataFolder, "secrets");
  const whole = readFileSync(file);
  const sent = alertWith(secrets.alpha);
  writeFileSync(file, "no secrets");
  try {
    // What was read counts for five seconds.
    await eventually(
      "the secret cannot be checked",
      async () => {
        const { status, body, headers } = await sendPaced(platform, alertWith(secrets.alpha));
        return status === 503 && body["code"] === "SECRETS_UNAVAILABLE" && headers.get("retry-after") === "5";
      },
      30_000,
    );
    expect((await sendPaced(platform, sent)).status).toBe(503);
  } finally {
    writeFileSync(file, whole);
  }
  await eventually("the resend is accepted", async () => (await sendPaced(platform, sent)).status === 202, 30_000);
  expect((await sendPaced(platform, sent)).body["code"]).toBe("WEBHOOK_KEY_DUPLICATE");
});

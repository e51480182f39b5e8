// 32.7: a platform without treasury and order management on a new database, whose bus is away when it starts. It waits for the bus, says so and approves
// nothing; then an integrator seeds it through the ordinary door, and orders are judged by that.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Order, RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, developmentCredentials, operatorUrl } from "../testkit/login.ts";
import { type NatsServer, startNatsServer } from "../testkit/nats-server.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";

const folder = temporaryFolder("subsets");
let nats: NatsServer;
let platform: Platform;

beforeAll(async () => {
  nats = await startNatsServer({ jetStream: true, storeFolder: join(folder, "jetstream") });
  await nats.kill();
  platform = startPlatform({
    dataFolder: join(folder, "data"),
    database: "from nothing",
    environment: { PORTCULLIS_BUS_URL: nats.url, PORTCULLIS_SERVICES: "riskengine,operations,gateway" },
  });
  await platform.ready();
}, 240_000);

afterAll(async () => {
  await platform?.end();
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const order: Order = {
  order_id: "o-1",
  idempotency_key: "k-1",
  fund_id: "own",
  strategy_id: "own-a",
  symbol: "ACME",
  side: "BUY",
  quantity: "10",
  order_type: "LIMIT",
  limit_price: "100",
  tif: "DAY",
  broker: "my-broker",
  asset_class: "EQUITY",
  actor: "test",
};

async function checked(id: string): Promise<{ readonly status: string; readonly code: string }> {
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const client = testClient(addressOf(platform, "riskengine"), { token });
  const asked = { ...order, order_id: id, idempotency_key: id };
  const { status, answer, metadata } = await client.call("RiskEngine", "CheckOrder", asked, { deadlineMs: 10_000 });
  client.close();
  const code = status === "OK" ? (answer as RiskDecision).code : metadata.get("portcullis-code")[0];
  return { status, code: String(code) };
}

const healthz = async () => {
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/healthz`);
  return { status: answer.status, text: await answer.text() };
};

async function set(kind: string, content: readonly object[]): Promise<void> {
  const headers = { ...(await bearerOf(platform, "duty")), "content-type": "application/json" };
  const body = JSON.stringify({ version: 1, content, reason: "begin" });
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/treasury/reference/${kind}`, {
    method: "PUT",
    headers,
    body,
  });
  expect([kind, answer.status]).toEqual([kind, 200]);
}

test("waits for the bus, says so, approves nothing, and goes on when it comes", async () => {
  expect(await healthz()).toMatchObject({
    status: 503,
    text: expect.stringMatching(/riskengine waits for the bus .*No NATS server answers/),
  });
  expect(await checked("while-away")).toEqual({ status: "UNAVAILABLE", code: "BUS_UNAVAILABLE" });
  await nats.restart();
  await eventually("every service is at work", async () => (await healthz()).status === 200);
  expect((await healthz()).text).toContain("There is no fund");
  expect(await checked("no-fund")).toEqual({ status: "OK", code: "SCHEMA_FUND_UNKNOWN" });
}, 120_000);

test("takes reference data without treasury, and names what is still missing", async () => {
  const calendar = { name: "venue", zone: "UTC", sessions: "always", holidays: [], early_closes: {} };
  const acme = { symbol: "ACME", name: "Acme", asset_class: "EQUITY", currency: "USD", sector: "industrials" };
  const fund = { fund_id: "own", name: "Own", mode: "LIVE", currency: "USD", strategies: ["own-a"] };
  await set("calendars", [calendar]);
  await set("instruments", [{ ...acme, tick_size: "0.01", lot_size: "1", multiplier: "1", calendar: "venue" }]);
  await set("funds", [{ ...fund, calendar: "venue" }]);
  await eventually("the note is gone", async () => !(await healthz()).text.includes("There is no fund"));
  await eventually(
    "the engine knows the fund",
    async () => (await checked(crypto.randomUUID())).code !== "SCHEMA_FUND_UNKNOWN",
  );
  expect(await checked("no-limits")).toEqual({ status: "OK", code: "ENVELOPE_MISSING" });
  const headers = await bearerOf(platform, "duty");
  const ledger = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/treasury/ledger?fund_id=own`, { headers });
  expect(await ledger.text()).toContain("PORTCULLIS_SERVICES leaves it out");
}, 120_000);

// 28.5 from outside: a foreign order management with its own login on a NATS server with accounts publishes a fill at a price that nobody paid. It counts, new
// risk in its symbol is denied, exits and other symbols pass, kill -9 and a restart change nothing, and `ctl` accepts it.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inboxPrefix, natsAuthorization, natsUsers, passwordVariable } from "../adapters/nats/server-configuration.ts";
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import type { Block } from "../contracts/src/generated/svc/v1/riskengine.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../testkit/login.ts";
import { type NatsServer, startNatsServer } from "../testkit/nats-server.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { openRiskClient, type RiskClient } from "../testkit/risk/client.ts";

const folder = temporaryFolder("fill-blocks");
const passwordOf = (user: string): string => `p-${user}-secret`;
let nats: NatsServer;
let platform: Platform;
let client: RiskClient;

function start(): Platform {
  return startPlatform({
    dataFolder: join(folder, "data"),
    environment: { PORTCULLIS_BUS_URL: nats.url, PORTCULLIS_BUS_CREDS_DIR: folder },
  });
}

beforeAll(async () => {
  let configuration = natsAuthorization();
  for (const { name } of natsUsers()) {
    configuration = configuration.replace(`$${passwordVariable(name)}\n`, `${JSON.stringify(passwordOf(name))}\n`);
    await writeFile(join(folder, `${name}.creds`), `${name}:${passwordOf(name)}\n`, { mode: 0o600 });
  }
  nats = await startNatsServer({ jetStream: true, configuration });
  platform = start();
  await platform.ready();
  client = await openRiskClient(platform);
}, 180_000);

afterAll(async () => {
  client?.close();
  await platform?.end();
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function publishFill(differs: object): Promise<void> {
  const user = "foreign-oms";
  const login = { user, pass: passwordOf(user), inboxPrefix: inboxPrefix(user) };
  const connection = await connect({ servers: nats.url, ...login });
  const fill = {
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "7",
    filled_at: new Date().toISOString(),
    ...differs,
  };
  await jetstream(connection).publish("svc.v1.oms.fills.created", JSON.stringify(fill), { msgID: crypto.randomUUID() });
  await connection.close();
}

/** Through the REST interface, as the desks read it. */
async function blocks(): Promise<readonly Block[]> {
  const headers = await bearerOf(platform, "viewer");
  const all = (await (
    await fetchOnNewConnection(`${operatorUrl(platform)}/v1/riskengine/blocks?fund_id=alpha`, { headers })
  ).json()) as Block[];
  return all.filter(({ code }) => code === "FILL_NOT_ACCEPTED");
}

function ctl(...words: readonly string[]): Promise<{ readonly exit: number; readonly text: string }> {
  const env = {
    ...process.env,
    PORTCULLIS_URL: operatorUrl(platform),
    XDG_CONFIG_HOME: join(folder, "xdg"),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
  };
  const program = join(import.meta.dirname, "..", "edges", "ctl", "bin", "ctl.js");
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { env }, (error, stdout, stderr) => {
      resolve({ exit: typeof error?.code === "number" ? error.code : 0, text: `${stdout}${stderr}` });
    });
  });
}

const passingOrder: Order = {
  idempotency_key: "",
  order_id: "",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "1",
  order_type: "MARKET",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
  actor: "test",
};

let orders = 0;
async function codeOf(differs: object = {}): Promise<string> {
  orders += 1;
  const order = {
    ...passingOrder,
    idempotency_key: `k-${orders}`,
    order_id: `fb-${orders}`,
    quantity: "1",
    ...differs,
  };
  return (await client.check(order)).code;
}

const held = async (): Promise<string | undefined> => {
  const headers = await bearerOf(platform, "viewer");
  const books = (await (
    await fetchOnNewConnection(`${operatorUrl(platform)}/v1/riskengine/headroom?fund_id=alpha&symbol=AAPL&side=SELL`, {
      headers,
    })
  ).json()) as { readonly quantity?: string };
  return books.quantity;
};

test("28.5: a foreign fill beyond the collar blocks its symbol through kill -9 and a restart until ctl accepts it", {
  timeout: 240_000,
}, async () => {
  await eventually("alpha may buy", async () => (await codeOf()) === "");
  const before = await held();
  await publishFill({ fill_id: "far-1", order_id: "theirs-1", price: "9999" });
  await eventually("new risk in AAPL is denied", async () => (await codeOf()) === "FILL_NOT_ACCEPTED");
  expect(await held()).not.toBe(before);
  expect(await codeOf({ symbol: "MSFT" })).toBe("");
  expect(await codeOf({ side: "SELL", quantity: "3", reduce_only: true })).toBe("");
  const [block] = await blocks();
  expect(block).toMatchObject({
    scope: "symbol",
    fund_id: "alpha",
    symbol: "AAPL",
    reason: expect.stringContaining("far-1"),
  });

  const engine = platform.runFile().processes["riskengine"] ?? 0;
  process.kill(engine, "SIGKILL");
  await eventually("another engine runs", async () => {
    const pid = platform.runFile().processes["riskengine"] ?? engine;
    return pid !== engine && (await platform.health()) === 200;
  });
  client.close();
  client = await openRiskClient(platform);
  await eventually("it has prices again", async () => (await codeOf({ symbol: "MSFT" })) === "");
  expect([await codeOf(), (await blocks())[0]?.block_id]).toEqual(["FILL_NOT_ACCEPTED", block?.block_id]);

  platform.signal("SIGTERM");
  await platform.exited;
  platform = start();
  await platform.ready();
  client.close();
  client = await openRiskClient(platform);
  await eventually("it has prices again", async () => (await codeOf({ symbol: "MSFT" })) === "");
  expect(await codeOf()).toBe("FILL_NOT_ACCEPTED");

  const id = block?.block_id ?? "";
  expect(await ctl("auth", "login", "--dev", "viewer")).toMatchObject({ exit: 0 });
  expect(await ctl("riskengine", "blocks", "accept", id, "--reason", "mine")).toMatchObject({ exit: 5 });
  expect(await ctl("auth", "login", "--dev", "duty")).toMatchObject({ exit: 0 });
  expect(await ctl("riskengine", "blocks", "list", "--fund-id", "alpha", "--format", "csv")).toMatchObject({
    text: expect.stringContaining(id),
  });
  expect(await ctl("riskengine", "blocks", "accept", "nobody", "--reason", "r")).toMatchObject({ exit: 1 });
  expect(await ctl("riskengine", "blocks", "accept", id, "--reason", "the broker confirmed it")).toMatchObject({
    exit: 0,
  });
  expect(await ctl("riskengine", "blocks", "accept", id, "--reason", "again")).toMatchObject({
    exit: 6,
    text: expect.stringContaining("operator:duty"),
  });
  expect([await codeOf(), await blocks()]).toEqual(["", []]);

  // Larger than its order: approved for one, and ten traded.
  const order = { ...passingOrder, idempotency_key: "k-over", order_id: "fb-over", quantity: "1" };
  expect((await client.check(order)).approved).toBe(true);
  const { text } = await ctl("--json", "riskengine", "headroom", "--fund-id", "alpha", "--symbol", "AAPL");
  const { price } = JSON.parse(text) as { readonly price: { readonly value: string } };
  await publishFill({ fill_id: "over-1", order_id: "fb-over", quantity: "10", price: price.value });
  await eventually("the order is overfilled", async () => (await blocks()).length === 1);
  expect((await blocks())[0]?.reason).toContain("9 above its quantity");
  expect(await codeOf()).toBe("FILL_NOT_ACCEPTED");
});

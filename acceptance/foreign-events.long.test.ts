// 32.1, 32.4 and 32.5 from outside: a foreign order management with its own login on a NATS server with accounts. A fill that was acknowledged and lost with
// the server's disk is noticed and blocks its fund until it is sent again; typing errors are refused, named and listed while the fund trades on; a halt waits
// for the orders that the foreign system reported.
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inboxPrefix, natsAuthorization, natsUsers, passwordVariable } from "../adapters/nats/server-configuration.ts";
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../testkit/login.ts";
import { type NatsServer, startNatsServer } from "../testkit/nats-server.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { openRiskClient, type RiskClient } from "../testkit/risk/client.ts";

const folder = temporaryFolder("foreign-events");
const storeFolder = join(folder, "jetstream");
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
  nats = await startNatsServer({ jetStream: true, configuration, storeFolder });
  platform = start();
  await platform.ready();
  client = await openRiskClient(platform);
}, 240_000);

afterAll(async () => {
  client?.close();
  await platform?.end();
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Acknowledged by JetStream when it resolves. */
async function publish(subject: string, payload: object, named?: string): Promise<void> {
  const user = "foreign-oms";
  const login = { user, pass: passwordOf(user), inboxPrefix: inboxPrefix(user) };
  const connection = await connect({ servers: nats.url, ...login });
  const claim = headers();
  if (named !== undefined) claim.set("Portcullis-Source", named);
  await jetstream(connection).publish(subject, JSON.stringify(payload), {
    msgID: crypto.randomUUID(),
    headers: claim,
  });
  await connection.close();
}

/** A position that is brought along: no mark judges its price. */
const fill = (sequence: number, differs: object = {}, named?: string): Promise<void> =>
  publish(
    "svc.v1.oms.fills.created",
    {
      fill_id: `lost-${sequence}`,
      order_id: `theirs-${sequence}`,
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "XOM",
      side: "BUY",
      quantity: "1",
      price: "1",
      kind: "SEED",
      filled_at: new Date().toISOString(),
      sequence,
      ...differs,
    },
    named,
  );

async function read<Answer>(path: string): Promise<Answer> {
  const bearer = await bearerOf(platform, "viewer");
  return (await (await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers: bearer })).json()) as Answer;
}

type Position = {
  readonly positions: { readonly kind: string; readonly last_sequence?: number; readonly missing?: string[] }[];
};
const heardOf = async () =>
  (await read<Position>("/v1/riskengine/foreign/position?source=foreign-oms&fund_id=alpha")).positions.find(
    ({ kind }) => kind === "fills",
  );
const alarmed = async (code: string): Promise<readonly { readonly sentence: string }[]> =>
  (await read<{ readonly code: string; readonly sentence: string }[]>("/v1/operations/alarms")).filter(
    (one) => one.code === code,
  );

let orders = 0;
async function codeOf(differs: Partial<Order> = {}): Promise<string> {
  orders += 1;
  const order: Order = {
    idempotency_key: `k-${orders}`,
    order_id: `fe-${orders}`,
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
    ...differs,
  };
  return (await client.check(order)).code;
}

test("32.5: typing errors are refused, named and listed, and the fund trades on", { timeout: 240_000 }, async () => {
  await eventually("alpha may buy", async () => (await codeOf()) === "");
  await fill(1);
  // Whatever name it writes into a header, a login of its own is not ours.
  await fill(2, { symbol: "XMO" }, "oms");
  await fill(3, { strategy_id: "alpha-momentun" });
  await fill(4, { price: "0" });
  await fill(5, { fill_id: "lost-1", quantity: "2" });
  await fill(1, { fill_id: "lost-x", fund_id: "alhpa" });
  await fill(6);
  await eventually("all were heard", async () => (await heardOf())?.last_sequence === 6);
  await eventually("five alarms", async () => (await alarmed("EVENT_REFUSED")).length >= 5);
  expect((await alarmed("EVENT_REFUSED")).map(({ sentence }) => /: (EVENT_\w+)\./.exec(sentence)?.[1]).sort()).toEqual([
    "EVENT_FILL_CHANGED",
    "EVENT_FUND_UNKNOWN",
    "EVENT_PRICE_IMPOSSIBLE",
    "EVENT_STRATEGY_UNKNOWN",
    "EVENT_SYMBOL_UNKNOWN",
  ]);
  const text = JSON.stringify(await read("/v1/operations/parked"));
  for (const code of ["EVENT_SYMBOL_UNKNOWN", "EVENT_FILL_CHANGED"]) expect(text).toContain(code);
  expect(await codeOf()).toBe("");
});

test("32.4: a fill that was acknowledged and lost with the bus's disk blocks new risk until it is sent again", {
  timeout: 300_000,
}, async () => {
  platform.signal("SIGTERM");
  await platform.exited;
  client.close();
  await fill(7);
  await nats.kill();
  rmSync(storeFolder, { recursive: true, force: true });
  await nats.restart();
  platform = start();
  await platform.ready();
  client = await openRiskClient(platform);
  await eventually("alpha may buy again", async () => (await codeOf()) === "");
  await fill(8);
  const sentAt = Date.now();
  await eventually("new risk is denied", async () => (await codeOf()) === "FILL_NOT_ACCEPTED");
  // 5 s on a quiet machine.
  expect(Date.now() - sentAt).toBeLessThan(15_000);
  expect(await heardOf()).toMatchObject({ last_sequence: 8, missing: ["7"] });
  await eventually("it is alarmed", async () => (await alarmed("EVENT_GAP")).length === 1);
  await fill(7);
  await eventually("new risk passes again", async () => (await codeOf()) === "");
  expect(await heardOf()).toMatchObject({ last_sequence: 8 });
});

test("32.1: a halt waits for the orders that the foreign system has, and is proven by their end", {
  timeout: 300_000,
}, async () => {
  await eventually("it is approved", async () => (await codeOf({ order_id: "theirs-working" })) === "");
  const step = (from: string, to: string, name: string) =>
    publish(`svc.v1.oms.orders.${name}`, {
      order_id: "theirs-working",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      from,
      to,
      filled_quantity: "0",
      remaining_quantity: to === "CANCELLED" ? "0" : "1",
      at: new Date().toISOString(),
    });
  await step("ROUTED", "WORKING", "updated");
  const headers = { ...(await bearerOf(platform, "duty")), "content-type": "application/json" };
  const body = JSON.stringify({ id: "alpha", reason: "a test", confirmation: "HALT" });
  expect(
    (await fetchOnNewConnection(`${operatorUrl(platform)}/v1/halts`, { method: "POST", headers, body })).status,
  ).toBe(201);
  type Listed = { readonly halt_id: string; readonly waiting_for?: string };
  const waiting = async () => (await read<Listed[]>("/v1/halts"))[0]?.waiting_for;
  await eventually("it waits for the foreign system alone", async () =>
    /^waiting for order-management: 1 order \(theirs-working SENT\)\.$/.test((await waiting()) ?? ""),
  );
  await step("WORKING", "CANCELLED", "cancelled");
  await eventually("it is proven", async () => (await waiting()) === undefined);
});

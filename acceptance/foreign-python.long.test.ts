// 32.10 from outside: the desk of examples/python against a fresh platform without oms, treasury, research and the paper feed. A LIVE fund is seeded, priced
// and valued from outside; orders are checked, sent to a simulated venue and reported; a halt waits for the foreign cancels; a kill -9 of the Python side,
// of the risk engine, of operations and of NATS in the middle leaves exposure equal to the venue's books, and a number that is missing is alarmed.
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { afterEach, describe, expect, test } from "vitest";
import { natsAuthorization, natsUsers, passwordVariable } from "../adapters/nats/server-configuration.ts";
import { debianGrpc } from "../testkit/debian-grpc.ts";
import { openPythonExample, type PythonExample } from "../testkit/foreign/python-example.ts";
import { askAs, seedForeignFund } from "../testkit/foreign/seed.ts";
import { oneOrderOneHalt } from "../testkit/foreign/short-form.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, developmentOperator, logInAs } from "../testkit/login.ts";
import { type NatsServer, startNatsServer } from "../testkit/nats-server.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";

const orderCount = 200;
const alone = {
  PORTCULLIS_SERVICES: "riskengine,operations,gateway",
  PORTCULLIS_MARKET_FEED: "off",
  PORTCULLIS_PAPER_SEED: "never",
};
let folder = "";
let nats: NatsServer | undefined;
let platform: Platform | undefined;
let desk: PythonExample | undefined;

afterEach(async () => {
  await desk?.end();
  await platform?.end();
  await nats?.stop();
  desk = platform = nats = undefined;
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(address !== null && typeof address === "object" ? address.port : 0);
}

async function natsWithLogins(): Promise<Readonly<Record<string, string>>> {
  let configuration = natsAuthorization();
  for (const { name } of natsUsers()) {
    const password = `p-${name}-secret`;
    configuration = configuration.replace(`$${passwordVariable(name)}\n`, `${JSON.stringify(password)}\n`);
    await writeFile(join(folder, `${name}.creds`), `${name}:${password}\n`, { mode: 0o600 });
  }
  nats = await startNatsServer({ jetStream: true, configuration, storeFolder: join(folder, "jetstream") });
  return { PORTCULLIS_BUS_URL: nats.url, PORTCULLIS_BUS_CREDS_DIR: folder };
}

interface Started {
  readonly on: Platform;
  readonly theirs: PythonExample;
}

async function start(bus: "PostgreSQL" | "NATS", environment: Readonly<Record<string, string>> = {}): Promise<Started> {
  folder = temporaryFolder("foreign-python");
  const grpc = await debianGrpc();
  const on = startPlatform({
    dataFolder: join(folder, "data"),
    environment: {
      ...alone,
      // A service that is started again must be found where it was.
      PORTCULLIS_GRPC_PORT: await freePort(),
      PORTCULLIS_OPERATIONS_GRPC_PORT: await freePort(),
      ...(bus === "NATS" ? await natsWithLogins() : {}),
      ...environment,
    },
  });
  platform = on;
  await on.ready();
  await seedForeignFund(on);
  const theirs = await openPythonExample(on, folder, grpc);
  desk = theirs;
  return { on, theirs };
}

async function read<Answer>(on: Platform, path: string): Promise<Answer> {
  return (await askAs(on, "GET", path)).body as Answer;
}

async function alarms(on: Platform, code: string): Promise<readonly { readonly sentence: string }[]> {
  const all = await read<{ readonly code: string; readonly sentence: string }[]>(on, "/v1/operations/alarms?hours=1");
  return all.filter((one) => one.code === code);
}

type Line = { readonly symbol: string; readonly quantity: string; readonly pending_buy: string };
async function exposure(on: Platform): Promise<readonly Line[]> {
  const { access_token: token } = await logInAs(on, "viewer");
  const engine = testClient(addressOf(on, "riskengine"), { token });
  const { answer } = await engine.call("RiskEngine", "ListExposures", {}, { deadlineMs: 20_000 });
  engine.close();
  return (answer as { readonly lines: readonly Line[] } | undefined)?.lines ?? [];
}

/** What the engine believes to be held, by symbol, when nothing is reserved any more; undefined while something is. */
async function heldByEngine(on: Platform): Promise<Readonly<Record<string, string>> | undefined> {
  const lines = await exposure(on);
  if (lines.some(({ pending_buy: pending }) => Number(pending) !== 0)) return undefined;
  return Object.fromEntries(lines.filter(({ quantity }) => quantity !== "0").map((l) => [l.symbol, l.quantity]));
}

/** Engine, desk and venue agree to the last share, nothing was refused, nothing is missing or put aside. */
async function expectAgreement({ on, theirs }: Started): Promise<void> {
  const venue = await theirs.venue();
  await eventually(
    "the engine holds what the venue says",
    async () => JSON.stringify(sorted(await heldByEngine(on))) === JSON.stringify(venue.positions),
  );
  const books = await theirs.status();
  expect(books.positions).toEqual(venue.positions);
  expect([books.waiting, books.refused]).toEqual([0, []]);
  expect(books.numbers["fills"]).toBe(venue.executions);
  type Position = {
    readonly positions: { readonly kind: string; readonly last_sequence?: number; missing?: string[] }[];
  };
  const path = "/v1/riskengine/foreign/position?source=order-management&fund_id=harbor";
  await eventually("every number was heard", async () => {
    const { positions } = await read<Position>(on, path);
    const heard = positions.filter(({ kind }) => kind !== "values");
    return heard.every((one) => one.last_sequence === books.numbers[one.kind] && (one.missing ?? []).length === 0);
  });
  expect(await read(on, "/v1/operations/parked")).toMatchObject({ events: [] });
}

function sorted(held: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(held ?? { nothing: "known" }).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const reached = async (theirs: PythonExample): Promise<number> =>
  Object.values((await theirs.venue()).orders).reduce((sum, count) => sum + count, 0);

async function untilReached(theirs: PythonExample, count: number): Promise<void> {
  await eventually(`${count} orders are with the venue`, async () => (await reached(theirs)) >= count, 240_000);
}

async function finish(started: Started): Promise<void> {
  expect([await started.theirs.ended(), started.theirs.said().slice(-3_000)]).toEqual([0, expect.any(String)]);
  expect(await reached(started.theirs)).toBeGreaterThanOrEqual(orderCount);
  await expectAgreement(started);
}

test("32.10: the desk in TypeScript: one order, one halt", { timeout: 600_000 }, async () => {
  folder = temporaryFolder("foreign-typescript");
  platform = startPlatform({ dataFolder: join(folder, "data"), environment: alone });
  await platform.ready();
  await oneOrderOneHalt(platform, folder, "TypeScript");
});

const words = ["--orders", String(orderCount), "--until-done"] as const;

function killService(on: Platform, name: string): void {
  const pid = on.runFile().processes[name];
  if (pid === undefined) throw new Error(`${name} does not run`);
  process.kill(pid, "SIGKILL");
}

describe("32.10: the desk in Python", { timeout: 900_000 }, () => {
  test("sends 200 orders of a LIVE fund; kill -9 of the desk, of the risk engine and of operations in the middle change nothing in the books", async () => {
    const started = await start("PostgreSQL");
    const { on, theirs } = started;
    theirs.start(...words);
    await untilReached(theirs, 40);
    await theirs.kill();
    theirs.start(...words);
    await untilReached(theirs, 80);
    killService(on, "riskengine");
    await untilReached(theirs, 120);
    killService(on, "operations");
    await untilReached(theirs, 160);
    await finish(started);
    expect(await alarms(on, "EVENT_GAP")).toEqual([]);
    expect(await alarms(on, "EVENT_UNNUMBERED")).toEqual([]);

    // A number that never comes: an outbox that lost a row.
    await theirs.tamper("UPDATE numbers SET last = last + 1 WHERE kind = 'fills'");
    theirs.start("--orders", String(orderCount + 5));
    await eventually("the gap is alarmed", async () => (await alarms(on, "EVENT_GAP")).length === 1);
    type Gap = { readonly missing: readonly string[] };
    type Blocks = { readonly block_id?: string; readonly code: string; readonly gap?: Gap }[];
    const blocked = async () =>
      (await read<Blocks>(on, "/v1/riskengine/blocks?fund_id=harbor")).find(({ block_id: id }) => id !== undefined);
    await eventually("new risk is blocked", async () => (await blocked()) !== undefined);
    await eventually("the desk says so", () => theirs.said().includes("an operator must accept that"));
    const { block_id: block = "", gap } = (await blocked()) ?? {};
    const reason = "the outbox lost a row, the venue's books were compared";
    const gaps = [{ block_id: block, missing: gap?.missing }];
    const totp = new TOTP({ secret: developmentOperator(on.dataFolder, "duty").totp_secret }).generate();
    const login = await bearerOf(on, "duty");
    const action = { action: "AcceptBlock", parameters: { block_ids: [block], reason, gaps }, totp };
    const proof = (await askAs(on, "POST", "/v1/auth/step-up", action, login)).body["proof"];
    const accepted = { reason, gaps, step_up_proof: proof };
    expect((await askAs(on, "POST", `/v1/riskengine/blocks/${block}/accept`, accepted, login)).status).toBe(200);
    await untilReached(theirs, orderCount + 5);
  });

  test("goes through a kill -9 of NATS, and gaps stay alarmed by numbers alone", async () => {
    const started = await start("NATS");
    started.theirs.start(...words);
    await untilReached(started.theirs, 60);
    await nats?.kill();
    // tidy: sleeps because NATS is to be away for a while
    await pause(3_000);
    await nats?.restart();
    await untilReached(started.theirs, 130);
    killService(started.on, "riskengine");
    await finish(started);
    expect(await alarms(started.on, "EVENT_GAP")).toEqual([]);
  });

  test("a halt waits for the foreign cancels and is proven by them", async () => {
    const { on, theirs } = await start("PostgreSQL");
    theirs.start("--orders", "5", "--rest");
    await untilReached(theirs, 5);
    await eventually("all are reported", async () => (await theirs.status()).orders["WORKING"] === 5);
    await eventually("all is heard", async () => (await theirs.status()).waiting === 0);
    await theirs.kill();
    const halt = { id: "harbor", reason: "a test", confirmation: "HALT" };
    expect((await askAs(on, "POST", "/v1/halts", halt)).status).toBe(201);
    type Listed = { readonly waiting_for?: string }[];
    const waiting = async () => (await read<Listed>(on, "/v1/halts"))[0]?.waiting_for ?? "";
    await eventually("it waits", async () => /^waiting for order-management: 5 orders/.test(await waiting()));
    // tidy: sleeps because what was shown once is to stay
    await pause(3_000);
    expect(await waiting()).toMatch(/^waiting for order-management: 5 orders/);
    const open = await fetchOnNewConnection(`http://${on.runFile().addresses["gateway.public"]}/v1/halts`);
    expect(await open.text()).not.toContain("waiting_for");
    theirs.start("--orders", "5", "--rest");
    await eventually("it is proven", async () => (await waiting()) === "");
    expect((await theirs.venue()).orders).toEqual({ CANCELLED: 5 });
  });
});

// The platform on servers of the user's: Debian's PostgreSQL and a NATS that it did not start, named by two environment variables. The database
// login owns its database and may do nothing else on the server.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../testkit/login.ts";
import { type NatsServer, startNatsServer } from "../testkit/nats-server.ts";
import { type PlainPostgres, startPlainPostgres } from "../testkit/plain-postgres.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { exampleFill } from "../testkit/record-examples.ts";

let postgres: PlainPostgres;
let nats: NatsServer;
let platform: Platform;
const folder = temporaryFolder("external");

function start(name = "data"): Platform {
  return startPlatform({
    dataFolder: join(folder, name),
    environment: {
      PORTCULLIS_DATABASE_URL: postgres.urlOf("trading", "portfolio"),
      PORTCULLIS_BUS_URL: nats.url,
      PORTCULLIS_PAPER_SEED: "always",
    },
  });
}

beforeAll(async () => {
  [postgres, nats] = await Promise.all([startPlainPostgres("Debian's"), startNatsServer({ jetStream: true })]);
  await postgres.administer(
    "CREATE ROLE trading LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB",
    "CREATE DATABASE portfolio OWNER trading",
  );
}, 120_000);

afterAll(async () => {
  await platform?.end();
  await nats?.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function metric(pattern: RegExp): Promise<number> {
  const headers = await bearerOf(platform, "viewer");
  const page = await (await fetchOnNewConnection(`${operatorUrl(platform)}/metrics`, { headers })).text();
  return Number(pattern.exec(page)?.[1] ?? Number.NaN);
}

/** The example client; what it printed and how it ended. */
function checkOrder(): Promise<{ readonly exit: number; readonly decision: unknown }> {
  const example = join(import.meta.dirname, "..", "examples", "check-order.js");
  const words = [example, "--symbol", "AAPL", "--side", "BUY", "--quantity", "10", "--json"];
  const env = { ...process.env, PORTCULLIS_DATA_DIR: platform.dataFolder };
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env }, (error, stdout) => {
      const exit = typeof error?.code === "number" ? error.code : 0;
      resolve({ exit, decision: stdout === "" ? undefined : JSON.parse(stdout) });
    });
  });
}

async function verification(): Promise<Record<string, unknown>> {
  const headers = await bearerOf(platform, "viewer");
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/operations/audit/verify`, { headers });
  return (await answer.json()) as Record<string, unknown>;
}

describe("a platform on somebody else's servers", { timeout: 120_000 }, () => {
  test("22.12: says which two statements an administrator has to run where the login may not create roles", async () => {
    platform = start();
    expect(await platform.exited).toMatchObject({ code: 1 });
    const [, create, grant] = /"(CREATE ROLE [^;]*;) (GRANT [^;]*;)"/.exec(platform.stderr()) ?? [];
    expect([create, grant]).toEqual(["CREATE ROLE portcullis_app NOLOGIN;", "GRANT portcullis_app TO trading;"]);
    await postgres.administer(create ?? "", grant ?? "");
  });

  test("22.12: starts then, migrates, is healthy, and its events travel over NATS to operations", async () => {
    platform = start();
    await platform.ready();
    expect(platform.runFile().database).toMatchObject({ embedded: false });
    await expect.poll(() => platform.health()).toBe(200);
    await eventually("operations has heard all six starts", async () => {
      return (await metric(/events_observed_total\{.*service\.started"\} (\d+)/)) === 6;
    });
  });

  test("22.12: decides orders and keeps an audit log that verifies", async () => {
    await expect.poll(checkOrder).toMatchObject({ exit: 0, decision: { approved: true } });
    expect(await verification()).toMatchObject({ trust_level: "L1", gap_count: 0 });
  });

  test("28.12: a second platform with a folder of its own is refused on the same database, and the first goes on", async () => {
    const second = start("other");
    expect(await second.exited).toEqual({ code: 1, signal: null });
    await expect
      .poll(() => second.stderr())
      .toMatch(/belongs to installation [0-9a-f-]{36}.*Nothing was written.*npm start -- --adopt [0-9a-f-]{36}/);
    expect(await platform.health()).toBe(200);
  });

  test("28.5: says that anybody may publish there, and books no fill of a stranger's", async () => {
    await expect
      .poll(() => platform.stdout())
      .toMatch(/open bus +NATS at 127\.0\.0\.1:\d+ lets anybody publish without a login/);
    const answer = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/healthz`);
    expect(await answer.text()).toContain("lets anybody publish without a login");
    const stranger = await connect({ servers: nats.url });
    const forged = { ...exampleFill, fill_id: "f-forged", quantity: "1000000" };
    await jetstream(stranger).publish("svc.v1.oms.fills.created", JSON.stringify(forged), { msgID: "forged" });
    await stranger.close();
    const headers = await bearerOf(platform, "viewer");
    const read = async (path: string) =>
      (await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers })).json();
    const asideBy = async () => {
      type Aside = { readonly events: { readonly subscription: string; readonly event_id: string }[] };
      const { events } = (await read("/v1/operations/parked")) as Aside;
      return events.flatMap((one) => (one.event_id === "unproved forged" ? [one.subscription] : [])).sort();
    };
    await eventually("held back by both", async () => (await asideBy()).length === 2);
    expect(await asideBy()).toEqual(["riskengine.fills", expect.stringMatching(/^treasury\./)]);
    const held = (await read("/v1/oms/positions?fund_id=alpha")) as { readonly quantity: string }[];
    expect(held.filter(({ quantity }) => Number(quantity) >= 1_000_000)).toEqual([]);
  });

  test("without NATS it says so, and goes on when NATS is back", async () => {
    await nats.kill();
    await eventually("health is not ok", async () => (await platform.health()) === 503);
    const answer = await fetchOnNewConnection(`http://${platform.runFile().addresses["gateway"]}/v1/healthz`);
    expect(await answer.text()).toContain("does not answer");
    await nats.restart();
    await eventually("health is ok again", async () => (await platform.health()) === 200);
  });

  test("stops cleanly, and 22.12: starts again on the same database", async () => {
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
    platform = start();
    await platform.ready();
    await expect.poll(() => platform.health()).toBe(200);
    expect(await verification()).toMatchObject({ trust_level: "L1", gap_count: 0 });
  });
});

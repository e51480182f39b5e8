// The platform on servers of the user's: a PostgreSQL and a NATS that it did not start, named by two environment variables.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearerOf, operatorUrl } from "./testkit/login.ts";
import { type NatsServer, startNatsServer } from "./testkit/nats-server.ts";
import { eventually, type Platform, startPlatform } from "./testkit/platform.ts";
import { type TestDatabase, testDatabase } from "./testkit/postgres.ts";

let database: TestDatabase;
let nats: NatsServer;
let platform: Platform;

beforeAll(async () => {
  [database, nats] = await Promise.all([testDatabase([]), startNatsServer({ jetStream: true })]);
  const { host, port, user, database: name } = database.address.owner;
  const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`;
  platform = startPlatform({ environment: { PORTCULLIS_DATABASE_URL: url, PORTCULLIS_BUS_URL: nats.url } });
}, 120_000);

afterAll(async () => {
  await platform?.end();
  await nats?.stop();
  await database?.drop();
}, 60_000);

async function metric(pattern: RegExp): Promise<number> {
  const headers = await bearerOf(platform, "viewer");
  const page = await (await fetch(`${operatorUrl(platform)}/metrics`, { headers })).text();
  return Number(pattern.exec(page)?.[1] ?? Number.NaN);
}

describe("a platform on somebody else's servers", { timeout: 120_000 }, () => {
  test("starts, migrates, is healthy, and its events travel over NATS to operations", async () => {
    await platform.ready();
    expect(platform.runFile().database).toMatchObject({ embedded: false });
    expect(await platform.health()).toBe(200);
    await eventually("operations has heard all six starts", async () => {
      return (await metric(/events_observed_total\{.*service\.started"\} (\d+)/)) === 6;
    });
  });

  test("without NATS it says so, and goes on when NATS is back", async () => {
    await nats.kill();
    await eventually("health is not ok", async () => (await platform.health()) === 503);
    const answer = await fetch(`http://${platform.runFile().addresses["gateway"]}/v1/healthz`);
    expect(await answer.text()).toContain("NATS");
    await nats.restart();
    await eventually("health is ok again", async () => (await platform.health()) === 200);
  });

  test("stops cleanly", async () => {
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
  });
});

// What the gateway holds of identity, as the composition opens it: before and after its address is known, and what it passes on.
import { afterEach, expect, it } from "vitest";
import { valid } from "../../testkit/configuration/loading.ts";
import { person } from "../../testkit/identity/operators.ts";
import { memorySecrets } from "../../testkit/identity/test-secrets.ts";
import { noMetrics } from "../../testkit/no-telemetry.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { openPeer } from "../../testkit/postgres-fixture.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openGatewayIdentity } from "./gateway-identity.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function opened() {
  const database = await testDatabase();
  ends.push(() => database.drop());
  const peer = openPeer(database.address.app);
  ends.push(() => peer.close());
  const timers = systemTimers();
  ends.push(async () => timers.release());
  const identity = await openGatewayIdentity({
    clock: systemClock(),
    timers,
    random: systemRandom(),
    log: quietLog,
    metrics: noMetrics,
    configuration: valid("{}").configuration,
    dataFolder: "/nonexistent",
    development: false,
    store: peer.store,
    secrets: memorySecrets(),
  });
  ends.push(() => identity.close());
  return { identity, pool: peer.pool };
}

it("says that it is starting until its address is known, and remembers the port", async () => {
  const { identity } = await opened();
  expect(identity.health()).toMatchObject({ status: "starting" });
  expect(() => identity.issuer()).toThrow("starting");
  expect(await identity.portBefore("127.0.0.1")).toBeUndefined();
  await identity.begin("http://127.0.0.1:8123/");
  expect(identity.health()).toEqual({ status: "ok" });
  expect(identity.issuer()).toBe("http://127.0.0.1:8123/oidc");
  expect(await identity.portBefore("127.0.0.1")).toBe(8_123);
  expect(await identity.portBefore("10.0.0.1")).toBeUndefined();
});

it("hands on who changes the signing key, and why", async () => {
  const { identity, pool } = await opened();
  await identity.begin("http://127.0.0.1:8123");
  await identity.signingKeys?.rotate(person("duty"), "at once", "the key leaked");
  const { rows } = await pool.query(
    "select convert_from(payload, 'UTF8')::jsonb as event from outbox where subject = 'svc.v1.identity.key.changed'",
  );
  const asked = rows.map(({ event }) => event).filter(({ actor }) => actor === "operator:duty");
  expect(asked.map(({ change, reason }) => [change, reason])).toEqual([
    ["retired", "the key leaked"],
    ["refused", "the key leaked"],
    ["made", "the key leaked"],
  ]);
});

// What keeps the house is heard: an outbox that only grows shows in the bus's health and is published as an alarm, once.
import { afterAll, beforeAll, expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Timers } from "../../ports/timers.ts";
import { eventually, stays } from "../../testkit/conformance/waiting.ts";
import { noMetrics, noTracer } from "../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import type { Configuration } from "../configuration/schema.ts";
import { openClient } from "../postgres/connection.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openTransport } from "./open-transport.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  await database.drop();
});

/** A minute passes in a twentieth of a second. */
function hastyTimers(): Timers {
  const timers = systemTimers();
  return { ...timers, sleep: (ms, signal) => timers.sleep(ms === 60_000 ? 50 : ms, signal) };
}

it("an outbox that grows is a complaint of the bus and one alarm", async () => {
  const owner = await openClient(database.address.owner, { log: quietLog, applicationName: "transport test" });
  await owner.query(`insert into outbox (event_id, at_us, subject, key, source, payload)
    select gen_random_uuid(), 1, 'a', 'k', 't', '1' from generate_series(1, 100001)`);
  const transport = await openTransport({
    clock: systemClock(),
    timers: hastyTimers(),
    random: systemRandom(),
    log: quietLog,
    metrics: noMetrics,
    tracer: noTracer,
    configuration: { bus: { retention_s: 60 } } as unknown as Configuration,
    database: database.address.app,
    source: "operations",
    housekeeping: true,
  });
  try {
    await eventually({}, "the complaint", () => transport.bus.health().complaint?.includes("no subscription") === true);
    expect(transport.bus.health().connected).toBe(true);
    const alarms = async (): Promise<readonly string[]> => {
      const { rows } = await owner.query(
        "select convert_from(payload, 'UTF8')::json ->> 'code' as code from outbox where subject = $1",
        [subjects.alarmRaised.name],
      );
      return rows.map(({ code }) => String(code));
    };
    await eventually({}, "the alarm", async () => (await alarms()).length > 0, alarms);
    await stays({}, alarms, ["OUTBOX_GROWING"]);
  } finally {
    await transport.close();
    await owner.end();
  }
});

// A process publishes what one of its services may and nothing else: in the outbox, on the lossy path, on PostgreSQL and in memory.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Bus } from "../../ports/bus.ts";
import { eventually, rejection } from "../../testkit/conformance/waiting.ts";
import { memoryBus } from "../../testkit/memory/bus.ts";
import { memoryStore } from "../../testkit/memory/store.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { noMetrics, noTracer } from "../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { exampleMark, exampleNav } from "../../testkit/record-examples.ts";
import type { Configuration } from "../configuration/schema.ts";
import { openClient } from "../postgres/connection.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openTransport } from "./open-transport.ts";
import { publishAuthority } from "./publish-authority.ts";

const at = "2026-11-15T00:00:00.000000Z";
const nav = exampleNav;
const lost = { service: "oms", incarnation: "a", host: "h", pid: 1, at };

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  await database.drop();
});

const ports = { clock: systemClock(), timers: systemTimers(), random: systemRandom() };

function open(source: string, services?: readonly string[]) {
  return openTransport({
    ...ports,
    log: quietLog,
    metrics: noMetrics,
    tracer: noTracer,
    configuration: { bus: { retention_s: 60 } } as unknown as Configuration,
    database: database.address.app,
    source,
    ...(services === undefined ? {} : { services }),
    housekeeping: false,
  });
}

function broadcasting(bus: Bus): unknown {
  try {
    bus.broadcast(subjects.marketMarks, exampleMark);
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

async function written(subject: string): Promise<number> {
  const owner = await openClient(database.address.owner, { log: quietLog, applicationName: "authority test" });
  const { rows } = await owner.query("select count(*)::int as n from outbox where subject = $1", [subject]);
  await owner.end();
  return rows[0].n;
}

describe("on PostgreSQL", () => {
  it("a service cannot publish in another's name, and nothing of that transaction remains", async () => {
    const transport = await open("oms");
    const work = transport.store.transact("test.foreign", async (unit) => {
      await unit.events.publish(subjects.serviceStarted, lost);
      await unit.events.publish(subjects.navUpdated, nav);
    });
    const refused = await rejection(work, "the foreign subject");
    expect(refused).toBeInstanceOf(Defect);
    expect(String(refused)).toContain(`oms may not publish ${subjects.navUpdated.name}`);
    expect(broadcasting(transport.bus)).toBeInstanceOf(Defect);
    await transport.store.transact("test.own", (unit) => unit.events.publish(subjects.serviceStopped, lost));
    await transport.close();
    expect(await written(subjects.navUpdated.name)).toBe(0);
    expect(await written(subjects.serviceStarted.name)).toBe(0);
    expect(await written(subjects.serviceStopped.name)).toBe(1);
  });

  it("a process with several services publishes what any of them may, and prices are heard from who may send them", async () => {
    const transport = await open("operations+treasury");
    const heard: string[] = [];
    const listening = { subjects: [subjects.marketMarks.name], queueMax: 10, overflow: "drop-oldest" as const };
    await transport.bus.listen(listening, async (event) => void heard.push(event.source));
    await transport.store.transact("test.both", async (unit) => {
      await unit.events.publish(subjects.navUpdated, nav);
      await unit.events.publish(subjects.serviceLost, lost);
    });
    await eventually({}, "the mark", () => {
      expect(broadcasting(transport.bus)).toBeUndefined();
      return heard.length > 0;
    });
    expect(heard[0]).toBe("operations+treasury");
    await transport.close();
    expect(await written(subjects.navUpdated.name)).toBe(1);
  });

  it("named services count before the source, and an unknown one may publish nothing", async () => {
    const named = await open("second treasury", ["treasury"]);
    await named.store.transact("test.named", (unit) => unit.events.publish(subjects.navUpdated, nav));
    await named.close();
    const unknown = await open("intruder");
    for (const publish of [
      () => unknown.store.transact("test.a", (unit) => unit.events.publish(subjects.navUpdated, nav)),
      () => unknown.store.transact("test.b", (unit) => unit.events.publish(subjects.serviceStopped, lost)),
    ])
      expect(await rejection(publish(), "the intruder")).toBeInstanceOf(Defect);
    await unknown.close();
  });
});

it("in memory the same rule holds when it is handed in", async () => {
  const process = memoryTables().process("treasury");
  const options = { ...ports, process, mayPublish: publishAuthority(["treasury"]) };
  const store = memoryStore(options);
  await store.transact("test.own", (unit) => unit.events.publish(subjects.navUpdated, nav));
  const foreign = store.transact("test.foreign", (unit) => unit.events.publish(subjects.serviceLost, lost));
  expect(await rejection(foreign, "the foreign subject")).toBeInstanceOf(Defect);
  const bus = memoryBus({ ...options, subjectByName: () => undefined });
  expect(broadcasting(bus)).toBeInstanceOf(Defect);
  expect(broadcasting(memoryBus({ ...ports, process, subjectByName: () => undefined }))).toBeUndefined();
  await store.close();
});

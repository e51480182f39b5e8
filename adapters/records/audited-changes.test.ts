// A change that nobody is notified of is a Defect and never becomes durable, on either store; and how statements are read.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Instance, Store } from "../../ports/store.ts";
import { quietLog } from "../../testkit/global-setup.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { noMetrics, noTracer } from "../../testkit/postgres-fixture.ts";
import { memoryStore } from "../memory/store.ts";
import { memoryTables } from "../memory/tables.ts";
import { openPool } from "../postgres/connection.ts";
import { createPostgresStore, type PostgresStore } from "../postgres/store.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { statementReader } from "./audited-changes.ts";
import { unauditedChange } from "./state-changes.ts";

const tools = { clock: systemClock(), random: systemRandom(), timers: systemTimers() };
const now = tools.clock.now();
const instance: Instance = {
  service: "oms",
  incarnation: "one",
  host: "here",
  pid: 1,
  startedAt: now,
  leaseUntil: plusMilliseconds(now, 60_000),
};
const started = { service: "oms", incarnation: "one", host: "here", pid: 1, at: "2026-11-15T09:30:00.000000Z" };

async function openPostgres(): Promise<{ store: PostgresStore; close(): Promise<void> }> {
  const database = await testDatabase();
  const pool = openPool(database.address.app, { log: quietLog, applicationName: "reported changes" });
  const wake = { poke: () => undefined };
  const store = createPostgresStore({
    ...tools,
    log: quietLog,
    pool,
    wake,
    metrics: noMetrics,
    tracer: noTracer,
    source: "oms",
    unauditedChange,
  });
  return {
    store,
    close: async () => {
      await store.close();
      await pool.end();
      await database.drop();
    },
  };
}

describe.each(["memory", "postgres"] as const)("a store that asks whether a change is reported, in %s", (kind) => {
  let store: Store;
  let close: () => Promise<void> | void;
  beforeAll(async () => {
    if (kind === "postgres") {
      ({ store, close } = await openPostgres());
      return;
    }
    store = memoryStore({ ...tools, process: memoryTables().process("oms"), unauditedChange });
    close = () => store.close();
  });
  afterAll(() => close());
  const alive = (): Promise<readonly Instance[]> => store.transact("look", (unit) => unit.instances.alive(now));

  it("refuses one whose publication was forgotten, and nothing of it remains", async () => {
    const forgotten = store.transact("lease.register", (unit) => unit.instances.register(instance));
    await expect(forgotten).rejects.toThrow(Defect);
    await expect(forgotten).rejects.toThrow(/insert service_instance and publishes none of serviceStarted/);
    expect(await alive()).toEqual([]);
  });

  it("refuses one that the register does not have, although it publishes", async () => {
    const unknown = store.transact("lease.other", async (unit) => {
      await unit.instances.register(instance);
      await unit.events.publish(subjects.serviceStarted, started);
    });
    await expect(unknown).rejects.toThrow(/lease\.other .*state-changes\.ts/);
    expect(await alive()).toEqual([]);
  });

  it("lets through one that tells, a heartbeat, and one that found nothing to change", async () => {
    await store.transact("lease.register", async (unit) => {
      await unit.instances.register(instance);
      await unit.events.publish(subjects.serviceStarted, started);
    });
    await store.transact("lease.renew", (unit) => unit.instances.renew("one", instance.leaseUntil));
    expect(await store.transact("leases.look", (unit) => unit.instances.declareLost(now))).toEqual([]);
    expect(await alive()).toHaveLength(1);
    const lost = store.transact("leases.look", (unit) => unit.instances.declareLost(plusMilliseconds(now, 90_000)));
    await expect(lost).rejects.toThrow(/delete service_instance and publishes none of serviceLost/);
    expect(await alive()).toHaveLength(1);
  });
});

describe("statementReader", () => {
  it("finds verbs and tables, and takes locks and the parts of a statement for what they are", () => {
    const recordsOf = statementReader();
    expect(recordsOf("insert into halt (a) values (1) on conflict (a) do update set a = 2")).toEqual(["insert halt"]);
    expect(recordsOf("select 1 from halt for update skip locked")).toEqual([]);
    expect(recordsOf("select pen from risk_pen for no key update")).toEqual([]);
    expect(recordsOf("with gone as (delete from\n  halt returning 1) update only risk_nav set x = 1")).toEqual([
      "delete halt",
      "update risk_nav",
    ]);
    expect(recordsOf("UPDATE Halt SET a = 1")).toEqual(["update halt"]);
  });
});

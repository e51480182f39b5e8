// An unaudited change is a Defect and never becomes durable, on either store; both see the same changes; and how statements are read.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Instance, Store, UnitOfWork } from "../../ports/store.ts";
import { memoryStore } from "../../testkit/memory/store.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { beginTransaction } from "../../testkit/memory/transaction.ts";
import { noMetrics, noTracer } from "../../testkit/no-telemetry.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { openPool } from "../postgres/connection.ts";
import { createPostgresStore, type PostgresStore } from "../postgres/store.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { statementReader, type UnauditedChange } from "./audited-changes.ts";
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

async function openPostgres(
  unauditedChange: UnauditedChange,
): Promise<{ store: PostgresStore; close(): Promise<void> }> {
  const database = await testDatabase();
  const pool = openPool(database.address.app, { log: quietLog, applicationName: "audited changes" });
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

describe.each(["memory", "postgres"] as const)("a store that asks whether a change is audited, in %s", (kind) => {
  let store: Store;
  let close: () => Promise<void> | void;
  beforeAll(async () => {
    if (kind === "postgres") {
      ({ store, close } = await openPostgres(unauditedChange));
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

/** Changes of many kinds, each after the one before; what they come to is the same on both stores. */
const changes: Readonly<Record<string, (unit: UnitOfWork) => Promise<unknown>>> = {
  register: ({ instances }) => instances.register(instance),
  renew: ({ instances }) => instances.renew("one", instance.leaseUntil),
  "renew nobody": ({ instances }) => instances.renew("two", instance.leaseUntil),
  retire: ({ instances }) => instances.retire("one"),
  handle: ({ handled }) => handled.firstTime("reader", eventId),
  "handle again": ({ handled }) => handled.firstTime("reader", eventId),
  halt: ({ risk }) => risk.latchHalt(halt),
  "halt again": ({ risk }) => risk.latchHalt(halt),
  lift: ({ risk }) => risk.liftHalts([halt.halt_id], now),
  hold: ({ treasury }) => treasury.add("alpha", "AAPL", parse("10")),
  configure: ({ configuration }) => configuration.put("oms", [{ path: "a", shown: "1", digest: "x" }]),
  "forget nothing": ({ configuration }) => configuration.remove("oms", ["b"]),
  forget: ({ configuration }) => configuration.remove("oms", ["a"]),
  see: ({ firstSeen }) => firstSeen.put("kind", new Map([["this", now]])),
  "see no more": ({ firstSeen }) => firstSeen.remove("kind", ["this"]),
  key: ({ requestKeys }) => requestKeys.put(requestKey, keyedRequest),
  "key again": ({ requestKeys }) => requestKeys.put(requestKey, keyedRequest),
  "forget keys": ({ requestKeys }) => requestKeys.remove(requestKey),
  stand: ({ auditStanding }) => auditStanding.report({ writerEpoch: 2, through: now }),
  "stand behind": ({ auditStanding }) => auditStanding.report({ writerEpoch: 1, through: now }),
  import: ({ ledger }) => ledger.firstImport("seed", "0".repeat(64), now),
  "import again": ({ ledger }) => ledger.firstImport("seed", "0".repeat(64), now),
  report: ({ oms }) => oms.putReportCursor("paper", 3),
  "only read": ({ oms }) => oms.openOrders(),
};

const requestKey = { caller: "someone", place: "Oms/SubmitOrder /v1/oms/orders", key: "k-1" };
const keyedRequest = { bodyHash: "00", holder: "one", begunAt: now, state: "begun" as const, answer: new Uint8Array() };
const eventId = "5f0d8f0a-0000-4000-8000-000000000001";
const halt = {
  halt_id: "h-1",
  severity: "FUND_HALT" as const,
  fund_id: "alpha",
  reason: "a test",
  requested_by: "operator:duty",
  since: "2026-11-15T09:30:00.000000Z",
};

describe("what the stores see of a change", () => {
  /** The tables that each change wrote to. */
  async function seenBy(open: (notes: UnauditedChange) => Promise<{ store: Store; close(): unknown }>) {
    const seen = new Map<string, readonly string[]>();
    const { store, close } = await open((unit, records) => {
      seen.set(unit, [...new Set([...records].map((record) => record.split(" ")[1] ?? ""))].sort());
      return undefined;
    });
    for (const [name, change] of Object.entries(changes)) await store.transact(name, change);
    await close();
    return Object.fromEntries(seen);
  }

  it("is the same in memory and in the database, but for what only the database keeps", async () => {
    const inDatabase = await seenBy(openPostgres);
    const inMemory = await seenBy(async (unauditedChange) => {
      const store = memoryStore({ ...tools, process: memoryTables().process("oms"), unauditedChange });
      return { store, close: () => store.close() };
    });
    expect(Object.keys(inMemory)).toEqual(Object.keys(changes));
    // The row that counts halts is a number here.
    expect(inDatabase["halt"]).toEqual(["halt", "halt_epoch"]);
    const expected = Object.entries(inDatabase).map(([name, tables]) => [
      name,
      tables.filter((table) => table !== "halt_epoch"),
    ]);
    expect(inMemory).toEqual(Object.fromEntries(expected));
    expect(inMemory["only read"]).toEqual([]);
    expect(inMemory["halt again"]).toEqual([]);
  });

  it("has the names of the database in memory too", async () => {
    const database = await testDatabase();
    const pool = openPool(database.address.app, { log: quietLog, applicationName: "table names" });
    const { rows } = await pool.query("select tablename as name from pg_tables where schemaname = 'portcullis'");
    await pool.end();
    await database.drop();
    const transaction = beginTransaction("names", { ...tools, process: memoryTables().process("oms") });
    const known = new Set((rows as { name: string }[]).map(({ name }) => name));
    expect(transaction.tableNames().length).toBeGreaterThan(30);
    expect(transaction.tableNames().filter((name) => !known.has(name))).toEqual([]);
    transaction.end();
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

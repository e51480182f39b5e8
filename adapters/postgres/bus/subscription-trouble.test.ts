// Durable subscriptions in trouble: what they complain of, how often they try, and that they end when they must.
import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import { publish, record } from "../../../testkit/conformance/bus-kit.ts";
import { thingChanged } from "../../../testkit/conformance/subjects.ts";
import { eventually, gate, pass, rejection, stays } from "../../../testkit/conformance/waiting.ts";
import { noAsideStore } from "../../../testkit/no-aside.ts";
import { noMetrics } from "../../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import {
  holdInOutbox,
  knownSubject,
  openPeer,
  type PeerOptions,
  type PostgresPeer,
} from "../../../testkit/postgres-fixture.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemClock } from "../../system/clock.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { noAlarms } from "../alarms.ts";
import { openClient, openPool } from "../connection.ts";
import { type BusSession, createBusSession } from "./bus-session.ts";
import { openDurable } from "./subscription-durable.ts";
import type { PokeSource } from "./subscription-wake.ts";
import type { Poked, Written } from "./wake.ts";

const fixture = {};
let database: TestDatabase;
let owner: pg.Pool;
let endings: (() => Promise<void>)[];

beforeEach(async () => {
  database = await testDatabase();
  owner = openPool(database.address.owner, { log: quietLog, applicationName: "trouble test", sizeMax: 3 });
  endings = [];
});
afterEach(async () => {
  for (const end of endings.reverse()) await end();
  await owner.end();
  await database.drop();
});

function peer(options: PeerOptions = {}): PostgresPeer {
  const opened = openPeer(database.address.app, options);
  endings.push(() => opened.close());
  return opened;
}

const tools = { clock: systemClock(), timers: systemTimers(), random: systemRandom(), metrics: noMetrics };

/** For a subscription by itself, without a bus around it. */
const aloneTools = {
  ...tools,
  log: quietLog,
  alarms: noAlarms,
  wake: { onPoke: () => () => undefined },
  pulse: { provenUntil: () => undefined, watch: () => () => undefined },
  parking: { ...noAsideStore, put: async () => undefined },
  subjectByName: knownSubject,
};
const heldEvent = { subject: thingChanged.name, key: "k", payload: { key: "k", n: 1 } };

async function openSession(): Promise<BusSession> {
  const options = { log: quietLog, applicationName: "trouble session" };
  const open = (): Promise<pg.Client> => openClient(database.address.app, options);
  const session = createBusSession({ ...tools, log: quietLog, open, holder: "test" });
  endings.push(() => session.close());
  await session.opened(new AbortController().signal);
  return session;
}

const advisoryLocks = async (): Promise<number> =>
  (
    await owner.query(
      "select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
    )
  ).rowCount ?? 0;

describe("a bus that is closed while somebody subscribes", () => {
  it("refuses the subscription and lets the process go on", async () => {
    const one = peer();
    const blocker = await openClient(database.address.owner, { log: quietLog, applicationName: "blocker" });
    endings.push(() => blocker.end());
    await record(one.bus, { name: "test.first" });
    await blocker.query("begin");
    await blocker.query(
      "insert into subscription (name, cursor_id, patterns, updated_us) values ('test.late', 0, '{}', 0)",
    );
    const late = rejection(
      one.bus.subscribe({ name: "test.late", subjects: [thingChanged.name] }, () => Promise.resolve()),
      "the late subscription",
    );
    await pass(fixture, 50);
    const closing = one.bus.close();
    await pass(fixture, 50);
    await blocker.query("commit");
    expect(await late).toMatchObject({ code: "BUS_UNAVAILABLE", retry: "never" });
    await closing;
    await pass(fixture, 20);
  });

  it("a subscription whose session was closed ends instead of asking for ever", async () => {
    const session = await openSession();
    const entry = await session.register("test.ended", [thingChanged.name], tools.clock.now());
    let asked = 0;
    const counting: BusSession = {
      ...session,
      opened: (signal) => {
        asked += 1;
        if (asked > 1_000) throw new Error("asks for ever");
        return session.opened(signal);
      },
    };
    const durable = openDurable({ name: "test.ended", subjects: [thingChanged.name] }, async () => undefined, {
      ...aloneTools,
      session: counting,
      entry,
    });
    await eventually(fixture, "the leadership", async () => (await advisoryLocks()) === 1);
    await session.close();
    await stays(fixture, () => asked < 10, true);
    await durable.close();
  });
});

describe("leadership", () => {
  it("that cannot be entered leaves no lock behind", async () => {
    const session = await openSession();
    const lead = (name: string, entry?: bigint) => session.lead(name, [">"], tools.clock.now(), entry);
    for (let tries = 1; tries <= 3; tries += 1) {
      expect(await rejection(lead("test.gone", 99n), "leading what was forgotten")).toMatchObject({
        code: "NOT_FOUND",
      });
    }
    expect(await advisoryLocks()).toBe(0);
    await owner.query("alter table subscription add constraint planned check (name <> 'test.refused')");
    for (let tries = 1; tries <= 3; tries += 1) {
      expect(await rejection(lead("test.refused"), "leading what cannot be entered")).toMatchObject({ code: "23514" });
    }
    expect(await advisoryLocks()).toBe(0);
    const led = await lead("test.fine");
    expect(await advisoryLocks()).toBe(1);
    await led?.resign();
    expect(await advisoryLocks()).toBe(0);
  });

  it("of an old entry cannot move the cursor of a new one", async () => {
    const session = await openSession();
    const old = await session.lead("test.twice", [">"], tools.clock.now());
    await session.forget("test.twice");
    await session.register("test.twice", [">"], tools.clock.now());
    expect(await old?.moveCursor(7n, tools.clock.now())).toBe(false);
    const { rows } = await owner.query("select cursor_id from subscription where name = 'test.twice'");
    expect(rows).toEqual([{ cursor_id: "0" }]);
  });
});

describe("a subscription that fails", () => {
  it("complains while the outbox is locked and nothing can be read, and is well afterwards", {
    timeout: 40_000,
  }, async () => {
    const first = peer();
    const seen = await record(first.bus, { name: "trouble.locked" });
    await publish(first.store, { key: "a", n: 1 });
    await eventually(fixture, "the first event", () => seen.events.length === 1);
    const locker = await owner.connect();
    await locker.query("begin");
    await locker.query("lock table outbox in access exclusive mode");
    await eventually(fixture, "a complaint", () => first.bus.health().complaint?.includes("has waited") === true);
    await locker.query("rollback");
    locker.release();
    await publish(first.store, { key: "a", n: 2 });
    await eventually(fixture, "the second event", () => seen.events.length === 2);
    await eventually(fixture, "no complaint", () => first.bus.health().complaint === undefined);
  });

  it("says so in health, backs off, logs once, and says nothing once it goes on", async () => {
    const warned: string[] = [];
    const log: Log = { ...quietLog, warn: (message) => void warned.push(message) };
    const one = peer({ log });
    const seen = await record(one.bus, { name: "test.failing" });
    await publish(one.store, { key: "k", n: 1 });
    await eventually(fixture, "the first event", () => seen.events.length === 1);
    await owner.query("revoke select on outbox from portcullis_app");
    await eventually(fixture, "the complaint", () => one.bus.health().complaint?.includes("test.failing") === true);
    expect(one.bus.health().complaint).toContain("does not get on");
    const before = warned.length;
    await stays(fixture, () => warned.length, before, 100);
    await owner.query("grant select on outbox to portcullis_app");
    await publish(one.store, { key: "k", n: 2 });
    await eventually(fixture, "the second event", () => seen.events.length === 2);
    await eventually(fixture, "no complaint", () => one.bus.health().complaint === undefined);
    expect(warned.filter((message) => message === "subscription interrupted").length).toBe(1);
  });

  it("raises one alarm when an unfinished transaction holds it back", async () => {
    const one = peer({ alarms: true });
    await record(one.bus, { name: "test.alarmed" });
    const held = await holdInOutbox(database.address.owner, heldEvent);
    await publish(one.store, { key: "k", n: 2 });
    await eventually(fixture, "the complaint", () => one.bus.health().complaint?.includes("held back") === true);
    const text = "select convert_from(payload, 'UTF8')::json ->> 'code' as code from outbox where subject = $1";
    const raised = async () => (await owner.query(text, [subjects.alarmRaised.name])).rows.map((row) => row.code);
    await eventually(fixture, "the alarm", async () => (await raised()).length > 0);
    await stays(fixture, raised, ["HORIZON_STALLED"]);
    await held.commit();
    await eventually(fixture, "no complaint", () => one.bus.health().complaint === undefined);
  });

  it("takes its complaint about the horizon with it when it no longer leads", async () => {
    const session = await openSession();
    const entry = await session.register("test.leaving", [thingChanged.name], tools.clock.now());
    let aheadMs = 0;
    let lost = false;
    const fickle: BusSession = {
      ...session,
      async lead(...asked) {
        const led = lost ? undefined : await session.lead(...asked);
        return led === undefined ? undefined : { ...led, holds: () => !lost };
      },
    };
    const durable = openDurable({ name: "test.leaving", subjects: [thingChanged.name] }, async () => undefined, {
      ...aloneTools,
      clock: { now: () => plusMilliseconds(tools.clock.now(), aheadMs) },
      session: fickle,
      entry,
    });
    endings.push(() => durable.close());
    const held = await holdInOutbox(database.address.owner, heldEvent);
    const next = await holdInOutbox(database.address.owner, heldEvent);
    await next.commit();
    await eventually(fixture, "the complaint", () => {
      aheadMs += 1_000;
      return durable.complaint()?.includes("held back") === true;
    });
    lost = true;
    await eventually(fixture, "no complaint", () => durable.complaint() === undefined);
    await held.commit();
  });

  it("does not read its page again at every commit while a hole holds it back", async () => {
    const counted = await openCounted("test.held");
    const held = await holdInOutbox(database.address.owner, heldEvent);
    const next = await holdInOutbox(database.address.owner, heldEvent);
    await next.commit();
    await stays(fixture, () => counted.seen, []);
    expect(await counted.readsOf("events")).toBeLessThan(60);
    await held.commit();
    await eventually(fixture, "both events", () => counted.seen.length === 2);
  });

  it("reads at commits that may concern it, and leaves others to its next poll", async () => {
    const counted = await openCounted("test.woken");
    await stays(fixture, () => counted.seen, []);
    const others = [
      await counted.readsOf("decisions"),
      await counted.readsOf("entries"),
      await counted.readsOf("events", [subjects.alarmRaised.name]),
    ];
    for (const reads of others) expect(reads).toBeLessThan(60);
    // A read that takes longer than the time between two commits stands for both, so a slow machine reads less, but never as seldom as polling.
    const polled = Math.max(1, ...others);
    expect(await counted.readsOf("events")).toBeGreaterThan(3 * polled);
    expect(await counted.readsOf("events", [subjects.alarmRaised.name, thingChanged.name])).toBeGreaterThan(3 * polled);
  });
});

/** A subscription by itself that is told of commits by hand, and how often it reads. */
async function openCounted(name: string) {
  const session = await openSession();
  const entry = await session.register(name, [thingChanged.name], tools.clock.now());
  const pokes = new Set<Poked>();
  const seen: unknown[] = [];
  let reads = 0;
  const counting: BusSession = {
    ...session,
    async lead(...asked) {
      const led = await session.lead(...asked);
      if (led === undefined) return undefined;
      const run: typeof led.run = (statement) => {
        if (statement.name?.startsWith("bus_read") === true) reads += 1;
        return led.run(statement);
      };
      return { ...led, run };
    },
  };
  const wake: PokeSource = {
    onPoke(run) {
      pokes.add(run);
      return () => pokes.delete(run);
    },
  };
  const options = { name, subjects: [thingChanged.name] };
  const keep = async (event: BusEvent): Promise<void> => void seen.push(event.payload);
  const durable = openDurable(options, keep, { ...aloneTools, session: counting, entry, wake });
  endings.push(() => durable.close());
  return {
    seen,
    /** While it is told of so many commits, for 300 ms and more. */
    async readsOf(written: Written, names?: readonly string[]): Promise<number> {
      const reported = names === undefined ? undefined : new Set(names);
      reads = 0;
      for (let n = 0; n < 300; n += 1) {
        for (const poke of pokes) poke(written, reported);
        await pass(fixture, 1);
      }
      return reads;
    },
  };
}

describe("a name that is forgotten elsewhere", () => {
  it("ends a leader that has nothing to do, so that it does not stand in the way of who comes next", async () => {
    const [one, other] = [peer(), peer()];
    await record(one.bus, { name: "test.idle" });
    await eventually(fixture, "the leadership", async () => (await advisoryLocks()) === 1);
    await other.bus.forget("test.idle");
    await eventually(fixture, "the end of the leadership", async () => (await advisoryLocks()) === 0);
    const seen = await record(other.bus, { name: "test.idle" });
    await publish(one.store, { key: "k", n: 1 });
    await eventually(fixture, "the event", () => seen.events.length === 1);
  });

  it("ends who stands by: it does not enter the name again", async () => {
    const [leader, standBy] = [peer(), peer()];
    const seen = await record(leader.bus, { name: "test.standby" });
    await publish(leader.store, { key: "k", n: 1 });
    await eventually(fixture, "the event", () => seen.events.length === 1);
    const waiting = await record(standBy.bus, { name: "test.standby" });
    await stays(fixture, () => waiting.numbers(), []);
    await leader.bus.forget("test.standby");
    await publish(leader.store, { key: "k", n: 2 });
    await stays(fixture, () => waiting.numbers(), [], 100);
    expect((await owner.query("select name from subscription")).rows).toEqual([]);
  });
});

describe("lag", () => {
  it("is an alarm when it grows too large, and not shown when it cannot be measured", async () => {
    const shown = new Map<string, number>();
    const metrics: Metrics = {
      ...noMetrics,
      gauge: (name) => ({ set: (value, labels) => void shown.set(`${name} ${labels?.["subscription"]}`, value) }),
    };
    const one = peer({ metrics, alarms: true });
    const held = gate();
    endings.push(async () => held.open());
    await record(one.bus, { name: "test.lagging" }, () => held.opened);
    await owner.query(
      `insert into outbox (event_id, at_us, subject, key, source, payload)
       select gen_random_uuid(), 1, $1, 'k', 't', '{"key":"k","n":1}' from generate_series(1, 10001)`,
      [thingChanged.name],
    );
    const lag = () => shown.get("portcullis_bus_lag_events test.lagging") ?? 0;
    await eventually(fixture, "the figure", () => lag() > 10_000);
    const raised = "select 1 from outbox where convert_from(payload, 'UTF8') like '%SUBSCRIPTION_LAG%'";
    await eventually(fixture, "the alarm", async () => (await owner.query(raised)).rowCount === 1);
    await owner.query("revoke select on subscription from portcullis_app");
    await eventually(fixture, "no figure", () => Number.isNaN(lag()));
    expect((await owner.query(raised)).rowCount).toBe(1);
    await owner.query("grant select on subscription to portcullis_app");
  });
});

// The PostgreSQL store under the suite of its port, then what is PostgreSQL's own: rights, errors, the witness of a commit.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { storeConformance } from "../../testkit/conformance/store.ts";
import { thingChanged } from "../../testkit/conformance/subjects.ts";
import { rejection } from "../../testkit/conformance/waiting.ts";
import { startCutProxy } from "../../testkit/cut-proxy.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { openPeer, type PostgresPeer, postgresStoreFixture } from "../../testkit/postgres-fixture.ts";

storeConformance("PostgreSQL", () => postgresStoreFixture(), true);

describe("store on PostgreSQL", () => {
  let database: TestDatabase;
  let peer: PostgresPeer;
  beforeAll(async () => {
    database = await testDatabase();
    peer = openPeer(database.address.app);
  });
  afterAll(async () => {
    await peer.close();
    await database.drop();
  });

  it("a work of one statement begins no transaction, and a second statement in it is a Defect", async () => {
    const begun = async (): Promise<number> => {
      const text =
        "select coalesce(sum(calls), 0)::int as calls from public.pg_stat_statements where query like 'begin%' and dbid = (select oid from pg_database where datname = current_database())";
      return (await peer.pool.query(text)).rows[0]?.calls;
    };
    const kind = { isOneStatement: true } as const;
    const before = await begun();
    const at = 1 as Instant;
    expect(await peer.store.transact("test.alone", (unit) => unit.instances.alive(at), kind)).toEqual([]);
    expect(await begun()).toBe(before);
    await peer.store.transact("test.within", (unit) => unit.instances.alive(at));
    expect(await begun()).toBe(before + 1);
    const twice = peer.store.transact(
      "test.twice",
      async (unit) => [await unit.instances.alive(at), await unit.instances.alive(at)],
      kind,
    );
    expect(await rejection(twice, "two statements")).toBeInstanceOf(Defect);
  });

  it("the app role can append to the outbox and do nothing else to it", async () => {
    await peer.store.transact("test.append", (unit) => unit.events.publish(thingChanged, { key: "k", n: 1 }));
    for (const sql of [
      "update outbox set key = 'forged'",
      "delete from outbox",
      "truncate outbox",
      "insert into outbox (xid, event_id, at_us, subject, key, source, payload) values ('1', gen_random_uuid(), 1, 's', 'k', 'x', 'null')",
      "insert into outbox (id, event_id, at_us, subject, key, source, payload) overriding system value values (1, gen_random_uuid(), 1, 's', 'k', 'x', 'null')",
      "alter table outbox disable trigger all",
      "delete from handled_event",
      "update outbox_floor set trimmed_id = 99",
    ]) {
      expect(await rejection(peer.pool.query(sql), sql), sql).toMatchObject({ code: "42501" });
    }
  });

  it("a payload that is not UTF-8 is refused by the database itself", async () => {
    const sql =
      "insert into outbox (event_id, at_us, subject, key, source, payload) values (gen_random_uuid(), 1, 's', 'k', 'x', $1)";
    for (const bytes of [Buffer.from([0xff, 0xfe]), Buffer.from("a\0b")]) {
      expect(await rejection(peer.pool.query(sql, [bytes]), "bad bytes")).toMatchObject({ code: "22021" });
    }
  });

  it("an error of the database becomes a fault without parameters, and the pool is not poisoned", async () => {
    const row = { service: "s", host: "h", pid: 1, startedAt: 1 as Instant, leaseUntil: 2 as Instant };
    const twice = peer.store.transact("test.twice", async (unit) => {
      await unit.instances.register({ ...row, incarnation: "hunter2" });
      await unit.instances.register({ ...row, incarnation: "hunter2" });
    });
    const fault = await rejection(twice, "the duplicate");
    expect(fault).toBeInstanceOf(Fault);
    expect(JSON.stringify([fault, String(fault), (fault as Fault).facts])).not.toContain("hunter2");
    for (let n = 0; n < 20; n += 1) {
      await peer.store.transact("test.next", (unit) => unit.handled.firstTime("s", `after-${n}`));
    }
  });

  it("a fault that the work swallows still rolls everything back", async () => {
    const row = { service: "s", host: "h", pid: 1, startedAt: 1 as Instant, leaseUntil: 2 as Instant };
    const swallowed = peer.store.transact("test.swallow", async (unit) => {
      await unit.instances.register({ ...row, incarnation: "one" });
      await unit.instances.register({ ...row, incarnation: "one" }).catch(() => undefined);
      await unit.events.publish(thingChanged, { key: "swallowed", n: 1 });
    });
    expect(await rejection(swallowed, "the swallowed fault")).toBeInstanceOf(Fault);
    const found = await peer.pool.query("select 1 from outbox where key = 'swallowed'");
    expect(found.rowCount).toBe(0);
  });

  it("one bad event in a shared commit does not fail the others", async () => {
    const far = { ...thingChanged, key: () => "k".repeat(1_024) };
    const all = await Promise.allSettled([
      ...Array.from({ length: 10 }, (_unused, n) =>
        peer.store.transact("test.good", (unit) => unit.events.publish(thingChanged, { key: "shared", n })),
      ),
      peer.store.transact("test.far", (unit) => unit.events.publish(far, { key: "x", n: 1 })),
      peer.store.transact("test.bad", (unit) =>
        unit.events.publish({ ...thingChanged, key: () => "zero\0" }, { key: "x", n: 1 }),
      ),
    ]);
    expect(all.filter((one) => one.status === "rejected").length).toBe(1);
  });

  it("invariant 4: without its witness a number that ended as committed is not our transaction", async () => {
    const other = await peer.pool.query(
      "insert into handled_event values ('x', 'y', 1) returning pg_current_xact_id()::text as xid",
    );
    const ghost = `${other.rows[0]?.xid}/00000000-0000-4000-8000-000000000000`;
    expect(await peer.store.outcomeOf(ghost)).toBe("not committed");
    const future = "9000000000000000000/00000000-0000-4000-8000-000000000000";
    expect(await peer.store.outcomeOf(future)).toBe("not committed");
    expect(await rejection(peer.store.outcomeOf("nonsense"), "nonsense")).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("a transaction without events leaves a marker, so that its lost answer can be asked for too", async () => {
    const proxy = await startCutProxy(database.address.app);
    const cut = openPeer(proxy.target);
    try {
      for (const outcome of ["committed", "not committed"] as const) {
        proxy.loseNextCommitAnswer(outcome);
        const lost = cut.store.transact("test.lost", (unit) => unit.handled.firstTime("lost", outcome));
        const fault = await rejection(lost, "the lost answer");
        expect(fault).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
        const transaction = String((fault as Fault).facts["transaction"]);
        expect(await cut.store.outcomeOf(transaction)).toBe(outcome);
        const again = await cut.store.transact("test.look", (unit) => unit.handled.firstTime("lost", outcome));
        expect(again).toBe(outcome === "not committed");
      }
    } finally {
      await cut.close();
      await proxy.close();
    }
  });
});

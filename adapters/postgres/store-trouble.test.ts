// The store when something went wrong around it: answers swallowed, witnesses trimmed, statements that nobody awaited,
// outages that must not fill the log.
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import { thingChanged } from "../../testkit/conformance/subjects.ts";
import { eventually, rejection } from "../../testkit/conformance/waiting.ts";
import { startCutProxy } from "../../testkit/cut-proxy.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../testkit/postgres-fixture.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { openPool } from "./connection.ts";

let database: TestDatabase;
let peer: PostgresPeer;
let owner: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
  owner = openPool(database.address.owner, { log: quietLog, applicationName: "trouble test", sizeMax: 2 });
});
afterAll(async () => {
  await peer.close();
  await owner.end();
  await database.drop();
});

const answers = (from: PostgresPeer): Promise<boolean> =>
  publishOne(from, 0).then(
    () => true,
    () => false,
  );

const publishOne = (from: PostgresPeer, n: number) =>
  from.store.transact("test.publish", (unit) => unit.events.publish(thingChanged, { key: "k", n }));

describe("a database that falls silent", () => {
  it.each(["committed", "not committed"] as const)(
    "at COMMIT is an unknown outcome within the limit: %s",
    async (outcome) => {
      const proxy = await startCutProxy(database.address.app);
      const silent = openPeer(proxy.target, { answerMsMax: 300 });
      try {
        for (const work of ["lane", "transaction"]) {
          let fault: unknown;
          // A busy server may be later than the limit before it comes to COMMIT: then nothing is unknown, and it is done again.
          await eventually({}, "a COMMIT without an answer", async () => {
            proxy.restore();
            if (!(await answers(silent))) return false;
            proxy.swallowFromCommit(outcome);
            const lost = silent.store.transact(`test.${work}`, async (unit) => {
              if (work === "transaction") await unit.handled.firstTime("silent", `${outcome} ${work}`);
              return unit.events.publish(thingChanged, { key: "silent", n: 1 });
            });
            fault = await rejection(lost, "the swallowed commit");
            return !(fault instanceof Fault && fault.code === "STORE_UNAVAILABLE");
          });
          expect(fault).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
          proxy.restore();
          expect(await silent.store.outcomeOf(String((fault as Fault).facts["transaction"]))).toBe(outcome);
        }
      } finally {
        await silent.close();
        await proxy.close();
      }
    },
  );

  it("is noticed by connections that only listen, and they are opened anew", async () => {
    const proxy = await startCutProxy(database.address.app);
    const silent = openPeer(proxy.target, { answerMsMax: 300 });
    try {
      await eventually({}, "the connection", () => silent.bus.health().connected);
      proxy.swallow();
      // The beat comes every five seconds.
      await eventually({}, "the loss of the listener", () => silent.wake.complaint() !== undefined);
      proxy.restore();
      await eventually({}, "the connection again", () => silent.bus.health().connected);
    } finally {
      await silent.close();
      await proxy.close();
    }
  });
});

describe("outcomeOf", () => {
  const ask = async (witness: "event" | "marker"): Promise<string> => {
    const proxy = await startCutProxy(database.address.app);
    const cut = openPeer(proxy.target);
    proxy.loseNextCommitAnswer("committed");
    const lost =
      witness === "event"
        ? publishOne(cut, 7)
        : cut.store.transact("test.mark", (unit) => unit.handled.firstTime("outcome", "one"));
    const fault = await rejection(lost, "the lost answer");
    await cut.close();
    await proxy.close();
    return String((fault as Fault).facts["transaction"]);
  };

  it.each(["event", "marker"] as const)("never denies a commit whose witness, its %s, was trimmed", async (witness) => {
    const transaction = await ask(witness);
    expect(await peer.store.outcomeOf(transaction)).toBe("committed");
    await peer.pool.query(
      `insert into subscription (name, cursor_id, patterns, updated_us) select 'all', coalesce(max(id), 0), '{}', 0 from outbox
       on conflict (name) do update set cursor_id = greatest(subscription.cursor_id, excluded.cursor_id)`,
    );
    // An hour ago by its own account, because the last minute is never trimmed.
    await owner.query("update outbox set at_us = at_us - 3600000000");
    await peer.pool.query("select trim_outbox(9000000000000000, 10000), trim_history(9000000000000000, 10000)");
    const fault = await rejection(peer.store.outcomeOf(transaction), "the question that comes too late");
    expect(fault).toMatchObject({ code: "STORE_COMMIT_UNKNOWN", retry: "never" });
    // What came after is still certain.
    const other = await peer.pool.query(
      "insert into handled_event values ('x', $1, 1) returning pg_current_xact_id()::text as xid",
      [witness],
    );
    const ghost = `${other.rows[0]?.xid}/00000000-0000-4000-8000-000000000000`;
    expect(await peer.store.outcomeOf(ghost)).toBe("not committed");
  });
});

describe("a statement that the work did not await", () => {
  it("commits with it", async () => {
    await peer.store.transact("test.floating", async (unit) => {
      void unit.handled.firstTime("floating", "one");
      await unit.events.publish(thingChanged, { key: "floating", n: 1 });
    });
    const found = await owner.query("select 1 from handled_event where subscription = 'floating'");
    expect(found.rowCount).toBe(1);
  });

  it("fails with it", async () => {
    const failing = peer.store.transactSql("test.floating", async (unit, sql) => {
      sql.write({ text: "insert into nowhere values (1)" }).catch(() => undefined);
      await unit.events.publish(thingChanged, { key: "floating-failed", n: 1 });
    });
    expect(await rejection(failing, "the floating failure")).toMatchObject({ code: "INTERNAL" });
    const found = await owner.query("select 1 from outbox where key = 'floating-failed'");
    expect(found.rowCount).toBe(0);
  });
});

describe("an outage", () => {
  it("is one line when it begins and one when it is over", async () => {
    const lines: string[] = [];
    const log: Log = {
      ...quietLog,
      warn: (message) => void lines.push(`warn ${message}`),
      info: (message) => void lines.push(`info ${message}`),
    };
    const proxy = await startCutProxy(database.address.app);
    const cut = openPeer(proxy.target, { log });
    try {
      await publishOne(cut, 1);
      for (let round = 1; round <= 2; round += 1) {
        proxy.cut();
        for (let n = 1; n <= 5; n += 1) await rejection(publishOne(cut, n), "publishing into the void");
        proxy.restore();
        await publishOne(cut, 2);
        await publishOne(cut, 3);
        const reported = lines.filter((line) => line.includes("the store is"));
        expect(reported.length).toBe(2 * round);
        expect(reported.slice(-2)).toEqual(["warn the store is out of reach", "info the store is in reach again"]);
      }
      expect(lines.filter((line) => line.includes("transaction failed"))).toEqual([]);
    } finally {
      await cut.close();
      await proxy.close();
    }
  });
});

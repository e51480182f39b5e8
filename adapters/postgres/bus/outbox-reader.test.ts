// The reader against transactions that commit late, out of order or not at all. The same scenarios run against a planted
// reader that goes by highest id, to show that they would notice.
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { matches } from "../../../contracts/src/subjects.ts";
import { eventually } from "../../../testkit/conformance/waiting.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemClock } from "../../system/clock.ts";
import { openClient, openPool } from "../connection.ts";
import { oldestTransaction } from "./outbox-horizon.ts";
import { regexOf } from "./outbox-pattern.ts";
import { createOutboxReader, type OutboxReader, pageBytesMax, type RunStatement } from "./outbox-reader.ts";

let database: TestDatabase;
let owner: pg.Pool;
let readerClient: pg.Client;
const writers: pg.Client[] = [];
const run: RunStatement = (statement) => readerClient.query(statement as pg.QueryArrayConfig);
const everything = [">"];
let start = 0n;

const insertText = `insert into outbox (event_id, at_us, subject, key, source, payload)
                    values ($1, 1, $2, $3, 'test', $4) returning id`;

async function insert(client: pg.Client | pg.Pool, key: string, subject = "a.b"): Promise<bigint> {
  const values = [randomUUID(), subject, key, Buffer.from(JSON.stringify(key))];
  return BigInt((await client.query(insertText, values)).rows[0].id);
}

function writer(index: number): pg.Client {
  const found = writers[index];
  if (found === undefined) throw new Error("no such writer");
  return found;
}

beforeAll(async () => {
  database = await testDatabase();
  owner = openPool(database.address.owner, { log: quietLog, applicationName: "reader test", sizeMax: 2 });
  const options = { log: quietLog, applicationName: "reader test" };
  readerClient = await openClient(database.address.app, options);
  for (let index = 0; index < 3; index += 1) writers.push(await openClient(database.address.app, options));
});
beforeEach(async () => {
  // A row of its own, and not the highest there is: numbers above that may have been taken by what was rolled back.
  start = await insert(owner, "before");
});
afterAll(async () => {
  for (const client of [readerClient, ...writers]) await client.end();
  await owner.end();
  await database.drop();
});

const honest = (): OutboxReader => createOutboxReader({ run, clock: systemClock() });

/** What a naive reader does: everything visible, then on from the highest id. */
const planted = (): OutboxReader => ({
  heldMs: () => 0,
  async read(after, limit) {
    const patient = createOutboxReader({ run, clock: systemClock(), patienceMs: 0 });
    let page = await patient.read(after, limit, everything);
    for (let tries = 0; page.held && tries < 5; tries += 1) page = await patient.read(after, limit, everything);
    return page;
  },
});

/** Follows the cursor for a while and gives the keys in the order in which they came. */
async function follow(reader: OutboxReader, keys: string[], from: { after: bigint }, reads: number): Promise<void> {
  for (let read = 0; read < reads; read += 1) {
    const page = await reader.read(from.after, 100, everything);
    keys.push(...page.rows.map((row) => row.key));
    from.after = page.through;
  }
}

/** One takes its number first and commits last. */
async function lateCommit(reader: OutboxReader): Promise<string[]> {
  const keys: string[] = [];
  const from = { after: start };
  await writer(0).query("begin");
  await insert(writer(0), "late");
  await insert(writer(1), "early");
  await follow(reader, keys, from, 8);
  await writer(0).query("commit");
  await follow(reader, keys, from, 8);
  return keys;
}

/**
 * The owner of the lower event number has the higher transaction number, and nobody after it has ended: the snapshot's
 * xmax is exactly the number of the running transaction.
 */
async function crossedNumbers(reader: OutboxReader): Promise<string[]> {
  const keys: string[] = [];
  const from = { after: start };
  await writer(1).query("begin; select pg_current_xact_id()");
  await writer(0).query("begin");
  await insert(writer(0), "late");
  await insert(writer(1), "early");
  await writer(1).query("commit");
  await follow(reader, keys, from, 8);
  await writer(0).query("commit");
  await follow(reader, keys, from, 8);
  return keys;
}

describe("outbox reader", () => {
  it("invariant 1: what has no hole is handed over at once, whatever else is running", async () => {
    await writer(0).query("begin; select pg_current_xact_id()");
    await insert(writer(1), "one");
    await insert(writer(1), "two");
    const page = await honest().read(start, 100, everything);
    await writer(0).query("rollback");
    expect(page.rows.map((row) => row.key)).toEqual(["one", "two"]);
    expect(page).toMatchObject({ held: false, more: false, through: start + 2n });
  });

  it("invariant 2: an event that commits late is neither lost nor overtaken", async () => {
    expect(await lateCommit(honest())).toEqual(["late", "early"]);
  });

  it("invariant 3: also when the numbers of transactions and events cross", async () => {
    expect(await crossedNumbers(honest())).toEqual(["late", "early"]);
  });

  it("both notice a planted reader that goes by highest id", async () => {
    expect(await lateCommit(planted())).not.toContain("late");
    start = BigInt((await owner.query("select max(id)::text as id from outbox")).rows[0].id);
    expect(await crossedNumbers(planted())).not.toContain("late");
  });

  it("invariant 3: numbers of transactions that were rolled back are passed", async () => {
    for (const key of ["gone 1", "gone 2"]) {
      await writer(0).query("begin");
      await insert(writer(0), key);
      await writer(0).query("rollback");
      await insert(writer(1), `after ${key}`);
    }
    const keys: string[] = [];
    const [reader, from] = [honest(), { after: start }];
    // The horizon is the whole server's: a transaction of another test file may hold it for some seconds.
    await eventually({}, "both", async () => {
      await follow(reader, keys, from, 8);
      return keys.length >= 2;
    });
    expect(keys).toEqual(["after gone 1", "after gone 2"]);
  });

  it("a hole is timed, and the transaction behind it is named", async () => {
    const reader = honest();
    expect(reader.heldMs()).toBe(0);
    await writer(0).query("begin");
    await insert(writer(0), "stuck");
    await insert(writer(1), "waiting");
    await follow(reader, [], { after: start }, 3);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reader.heldMs()).toBeGreaterThanOrEqual(20);
    const pid = (await writer(0).query("select pg_backend_pid()::text as pid")).rows[0].pid;
    const running = await readerClient.query(
      "select pid::text as pid from pg_locks where locktype = 'transactionid' and granted and mode = 'ExclusiveLock'",
    );
    expect(running.rows.map((row) => row.pid)).toContain(pid);
    expect(await oldestTransaction(run)).toBeDefined();
    await writer(0).query("commit");
    await follow(reader, [], { after: start }, 2);
    expect(reader.heldMs()).toBe(0);
  });

  it("rows of other subjects come without payload and still count", async () => {
    await insert(writer(0), "no", "x.y");
    await insert(writer(0), "yes", "a.b.c");
    await insert(writer(0), "no", "x.y");
    const page = await honest().read(start, 100, ["a.>"]);
    expect(page.rows.map((row) => [row.key, row.payload])).toEqual([["yes", '"yes"']]);
    expect(page.through).toBe(start + 3n);
    expect((await honest().read(start, 2, ["a.>"])).more).toBe(true);
  });

  it("invariant 3 rests on this: a transaction has its number before it takes an event number", async () => {
    // The sequence is made to refuse, and the failed insert is undone: only the transaction's number remains to be seen.
    const forms = [
      insertText.replace(" returning id", ""),
      `${insertText.replace(" returning id", "")}, (gen_random_uuid(), 1, 's', 'k', 'test', $4)`,
    ];
    await owner.query("alter sequence outbox_id_seq maxvalue 1000000");
    const before = (await owner.query("select last_value::text as at from outbox_id_seq")).rows[0].at;
    try {
      await owner.query("select setval('outbox_id_seq', 1000000)");
      for (const text of forms) {
        await writer(2).query("begin; savepoint before_insert");
        const failed = await writer(2)
          .query(text, [randomUUID(), "s", "k", Buffer.from("1")])
          .catch((error: { code: string }) => error.code);
        expect(failed).toBe("2200H");
        await writer(2).query("rollback to before_insert");
        const numbered = await writer(2).query("select pg_current_xact_id_if_assigned()::text as xid");
        await writer(2).query("rollback");
        expect(numbered.rows[0].xid).not.toBeNull();
      }
      const cache = await owner.query(
        "select seqcache::text as cache from pg_sequence where seqrelid = 'outbox_id_seq'::regclass",
      );
      expect(cache.rows[0].cache).toBe("1");
    } finally {
      await owner.query(`select setval('outbox_id_seq', ${before})`);
      await owner.query("alter sequence outbox_id_seq no maxvalue");
    }
  });

  it("many writers, some of whom roll back, in many processes: everything committed arrives once, in order", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stderr.write(`outbox-reader.test.ts seed ${seed}\n`);
    let state = seed;
    const prng = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return state / 0x7fffffff;
    };
    const committed: bigint[] = [];
    let writing = true;
    const write = async (client: pg.Client): Promise<void> => {
      for (let round = 0; round < 60; round += 1) {
        await client.query("begin");
        const ids: bigint[] = [];
        for (let count = 0; count <= prng() * 3; count += 1) ids.push(await insert(client, "k"));
        if (prng() < 0.2) await client.query("select pg_sleep(0.003)");
        const rolledBack = prng() < 0.3;
        await client.query(rolledBack ? "rollback" : "commit");
        if (!rolledBack) committed.push(...ids);
      }
    };
    const seen: bigint[] = [];
    const reader = honest();
    const reading = (async () => {
      let after = start;
      for (let idle = 0; idle < 20; ) {
        const page = await reader.read(after, 50, everything);
        seen.push(...page.rows.map((row) => row.id));
        after = page.through;
        idle = writing || page.rows.length > 0 || page.held ? 0 : idle + 1;
      }
    })();
    await Promise.all(writers.map(write));
    writing = false;
    await reading;
    const wanted = [...committed].sort((a, b) => (a < b ? -1 : 1));
    expect(seen).toEqual(wanted);
  });
});

describe("subject patterns as a regular expression", () => {
  it("agrees with contracts' matches", async () => {
    const words = ["a", "b", "ab", "a_b", "a-b", "a$b", "(a)", "[a]", "a+b", "a|b", "^a", "{1}"];
    const names = words.flatMap((x) => [x, ...words.flatMap((y) => [`${x}.${y}`, `${x}.${y}.c`])]);
    const parts = [...words, "*"];
    const patterns = [">", ...parts.flatMap((x) => [x, `${x}.>`, `${x}.*.>`, ...parts.map((y) => `${x}.${y}`)])];
    const answer = await owner.query({
      text: `select p.n as p, s.n as s, s.name ~ p.regex as matched
             from unnest($1::text[]) with ordinality p(regex, n), unnest($2::text[]) with ordinality s(name, n)`,
      values: [patterns.map((pattern) => regexOf([pattern])), names],
    });
    expect(answer.rows.length).toBe(patterns.length * names.length);
    const wrong = answer.rows.filter(
      (row) => matches(patterns[Number(row.p) - 1] ?? "", names[Number(row.s) - 1] ?? "") !== row.matched,
    );
    expect(wrong.map((row) => [patterns[Number(row.p) - 1], names[Number(row.s) - 1]])).toEqual([]);
  });

  it("several patterns match what any of them does, and none matches nothing", async () => {
    const ask = async (patterns: readonly string[], name: string): Promise<boolean> =>
      (await owner.query("select $1::text ~ $2::text as matched", [name, regexOf(patterns)])).rows[0].matched;
    expect(await ask(["a.b", "c.>"], "c.d.e")).toBe(true);
    expect(await ask(["a.b", "c.>"], "a.b.c")).toBe(false);
    expect(await ask([], "a")).toBe(false);
  });
});

describe("a page of the outbox", () => {
  it("invariant 5: what is not asked for is passed in one row, except where a hole stands before it", async () => {
    const fetched: number[] = [];
    const counting: RunStatement = async (statement) => {
      const answer = await run(statement);
      fetched.push(answer.rows.length);
      return answer;
    };
    const reader = createOutboxReader({ run: counting, clock: systemClock() });
    for (let n = 0; n < 20; n += 1) await insert(writer(1), `unwanted ${n}`, "not.asked");
    const passed = { rows: [], through: start + 20n, more: false, held: false };
    expect(await reader.read(start, 100, ["asked.for"])).toEqual(passed);
    expect(fetched).toEqual([1]);
    expect((await reader.read(start, 20, ["asked.for"])).more).toBe(true);
    await writer(0).query("begin");
    await insert(writer(0), "late", "asked.for");
    for (let n = 0; n < 5; n += 1) await insert(writer(1), `unwanted ${n}`, "not.asked");
    expect(await reader.read(start, 100, ["asked.for"])).toEqual({ ...passed, held: true });
    await writer(0).query("commit");
    const page = await reader.read(start + 20n, 100, ["asked.for"]);
    expect(page.rows.map(({ key }) => key)).toEqual(["late"]);
    expect(page).toMatchObject({ through: start + 26n, held: false });
  });

  it("ends at about 8 MB of what is asked for, says that there is more, and leaves nothing out", async () => {
    const payload = Buffer.from(JSON.stringify("x".repeat(1_500_000)));
    const text = `insert into outbox (event_id, at_us, subject, key, source, payload)
                  select gen_random_uuid(), 1, case when n % 2 = 0 then 'large.yes' else 'large.no' end, 'k', 'test', $1
                  from generate_series(1, 30) n returning id`;
    const { rows } = await owner.query(text, [payload]);
    const reader = honest();
    let after = BigInt(rows[0]?.id) - 1n;
    let seen = 0;
    for (let pages = 1; ; pages += 1) {
      const page = await reader.read(after, 1_000, ["large.yes"]);
      const bytes = page.rows.reduce((sum, row) => sum + row.payload.length, 0);
      expect(bytes).toBeLessThan(pageBytesMax + payload.length);
      expect(page.held).toBe(false);
      seen += page.rows.length;
      after = page.through;
      if (page.more) continue;
      expect(pages).toBeGreaterThanOrEqual(3);
      break;
    }
    expect(seen).toBe(15);
    expect(after).toBe(BigInt(rows[29]?.id));
    await insert(owner, "small again", "large.yes");
    await owner.query("update outbox set payload = '' where key = 'small again'");
    const last = await reader.read(after, 1_000, ["large.yes"]);
    expect(last.rows.map((row) => row.payload)).toEqual([""]);
  });
});

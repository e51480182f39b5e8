// The feed against a database: what is read in which order under which ids, what is waited for, and what is no longer kept.
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { subjectByName, subjects } from "../../../contracts/src/subjects.ts";
import type { FeedPage } from "../../../ports/event-feed.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { exampleNav } from "../../../testkit/record-examples.ts";
import { testDecision } from "../../../testkit/test-decisions.ts";
import { systemClock } from "../../system/clock.ts";
import { systemTimers } from "../../system/timers.ts";
import { openClient, openPool } from "../connection.ts";
import { createEventFeed } from "./event-feed.ts";
import type { Poked } from "./wake.ts";

let database: TestDatabase;
let owner: pg.Pool;
let reader: pg.Client;
let start = "0";
const timers = systemTimers();
const pokes = new Set<Poked>();
const never = new AbortController().signal;

const navs = [subjects.navUpdated.name];
const insertText = `insert into outbox (event_id, at_us, subject, key, source, payload)
                    values ($1, 1, $2, 'k', 'test', $3) returning id`;

async function insert(
  on: pg.Pool | pg.Client | pg.PoolClient,
  subject = subjects.navUpdated.name,
  payload: unknown = exampleNav,
) {
  const values = [randomUUID(), subject, Buffer.from(JSON.stringify(payload))];
  return String((await on.query(insertText, values)).rows[0].id);
}

async function insertDecision(orderId: string): Promise<string> {
  const { decisionId, payload } = testDecision(orderId, "denied");
  const text = `insert into risk_journal (id, kind, at_us, event_id, fund_id, order_id, payload)
                values (nextval(pg_get_serial_sequence('outbox', 'id')), 1, 1, $1, 'alpha', $2, $3) returning id`;
  return String((await owner.query(text, [decisionId, orderId, Buffer.from(payload)])).rows[0].id);
}

const feed = () =>
  createEventFeed({
    run: (statement) => reader.query(statement as pg.QueryArrayConfig),
    wake: {
      onPoke: (poked) => {
        pokes.add(poked);
        return () => void pokes.delete(poked);
      },
    },
    subjectByName,
    clock: systemClock(),
    timers,
    log: quietLog,
  });

const read = (after: string, wanted: readonly string[] = ["svc.v1.>"], waitMs = 0): Promise<FeedPage> =>
  feed().read({ after, subjects: wanted, waitMs, signal: never });
const ids = ({ events }: FeedPage) => events.map(({ id }) => id);

beforeAll(async () => {
  database = await testDatabase();
  owner = openPool(database.address.owner, { log: quietLog, applicationName: "feed test", sizeMax: 3 });
  reader = await openClient(database.address.app, { log: quietLog, applicationName: "feed test" });
});
beforeEach(async () => {
  start = await insert(owner);
});
afterAll(async () => {
  timers.release();
  await reader.end();
  await owner.end();
  await database.drop();
});

describe("reading on", () => {
  it("has every event once, in order, from any id on, also within a decision", async () => {
    const nav = await insert(owner);
    const decision = await insertDecision("o-1");
    const all = [nav, ...[0, 1, 2, 3].map((n) => `${decision}.${n}`), await insert(owner)];
    const page = await read(start);
    expect(ids(page)).toEqual(all);
    expect(page).toMatchObject({ after: all.at(-1), reset: false });
    for (const [index, id] of all.entries()) expect(ids(await read(id))).toEqual(all.slice(index + 1));
    expect(ids(await read(decision))).toEqual(all.slice(5));
  });

  it("gives a message the same id whatever was asked for", async () => {
    const decision = await insertDecision("o-2");
    const made = await read(start, [subjects.decisionMade.name]);
    expect(ids(made)).toEqual([`${decision}.3`]);
    expect(made.events[0]).toMatchObject({ subject: subjects.decisionMade.name });
    expect(ids(await read(`${decision}.3`, [subjects.decisionMade.name]))).toEqual([]);
  });

  it("passes what was not asked for, so that its page's id is not an old one", async () => {
    const last = await insert(owner, subjects.navUpdated.name);
    expect(await read(start, [subjects.haltRequested.name])).toEqual({ events: [], after: last, reset: false });
  });

  it("leaves out what nobody can read", async () => {
    await insert(owner, subjects.navUpdated.name, { not: "a valuation" });
    const good = await insert(owner);
    expect(ids(await read(start))).toEqual([good]);
  });

  it("waits for a transaction that commits late, and never begins beyond it", async () => {
    const late = await owner.connect();
    await late.query("begin");
    const missing = await insert(late);
    const visible = await insert(owner);
    expect(Number(await feed().newest())).toBeLessThan(Number(missing));
    expect(ids(await read(start, navs, 0))).toEqual([]);
    const reading = read(start, navs, 20_000);
    await late.query("commit");
    late.release();
    const page = await reading;
    const rest = ids(page).includes(visible) ? [] : ids(await read(page.after, navs, 20_000));
    expect([...ids(page), ...rest]).toEqual([missing, visible]);
  });

  it("is answered when something comes, and with nothing after its time", async () => {
    const waiting = read(start, navs, 20_000);
    const come = await insert(owner);
    for (const poked of pokes) poked("events", new Set([subjects.navUpdated.name]));
    expect(ids(await waiting)).toEqual([come]);
    expect(ids(await read(come, navs, 30))).toEqual([]);
  });
});

describe("what cannot be read on from", () => {
  it("is answered as a reset when it was trimmed, and reading goes on with what comes next", async () => {
    const last = await insert(owner);
    await owner.query("update outbox_floor set trimmed_id = $1", [last]);
    expect(await read(start)).toEqual({ events: [], after: await feed().newest(), reset: true });
    const next = await insert(owner);
    expect(ids(await read(last))).toEqual([next]);
  });

  it("is answered as a reset when nobody has given it yet", async () => {
    const newest = await feed().newest();
    expect(await read(String(BigInt(newest) + 1_000n))).toMatchObject({ events: [], reset: true });
  });

  it.each(["", "x", "-1", "01", "1.", "1.10", "1 ", "9".repeat(19)])(
    "is refused when it is no id: %j",
    async (after) => {
      await expect(read(after)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    },
  );
});

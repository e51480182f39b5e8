// What the replay reads of the past is found by fund and time: nothing of another fund, nothing later, and along the indexes.
import type pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { ReplayQueries } from "../../../ports/replay-queries.ts";
import { batch, decision } from "../../../testkit/conformance/risk-store-fixture.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { type PostgresRiskFixture, postgresRiskStoreFixture } from "../../../testkit/risk/store-fixtures.ts";
import { openPool } from "../connection.ts";
import { timelineActions } from "../migrations/0065-timeline.ts";
import { createReplayQueries } from "./replay-queries.ts";

const start = 1_700_000_000_000_000;
const at = (second: number) => (start + second * 1_000_000) as Instant;
const whole = { from: at(0), to: at(10_000), countMax: 100 };
let fixture: PostgresRiskFixture;
let owner: pg.Pool;
let queries: ReplayQueries;

beforeAll(async () => {
  fixture = await postgresRiskStoreFixture();
  owner = openPool(fixture.database.address.owner, { log: quietLog, applicationName: "replay test", sizeMax: 2 });
  queries = createReplayQueries(fixture.peer.pool);
});
afterAll(async () => {
  await owner.end();
  await fixture.close();
});

let written = 0;
async function entry(second: number, action: string, payload: object, eventId = `event-${written}`): Promise<void> {
  const text = Buffer.from(JSON.stringify({ action, data: { payload }, sequence: written }));
  await owner.query(
    "insert into audit_entry (sequence, event_id, subject_id, action, text, at_us) values ($1, $2, 's', $3, $4, $5)",
    [written, eventId, action, text, at(second)],
  );
  written += 1;
}

it("finds a fund's entries and those of all, oldest first, behind a mark, and none of another's", async () => {
  await entry(1, "fill.created", { fund_id: "alpha" });
  await entry(2, "fill.created", { fund_id: "beta" });
  await entry(3, "alarm.raised", { code: "X" });
  await entry(3, "halt.requested", { fund_id: "beta", severity: "FIRM_HALT" });
  await entry(3, "halt.requested", { fund_id: "beta", severity: "FUND_HALT" });
  await entry(4, "fill.created", { reason: 'a \\"fund_id\\":\\"beta\\" in words', fund_id: "alpha" });
  await entry(5, "service.started", { fund_id: "alpha" });
  await entry(6, "order.decided", { decision: { fund_id: "alpha" }, order: { fund_id: "beta" } });
  const found = await queries.entries({ ...whole, fundId: "alpha", actions: timelineActions });
  expect(found.map(({ sequence }) => sequence)).toEqual([0, 2, 3, 5, 7]);
  expect(found[0]).toMatchObject({ at: at(1), eventId: "event-0", action: "fill.created", isCurrent: true });
  const after = { at: at(3), sequence: 2 };
  const next = await queries.entries({ ...whole, fundId: "alpha", actions: timelineActions, after, countMax: 2 });
  expect(next.map(({ sequence }) => sequence)).toEqual([3, 5]);
  const marks = await queries.entryMarks({ ...whole, fundId: "alpha", actions: timelineActions, after, countMax: 2 });
  expect(marks).toEqual(next.map(({ at: recorded, sequence }) => ({ at: recorded, sequence })));
  const texts = await queries.entryTexts([5, 3, 77]);
  expect(texts.map(({ sequence, text }) => [sequence, Buffer.from(text).includes('"alpha"')])).toEqual([
    [3, false],
    [5, true],
  ]);
  const until = await queries.entries({ ...whole, to: at(3), fundId: "alpha", actions: ["halt.requested"] });
  expect(until.map(({ sequence }) => sequence)).toEqual([3]);
  expect(await queries.entryOf("event-3")).toEqual({ at: at(3), sequence: 3 });
  expect(await queries.entryOf("nothing")).toBeUndefined();
});

it("an entry that somebody damaged is indexed like any other", async () => {
  for (const bytes of [
    [0xff, 0x00, 0x22],
    [...Buffer.from('"fund_id":"alpha')],
    [...Buffer.from('"fund_id":"\u00e9"')],
  ]) {
    await owner.query(
      "insert into audit_entry (sequence, event_id, subject_id, action, text, at_us) values ($1, $2, 's', 'fill.created', $3, $4)",
      [written, `event-${written}`, Buffer.from(bytes), at(900)],
    );
    written += 1;
  }
  const found = await queries.entries({ ...whole, from: at(900), fundId: "alpha", actions: ["fill.created"] });
  expect(found).toHaveLength(2);
});

it("entries of a fund are read along their index", async () => {
  await owner.query("set enable_seqscan = off");
  const client = await owner.connect();
  try {
    await client.query("set enable_seqscan = off");
    const text = `explain select 1 from audit_entry where audit_entry_fund(action, text) = 'alpha'
      and action in (${timelineActions.map((action) => `'${action}'`).join(", ")}) and at_us >= 1 and at_us <= 2 order by at_us, sequence limit 3`;
    const plan = (await client.query(text)).rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toContain("audit_entry_timeline");
    expect(plan).not.toContain("Sort");
  } finally {
    client.release();
  }
});

it("decisions of a fund in a time come with their entries, page by page", async () => {
  const writerEpoch = await fixture.risk.takeWriterEpoch("one");
  const entries = Array.from({ length: 20 }, (_unused, n) =>
    decision(fixture, n, {
      at: at(n),
      fundId: n % 2 === 0 ? "alpha" : "beta",
      approved: n % 4 === 0,
      code: n % 4 === 0 ? "" : "NO_PRICE",
    }),
  );
  await fixture.risk.append(batch(fixture, writerEpoch, entries));
  await entry(1_000, "order.decided", { fund_id: "alpha" }, entries[2]?.decisionId);
  const { ids, through } = await queries.decisionNumbers({ fundId: "alpha", from: at(2), to: at(10), after: 0n });
  expect(through).toBeUndefined();
  const rows = await queries.decisions(ids);
  expect(rows.map((row) => row.at)).toEqual([2, 4, 6, 8].map(at));
  expect(rows.map((row) => [row.approved, row.code])).toEqual([
    [false, "NO_PRICE"],
    [true, ""],
    [false, "NO_PRICE"],
    [true, ""],
  ]);
  expect(rows.map((row) => row.entry?.action)).toEqual(["order.decided", undefined, undefined, undefined]);
});

it("the journal of a fund has no denial, and ends with the moment", async () => {
  const rows = await queries.journal({ fundId: "alpha", after: 0n, at: at(9), countMax: 100 });
  expect(rows.map(({ at: recorded, approved }) => [recorded, approved])).toEqual(
    [0, 4, 8].map((second) => [at(second), true]),
  );
  const all = await queries.journal({ after: 0n, through: rows[1]?.id ?? 0n, at: at(9_999), countMax: 100 });
  expect(all.map(({ at: recorded }) => recorded)).toEqual([0, 4].map(at));
  // A fill that is recorded after the last decision, and one after the moment.
  const fill = (id: string, second: number) =>
    owner.query(
      "insert into risk_journal (kind, at_us, fund_id, order_id, fill_id, payload) values (2, $1, 'alpha', 'o', $2, '{}')",
      [at(second), id],
    );
  await fill("f-1", 50);
  await fill("f-2", 60);
  const later = await queries.journal({ fundId: "alpha", after: rows.at(-1)?.id ?? 0n, at: at(55), countMax: 100 });
  expect(later.map(({ kind, at: recorded }) => [kind, recorded])).toEqual([
    ["decision", at(12)],
    ["decision", at(16)],
    ["fill", at(50)],
  ]);
});

it("what stood at a moment is what had been set by then, and no end is told", async () => {
  const put = (text: string, values: unknown[]) => owner.query(text, values);
  for (const version of [1, 2]) {
    const content = JSON.stringify({ fund_id: "alpha", version });
    await put("insert into risk_envelope (fund_id, version, set_us, hash, content) values ('alpha', $1, $2, 'h', $3)", [
      version,
      at(version * 10),
      content,
    ]);
    const funds = JSON.stringify([
      { fund_id: "alpha", name: `name ${version}`, currency: "USD", mode: "PAPER", calendar: "c", strategies: [] },
    ]);
    await put(
      "insert into reference_version (kind, version, content, set_by, set_us, reason, hash) values ('funds', $1, $2, 't', $3, 'r', 'h')",
      [version, funds, at(version * 10)],
    );
  }
  const halt = (id: string, epoch: number, since: number, lifted: number | null) =>
    put(
      `insert into halt (halt_id, epoch, severity, fund_id, reason, requested_by, since_us, content, lifted_us, lifted_epoch)
       values ($1, $2, 'FUND_HALT', 'alpha', 'r', 'x', $3, $4, $5, $6)`,
      [
        id,
        epoch,
        at(since),
        JSON.stringify({ halt_id: id, severity: "FUND_HALT", fund_id: "alpha" }),
        lifted === null ? null : at(lifted),
        lifted,
      ],
    );
  await halt("h-1", 1, 5, 12);
  await halt("h-2", 2, 14, null);
  for (const [every, second, nav] of [
    ["minute", 8, "100"],
    ["second", 11, "110"],
    ["second", 13, "120"],
  ] as const) {
    await put(
      `insert into treasury_nav (fund_id, every, bucket_us, at_us, nav, cash, positions_value, net_flows, currency, oldest_price_age_ms)
       values ('alpha', $1, $2, $2, $3, $3, 0, 0, 'USD', 0)`,
      [every, at(second), nav],
    );
  }
  const early = await queries.standing("alpha", at(11));
  expect(early).toMatchObject({ envelope: { version: 1 }, nav: { nav: parse("110") }, halts: [{ halt_id: "h-1" }] });
  expect(early.reference.funds[0]).toMatchObject({ name: "name 1" });
  expect(JSON.stringify(early.halts)).not.toContain("lifted");
  const late = await queries.standing("alpha", at(20));
  expect(late).toMatchObject({ envelope: { version: 2 }, nav: { nav: parse("120") }, halts: [{ halt_id: "h-2" }] });
  expect(await queries.standing("alpha", at(1))).toMatchObject({ envelope: undefined, nav: undefined, halts: [] });
});

it("books that were kept are found by their moment, once each, and leave when they are old", async () => {
  const books = (through: bigint, second: number) => ({
    through,
    at: at(second),
    engine: new Uint8Array([1, 2]),
    costs: "[]",
  });
  await queries.keepBooks(books(5n, 100), at(0));
  await queries.keepBooks(books(5n, 101), at(0));
  await queries.keepBooks(books(9n, 200), at(0));
  expect(await queries.booksBefore(at(99))).toBeUndefined();
  expect(await queries.booksBefore(at(199))).toMatchObject({ through: 5n, at: at(100), costs: "[]" });
  expect(await queries.booksBefore(at(200))).toMatchObject({ through: 9n });
  await queries.keepBooks(books(11n, 300), at(150));
  expect(await queries.booksBefore(at(199))).toBeUndefined();
});

it("what strategies said is told without what came of it", async () => {
  await owner.query(
    "insert into research_strategy (strategy_id, fund_id, status, allocation_pct) values ('s-1', 'alpha', 'live', 1), ('s-2', 'beta', 'live', 1)",
  );
  for (const [strategy, symbol, second] of [
    ["s-1", "MSFT", 3],
    ["s-1", "AAPL", 3],
    ["s-2", "AAPL", 3],
    ["s-1", "AAPL", 9],
  ] as const) {
    await owner.query(
      "insert into research_signal (strategy_id, at_us, symbol, value, price, horizon_s, realised) values ($1, $2, $3, 0.5, 10, 60, 0.1)",
      [strategy, at(second), symbol],
    );
  }
  const found = await queries.signals({ ...whole, to: at(5), fundId: "alpha" });
  expect(found).toEqual(
    ["AAPL", "MSFT"].map((symbol) => ({ strategyId: "s-1", at: at(3), symbol, value: 0.5, price: "10", horizonS: 60 })),
  );
  const after = { at: at(3), strategyId: "s-1", symbol: "AAPL" };
  expect((await queries.signals({ ...whole, fundId: "alpha", after })).map(({ symbol }) => symbol)).toEqual([
    "MSFT",
    "AAPL",
  ]);
});

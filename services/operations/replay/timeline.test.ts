// What happened to a fund, from three sources in one order: nothing twice, nothing left out, nothing of another fund, nothing later than asked.
import { afterEach, expect, it } from "vitest";
import { timelineActions } from "../../../adapters/postgres/migrations/0065-timeline.ts";
import type { TimelineEvent } from "../../../contracts/src/generated/svc/v1/replay.ts";
import { format, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { makeEntry } from "../../../core/audit/entry.ts";
import { zeroHex } from "../../../core/audit/hash.ts";
import type { HaltScope, ReplayQueries, SaidSignal, TimelineEntry } from "../../../ports/replay-queries.ts";
import { sha256 } from "../../../testkit/audit/keys.ts";
import { serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { listTimeline } from "./timeline.ts";
import { actionsOf, timelineKinds } from "./timeline-kinds.ts";

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});
const none = new AbortController().signal;

async function world() {
  const fixture = serviceFixture(3);
  closes.push(fixture.close);
  const ports = fixture.portsOf("operations");
  const start = ports.clock.now();
  await fixture.time.timers.sleep(3_600_000);
  const at = (second: number): Instant => plusMilliseconds(start, second * 1_000);
  const entries: TimelineEntry[] = [];
  const signals: SaidSignal[] = [];
  const scopes = new Map<string, HaltScope>();
  const add = (second: number, action: string, payload: object): void => {
    const [sequence, recorded] = [entries.length, at(second)];
    const data = { at: format(recorded), event_id: `e-${sequence}`, payload, source: "oms", subject: "s" };
    const fields = {
      sequence,
      timestamp: format(recorded),
      actor: "service:oms",
      action,
      subject_id: "x",
      data,
      prev_hash: zeroHex,
    };
    const text = makeEntry(fields, sha256).text;
    entries.push({ at: recorded, sequence, eventId: `e-${sequence}`, action, text, isCurrent: true });
  };
  const replayQueries = {
    entries: async ({ actions, from, to, after, countMax }) =>
      entries
        .filter((one) => actions.includes(one.action) && one.at >= from && one.at <= to)
        .filter(
          (one) => after === undefined || one.at > after.at || (one.at === after.at && one.sequence > after.sequence),
        )
        .slice(0, countMax),
    signals: async ({ from, to, after, countMax }) =>
      signals
        .filter((one) => one.at >= from && one.at <= to)
        .filter((one) => after === undefined || one.at > after.at || (one.at === after.at && one.symbol > after.symbol))
        .slice(0, countMax),
    entryOf: async (eventId) => entries.find((one) => one.eventId === eventId),
    haltScopes: async () => scopes,
  } satisfies Partial<ReplayQueries>;
  const funds = [
    { fund_id: "alpha", strategies: ["alpha-momentum"] },
    { fund_id: "beta", strategies: ["beta-trend"] },
  ];
  const all = { ...ports, replayQueries, referenceData: { read: async () => ({ funds }), changed: async () => 1 } };
  const ask = async (request: object = {}): Promise<TimelineEvent[]> => {
    const asked = {
      fund_id: "alpha",
      from: format(start),
      to: undefined,
      kinds: undefined,
      after_event_id: undefined,
      count_max: 0,
      denied: false,
    };
    return (await listTimeline(all as never, { ...asked, ...request }, none)).events;
  };
  const news = (id: string, second: number): Promise<void> => {
    const item = {
      news_id: id,
      story_id: id,
      symbol: "AAPL",
      headline: "Up",
      source: "paper",
      at: format(at(second - 5)),
    };
    const kept = { item, at: at(second - 5), recordedAt: at(second) };
    return ports.store.transact("market.keep", (unit) => unit.market.keepNews([kept]));
  };
  const say = (symbol: string, second: number): void => {
    signals.push({ at: at(second), strategyId: "alpha-momentum", symbol, value: 0.5, price: "10", horizonS: 60 });
  };
  return { add, say, news, ask, at, scopes };
}

const fill = {
  fill_id: "f",
  order_id: "o-1",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "5",
  price: "10",
};

it("merges entries, news and what strategies said, and reads on page by page without a loss or a repeat", async () => {
  const { add, say, news, ask, at } = await world();
  for (let n = 0; n < 40; n += 1) add(n, "fill.created", { ...fill, fill_id: `f-${n}`, filled_at: format(at(n - 30)) });
  // Many of one moment, of every source.
  for (const symbol of ["AAPL", "MSFT", "SPY"]) say(symbol, 20);
  await news("n-1", 20);
  await news("n-2", 20);
  const whole = await ask({ count_max: 500 });
  expect(whole).toHaveLength(45);
  expect(whole.map(({ at: recorded }) => recorded)).toEqual(whole.map(({ at: recorded }) => recorded).toSorted());
  const paged: TimelineEvent[] = [];
  for (;;) {
    const page = await ask({ count_max: 4, after_event_id: paged.at(-1)?.event_id });
    paged.push(...page);
    if (page.length < 4) break;
  }
  expect(paged).toEqual(whole);
});

it("stands where it was recorded, says when it happened, and tells nothing that was recorded later", async () => {
  const { add, ask, at } = await world();
  add(100, "fill.created", { ...fill, filled_at: format(at(10)) });
  expect(await ask({ to: format(at(99)) })).toEqual([]);
  const [late] = await ask({ to: format(at(100)) });
  expect(late).toMatchObject({
    at: format(at(100)),
    happened_at: format(at(10)),
    kind: "fill",
    order_id: "o-1",
    sequence: 0,
  });
  expect(late).toMatchObject({ symbol: "AAPL", strategy_id: "alpha-momentum", summary: "BUY 5 AAPL filled at 10." });
});

it("finds the next decision that denied behind many that approved, and nothing after it", async () => {
  const { add, ask, at } = await world();
  const order = { symbol: "AAPL", side: "BUY", quantity: "5" };
  const decided = (second: number, decision: object): void => add(second, "order.decided", { order, decision });
  for (let n = 0; n < 250; n += 1) decided(n, { approved: true, rejecting_gate: "", code: "" });
  decided(300, { approved: false, rejecting_gate: "static", code: "MAX_NOTIONAL" });
  decided(301, { approved: false, rejecting_gate: "static", code: "MAX_QUANTITY" });
  add(302, "alarm.raised", { code: "X", sentence: "s" });
  expect((await ask({ denied: true, count_max: 1 })).map(({ code }) => code)).toEqual(["MAX_NOTIONAL"]);
  expect((await ask({ denied: true })).map(({ code }) => code)).toEqual(["MAX_NOTIONAL", "MAX_QUANTITY"]);
  expect(await ask({ denied: true, to: format(at(299)) })).toEqual([]);
  expect(await ask({ denied: true, kinds: "halt,alarm" })).toEqual([]);
});

it("leaves out what is about a strategy or a halt of another fund, also when that fills many pages", async () => {
  const { add, ask, scopes } = await world();
  scopes.set("h-beta", { severity: "FUND_HALT", fundId: "beta" });
  scopes.set("h-firm", { severity: "FIRM_HALT", fundId: "" });
  for (let n = 0; n < 250; n += 1)
    add(n, "alarm.raised", { code: "X", sentence: "s", facts: { strategy_id: "beta-trend" } });
  for (let n = 0; n < 250; n += 1) add(250 + n, "halt.step", { halt_id: "h-beta", step: "BLOCKED", detail: "d" });
  for (let n = 0; n < 250; n += 1) add(500 + n, "strategy.changed", { strategy_id: "beta-trend", fund_id: "beta" });
  add(800, "halt.step", { halt_id: "h-firm", step: "BLOCKED", detail: "d" });
  const kinds = (await ask({ count_max: 2, kinds: "halt,strategy" })).map(({ kind, data }) => [
    kind,
    data?.["halt_id"],
  ]);
  expect(kinds).toEqual([["halt", "h-firm"]]);
});

it("a watchdog that restricts is a restriction, and an alarm otherwise", async () => {
  const { add, ask } = await world();
  const said = { code: "WATCHDOG_VPIN", sentence: "Informed trading is likely", fund_id: "alpha" };
  add(1, "watchdog.vpin", { ...said, restriction_ids: ["r-1"] });
  add(2, "watchdog.vpin", { ...said, restriction_ids: [] });
  expect((await ask({ kinds: "restriction" })).map(({ at }) => at)).toHaveLength(1);
  expect((await ask({ kinds: "alarm" })).map(({ kind, summary }) => [kind, summary])).toEqual([
    ["alarm", "Informed trading is likely."],
  ]);
});

it("says who halted, lifted and set, because that is what is asked first", async () => {
  const { add, ask } = await world();
  const halt = { halt_id: "h", severity: "FUND_HALT", fund_id: "alpha", reason: "a feed went wrong" };
  const [duty, relief] = ["operator:duty", "operator:relief"];
  add(1, "halt.requested", { ...halt, requested_by: duty });
  add(2, "halt.requested", halt);
  add(3, "resume.requested", { request_id: "r", requested_by: duty, reason: "it is back" });
  add(4, "halt.lifted", { ...halt, requested_by: duty, cosigned_by: relief, reason: "it is back" });
  add(5, "halt.lifted", { ...halt, requested_by: duty, cosigned_by: duty, reason: "it is back" });
  add(6, "envelope.updated", { version: 2, updated_by: duty, reason: "tighter" });
  expect((await ask()).map(({ summary }) => summary)).toEqual([
    "FUND_HALT of alpha is in force, asked for by operator:duty: a feed went wrong.",
    "FUND_HALT of alpha is in force: a feed went wrong.",
    "operator:duty asked to lift every halt: it is back.",
    "FUND_HALT of alpha was lifted by operator:duty and operator:relief: it is back.",
    "FUND_HALT of alpha was lifted by operator:duty: it is back.",
    "The limits are now version 2, set by operator:duty: tighter.",
  ]);
});

it("every kind has its actions, and the index has the same", () => {
  expect(new Set(timelineKinds.flatMap((kind) => actionsOf[kind]))).toEqual(new Set(timelineActions));
});

it.each([
  [{ kinds: "fill,gossip" }, "INVALID_ARGUMENT", /gossip/],
  [{ fund_id: "nobody" }, "NOT_FOUND", /nobody/],
  [{ to: "2030-01-01T00:00:00Z" }, "INVALID_ARGUMENT", /future/],
  [{ count_max: 502 }, "INVALID_ARGUMENT", /502/],
  [{ after_event_id: "nothing" }, "INVALID_ARGUMENT", /event_id/],
])("refuses %j by name", async (request, code, words) => {
  const { ask } = await world();
  await expect(ask(request)).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
});

// The job that compares the books, on virtual time: a difference is believed at the second look, alarms once, and is forgotten when it is gone; nobody
// answering is no agreement. The numbers are those of books.ts.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { BooksLook, BooksMarks } from "../../../contracts/src/records/books.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { type RunningBooks, startBooks } from "./books.ts";

const seed = 20261115;
const held = (amount: string) => [{ of: ["alpha", "one", "AAPL"], amount: decimal.parse(amount) }];
const none: BooksMarks = { fills: {}, entries: 0, journal: 0 };
const read: BooksMarks = { fills: { alpha: 7 }, entries: 3, journal: 9 };

/** Books in which one trade of 5 is everything, and the position is as it is told to be. */
function lookAt(
  since: BooksMarks,
  position: string,
  knownOrders: BooksLook["knownOrders"],
  unbooked = false,
): BooksLook {
  const isNew = since.entries === 0;
  const [journal] = held("5").map(({ amount }) => [{ of: ["alpha", "AAPL"], amount }]);
  return {
    marks: read,
    since: {
      fills: isNew ? held("5") : [],
      entries: isNew ? held("5") : [],
      foreignEntries: [],
      postings: [],
      journal: isNew && journal !== undefined ? journal : [],
      foreignJournal: [],
      rowCount: 1,
    },
    positions: held(position),
    liveOrders: [],
    knownOrders,
    holdings: [{ of: ["alpha", "AAPL"], amount: decimal.parse("5") }],
    strategyHoldings: held("5"),
    balances: [{ of: ["alpha", "cash", "USD"], amount: decimal.zero }],
    navs: [],
    newestEntries: [],
    due: [],
    instruments: [],
    newestJournal: [],
    unbooked: unbooked
      ? [{ fillId: "f-9", fundId: "alpha", strategyId: "one", symbol: "AAPL", quantity: decimal.zero }]
      : [],
    unheard: [],
    unbalanced: [],
    unequal: [],
  };
}

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function begin(fixture = serviceFixture(seed), failing = "") {
  const state = {
    unbooked: false,
    position: "5",
    engine: "5" as string | undefined,
    store: true,
    reserved: "0",
    mayTrade: "0",
  };
  const asked: BooksMarks[] = [];
  const ports = fixture.portsOf("operations");
  const store: typeof ports.store = {
    ...ports.store,
    transact: (name, work) =>
      name === failing
        ? Promise.reject(new Fault("STORE_UNAVAILABLE", "planned", { retry: "later" }))
        : ports.store.transact(name, work),
  };
  const running: RunningBooks = startBooks({
    ...ports,
    store,
    booksQueries: {
      look: async (since, _after, orderIds) => {
        if (!state.store) throw new Fault("STORE_UNAVAILABLE", "gone", { retry: "later" });
        asked.push(since);
        const known = orderIds.map((orderId) => ({ orderId, mayTrade: decimal.parse(state.mayTrade) }));
        return lookAt(since, state.position, known, state.unbooked);
      },
    },
    riskBooks: {
      heldSymbols: async () => [],
      grossExposure: async () => undefined,
      lines: async () => {
        if (state.engine === undefined) throw new Fault("SERVICE_UNAVAILABLE", "silent", { retry: "later" });
        const { engine: quantity, mayTrade: pendingBuy } = state;
        return [{ fundId: "alpha", symbol: "AAPL", quantity, pendingBuy, pendingSell: "0" }];
      },
      approvals: async () => [
        {
          orderId: "a",
          fundId: "alpha",
          strategyId: "alpha-momentum",
          symbol: "AAPL",
          reserved: decimal.parse(state.reserved),
          state: "SENT",
          askedBy: "service:oms",
          isExit: false,
          unsent: undefined,
        },
      ],
    },
  });
  stops.push(async () => {
    await running.stop();
    await fixture.close();
  });
  const check = async (name: string) => (await running.getBooks()).checks.find((each) => each.name === name);
  const alarms = () => fixture.reported(subjects.alarmRaised).map(({ code, sentence }) => `${code} ${sentence}`);
  return { state, asked, running, check, alarms, sleep: (ms: number) => ports.timers.sleep(ms) };
}

describe("the comparison of the books", () => {
  it("begins with nothing known, then agrees, and reads only what is new", async () => {
    const { asked, check, sleep } = begin();
    expect(await check("positions")).toMatchObject({ agrees: false, checked_at: "", difference: "" });
    await sleep(21_000);
    expect(await check("positions")).toMatchObject({ agrees: true, compared: 1 });
    expect(asked).toEqual([none, read, read, read]);
  });

  it("1: believes a difference at the second look, which adds up everything anew, and alarms once with the figures", async () => {
    const { state, asked, check, alarms, sleep } = begin();
    await sleep(11_000);
    state.position = "6";
    await sleep(5_000);
    // Seen once.
    expect(alarms()).toEqual([]);
    expect(await check("positions")).toMatchObject({ agrees: true });
    await sleep(1_000);
    expect(asked.at(-1)).toEqual(none);
    const sentence = "alpha one AAPL: position is 6, its trades say 5.";
    expect(await check("positions")).toMatchObject({ agrees: false, difference: sentence });
    expect(await check("ledger")).toMatchObject({ agrees: true });
    await sleep(10_000);
    expect(alarms().filter((alarm) => alarm.includes("its trades say"))).toEqual([`BOOKS_DIFFER ${sentence}`]);
    state.position = "5";
    await sleep(6_000);
    expect(await check("positions")).toMatchObject({ agrees: true, difference: "" });
    state.position = "6";
    await sleep(10_000);
    expect(alarms().filter((alarm) => alarm.includes("its trades say"))).toHaveLength(2);
  });

  it("1: does not believe what is gone at the second look", async () => {
    const { state, alarms, sleep } = begin();
    await sleep(11_000);
    state.position = "6";
    await sleep(4_500);
    state.position = "5";
    await sleep(20_000);
    expect(alarms()).toEqual([]);
  });

  it("2: keeps the moment of the last look at the engine while it is silent, and goes on after trouble", async () => {
    const { state, check, alarms, sleep } = begin();
    await sleep(6_000);
    const { checked_at: before } = (await check("exposure")) ?? {};
    expect(before).not.toBe("");
    state.engine = undefined;
    await sleep(20_000);
    expect((await check("exposure"))?.checked_at).toBe(before);
    expect((await check("positions"))?.checked_at).not.toBe(before);
    state.store = false;
    await sleep(60_000);
    state.store = true;
    state.engine = "4";
    await sleep(30_000);
    expect(await check("exposure")).toMatchObject({ agrees: false });
    expect(alarms().filter((alarm) => alarm.startsWith("BOOKS_DIFFER"))).toEqual([
      "BOOKS_DIFFER The risk engine believes alpha AAPL to be 4, and its record says 5.",
    ]);
  });

  it("2: a risk engine that says nothing for a minute is an alarm, once, and again when it happens again", async () => {
    const { state, alarms, sleep } = begin();
    await sleep(6_000);
    const silences = () => alarms().filter((alarm) => alarm.startsWith("BOOKS_NOT_COMPARED Exposure has not been"));
    state.engine = undefined;
    await sleep(50_000);
    expect(silences()).toEqual([]);
    await sleep(60_000);
    expect(silences()).toHaveLength(1);
    state.engine = "5";
    await sleep(10_000);
    state.engine = undefined;
    await sleep(80_000);
    expect(silences()).toHaveLength(2);
  });

  it("23.5: 3: how long a difference has stood survives a restart, and so does how long a trade has been on its way", async () => {
    const fixture = serviceFixture(seed);
    const first = begin(fixture);
    first.state.position = "6";
    await first.sleep(12_000);
    const since = (await first.check("positions"))?.since ?? "";
    expect(since).not.toBe("");
    first.state.unbooked = true;
    await first.sleep(40_000);
    await first.running.stop();
    const second = begin(fixture);
    second.state.position = "6";
    second.state.unbooked = true;
    await second.sleep(12_000);
    expect(await second.check("positions")).toMatchObject({ agrees: false, since });
    // Not after another minute: it has been on its way for 52 seconds.
    const late = async () => ((await second.check("holdings"))?.difference ?? "").includes("f-9");
    expect(await late()).toBe(false);
    await second.sleep(20_000);
    expect(await late()).toBe(true);
    const raised = fixture.reported(subjects.alarmRaised).filter(({ facts }) => facts?.["check"] === "positions");
    expect(raised.map(({ facts }) => facts?.["since"])).toEqual([since, since]);
    second.state.position = "5";
    await second.sleep(6_000);
    expect(await second.check("positions")).toMatchObject({ agrees: true, since: "" });
    second.state.position = "6";
    await second.sleep(8_000);
    expect(((await second.check("positions"))?.since ?? "") > since).toBe(true);
  });

  it("23.5: 3: a store that cannot keep since when something differs delays no alarm", async () => {
    const { state, alarms, check, sleep } = begin(serviceFixture(seed), "workers.seen");
    state.position = "6";
    await sleep(12_000);
    expect(alarms().filter((alarm) => alarm.includes("its trades say"))).toHaveLength(1);
    expect((await check("positions"))?.since).not.toBe("");
  });

  it("22.2: finds what is reserved for an order that has ended, after the grace and not before", async () => {
    const { state, check, alarms, sleep } = begin();
    state.reserved = "3";
    state.mayTrade = "3";
    await sleep(60_000);
    expect(await check("exposure")).toMatchObject({ agrees: true });
    state.mayTrade = "0";
    await sleep(29_000);
    expect(await check("exposure")).toMatchObject({ agrees: true });
    await sleep(20_000);
    const sentence = "3 AAPL of alpha is reserved for the order a, and 0 may still trade.";
    expect(await check("exposure")).toMatchObject({ agrees: false, difference: sentence });
    expect(alarms()).toEqual([`BOOKS_DIFFER ${sentence}`]);
    state.reserved = "0";
    await sleep(6_000);
    expect(await check("exposure")).toMatchObject({ agrees: true });
  });
});

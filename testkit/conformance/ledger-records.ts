// Checks of treasury's repository: entries that are booked once, holdings and balances that are their sums, what is remembered of funds, and
// the history of values.
import { expect } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { parse as instantOf, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { movesOf } from "../../core/ledger/ledger.ts";
import { addUp, correctionsOf, differencesOf } from "../../core/ledger/ledger-rebuild.ts";
import type { LedgerSums, NavEvery, NavPoint } from "../../ports/ledger-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { exampleFill } from "../record-examples.ts";
import { range } from "./bus-kit.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const amount = decimal.parse;
const at = instantOf("2026-11-15T12:00:00.123456Z");

function trade(entryId: string, differs: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    entryId,
    fundId: "alpha",
    strategyId: "alpha-one",
    kind: "FILL",
    symbol: "AAPL",
    quantity: amount("3.00001"),
    postings: [
      { account: "cash", currency: "USD", amount: amount("-696.000000000000000001") },
      { account: "position:AAPL", currency: "USD", amount: amount("696.000000000000000001") },
      { account: "cash", currency: "USD", amount: amount("-1.5") },
      { account: "fees", currency: "USD", amount: amount("1.5") },
    ],
    reason: "BUY 3.00001 AAPL at 232",
    bookedBy: "service:treasury",
    at,
    ...differs,
  };
}

const moves = [
  { symbol: "AAPL", quantity: amount("3.00001") },
  { symbol: "USD", quantity: amount("-697.500000000000000001") },
];
const book = (store: Store, entry: LedgerEntry) =>
  transactPatiently(store, "conformance.book", (unit) => unit.ledger.book(entry, moves));
const look = <Value>(store: Store, read: (unit: UnitOfWork) => Promise<Value>): Promise<Value> =>
  transactPatiently(store, "conformance.look", read);

async function books(store: Store) {
  return look(store, async (unit) => ({
    balances: (await unit.ledger.balances()).map(
      (one) => `${one.fundId} ${one.account} ${one.currency} ${decimal.format(one.amount)}`,
    ),
    held: (await unit.treasury.holdings()).map(
      ({ fundId, symbol, quantity }) => `${fundId} ${symbol} ${decimal.format(quantity)}`,
    ),
    made: (await unit.ledger.strategyHoldings()).map(
      (one) => `${one.fundId} ${one.strategyId} ${one.symbol} ${decimal.format(one.quantity)}`,
    ),
  }));
}

export const tradesByTheirTime: StoreCheck = {
  promise: 0,
  sentence:
    "what was traded since a moment is the sum of the fund's trades by their own times, whenever they were booked",
  async run(fixture) {
    const put = (id: string, second: number, differs: Partial<LedgerEntry> = {}) =>
      book(fixture.store, trade(id, { at: instantOf(`2026-11-15T12:00:0${second}.000000Z`), ...differs }));
    await put("late", 5);
    await put("early", 1);
    await put("at", 3, { quantity: amount("-10") });
    await put("other", 5, { strategyId: "alpha-two", symbol: "XOM", quantity: amount("0.5") });
    await put("theirs", 5, { fundId: "beta" });
    const { symbol: _, quantity: __, ...money } = trade("flow", { kind: "FLOW" });
    await book(fixture.store, money);
    const since = (second: number) =>
      look(fixture.store, async (unit) =>
        (await unit.ledger.tradedSince("alpha", instantOf(`2026-11-15T12:00:0${second}Z`))).map(
          (one) => `${one.strategyId} ${one.symbol} ${decimal.format(one.quantity)}`,
        ),
      );
    expect(await since(3)).toEqual(["alpha-one AAPL -6.99999", "alpha-two XOM 0.5"]);
    expect(await since(4)).toEqual(["alpha-one AAPL 3.00001", "alpha-two XOM 0.5"]);
    expect(await since(6)).toEqual([]);
  },
};

export const fillsWaitInOrder: StoreCheck = {
  promise: 0,
  sentence: "a fill that waits is kept once, whole and in order within its fund, over a restart, until it is removed",
  async run(fixture) {
    const fill = (fund_id: string, fill_id: string): Fill => ({ ...exampleFill, fund_id, fill_id });
    const keep = (store: Store, one: Fill, seconds: number) =>
      look(store, (unit) => unit.ledger.keepFill(one, plusMilliseconds(at, seconds * 1_000)));
    expect(await keep(fixture.store, fill("beta", "z"), 1)).toBe(true);
    expect(await keep(fixture.store, fill("alpha", "b"), 2)).toBe(true);
    expect(await keep(fixture.store, fill("beta", "a"), 3)).toBe(true);
    expect(await keep(fixture.store, { ...fill("beta", "z"), quantity: "9" }, 4)).toBe(false);
    const failing = fixture.store.transact("conformance.keep", async (unit) => {
      await unit.ledger.keepFill(fill("beta", "never"), at);
      await unit.ledger.removeWaitingFill("alpha", "b");
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    const store = await fixture.reopen();
    expect(await look(store, (unit) => unit.ledger.waitingFunds())).toEqual([
      { fundId: "alpha", count: 1, since: plusMilliseconds(at, 2_000) },
      { fundId: "beta", count: 2, since: plusMilliseconds(at, 1_000) },
    ]);
    const waiting = (fundId: string, countMax = 9) => look(store, (unit) => unit.ledger.waitingFills(fundId, countMax));
    expect(await waiting("beta")).toEqual([fill("beta", "z"), fill("beta", "a")]);
    expect(await waiting("beta", 1)).toEqual([fill("beta", "z")]);
    await look(store, (unit) => unit.ledger.removeWaitingFill("beta", "z"));
    await look(store, (unit) => unit.ledger.removeWaitingFill("beta", "z"));
    expect(await keep(store, fill("beta", "z"), 5)).toBe(true);
    expect(await waiting("beta")).toEqual([fill("beta", "a"), fill("beta", "z")]);
    expect(await waiting("gamma")).toEqual([]);
  },
};

export const entriesAreBookedOnce: StoreCheck = {
  promise: 1,
  sentence: "an entry is booked once, comes back as it was, and moves balances and holdings by exactly what it says",
  async run(fixture) {
    expect(await book(fixture.store, trade("fill:1"))).toBe(true);
    expect(await book(fixture.store, trade("fill:1", { quantity: amount("9") }))).toBe(false);
    expect(await book(fixture.store, trade("fill:2"))).toBe(true);
    const { strategyId: _strategy, symbol: _symbol, quantity: _quantity, ...whole } = trade("flow:1");
    const flow: LedgerEntry = { ...whole, kind: "FLOW", fundId: "beta", postings: [] };
    const put = (unit: UnitOfWork) => unit.ledger.book(flow, [{ symbol: "USD", quantity: amount("-5") }]);
    expect(await look(fixture.store, put)).toBe(true);
    const store = await fixture.reopen();
    expect(await book(store, trade("fill:2"))).toBe(false);
    expect(await look(store, (unit) => unit.ledger.entry("fill:1"))).toEqual(trade("fill:1"));
    expect(await look(store, (unit) => unit.ledger.entry("flow:1"))).toEqual(flow);
    expect(await look(store, (unit) => unit.ledger.entry("fill:3"))).toBeUndefined();
    expect(await books(store)).toEqual({
      balances: [
        "alpha cash USD -1395.000000000000000002",
        "alpha fees USD 3",
        "alpha position:AAPL USD 1392.000000000000000002",
      ],
      held: ["alpha AAPL 6.00002", "alpha USD -1395.000000000000000002", "beta USD -5"],
      made: ["alpha alpha-one AAPL 6.00002", "alpha alpha-one USD -1395.000000000000000002"],
    });
  },
};

export const entriesRollBack: StoreCheck = {
  promise: 2,
  sentence:
    "an entry whose transaction is rolled back moved nothing, and the same entry at the same time moves it once",
  async run(fixture) {
    const failing = fixture.store.transact("conformance.book", async (unit) => {
      expect(await unit.ledger.book(trade("fill:1"), moves)).toBe(true);
      expect(await unit.ledger.balances()).toHaveLength(3);
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    expect(await books(fixture.store)).toEqual({ balances: [], held: [], made: [] });
    const answers = await Promise.all(range(1, 8).map((one) => book(fixture.store, trade(`fill:${1 + (one % 2)}`))));
    expect(answers.filter((isFirst) => isFirst)).toHaveLength(2);
    expect((await books(fixture.store)).made[0]).toBe("alpha alpha-one AAPL 6.00002");
  },
};

export const heldIsLocked: StoreCheck = {
  promise: 0,
  sentence: "who locks a holding sees it as it is and nobody takes from it in between",
  async run(fixture) {
    const take = (n: number) =>
      transactPatiently(fixture.store, "conformance.take", async (unit) => {
        const held = await unit.ledger.lockHolding("alpha", "USD");
        if (held < amount("40")) return false;
        const { strategyId: _strategy, symbol: _symbol, quantity: _quantity, ...whole } = trade(`flow:${n}`);
        return unit.ledger.book({ ...whole, kind: "FLOW", postings: [] }, [{ symbol: "USD", quantity: amount("-40") }]);
      });
    expect(await look(fixture.store, (unit) => unit.ledger.lockHolding("alpha", "USD"))).toBe(0n);
    expect((await books(fixture.store)).held).toEqual([]);
    await look(fixture.store, (unit) => unit.treasury.add("alpha", "USD", amount("100")));
    const taken = await Promise.all(range(1, 6).map(take));
    expect(taken.filter((was) => was)).toHaveLength(2);
    expect((await books(fixture.store)).held).toEqual(["alpha USD 20"]);
  },
};

export const fundsAreRemembered: StoreCheck = {
  promise: 1,
  sentence:
    "what is remembered of a fund is nothing at first, then what was written last, and an import has its name for good",
  async run(fixture) {
    const newest = { fund_id: "alpha", nav: "1.5", currency: "USD", as_of: "2026-11-15T12:00:00.000000Z", sequence: 7 };
    const dayBegan = { day: "2026-11-15", nav: "1.4", netFlows: "0" };
    await look(fixture.store, async (unit) => {
      expect(await unit.ledger.lockFund("alpha")).toEqual({});
      await unit.ledger.putFund("alpha", { newest, dayBegan, borrowDay: "2026-11-15" });
      expect(await unit.ledger.firstImport("history", "h-1", at)).toBe(true);
    });
    const failing = fixture.store.transact("conformance.put", async (unit) => {
      await unit.ledger.putFund("alpha", {});
      expect(await unit.ledger.firstImport("other", "h-2", at)).toBe(true);
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    const store = await fixture.reopen();
    expect(await look(store, (unit) => unit.ledger.lockFund("alpha"))).toEqual({
      newest,
      dayBegan,
      borrowDay: "2026-11-15",
    });
    const imports = await look(store, async (unit) => [
      await unit.ledger.firstImport("history", "h-3", at),
      await unit.ledger.firstImport("other", "h-2", at),
    ]);
    expect(imports).toEqual([false, true]);
    expect(await look(store, (unit) => unit.ledger.imported("history"))).toBe("h-1");
    expect(await look(store, (unit) => unit.ledger.imported("none"))).toBeUndefined();
  },
};

export function navPoint(time: string, nav: string, tradingDay?: string): NavPoint {
  return {
    fundId: "alpha",
    at: instantOf(time),
    nav: amount(nav),
    cash: amount("100.5"),
    positionsValue: decimal.subtract(amount(nav), amount("100.5")),
    netFlows: amount("-2.25"),
    currency: "USD",
    oldestPriceAgeMs: 12.5,
    prices: { AAPL: { quantity: "2", price: "0.25", at: time } },
    ...(tradingDay !== undefined && { tradingDay }),
  };
}

export const navsAreThinned: StoreCheck = {
  promise: 0,
  sentence:
    "one value is kept per second, minute, hour and day, a past day keeps the one it has, and what is old is removed piece by piece",
  async run(fixture) {
    const put = (point: NavPoint) => look(fixture.store, (unit) => unit.ledger.putNav(point));
    await put(navPoint("2026-11-15T12:00:00.100000Z", "101", "2026-11-13"));
    await put(navPoint("2026-11-15T12:00:00.900000Z", "102", "2026-11-13"));
    await put(navPoint("2026-11-15T12:00:00.500000Z", "103", "2026-11-13"));
    await put(navPoint("2026-11-15T12:00:01.000000Z", "104", "2026-11-13"));
    await put(navPoint("2026-11-15T12:01:00.000000Z", "105", "2026-11-13"));
    await put({ ...navPoint("2026-11-15T12:00:30.000000Z", "106"), fundId: "beta" });
    await rejection(put({ ...navPoint("2026-11-15T12:02:00.000000Z", "1"), nav: amount("2") }), "parts that differ");
    const imported = await look(fixture.store, (unit) =>
      unit.ledger.importNavs([
        navPoint("2026-11-13T23:00:00Z", "1", "2026-11-13"),
        navPoint("2026-11-12T23:00:00Z", "2", "2026-11-12"),
        navPoint("2026-11-11T23:00:00Z", "3", "2026-11-11"),
      ]),
    );
    expect(imported).toBe(2);
    const store = await fixture.reopen();
    const thin = (every: NavEvery, before: string, countMax: number) =>
      look(store, (unit) => unit.ledger.thinNavs(every, instantOf(before), countMax));
    const everything = "2027-01-01T00:00:00Z";
    expect(await thin("second", "2026-11-15T12:00:01Z", 10)).toBe(1);
    expect(await thin("second", everything, 2)).toBe(2);
    expect(await thin("second", everything, 2)).toBe(1);
    expect(await thin("second", everything, 2)).toBe(0);
    // Alpha has two minutes and beta one; each has one hour; alpha has three days.
    expect(await thin("minute", everything, 10)).toBe(3);
    expect(await thin("hour", everything, 10)).toBe(2);
    expect(await thin("day", "2026-11-14T00:00:00Z", 10)).toBe(3);
    expect(await thin("day", everything, 10)).toBe(1);
  },
};

export const sumsAreMadeAnew: StoreCheck = {
  promise: 0,
  sentence: "23.5: what a fund's entries add up to is what is kept of them, and a correction moves what is kept alone",
  async run(fixture) {
    const flow = {
      ...trade("flow", { kind: "FLOW" }),
      postings: [
        { account: "flows", currency: "USD", amount: amount("-5") },
        { account: "cash", currency: "USD", amount: amount("5") },
      ],
    };
    const { symbol: _symbol, quantity: _quantity, strategyId: _strategy, ...money } = flow;
    const booked: LedgerEntry[] = [
      trade("e-1"),
      trade("e-2", { strategyId: "alpha-two", symbol: "XOM", quantity: amount("-2") }),
      trade("e-3", { quantity: amount("-3.00001") }),
      trade("theirs", { fundId: "beta" }),
      money,
    ];
    for (const entry of booked) await look(fixture.store, (unit) => unit.ledger.book(entry, movesOf(entry)));
    const store = await fixture.reopen();
    const sums = (fundId: string) => look(store, (unit) => unit.ledger.sumsOf(fundId));
    const { entries, added, kept } = await sums("alpha");
    expect(entries).toBe(4);
    expect(added).toEqual(addUp(booked.filter(({ fundId }) => fundId === "alpha")));
    expect(kept).toEqual(added);
    // What comes to zero is nothing.
    expect(added.holdings.map(({ symbol }) => symbol)).toEqual(["USD", "XOM"]);
    const by: LedgerSums = {
      balances: [{ account: "cash", currency: "USD", amount: amount("1.5") }],
      holdings: [
        { symbol: "AAPL", quantity: amount("7") },
        { symbol: "USD", quantity: amount("-0.000000000000000001") },
      ],
      strategyHoldings: [{ strategyId: "alpha-new", symbol: "AAPL", quantity: amount("1") }],
    };
    await look(store, (unit) => unit.ledger.correct("alpha", by));
    const after = await sums("alpha");
    expect({ entries: after.entries, added: after.added }).toEqual({ entries, added });
    expect(correctionsOf(differencesOf(after.kept, added))).toEqual(by);
    await rejection(
      store.transact("conformance.look", async (unit) => {
        await unit.ledger.correct("alpha", by);
        throw new Error("planned");
      }),
      "the failing work",
    );
    expect(await sums("alpha")).toEqual(after);
    const beta = await sums("beta");
    expect(beta.kept).toEqual(beta.added);
    expect(await sums("nobody")).toMatchObject({ entries: 0, added: { holdings: [] }, kept: { holdings: [] } });
  },
};

export const ledgerChecks: readonly StoreCheck[] = [
  entriesAreBookedOnce,
  tradesByTheirTime,
  sumsAreMadeAnew,
  fillsWaitInOrder,
  entriesRollBack,
  heldIsLocked,
  fundsAreRemembered,
  navsAreThinned,
];

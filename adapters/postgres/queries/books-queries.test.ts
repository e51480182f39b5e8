// The books on PostgreSQL, held against each other: they agree when everybody booked the same, what is on its way is no difference, and whatever
// is changed in one of them is found. The numbers are those of core/reconcile/books.ts.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { BelievedLine } from "../../../contracts/src/records/books.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { fillEntry, movesOf } from "../../../core/ledger/ledger.ts";
import { addLook, type BookCheckName, type BookTotals, compareBooks, noTotals } from "../../../core/reconcile/books.ts";
import type { BooksQueries } from "../../../ports/books-queries.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { orderOf } from "../../../testkit/oms-fixture.ts";
import { testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { createBooksQueries } from "./books-queries.ts";

let peer: PostgresPeer;
let queries: BooksQueries;

const at = parse("2026-11-15T12:00:00Z");
const usd = { currency: "USD", multiplier: "1" };

const trade = (number: number, differs: Partial<Fill> = {}): Fill => ({
  fill_id: `paper:${number}`,
  order_id: `order-${number}`,
  fund_id: "alpha",
  strategy_id: "alpha-one",
  symbol: "AAPL",
  side: "BUY",
  quantity: "3.5",
  price: "232.000000001",
  fee: "0.35",
  filled_at: "2026-11-15T12:00:00Z",
  ...differs,
});

async function inOrderManagement(unit: UnitOfWork, fill: Fill, held: string): Promise<void> {
  await unit.oms.insertFill(fill);
  const { fund_id: fundId, strategy_id: strategyId, symbol } = fill;
  const amounts = { quantity: decimal.parse(held), averagePrice: decimal.zero, realisedPnl: decimal.zero };
  await unit.oms.putPosition({ fundId, strategyId, symbol, ...amounts, openedBy: fill.fill_id, updatedAt: at });
}

async function inTreasury(unit: UnitOfWork, fill: Fill): Promise<void> {
  const entry = fillEntry(fill, usd, { entryId: `fill:${fill.fill_id}`, bookedBy: "service:treasury" });
  await unit.ledger.book(entry, movesOf(entry));
}

async function inJournal(fill: Fill): Promise<void> {
  await peer.pool.query(
    "insert into risk_journal (kind, at_us, fund_id, order_id, fill_id, payload) values (2, $1, $2, $3, $4, $5)",
    [at, fill.fund_id, fill.order_id, fill.fill_id, Buffer.from(JSON.stringify(fill))],
  );
}

/** A value of some AAPL at 400, and of other shares that are worth nothing. */
async function value(cash: string, shares: string, worth: string, nav: string, others: object = {}): Promise<void> {
  const as_of = "2026-11-15T12:00:00Z";
  const prices = { AAPL: { quantity: shares, price: "400", at: as_of }, ...others };
  await peer.store.transact("fixture", (unit) =>
    unit.ledger.putFund("alpha", {
      newest: { fund_id: "alpha", nav, currency: "USD", cash, positions_value: worth, prices, as_of },
    }),
  );
}

const second = trade(2, { side: "SELL", quantity: "1" });
const past = trade(0, { fill_id: "seed-history-1", quantity: "1" });
const believed: readonly BelievedLine[] = [
  { fundId: "alpha", symbol: "AAPL", quantity: "2.5", pendingBuy: "0", pendingSell: "0" },
];
const cash = "-580.7000000025";

async function refer(kind: string, content: object): Promise<void> {
  await peer.pool.query(
    "insert into reference_version (kind, version, content, set_by, set_us, reason, hash) values ($1, 1, $2, '', 0, '', '')",
    [kind, JSON.stringify(content)],
  );
  await peer.pool.query(
    "insert into reference_head (kind, version) values ($1, 1) on conflict (kind) do update set version = 1",
    [kind],
  );
}

beforeAll(async () => {
  peer = openPeer((await testDatabase()).address.app);
  queries = createBooksQueries(peer.pool);
  await refer("funds", [{ fund_id: "alpha", mode: "PAPER" }]);
  await refer(
    "instruments",
    ["AAPL", "MSFT"].map((symbol) => ({ symbol, ...usd })),
  );
  await peer.store.transact("fixture", async (unit) => {
    await inOrderManagement(unit, past, "1");
    await inOrderManagement(unit, trade(0, { fill_id: "seed-history-2", side: "SELL", quantity: "1" }), "0");
    await inOrderManagement(unit, trade(1), "3.5");
    await inTreasury(unit, trade(1));
  });
  await inJournal(trade(1));
});
afterAll(() => peer.close());

async function differences(
  base: BookTotals = noTotals,
  lines: readonly BelievedLine[] = believed,
  late: ReadonlySet<string> = new Set(),
) {
  const look = await queries.look(base.marks, base.marks.journal, []);
  const totals = addLook(base, look);
  const moment = { at: plusMilliseconds(at, 2_000), ledgerBefore: [] };
  const engine = { believed: lines, approvals: [], overReserved: new Set<string>() };
  const results = compareBooks({ totals, look, ...engine, liveBefore: look.liveOrders, late, ...moment });
  const found = Object.entries(results).flatMap(([name, result]) =>
    result.differences.map(({ sentence }) => `${name}: ${sentence}`),
  );
  return { found, totals, look };
}

/** What a change of one book by hand is called, and that it is gone when the change is. */
async function found(change: string, undo: string): Promise<readonly string[]> {
  await peer.pool.query(change);
  const { found: names } = await differences();
  await peer.pool.query(undo);
  expect((await differences()).found).toEqual([]);
  return names;
}

describe("the books", () => {
  it("agree while a trade is on its way, and call it missing when it takes too long", async () => {
    const before = [{ fundId: "alpha", symbol: "AAPL", quantity: "3.5", pendingBuy: "0", pendingSell: "0" }];
    expect((await differences(noTotals, before)).found).toEqual([]);
    await peer.store.transact("fixture", (unit) => inOrderManagement(unit, second, "2.5"));
    // The engine may have heard it already, or not yet.
    expect((await differences(noTotals, before)).found).toEqual([]);
    expect((await differences()).found).toEqual([]);
    const { found: late, look } = await differences(noTotals, before, new Set(["paper:2"]));
    expect(look.unheard.map(({ fillId }) => fillId)).toEqual(["paper:2"]);
    expect(late).toEqual([
      "holdings: The trade paper:2 (alpha, -1 AAPL) has not reached treasury.",
      "exposure: The trade paper:2 (alpha, -1 AAPL) has not reached the risk engine.",
    ]);
    await peer.store.transact("fixture", (unit) => inTreasury(unit, second));
    await inJournal(second);
    await value(cash, "2.5", "1000", "419.2999999975");
    expect((await differences()).found).toEqual([]);
  });

  it("cost what is new: sums over what was read before are carried along", async () => {
    const { totals } = await differences();
    const again = await differences(totals);
    expect(again.found).toEqual([]);
    expect(again.look.since).toEqual({
      fills: [],
      entries: [],
      foreignEntries: [],
      postings: [],
      journal: [],
      foreignJournal: [],
      rowCount: 0,
    });
    expect(again.totals.sums).toEqual(totals.sums);
  });

  it("1-3, 5: differ when a position, a balance, a holding or the engine does", async () => {
    const position = await found(
      "update oms_position set quantity = 2.500000000000000001",
      "update oms_position set quantity = 2.5",
    );
    expect(position).toContain(
      "positions: alpha alpha-one AAPL: position is 2.500000000000000001, its trades say 2.5.",
    );
    expect(position.map((each) => each.split(":")[0])).toEqual(["positions", "holdings", "exposure"]);
    expect(
      await found(
        "update treasury_balance set amount = amount + 0.01 where account = 'fees'",
        "update treasury_balance set amount = amount - 0.01 where account = 'fees'",
      ),
    ).toEqual(["ledger: alpha fees USD: balance is 0.71, the postings say 0.7."]);
    const holding = await found(
      "update treasury_holding set quantity = 3 where symbol = 'AAPL'",
      "update treasury_holding set quantity = 2.5 where symbol = 'AAPL'",
    );
    expect(holding.map((each) => each.split(":")[0])).toEqual(["ledger", "holdings", "value"]);
    const wrong = [{ fundId: "alpha", symbol: "AAPL", quantity: "2", pendingBuy: "0", pendingSell: "0" }];
    expect((await differences(noTotals, wrong)).found).toEqual([
      "exposure: The risk engine believes alpha AAPL to be 2, and its record says 2.5.",
    ]);
  });

  it("4: differ when a value is not its parts, not of its prices, or not the ledger's as of any of its newest entries", async () => {
    await value(cash, "2.5", "1000", "419.299999997500000001");
    expect((await differences()).found).toEqual([
      `value: alpha is valued 419.299999997500000001, its parts are ${cash} + 1000 = 419.2999999975.`,
    ]);
    // Positions at half their value, adding up all the same.
    await value(cash, "2.5", "500", "-80.7000000025");
    expect((await differences()).found).toEqual([
      "value: alpha is valued with positions worth 500, quantities and prices make 1000.",
    ]);
    // As it was one trade earlier, which is cash and shares of the same moment.
    await value("-812.3500000035", "3.5", "1400", "587.6499999965");
    expect((await differences()).found).toEqual([]);
    await value("-812.3500000035", "2.5", "1000", "187.6499999965");
    expect((await differences()).found).toEqual([
      `value: alpha is valued with cash of -812.3500000035, the ledger has ${cash}.`,
    ]);
    await value(cash, "3.5", "1400", "819.2999999975");
    expect((await differences()).found).toEqual(["value: alpha is valued with 3.5 AAPL, the ledger has 2.5."]);
    await value(cash, "2.5", "1000", "419.2999999975");
    expect((await differences()).found).toEqual([]);
  });

  it("do not mind what somebody else's order management traded, and name a trade that two books have differently", async () => {
    const foreign = trade(7, { symbol: "MSFT", quantity: "4" });
    await peer.store.transact("fixture", (unit) => inTreasury(unit, foreign));
    await inJournal(foreign);
    const lines = [...believed, { fundId: "alpha", symbol: "MSFT", quantity: "4", pendingBuy: "0", pendingSell: "0" }];
    const others = { MSFT: { quantity: "4", price: "0", at: "2026-11-15T12:00:00Z" } };
    await value("-1509.0500000065", "2.5", "1000", "-509.0500000065", others);
    expect((await differences(noTotals, lines)).found).toEqual([]);
    const third = trade(3, { strategy_id: "alpha-two", quantity: "1" });
    await peer.store.transact("fixture", async (unit) => {
      await inOrderManagement(unit, third, "1");
      await inTreasury(unit, third);
    });
    await inJournal({ ...third, quantity: "2" });
    const names: readonly BookCheckName[] = ["ledger", "exposure"];
    const all = (await differences(noTotals, lines)).found;
    expect(all.map((each) => each.split(":")[0])).toEqual(expect.arrayContaining([...names]));
    expect(all[0]).toContain("The trade paper:3 is 1 AAPL in order management");
  });

  it("22.2: say of each order that is asked about how much it may still trade, and nothing of somebody else's", async () => {
    const order = (orderId: string, differs: Partial<StoredOrder>): StoredOrder => ({
      order: orderOf(orderId, { quantity: "10" }),
      state: "WORKING",
      bodyHash: "ab",
      filledQuantity: decimal.parse("4"),
      filledValue: decimal.zero,
      submittedBy: "operator:duty",
      createdAt: at,
      updatedAt: at,
      ...differs,
    });
    const amendment = { idempotency_key: "k", quantity: "15", askedAt: at };
    await peer.store.transact("fixture", async (unit) => {
      await unit.oms.insertOrder(order("rests", {}));
      await unit.oms.insertOrder(order("grows", { amendment }));
      await unit.oms.insertOrder(order("shrinks", { amendment: { ...amendment, quantity: "5" } }));
      await unit.oms.insertOrder(order("ended", { state: "CANCELLED" }));
    });
    const { knownOrders } = await queries.look(noTotals.marks, undefined, [
      ...["rests", "grows", "shrinks", "ended", "foreign"],
    ]);
    const figures = knownOrders.map(({ orderId, mayTrade }) => [orderId, decimal.format(mayTrade)]);
    expect(Object.fromEntries(figures)).toEqual({ rests: "6", grows: "11", shrinks: "6", ended: "0" });
  });
});

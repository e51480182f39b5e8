// The paper treasury's books: fills and flows become entries once, whatever is repeated, reordered or killed, and the accounts always add up.
import { afterEach, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { LedgerEntry, ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, parse } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Store } from "../../ports/store.ts";
import type { LedgerQuery, NavsQuery } from "../../ports/treasury-queries.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { call, provenFlow, provenReference, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import { drillCapital } from "../shared/drill-seeds.ts";
import { paperCapital } from "../shared/paper-seeds.ts";
import type { RunningService } from "../shared/service.ts";
import { fillsSubscription } from "./book-fills.ts";

const seed = 20_261_115;
let books: TestBooks;

function begin(): TestBooks {
  books = testBooks(seed);
  return books;
}

afterEach(() => books.close());

const settle = () => books.fixture.time.timers.sleep(2_000);
const trades = [
  { fill_id: "f-1", side: "BUY", quantity: "40", price: "189.2", fee: "0.2" },
  { fill_id: "f-2", side: "SELL", quantity: "100", price: "190", fee: "0.5", strategy_id: "alpha-meanrev" },
  { fill_id: "f-3", side: "BUY_TO_COVER", quantity: "60.5", price: "188.000000001" },
  { fill_id: "f-4", fund_id: "gamma", strategy_id: "gamma-income", symbol: "SPY 281215C00650000", quantity: "2" },
] as const;
const afterTrades = {
  "capital USD": "-10000000",
  "cash USD": "10000057.2999999395",
  "fees USD": "0.7",
  "position:AAPL USD": "-57.9999999395",
};

describe(`the ledger of the paper funds, seed ${seed}`, () => {
  it("begins with the capital, reported once", async () => {
    begin();
    await books.start();
    await books.start();
    await settle();
    const reported = books.fixture.reported(subjects.ledgerBooked);
    expect(reported.map(({ fund_id, kind, amount }) => [fund_id, kind, amount])).toEqual(
      [...paperCapital, drillCapital].map(({ fundId, amount }) => [fundId, "CAPITAL", amount]),
    );
    expect(await books.balances("beta")).toEqual({ "capital USD": "-2000000", "cash USD": "2000000" });
  });

  it.each([0, 1])(
    "makes the same of fills in any order, repeated and after a lost cursor (order %i)",
    async (order) => {
      begin();
      const first = await books.start();
      const thrown = prng(seed + order);
      const shuffled = [...trades, ...trades].sort(() => thrown.below(3) - 1);
      await books.tell(...shuffled);
      await settle();
      await first.stop();
      // As after a kill between the last commit and the writing of the cursor.
      const cursor = books.fixture.tables.durables.get(fillsSubscription);
      if (cursor === undefined) throw new Error("no cursor");
      cursor.place = 0;
      cursor.done.clear();
      // What the store remembers of handled events is forgotten after a while; a ledger is not.
      books.fixture.tables.handled.clear();
      await books.start();
      await settle();
      expect(await books.balances("alpha")).toEqual(afterTrades);
      expect(await books.held("alpha")).toEqual({ AAPL: "0.5", USD: "10000057.2999999395" });
      expect((await books.balances("gamma"))["position:SPY 281215C00650000 USD"]).toBe("37840");
      const made = await books.look((unit) => unit.ledger.strategyHoldings());
      expect(made.map(({ strategyId, symbol }) => `${strategyId} ${symbol}`)).toEqual([
        "alpha-meanrev AAPL",
        "alpha-meanrev USD",
        "alpha-momentum AAPL",
        "alpha-momentum USD",
        "gamma-income SPY 281215C00650000",
        "gamma-income USD",
      ]);
      expect(books.fixture.tables.parked).toEqual([]);
    },
  );

  it("puts no fill aside while the store is in trouble, also when answers to commits are lost", async () => {
    begin();
    const { store } = books.fixture.portsOf("treasury");
    const troubles = ["away", "lost", "lost", "lost", "lost", "lost", "lost", "away", "away", "away", "lost"];
    const troubled: Store = {
      ...store,
      async transact(name, work) {
        const trouble = name === "treasury.fill" ? troubles.shift() : undefined;
        if (trouble === "away") throw new Fault("STORE_UNAVAILABLE", "planned", { retry: "later" });
        const value = await store.transact(name, work);
        if (trouble === undefined) return value;
        throw new Fault("STORE_COMMIT_UNKNOWN", "planned", { retry: "never", facts: { transaction: "t" } });
      },
    };
    await books.start({ store: troubled });
    await books.tell(...trades);
    await books.fixture.time.timers.sleep(20_000);
    expect(troubles).toEqual([]);
    expect(books.fixture.tables.parked).toEqual([]);
    expect(await books.balances("alpha")).toEqual(afterTrades);
  });

  it("23.5: a fill that nobody can read holds its fund, others go on, over a restart, until somebody decides", async () => {
    begin();
    const first = await books.start();
    const { tables, time } = books.fixture;
    const inject = (id: string, payload: object) => {
      const event = { id, subject: subjects.fillsCreated.name, key: "o-1", source: "foreign", at: time.clock.now() };
      const bytes = new TextEncoder().encode(JSON.stringify(payload));
      tables.append([{ ...event, bytes, sequence: tables.nextSequence() }]);
    };
    inject("broken", { ...exampleFill, fund_id: "beta", quantity: "a lot" });
    inject("later", { ...exampleFill, fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", fill_id: "b-2" });
    await books.tell({ fill_id: "o-1", fund_id: "alpha", symbol: "AAPL", price: "4" });
    await time.timers.sleep(5_000);
    const held = () => tables.parked.map(({ eventId, state, lane }) => `${eventId} ${state} ${lane}`);
    expect(held()).toEqual(["broken HELD fund beta", "later HELD fund beta"]);
    expect((await books.held("alpha"))["AAPL"]).toBeDefined();
    expect((await books.held("beta"))["BTC-USD"]).toBeUndefined();
    await first.stop();
    await books.start();
    await time.timers.sleep(40_000);
    expect(held()).toEqual(["broken HELD fund beta", "later HELD fund beta"]);
    const how = { at: time.clock.now(), by: "operator:duty", reason: "rubbish" };
    await books.look((unit) => unit.parked.discard(fillsSubscription, "broken", how));
    await time.timers.sleep(40_000);
    expect((await books.held("beta"))["BTC-USD"]).toBeDefined();
  });

  it("23.5: a fill that cannot be booked is never parked: its fund waits, others go on, over a restart until it can", async () => {
    begin();
    const first = await books.start();
    await books.fixture.time.timers.sleep(2_000);
    const unknown = { fill_id: "u-1", fund_id: "beta", strategy_id: "beta-trend", symbol: "NEW-USD", price: "2" };
    const later = { fill_id: "u-2", fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", price: "3" };
    const other = { fill_id: "o-1", fund_id: "alpha", symbol: "AAPL", price: "4" };
    await books.tell(unknown, later, other, unknown);
    await books.fixture.time.timers.sleep(4_000);
    expect(books.fixture.tables.parked).toEqual([]);
    const waiting = async () =>
      (await books.look((unit) => unit.ledger.waitingFills("beta", 9))).map(({ fill_id }) => fill_id);
    expect(await waiting()).toEqual(["u-1", "u-2"]);
    expect((await books.held("alpha"))["AAPL"]).toBeDefined();
    expect((await books.held("beta"))["BTC-USD"]).toBeUndefined();
    const reported = () => books.fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "FILL_UNBOOKED");
    expect(reported()).toMatchObject([
      { level: "critical", service: "treasury", facts: { fund_id: "beta", fill_id: "u-1" } },
    ]);
    await first.stop();
    const behind = { ...later, fill_id: "u-3" };
    await books.tell(behind);
    await books.start();
    await books.fixture.time.timers.sleep(3_000);
    expect(reported()).toHaveLength(2);
    expect(await waiting()).toEqual(["u-1", "u-2", "u-3"]);
    const reference = await books.fixture.portsOf("treasury").referenceData.read();
    const like = reference.instruments.find(({ symbol }) => symbol === "BTC-USD");
    if (like === undefined) throw new Error("BTC-USD");
    const setAt = books.fixture.time.clock.now();
    const content = [...reference.instruments, { ...like, symbol: "NEW-USD" }];
    await books.fixture
      .portsOf("treasury")
      .store.transact("list", (unit) =>
        unit.reference.put({ kind: "instruments", version: 99, content, setBy: "t", setAt, reason: "r", hash: "0" }),
      );
    await books.fixture.time.timers.sleep(6_000);
    expect(await waiting()).toEqual([]);
    expect(Object.keys(await books.held("beta"))).toEqual(expect.arrayContaining(["BTC-USD", "NEW-USD"]));
    expect(books.fixture.tables.parked).toEqual([]);
    expect(reported()).toHaveLength(2);
  });

  it("23.4: a fill that is booked and comes again under a symbol that is called otherwise by now holds nothing up", async () => {
    begin();
    await books.start();
    const old = { fill_id: "r-1", fund_id: "alpha", symbol: "XOM", quantity: "5", price: "2" };
    await books.tell(old);
    await settle();
    const { instruments } = await books.fixture.portsOf("treasury").referenceData.read();
    const content = instruments.map((one) => (one.symbol === "XOM" ? { ...one, symbol: "XON" } : one));
    const setAt = books.fixture.time.clock.now();
    await books.look((unit) =>
      unit.reference.put({ kind: "instruments", version: 99, content, setBy: "t", setAt, reason: "r", hash: "0" }),
    );
    await settle();
    // The store forgets after a while which events were handled.
    books.fixture.tables.handled.clear();
    await books.tell(old, { fill_id: "r-2", fund_id: "alpha", symbol: "AAPL", price: "4" });
    await settle();
    expect(await books.look((unit) => unit.ledger.waitingFills("alpha", 9))).toEqual([]);
    expect(await books.held("alpha")).toMatchObject({ XOM: "5", AAPL: exampleFill.quantity });
  });

  it("23.5: a fill of a fund that nobody knows, or that the ledger cannot hold, is kept and reported, and holds up nobody else", async () => {
    begin();
    const first = await books.start();
    await books.fixture.time.timers.sleep(2_000);
    const huge = { fill_id: "h-1", fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD" };
    await books.tell(
      { fill_id: "n-1", fund_id: "nobody" },
      { ...huge, quantity: "99999999999999999999", price: "99999999999999999999" },
      { fill_id: "o-1", fund_id: "alpha", symbol: "AAPL" },
    );
    await books.fixture.time.timers.sleep(2_000);
    const reported = () => books.fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "FILL_UNBOOKED");
    const funds = () => reported().map(({ facts }) => facts?.["fund_id"]);
    expect(funds()).toEqual(["nobody", "beta"]);
    expect((await books.held("alpha"))["AAPL"]).toBeDefined();
    await first.stop();
    await books.start();
    await books.fixture.time.timers.sleep(2_000);
    expect(funds().slice(2).sort()).toEqual(["beta", "nobody"]);
    expect(await books.look((unit) => unit.ledger.waitingFunds())).toMatchObject([
      { fundId: "beta", count: 1 },
      { fundId: "nobody", count: 1 },
    ]);
    expect(books.fixture.tables.parked).toEqual([]);
  });

  it("23.5: a change of mode does not drop what traded before it, and what trades after it is not ours", async () => {
    begin();
    await books.start();
    await books.fixture.time.timers.sleep(2_000);
    const { clock, timers } = books.fixture.time;
    const before = format(clock.now());
    await timers.sleep(1_000);
    const ports = books.fixture.portsOf("treasury");
    const { funds, versions } = await ports.referenceData.read();
    const content = funds.map((fund) => (fund.fund_id === "beta" ? { ...fund, mode: "LIVE" } : fund));
    const set = { setBy: "t", setAt: clock.now(), reason: "r", hash: "0" };
    await ports.store.transact("list", (unit) =>
      unit.reference.put({ kind: "funds", version: versions.funds + 1, content, ...set }),
    );
    await timers.sleep(2_000);
    const fill = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", side: "BUY", quantity: "1" } as const;
    await books.tell({ ...fill, fill_id: "m-1", filled_at: before });
    await books.tell({ ...fill, fill_id: "m-2", filled_at: format(clock.now()) });
    await timers.sleep(2_000);
    const known = (id: string) => books.look((unit) => unit.ledger.entry(`fill:${id}`));
    expect([(await known("m-1"))?.fundId, await known("m-2")]).toEqual(["beta", undefined]);
  });
});

const flow = {
  fund_id: "alpha",
  idempotency_key: "deposit-1",
  currency: "USD",
  amount: "2500.5",
  reason: "a deposit",
};
const book = (running: RunningService, differs: object = {}) =>
  call<LedgerEntry>(running, "BookFlow", provenFlow(books, { ...flow, ...differs }));

describe(`flows of the paper funds, seed ${seed}`, () => {
  it("books a flow once per key, and says who and why", async () => {
    begin();
    const running = await books.start();
    const entry = await book(running);
    expect(entry).toMatchObject({ fund_id: "alpha", kind: "FLOW", reason: "a deposit", booked_by: "operator:duty" });
    expect(entry.postings).toEqual([
      { account: "flows", currency: "USD", amount: "-2500.5" },
      { account: "cash", currency: "USD", amount: "2500.5" },
    ]);
    await books.fixture.time.timers.sleep(1_000);
    const before = { ...entry, already_booked: true };
    expect(await book(running, { reason: " a deposit " })).toEqual(before);
    const again = await books.start();
    expect(await book(again)).toEqual(before);
    expect((await book(again, { amount: "2500.51" })).denial?.code).toBe("FLOW_KEY_CONFLICT");
    // The same key is another flow in another fund.
    expect((await book(again, { fund_id: "beta" })).entry_id).not.toBe(entry.entry_id);
    expect((await books.balances("alpha"))["flows USD"]).toBe("-2500.5");
    const reported = books.fixture.reported(subjects.ledgerBooked).filter(({ kind }) => kind === "FLOW");
    expect(reported.map(({ fund_id, amount, booked_by }) => [fund_id, amount, booked_by])).toEqual([
      ["alpha", "2500.5", "operator:duty"],
      ["beta", "2500.5", "operator:duty"],
    ]);
  });

  it("T6: is refused without a proof of the second factor for exactly this flow, in and out, and reserves nothing then", async () => {
    begin();
    const asked: object[] = [];
    const reserve = async (withdrawal: object) => {
      asked.push(withdrawal);
      return { answer: undefined };
    };
    const running = await books.start({ withdrawals: { reserve } });
    for (const amount of ["2500.5", "-2500.5"]) {
      const without = { ...flow, amount, step_up_proof: "" };
      expect((await call<LedgerEntry>(running, "BookFlow", without)).denial?.code).toBe("STEP_UP_REQUIRED");
      const other = { ...provenFlow(books, { ...flow, amount: "1" }), amount };
      expect((await call<LedgerEntry>(running, "BookFlow", other)).denial?.code).toBe("STEP_UP_WRONG");
    }
    expect(asked.length).toBe(1);
    expect((await books.balances("alpha"))["flows USD"]).toBeUndefined();
    const entry = await book(running);
    const again = await call<LedgerEntry>(running, "BookFlow", { ...flow, step_up_proof: "" });
    expect(again).toEqual({ ...entry, already_booked: true });
  });

  it("T7: is refused when it is finer than the currency is paid in", async () => {
    begin();
    const running = await books.start();
    const fine = "USD is not paid in less than 0.01";
    await expect(book(running, { amount: "0.001" })).rejects.toThrow(fine);
    await expect(book(running, { amount: "-10.005" })).rejects.toThrow(fine);
    expect((await book(running, { amount: "0.01" })).kind).toBe("FLOW");
  });

  it("withdraws the last cent and not one more, however many ask at once", async () => {
    begin();
    const running = await books.start();
    const asked = await Promise.all(
      ["w-1", "w-2", "w-3"].map((key) =>
        book(running, { fund_id: "beta", idempotency_key: key, amount: "-1000000", reason: "out" }),
      ),
    );
    expect(asked.map(({ denial }) => denial?.code).filter((code) => code !== undefined)).toEqual(["FLOW_CASH_SHORT"]);
    expect(await books.held("beta")).toEqual({ USD: "0" });
    const short = await book(running, { fund_id: "beta", idempotency_key: "w-4", amount: "-0.01" });
    expect(short.denial?.reason).toBe("beta has 0 USD in cash, less than the withdrawal.");
    // What was booked before is answered again, whatever the cash is now.
    const done = ["w-1", "w-2", "w-3"].filter((_key, index) => asked[index]?.denial === undefined);
    const repeated = await book(running, {
      fund_id: "beta",
      idempotency_key: done[0],
      amount: "-1000000",
      reason: "out",
    });
    expect(repeated.kind).toBe("FLOW");
  });

  it("23.7: asks the risk engine with what there is, hands its denial on, and books nothing when it does not answer or a halt came", async () => {
    begin();
    const asked: object[] = [];
    const denial = { code: "FLOW_LIMIT_EXCEEDED", reason: "At most 5 USD can be withdrawn from beta now: x." } as const;
    let answer = async (): Promise<{ answer: undefined } | { denial: typeof denial }> => ({ denial });
    const reserve = async (withdrawal: object) => {
      asked.push(withdrawal);
      return answer();
    };
    const running = await books.start({ withdrawals: { reserve } });
    const out = { fund_id: "beta", idempotency_key: "w-1", amount: "-10", reason: "out" };
    expect((await book(running, out)).denial).toEqual(denial);
    expect(asked).toMatchObject([{ fundId: "beta", amount: "10", cash: "2000000" }]);
    answer = () => Promise.reject(new Error("nobody answers"));
    await expect(book(running, out)).rejects.toThrow("nobody answers");
    answer = async () => ({ answer: undefined });
    const halt = { severity: "FUND_HALT", fund_id: "beta", halt_id: "h-1", reason: "r", requested_by: "x" } as const;
    await books.fixture
      .portsOf("operations")
      .store.transact("halt", (unit) => unit.risk.latchHalt({ ...halt, since: "2026-01-01T00:00:00Z" }));
    expect((await book(running, out)).denial).toEqual({
      code: "FLOW_HALTED",
      reason: "The halt h-1 is in force: no money leaves beta.",
    });
    // Deposits, and other funds, are not its business.
    expect((await book(running, { ...out, amount: "10" })).kind).toBe("FLOW");
    expect((await book(running, { ...out, fund_id: "alpha" })).kind).toBe("FLOW");
    expect(asked).toHaveLength(4);
    expect(await books.held("beta")).toEqual({ USD: "2000010" });
  });

  it("refuses what makes no sense, and the books of a live fund", async () => {
    begin();
    const running = await books.start();
    for (const [differs, sentence] of [
      [{ fund_id: "omega" }, /no fund "omega"/],
      [{ fund_id: "" }, /name a fund/],
      [{ currency: "EUR" }, /flows of alpha are in USD/],
      [{ amount: "1e3" }, /give a decimal/],
      [{ amount: "0" }, /give a decimal/],
      [{ idempotency_key: "" }, /idempotency_key/],
      [{ reason: "a\u0007" }, /control characters/],
    ] as const) {
      await expect(book(running, differs)).rejects.toThrow(sentence);
    }
    expect((await book(running, { reason: " " })).denial?.code).toBe("REASON_MISSING");
    const funds = await call<ReferenceDocument>(running, "GetReferenceData", { kind: "funds" });
    const content_json = funds.content_json.replaceAll("PAPER", "LIVE");
    const live = { ...funds, version: 2, content_json, reason: "live" };
    await call(running, "SetReferenceData", provenReference(books.fixture, live));
    expect((await book(running)).denial).toEqual({
      code: "FLOW_NOT_PAPER",
      reason: "alpha is a live fund: its books are its own treasury's.",
    });
    expect((await books.balances("alpha"))["flows USD"]).toBeUndefined();
  });
});

describe("lists of treasury", () => {
  it("asks for what was wanted, and refuses what makes no sense", async () => {
    begin();
    const asked: (NavsQuery | LedgerQuery)[] = [];
    const answer = async (query: NavsQuery | LedgerQuery) => {
      asked.push(query);
      return [];
    };
    const running = await books.start({ treasuryQueries: { navs: answer, ledger: answer } });
    const now = books.fixture.time.clock.now();
    expect(await call(running, "ListNavs", { fund_id: "alpha", every: "", count_max: 0 })).toEqual({ navs: [] });
    await call(running, "ListLedger", { fund_id: "beta", count_max: 7, after_entry_id: "fill:1" });
    expect(asked).toEqual([
      { fundId: "alpha", from: now - 86_400_000_000, to: now, every: "minute", countMax: 5_000 },
      { fundId: "beta", countMax: 7, afterEntryId: "fill:1" },
    ]);
    const earlier = { after_as_of: "2026-01-01T12:00:00Z", from: "2026-01-01T00:00:00Z", count_max: 2 };
    await call(running, "ListNavs", { fund_id: "alpha", every: "", ...earlier });
    expect(asked.at(-1)).toMatchObject({ from: parse("2026-01-01T00:00:00Z"), to: parse("2026-01-01T12:00:00Z") });
    const navs = (differs: object) =>
      call(running, "ListNavs", { fund_id: "alpha", every: "", count_max: 0, ...differs });
    await expect(navs({ every: "week" })).rejects.toThrow(/second, minute, hour or day/);
    await expect(navs({ count_max: 5_002 })).rejects.toThrow(/at most 5001/);
    await expect(navs({ from: "yesterday" })).rejects.toThrow(/from is "yesterday"/);
    await expect(navs({ from: "2026-01-03T00:00:00Z", to: "2026-01-02T00:00:00Z" })).rejects.toThrow(/is empty/);
    await expect(navs({ fund_id: "omega" })).rejects.toThrow(/no fund/);
    await expect(call(running, "ListLedger", { fund_id: "alpha", after_entry_id: "" })).rejects.toThrow(/entry_id/);
  });
});

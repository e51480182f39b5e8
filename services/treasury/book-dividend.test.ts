// Cash dividends: longs receive and shorts pay on what they hold when the share goes ex, once, and no value changes by it, whether it is paid at once or later.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { CorporateAction } from "../../contracts/src/generated/svc/v1/platform.ts";
import * as instant from "../../contracts/src/instant.ts";
import { minusMilliseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { call, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { RunningService } from "../shared/service.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
let books: TestBooks;
afterEach(() => books.close());

const dayMs = 86_400_000;
/** By New York's clock, which the fund alpha goes by, noon is on the same date as in UTC. */
const daysAgo = (days: number): string =>
  instant.format(minusMilliseconds(books.fixture.time.clock.now(), days * dayMs));
const dateAgo = (days: number): string => daysAgo(days).slice(0, 10);
const settle = () => books.fixture.time.timers.sleep(2_000);
/** Until a share that was declared just now has gone ex, and treasury has looked. */
const goEx = () => books.fixture.time.timers.sleep(7_000);
const quote = (symbol: string, price: string) => {
  const mark = { symbol, price, source: "tested", at: instant.format(books.fixture.time.clock.now()) };
  books.fixture.portsOf("operations").bus.broadcast(subjects.marketMarks, mark);
};
const values = () => books.fixture.reported(subjects.navUpdated).filter(({ fund_id: id }) => id === "alpha");
const newest = () => {
  const { nav, cash, strategy_pnl: pnl } = values().at(-1) ?? { nav: "", cash: "" };
  return { nav, cash, pnl };
};
const dividends = () => books.fixture.reported(subjects.ledgerBooked).filter(({ kind }) => kind === "DIVIDEND");

const ask = (running: RunningService, differs: object = {}) =>
  call<CorporateAction>(running, "BookCorporateAction", {
    action_id: "aapl-q4",
    kind: "CASH_DIVIDEND",
    symbol: "AAPL",
    amount_per_share: "0.26",
    ex_date: dateAgo(1),
    reason: "dividend",
    ratio: "",
    new_symbol: "",
    ...differs,
  });

describe(`23.4: cash dividends, seed ${seed}`, () => {
  it("go to who holds the share when it goes ex, once, and are income", async () => {
    books = testBooks(seed);
    const running = await books.start();
    await books.tell(
      { fill_id: "f-1", side: "BUY", quantity: "101", price: "200", filled_at: daysAgo(3) },
      {
        fill_id: "f-2",
        side: "SELL_SHORT",
        quantity: "40.5",
        price: "200",
        strategy_id: "alpha-meanrev",
        filled_at: daysAgo(3),
      },
      { fill_id: "f-4", side: "BUY", quantity: "7", price: "400", symbol: "MSFT", filled_at: daysAgo(3) },
    );
    await settle();
    const before = await books.held("alpha");
    expect(await ask(running)).toMatchObject({ state: "DECLARED", already_booked: false, entries: [] });
    expect(await ask(running)).toMatchObject({ state: "DECLARED", already_booked: true });
    const exAt = plusMilliseconds(books.fixture.time.clock.now(), 5_000);
    await books.fixture.time.timers.sleep(3_000);
    expect(await books.held("alpha")).toEqual(before);
    // Traded from the ex moment on: neither gives nor takes.
    await books.tell({ fill_id: "f-3", side: "BUY", quantity: "1000", price: "0", filled_at: instant.format(exAt) });
    await goEx();
    const action = await ask(running);
    expect(action.state).toBe("DONE");
    const paid = action.entries.map(({ kind, postings }) => [
      kind,
      ...postings.map((one) => `${one.account} ${one.amount}`),
    ]);
    expect(paid).toEqual([
      ["DIVIDEND", "dividends 10.53", "cash -10.53"],
      ["DIVIDEND", "dividends -26.26", "cash 26.26"],
    ]);
    expect(action.entries.map(({ symbol }) => symbol)).toEqual(["AAPL", "AAPL"]);
    expect(action.entries[1]?.reason).toMatch(/^0\.26 USD a share on 101 AAPL, ex \S+: dividend$/);
    const after = await books.held("alpha");
    expect(decimal.parse(after["USD"] ?? "") - decimal.parse(before["USD"] ?? "")).toBe(decimal.parse("15.73"));
    const balances = await books.balances("alpha");
    expect([balances["dividends USD"], balances["flows USD"]]).toEqual(["-15.73", undefined]);
    expect(dividends()).toHaveLength(2);
    // The same again is the same, also after a restart and whatever is held by then.
    await books.tell({ fill_id: "f-5", side: "SELL", quantity: "1101", price: "200" });
    await settle();
    expect(await ask(await books.start())).toEqual({ ...action, already_booked: true });
    await goEx();
    expect((await ask(running, { amount_per_share: "0.27" })).denial?.code).toBe("CORPORATE_ACTION_CONFLICT");
    expect((await books.balances("alpha"))["dividends USD"]).toBe("-15.73");
    const states = books.fixture.reported(subjects.corporateActionChanged).map(({ state }) => state);
    expect(states).toEqual(["DECLARED", "DONE"]);
  });

  it("change no value: the price falls by what is due, which counts from the ex moment on and is cash on the pay date, over restarts", async () => {
    books = testBooks(seed);
    let running = await books.start();
    await books.tell(
      { fill_id: "f-1", side: "BUY", quantity: "1000", price: "200", filled_at: daysAgo(3) },
      {
        fill_id: "f-2",
        side: "SELL_SHORT",
        quantity: "300",
        price: "200",
        strategy_id: "alpha-meanrev",
        filled_at: daysAgo(3),
      },
    );
    await settle();
    quote("AAPL", "200");
    await settle();
    const before = newest();
    const cash = (await books.held("alpha"))["USD"];
    const dated = { ex_date: dateAgo(1), pay_date: dateAgo(-2) };
    expect(await ask(running, dated)).toMatchObject({ state: "DECLARED" });
    for (let second = 0; second < 4; second += 1) {
      quote("AAPL", "200");
      await books.fixture.time.timers.sleep(1_000);
      expect(newest()).toEqual(before);
    }
    // Nobody quotes around the ex moment: the last price of before it is one with the dividend.
    await books.fixture.time.timers.sleep(3_000);
    const due = {
      ...before,
      cash: decimal.format(decimal.add(decimal.parse(before.cash ?? ""), decimal.parse("182"))),
    };
    expect(await ask(running, dated)).toMatchObject({ state: "EX", entries: [] });
    expect(newest()).toEqual(due);
    quote("AAPL", "199.74");
    await settle();
    expect(newest()).toEqual(due);
    // It is income that is due: no cash yet, and nothing of it is lost with the process.
    const owed = await books.balances("alpha");
    expect([owed["dividends USD"], owed["dividends_due USD"]]).toEqual(["-182", "182"]);
    expect((await books.held("alpha"))["USD"]).toBe(cash);
    running = await books.start();
    quote("AAPL", "199.74");
    await settle();
    expect(newest()).toEqual(due);
    books.fixture.time.stepClock(3 * dayMs);
    quote("AAPL", "199.74");
    await settle();
    const { state, entries } = await ask(running, dated);
    expect([state, entries.map(({ postings }) => postings.find(({ account }) => account === "cash")?.amount)]).toEqual([
      "DONE",
      ["-78", "260"],
    ]);
    const fees = books.fixture.reported(subjects.ledgerBooked).filter(({ kind }) => kind === "BORROW_FEE");
    const fee = fees.reduce((sum, { amount }) => decimal.add(sum, decimal.parse(amount)), decimal.zero);
    expect(decimal.subtract(decimal.parse(newest().nav), fee)).toBe(decimal.parse(before.nav));
    expect(dividends()).toHaveLength(2);
    const settled = await books.balances("alpha");
    expect([settled["dividends USD"], settled["dividends_due USD"] ?? "0"]).toEqual(["-182", "0"]);
  });

  it("wait for trades that are not booked yet, and the price counts with the dividend as long", async () => {
    books = testBooks(seed);
    const running = await books.start();
    await books.tell({ fill_id: "f-1", side: "BUY", quantity: "1000", price: "200", filled_at: daysAgo(3) });
    await settle();
    quote("AAPL", "200");
    await settle();
    const before = newest();
    const { sequence: _none, ...fill } = exampleFill;
    const late = { ...fill, fill_id: "late", fund_id: "alpha", symbol: "AAPL", quantity: "0.5", price: "0" };
    await books.fixture.portsOf("oms").store.transact("oms.history", async (unit) => {
      await unit.oms.insertFill(late);
    });
    await ask(running);
    await goEx();
    quote("AAPL", "199.74");
    await settle();
    expect((await ask(running)).state).toBe("DECLARED");
    expect(newest()).toEqual(before);
    await books.tell({ ...late, filled_at: daysAgo(0) });
    await settle();
    expect((await ask(running)).state).toBe("DONE");
    expect(decimal.subtract(decimal.parse(newest().nav), decimal.parse(before.nav))).toBe(decimal.parse("99.87"));
  });

  it("are refused early, for what is no share, without a reason, beside a split, and when they make no sense", async () => {
    books = testBooks(seed);
    const running = await books.start();
    expect((await ask(running, { ex_date: dateAgo(-9) })).denial?.code).toBe("CORPORATE_ACTION_EARLY");
    expect((await ask(running, { symbol: "BTC-USD" })).denial?.code).toBe("CORPORATE_ACTION_NOT_SHARE");
    expect((await ask(running, { reason: " " })).denial?.code).toBe("REASON_MISSING");
    const wrong = [{ kind: "GIFT" }, { amount_per_share: "0" }, { amount_per_share: "-1" }, { amount_per_share: "x" }];
    const more = [{ ex_date: "2026-02-30" }, { action_id: "a b" }, { symbol: "NOPE" }, { reason: "a\nb" }];
    const pays = [{ pay_date: "2026-02-30" }, { pay_date: dateAgo(2) }, { pay_date: "soon" }];
    for (const differs of [...wrong, ...more, ...pays]) {
      await expect(ask(running, differs), JSON.stringify(differs)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    await books.tell({ fill_id: "f-1", side: "BUY", quantity: "10", price: "200", filled_at: daysAgo(3) });
    await settle();
    quote("AAPL", "200");
    await settle();
    expect((await ask(running, { amount_per_share: "100.01" })).denial?.code).toBe("CORPORATE_ACTION_STANDS");
    expect(books.fixture.reported(subjects.corporateActionChanged)).toEqual([]);
    // A split would count it in other shares; one under way is done first.
    expect(await ask(running, { ex_date: dateAgo(-3) })).toMatchObject({ state: "DECLARED" });
    const split = { action_id: "s", kind: "SPLIT", ratio: "2:1", amount_per_share: "", ex_date: "" };
    expect((await ask(running, split)).denial?.reason).toMatch(
      /^The dividend aapl-q4 of AAPL is counted in the shares/,
    );
    expect(await ask(running, { ...split, symbol: "MSFT" })).toMatchObject({ state: "ANNOUNCED" });
    expect((await ask(running, { action_id: "m", symbol: "MSFT" })).denial?.code).toBe("CORPORATE_ACTION_STANDS");
    expect((await ask(running, { action_id: "s", symbol: "MSFT" })).denial?.code).toBe("CORPORATE_ACTION_CONFLICT");
    await goEx();
    expect(dividends()).toEqual([]);
  });

  it("are the sum over the trades before the moment, whatever the trades were", async () => {
    books = testBooks(seed);
    const running = await books.start();
    const thrown = prng(seed);
    const sums = new Map<string, decimal.Decimal>();
    const trades = Array.from({ length: 40 }, (_one, index) => {
      const strategy_id = thrown.below(2) === 0 ? "alpha-momentum" : "alpha-meanrev";
      const buys = thrown.below(2) === 0;
      const quantity = `${1 + thrown.below(900)}.${thrown.below(10)}`;
      const days = [-1, 0, 4][thrown.below(3)] ?? 0;
      const signed = decimal.parse(buys ? quantity : `-${quantity}`);
      if (days >= 0) sums.set(strategy_id, decimal.add(sums.get(strategy_id) ?? decimal.zero, signed));
      return {
        fill_id: `r-${index}`,
        side: buys ? "BUY" : "SELL",
        quantity,
        price: "200",
        strategy_id,
        filled_at: daysAgo(days),
      } as const;
    });
    await books.tell(...trades);
    await settle();
    await ask(running, { amount_per_share: "0.333" });
    await goEx();
    const { entries } = await ask(running, { amount_per_share: "0.333" });
    const cents = (quantity: decimal.Decimal): decimal.Decimal => {
      const exact = decimal.multiply(decimal.abs(quantity), decimal.parse("0.333"), "half-even");
      const rounded = decimal.round(exact, 2, "half-up");
      return quantity < decimal.zero ? decimal.negate(rounded) : rounded;
    };
    const due = [...sums.keys()].sort().map((id) => decimal.format(cents(sums.get(id) ?? decimal.zero)));
    expect(entries.map(({ postings }) => postings.find(({ account }) => account === "cash")?.amount)).toEqual(due);
  });
});

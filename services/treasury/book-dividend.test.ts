// Cash dividends: longs receive and shorts pay on what they held before the ex-date, once, and the books add up afterwards.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { CorporateAction } from "../../contracts/src/generated/svc/v1/platform.ts";
import * as instant from "../../contracts/src/instant.ts";
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { dice } from "../../testkit/virtual/dice.ts";
import { call, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { RunningService } from "../shared/service.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
let books: TestBooks;
afterEach(() => books.close());

const dayMs = 86_400_000;
/** By New York's clock, which the fund alpha goes by, noon is on the same date as in UTC. */
const daysAgo = (days: number): string => instant.format(minusMilliseconds(books.rig.time.clock.now(), days * dayMs));
const dateAgo = (days: number): string => daysAgo(days).slice(0, 10);
const settle = () => books.rig.time.timers.sleep(2_000);

const ask = (running: RunningService, differs: object = {}) =>
  call<CorporateAction>(running, "BookCorporateAction", {
    ...{ action_id: "aapl-q4", kind: "CASH_DIVIDEND", symbol: "AAPL", amount_per_share: "0.26" },
    ...{ ex_date: dateAgo(1), reason: "dividend", ratio: "", new_symbol: "", ...differs },
  });

describe(`23.4: cash dividends, seed ${seed}`, () => {
  it("go to who held the share before the ex-date, once, and are income", async () => {
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
      // After the ex-date: neither gives nor takes.
      { fill_id: "f-3", side: "BUY", quantity: "1000", price: "200", filled_at: daysAgo(0) },
      { fill_id: "f-4", side: "BUY", quantity: "7", price: "400", symbol: "MSFT", filled_at: daysAgo(3) },
    );
    await settle();
    const before = await books.held("alpha");
    const action = await ask(running);
    const paid = action.entries.map(({ kind, postings }) => [
      kind,
      ...postings.map((one) => `${one.account} ${one.amount}`),
    ]);
    expect(paid).toEqual([
      ["DIVIDEND", "dividends 10.53", "cash -10.53"],
      ["DIVIDEND", "dividends -26.26", "cash 26.26"],
    ]);
    expect(action.entries[1]?.reason).toMatch(/^0\.26 USD a share on 101 AAPL, ex \S+: dividend$/);
    const after = await books.held("alpha");
    expect(decimal.parse(after["USD"] ?? "") - decimal.parse(before["USD"] ?? "")).toBe(decimal.parse("15.73"));
    expect({ ...after, USD: "" }).toEqual({ ...before, USD: "" });
    const balances = await books.balances("alpha");
    expect([balances["dividends USD"], balances["flows USD"]]).toEqual(["-15.73", undefined]);
    expect(books.rig.told(subjects.ledgerBooked).filter(({ kind }) => kind === "DIVIDEND")).toHaveLength(2);
    // The same again is the same, also after a restart and whatever is held by then.
    await books.tell({ fill_id: "f-5", side: "SELL", quantity: "1101", price: "200" });
    await settle();
    const again = await ask(await books.start());
    expect(again).toEqual({ ...action, already_booked: true });
    expect((await ask(running, { amount_per_share: "0.27" })).denial?.code).toBe("CORPORATE_ACTION_CONFLICT");
    expect((await books.balances("alpha"))["dividends USD"]).toBe("-15.73");
  });

  it("are refused early, for what is no share, without a reason, and when they make no sense", async () => {
    books = testBooks(seed);
    const running = await books.start();
    expect((await ask(running, { ex_date: dateAgo(-2) })).denial?.code).toBe("CORPORATE_ACTION_EARLY");
    expect((await ask(running, { symbol: "BTC-USD" })).denial?.code).toBe("CORPORATE_ACTION_NOT_SHARE");
    expect((await ask(running, { reason: " " })).denial?.code).toBe("REASON_MISSING");
    const wrong = [{ kind: "SPLIT" }, { amount_per_share: "0" }, { amount_per_share: "-1" }, { amount_per_share: "x" }];
    const more = [{ ex_date: "2026-02-30" }, { action_id: "a b" }, { symbol: "NOPE" }, { reason: "a\nb" }];
    for (const differs of [...wrong, ...more]) {
      await expect(ask(running, differs)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    // A trade that is on its way may still change who held what.
    const { sequence: _none, ...fill } = exampleFill;
    await books.rig.portsOf("oms").store.transact("oms.history", async (unit) => {
      await unit.oms.insertFill({ ...fill, fund_id: "alpha", symbol: "AAPL" });
    });
    expect((await ask(running)).denial?.code).toBe("CORPORATE_ACTION_EARLY");
    expect(await ask(running, { symbol: "MSFT" })).toMatchObject({ entries: [], already_booked: false });
    expect(books.rig.told(subjects.ledgerBooked).filter(({ kind }) => kind === "DIVIDEND")).toEqual([]);
  });

  it("are the sum over the trades before the day, whatever the trades were", async () => {
    books = testBooks(seed);
    const running = await books.start();
    const thrown = dice(seed);
    const sums = new Map<string, decimal.Decimal>();
    const trades = Array.from({ length: 40 }, (_one, index) => {
      const strategy_id = thrown.below(2) === 0 ? "alpha-momentum" : "alpha-meanrev";
      const buys = thrown.below(2) === 0;
      const quantity = `${1 + thrown.below(900)}.${thrown.below(10)}`;
      // Away from the day itself, which begins at another moment in every zone.
      const days = [0, 3, 4][thrown.below(3)] ?? 0;
      const signed = decimal.parse(buys ? quantity : `-${quantity}`);
      if (days >= 2) sums.set(strategy_id, decimal.add(sums.get(strategy_id) ?? decimal.zero, signed));
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

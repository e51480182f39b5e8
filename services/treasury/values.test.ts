// What treasury remembers from one value to the next: numbers, days, fees for borrowed shares and the history, also over restarts.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { FundStatus } from "../../contracts/src/generated/svc/v1/market.ts";
import { format, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { fillEntry } from "../../core/ledger/ledger.ts";
import type { Store } from "../../ports/store.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { call, provenFlow, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import type { PaperHistory } from "../shared/paper-history.ts";
import type { ServicePorts } from "../shared/service.ts";
import { createBorrowAccrual } from "./accrue-borrow.ts";
import { bookEntry } from "./book-entry.ts";
import { importHistory } from "./import-history.ts";
import { createValuer } from "./publish-values.ts";
import { lastDayOf } from "./seed-history.ts";
import { createThinner, keptMs } from "./thin-navs.ts";

const seed = 20_261_116;
const dayMs = 86_400_000;
let books: TestBooks;
let ports: ServicePorts;
let view: ReferenceView;

beforeEach(async () => {
  books = testBooks(seed);
  ({ ports, view } = await books.seeded());
});
afterEach(() => books.close());

const pricesOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([symbol, text]) => [symbol, books.price(text)]));
const sleep = (ms: number) => books.fixture.time.timers.sleep(ms);
const valuesOf = (fundId: string) =>
  books.fixture.reported(subjects.navUpdated).filter(({ fund_id }) => fund_id === fundId);
const newest = (fundId: string): NavUpdated => {
  const value = valuesOf(fundId).at(-1);
  if (value === undefined) throw new Error(`${fundId} was not valued`);
  return value;
};

/** Books a trade as treasury does when it hears of it. */
function trade(differs: Partial<Fill>): Promise<boolean> {
  const fill = { ...exampleFill, filled_at: format(ports.clock.now()), ...differs };
  const instrument = view.instruments.get(fill.symbol);
  if (instrument === undefined) throw new Error(fill.symbol);
  const entry = fillEntry(fill, instrument, { entryId: `fill:${fill.fill_id}`, bookedBy: "service:treasury" });
  return ports.store.transact("treasury.fill", (unit) => bookEntry(unit, entry));
}

describe(`values, seed ${seed}`, () => {
  it("23.10: go on after the clock was set back, and count no price from the future as fresh", async () => {
    const valuer = await createValuer(ports);
    await trade({ symbol: "AAPL", quantity: "1", price: "200" });
    const later = { price: decimal.parse("200"), at: ports.clock.now() };
    await valuer.publish(view, new Map([["AAPL", later]]));
    const before = valuesOf("alpha").length;
    books.fixture.time.stepClock(-3_600_000);
    // The last price is of no known age now.
    await valuer.publish(view, new Map([["AAPL", later]]));
    expect(valuesOf("alpha")).toHaveLength(before + 1);
    expect(newest("alpha").oldest_price_age_ms).toBeGreaterThan(3_590_000);
    await sleep(1_000);
    await valuer.publish(view, pricesOf({ AAPL: "201" }));
    expect(newest("alpha")).toMatchObject({ oldest_price_age_ms: 0, positions_value: "201" });
    expect(newest("alpha").sequence).toBe((valuesOf("alpha")[before - 1]?.sequence ?? 0) + 2);
  });

  it("are cash plus positions, and capital plus flows plus what the strategies made, to the last decimal", async () => {
    const thrown = prng(seed);
    const valuer = await createValuer(ports);
    const symbols = ["AAPL", "SPY", "SPY 281215C00650000", "BTC-USD"];
    for (let step = 1; step <= 40; step += 1) {
      const [symbol = ""] = symbols.slice(thrown.below(symbols.length));
      await trade({
        fill_id: `f-${step}`,
        strategy_id: thrown.chance(0.5) ? "alpha-momentum" : "alpha-meanrev",
        symbol,
        side: thrown.chance(0.5) ? "BUY" : "SELL",
        quantity: `${thrown.below(1_000)}.${1 + thrown.below(99_998)}`,
        price: `${thrown.below(90_000)}.${1 + thrown.below(98)}`,
        ...(thrown.chance(0.7) && { fee: `${thrown.below(9) - 4}.${thrown.below(99)}` }),
      });
      await sleep(1_000);
      const marks = symbols.map((one) => [one, `${1 + thrown.below(90_000)}.${1 + thrown.below(98)}`]);
      await valuer.publish(view, pricesOf(Object.fromEntries(marks)));
    }
    const sum = (...texts: readonly string[]) =>
      decimal.format(texts.map(decimal.parse).reduce<decimal.Decimal>(decimal.add, decimal.zero));
    const values = valuesOf("alpha");
    expect(values).toHaveLength(40);
    for (const { nav, cash, positions_value, net_flows, strategy_pnl } of values) {
      expect(nav).toBe(sum(cash ?? "", positions_value ?? ""));
      expect(nav).toBe(sum("10000000", net_flows ?? "", ...Object.values(strategy_pnl ?? {})));
    }
  });

  it("are not of a fund that names another source of its values", async () => {
    const valuer = await createValuer(ports);
    const alpha = view.funds.get("alpha");
    if (alpha === undefined) throw new Error("alpha");
    const named = { ...view, funds: new Map([...view.funds, ["alpha", { ...alpha, valued_by: "desk" }]]) };
    await valuer.publish(named, pricesOf({ AAPL: "200" }));
    expect([valuesOf("alpha").length, valuesOf("beta").length]).toEqual([0, 1]);
  });

  it("are numbered without gaps and repetitions, at most one a second, whatever is restarted or lost", async () => {
    const lost: Store = {
      ...ports.store,
      async transact(name, work) {
        await ports.store.transact(name, work);
        throw new Fault("STORE_COMMIT_UNKNOWN", "planned", { retry: "never", facts: { transaction: "t" } });
      },
    };
    for (let start = 0; start < 4; start += 1) {
      const valuer = await createValuer({ ...ports, store: start === 2 ? lost : ports.store });
      for (let time = 0; time < 3; time += 1) {
        await valuer.publish(view, new Map()).catch(() => undefined);
        await sleep(time === 2 ? 100 : 1_000);
      }
    }
    const values = valuesOf("beta");
    expect(values.map(({ sequence }) => sequence)).toEqual(values.map((_value, index) => index + 1));
    const times = values.map(({ as_of }) => parse(as_of));
    const apart = times.slice(1).map((at, index) => at - (times[index] ?? at));
    expect(Math.min(...apart)).toBeGreaterThanOrEqual(900_000);
    expect(values.length).toBeGreaterThanOrEqual(8);
    const seconds = [...books.fixture.tables.ledger.navs.values()].filter(
      ({ every, point }) => every === "second" && point.fundId === "beta",
    );
    expect(seconds).toHaveLength(new Set(times.map((at) => Math.floor(at / 1_000_000))).size);
  });

  it("count a day's profit from the last value before it, without flows, and remember it over restarts", async () => {
    const running = await books.start();
    const dayPnl = async () => {
      const { funds } = await call<{ funds: FundStatus[] }>(running, "ListFunds");
      return funds.find(({ fund_id }) => fund_id === "beta")?.day_pnl;
    };
    const buy = { fill_id: "f-1", fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", quantity: "1" };
    await trade({ ...buy, price: "90000" });
    const mark = async (price: string) => {
      const at = format(books.fixture.time.clock.now());
      const { bus } = books.fixture.portsOf("operations");
      bus.broadcast(subjects.marketMarks, { symbol: "BTC-USD", price, source: "test", at });
      await sleep(3_000);
    };
    await mark("90000");
    await mark("90010.5");
    expect(await dayPnl()).toBe("10.5");
    const out = { fund_id: "beta", idempotency_key: "k-1", currency: "USD", amount: "-500", reason: "out" };
    await call(running, "BookFlow", provenFlow(books, out));
    await mark("90011");
    expect(await dayPnl()).toBe("11");
    expect(newest("beta")).toMatchObject({ net_flows: "-500", strategy_pnl: { "beta-trend": "11" } });
    await running.stop();
    // Nothing ran over midnight, and the price fell: that is the new day's loss.
    await sleep(dayMs);
    const next = await createValuer(ports);
    await next.publish(view, pricesOf({ "BTC-USD": "89000" }));
    expect(decimal.format(next.newest("beta")?.dayPnl ?? decimal.zero)).toBe("-1011");
    await sleep(2_000);
    const again = await createValuer(books.fixture.portsOf("treasury"));
    await again.publish(view, pricesOf({ "BTC-USD": "89001" }));
    expect(decimal.format(again.newest("beta")?.dayPnl ?? decimal.zero)).toBe("-1010");
    // After a long time nobody knows where the day began: it began with its first value.
    await sleep(30 * dayMs);
    await again.publish(view, pricesOf({ "BTC-USD": "70000" }));
    expect(again.newest("beta")?.dayPnl).toBe(0n);
  });
});

describe(`fees for borrowed shares, seed ${seed}`, () => {
  const fees = () =>
    books.fixture
      .reported(subjects.ledgerBooked)
      .filter(({ kind }) => kind === "BORROW_FEE")
      .map(({ strategy_id, symbol, amount, reason }) => `${reason.slice(0, 10)} ${strategy_id} ${symbol} ${amount}`);
  const marks = () => pricesOf({ NVDA: "146", AAPL: "232.5", "SPY 281215C00650000": "68.5" });

  it("are charged once a day on what the fund is short of, shared by the strategies that are", async () => {
    await trade({ fill_id: "1", symbol: "NVDA", side: "SELL_SHORT", quantity: "1000", price: "140" });
    await trade({
      fill_id: "2",
      symbol: "NVDA",
      side: "SELL_SHORT",
      quantity: "500",
      price: "140",
      strategy_id: "alpha-meanrev",
    });
    await trade({ fill_id: "3", symbol: "AAPL", side: "SELL_SHORT", quantity: "100", price: "230" });
    await trade({ fill_id: "4", symbol: "AAPL", quantity: "100", price: "230", strategy_id: "alpha-meanrev" });
    const option = { fund_id: "gamma", strategy_id: "gamma-income", symbol: "SPY 281215C00650000", price: "68" };
    await trade({ fill_id: "5", ...option, side: "SELL_SHORT", quantity: "3" });
    const accrual = createBorrowAccrual(ports);
    await accrual.accrue(view, marks());
    expect(fees()).toEqual([]);
    await sleep(dayMs);
    // Without a fresh price it waits.
    await accrual.accrue(view, new Map());
    await accrual.accrue(
      view,
      new Map([["NVDA", { ...books.price("146"), at: plusMilliseconds(ports.clock.now(), -10_001) }]]),
    );
    expect(fees()).toEqual([]);
    // 1500 x 146 x 0.005 / 365 is 3.00.
    await accrual.accrue(view, marks());
    await accrual.accrue(view, marks());
    await createBorrowAccrual(books.fixture.portsOf("treasury")).accrue(view, marks());
    const first = ["2026-01-01 alpha-meanrev NVDA -1", "2026-01-01 alpha-momentum NVDA -2"];
    expect(fees()).toEqual(first);
    expect(await books.balances("alpha")).toMatchObject({ "borrow_fees USD": "3" });
    // Days on which nothing ran are charged as well, each as its own entry.
    await sleep(2 * dayMs);
    await createBorrowAccrual(books.fixture.portsOf("treasury")).accrue(view, marks());
    expect(fees()).toEqual([
      ...first,
      ...["02", "03"].flatMap((day) => first.map((one) => one.replace("01-01", `01-${day}`))),
    ]);
    expect(await books.balances("alpha")).toMatchObject({ "borrow_fees USD": "9" });
  });

  it("are charged a month at a time after a long rest, and exactly once when the answer is lost", async () => {
    await trade({ fill_id: "1", symbol: "NVDA", side: "SELL_SHORT", quantity: "1500", price: "140" });
    await createBorrowAccrual(ports).accrue(view, marks());
    await sleep(40 * dayMs);
    const lost: Store = {
      ...ports.store,
      async transact(name, work) {
        await ports.store.transact(name, work);
        throw new Fault("STORE_COMMIT_UNKNOWN", "planned", { retry: "never", facts: { transaction: "t" } });
      },
    };
    await expect(createBorrowAccrual({ ...ports, store: lost }).accrue(view, marks())).rejects.toThrow("planned");
    expect(fees()).toHaveLength(31);
    const accrual = createBorrowAccrual(ports);
    await accrual.accrue(view, marks());
    await sleep(1_000);
    await accrual.accrue(view, marks());
    expect(new Set(fees()).size).toBe(40);
    expect(await books.balances("alpha")).toMatchObject({ "borrow_fees USD": "120" });
  });

  const short = (fill_id: string, at: string, differs: Partial<Fill> = {}) =>
    trade({ fill_id, symbol: "NVDA", side: "SELL_SHORT", quantity: "1500", price: "140", filled_at: at, ...differs });
  const total = () => fees().map((one) => one.replace(/ alpha-momentum/, ""));

  it("23.11: are those of what was held at the end of each day, whatever is held when they are booked", async () => {
    await createBorrowAccrual(ports).accrue(view, marks());
    // The clock begins on 2026-01-01 in New York. Three days on which nothing of ours runs, while the broker trades.
    await sleep(4 * dayMs);
    await short("1", "2026-01-02T15:00:00.000000Z");
    await short("2", "2026-01-03T15:00:00.000000Z", { side: "BUY_TO_COVER", quantity: "750" });
    await short("3", "2026-01-05T04:59:59.999999Z", { side: "BUY_TO_COVER", quantity: "700" });
    await short("4", "2026-01-05T05:00:00.000000Z", { side: "BUY_TO_COVER", quantity: "50" });
    await createBorrowAccrual(books.fixture.portsOf("treasury")).accrue(view, marks());
    expect(await books.held("alpha")).toMatchObject({ NVDA: "0" });
    expect(total()).toEqual(["2026-01-02 NVDA -3", "2026-01-03 NVDA -1.5", "2026-01-04 NVDA -0.1"]);
  });

  it("23.11: one symbol without a fresh price holds up no other, and is charged at its last one after a minute", async () => {
    await trade({ fill_id: "1", symbol: "NVDA", side: "SELL_SHORT", quantity: "1500", price: "140" });
    await trade({ fill_id: "2", symbol: "AAPL", side: "SELL_SHORT", quantity: "100", price: "230" });
    await trade({ fill_id: "3", symbol: "XOM", side: "SELL_SHORT", quantity: "1000", price: "115" });
    const accrual = createBorrowAccrual(ports);
    await accrual.accrue(view, marks());
    const old = books.price("232.5");
    await sleep(dayMs);
    const known = () => new Map([...pricesOf({ NVDA: "146" }), ["AAPL", old] as const]);
    await accrual.accrue(view, known());
    expect(total()).toEqual(["2026-01-01 NVDA -3"]);
    await sleep(59_000);
    await accrual.accrue(view, known());
    expect(total()).toHaveLength(1);
    // A restart changes nothing: since when it waits is written.
    await sleep(1_000);
    const again = createBorrowAccrual(books.fixture.portsOf("treasury"));
    await again.accrue(view, known());
    expect(total()).toHaveLength(2);
    // What never had a price stays owed, and the days go on.
    await sleep(dayMs);
    await again.accrue(view, marks());
    expect(total().filter((one) => one.includes("XOM"))).toEqual([]);
    expect(total().filter((one) => one.startsWith("2026-01-02"))).toHaveLength(2);
    await sleep(1_000);
    await again.accrue(view, pricesOf({ XOM: "116" }));
    expect(
      total()
        .filter((one) => one.includes("XOM"))
        .map((one) => one.slice(0, 10)),
    ).toEqual(["2026-01-01", "2026-01-02"]);
  });

  it("23.11: trades that are reported late correct the days before them by an entry of its own, once", async () => {
    const accrual = createBorrowAccrual(ports);
    await accrual.accrue(view, marks());
    await short("1", "2026-01-02T15:00:00.000000Z");
    await sleep(2 * dayMs);
    await accrual.accrue(view, marks());
    expect(total()).toEqual(["2026-01-02 NVDA -3"]);
    await short("2", "2026-01-02T16:00:00.000000Z", { side: "BUY_TO_COVER", quantity: "500" });
    await short("3", "2026-01-01T16:00:00.000000Z", { quantity: "500", strategy_id: "alpha-meanrev" });
    await sleep(60_000);
    for (let times = 0; times < 3; times += 1) await createBorrowAccrual(ports).accrue(view, marks());
    expect(fees().slice(1)).toEqual([
      "2026-01-01 alpha-meanrev NVDA -1",
      "2026-01-02 alpha-meanrev NVDA -1",
      "2026-01-02 alpha-momentum NVDA 1",
    ]);
    const corrected = books.fixture.reported(subjects.ledgerBooked).at(-1)?.reason;
    expect(corrected).toBe("2026-01-02: 1500 NVDA borrowed at 0.005 a year, after trades that came late");
  });

  it("23.11: are what an independent count of each day makes, over weekends, outages and restarts", async () => {
    const thrown = prng(seed);
    const feeOf = (shares: bigint, cents: bigint): bigint => {
      // Half up, in cents: shares x price x 0.005 / 365.
      const [of, by] = [shares * cents * 5n, 1_000n * 365n];
      return (2n * of + by) / (2n * by);
    };
    const prices = { NVDA: 14_600n, AAPL: 23_250n };
    const now = () => pricesOf({ NVDA: "146", AAPL: "232.5" });
    const borrow = view.reference.borrow.map((one) => ({ ...one, fee_pct: "0.005" }));
    const sameFee = { ...view, reference: { ...view.reference, borrow } } as ReferenceView;
    const began = Date.parse("2026-01-02T05:00:00Z");
    const trades: { readonly at: number; readonly symbol: "NVDA" | "AAPL"; readonly signed: bigint }[] = [];
    let accrual = createBorrowAccrual(ports);
    await accrual.accrue(sameFee, now());
    for (let day = 1; day <= 24; day += 1) {
      await sleep(dayMs);
      for (let count = thrown.below(4); count > 0; count -= 1) {
        const symbol = thrown.below(2) === 0 ? "NVDA" : "AAPL";
        const quantity = 1 + thrown.below(2_000);
        const isSale = thrown.below(2) === 0;
        // Also of days before, as a broker's reports after an outage.
        const at = began - 5 * 3_600_000 + (day - thrown.below(Math.min(3, day))) * dayMs - thrown.below(dayMs);
        trades.push({ at, symbol, signed: BigInt(isSale ? -quantity : quantity) });
        const filled_at = new Date(at).toISOString().replace("Z", "000Z");
        const side = isSale ? "SELL_SHORT" : "BUY";
        await trade({
          fill_id: `t-${trades.length}`,
          symbol,
          side,
          quantity: String(quantity),
          price: "100",
          filled_at,
        });
      }
      if (thrown.below(3) === 0) continue;
      if (thrown.below(3) === 0) accrual = createBorrowAccrual(books.fixture.portsOf("treasury"));
      await accrual.accrue(sameFee, now());
    }
    await sleep(60_000);
    await createBorrowAccrual(ports).accrue(sameFee, now());
    const booked = new Map<string, number>();
    for (const { symbol, amount, reason, kind } of books.fixture.reported(subjects.ledgerBooked)) {
      if (kind !== "BORROW_FEE") continue;
      const key = `${reason.slice(0, 10)} ${symbol}`;
      booked.set(key, (booked.get(key) ?? 0) + Math.round(-100 * Number(amount)));
    }
    const expected = new Map<string, number>();
    for (let day = 0; day < 24; day += 1) {
      const end = began + day * dayMs;
      for (const symbol of ["NVDA", "AAPL"] as const) {
        const held = trades
          .filter((one) => one.symbol === symbol && one.at < end)
          .reduce((sum, one) => sum + one.signed, 0n);
        const name = new Date(end - 6 * 3_600_000).toISOString().slice(0, 10);
        if (held < 0n) expected.set(`${name} ${symbol}`, Number(feeOf(-held, prices[symbol])));
      }
    }
    const shown = (of: ReadonlyMap<string, number>) => [...of].filter(([, cents]) => cents !== 0).sort();
    expect(shown(booked)).toEqual(shown(expected));
    expect(shown(expected).length).toBeGreaterThan(10);
  });
});

describe(`the history of values, seed ${seed}`, () => {
  const prices = { AAPL: { quantity: "1", price: "0.5", at: "2025-12-30T21:00:00.000000Z" } };
  const history: PaperHistory = {
    name: "paper-history",
    from: "2025-12-30",
    to: "2026-01-01",
    fills: [],
    backtests: [],
    hash: "a".repeat(64),
    navs: [
      { fundId: "alpha", day: "2025-12-30", nav: "9999000.5", cash: "9999000", positionsValue: "0.5", prices },
      { fundId: "alpha", day: "2025-12-31", nav: "9999500", cash: "9999500", positionsValue: "0" },
      { fundId: "alpha", day: "2026-01-01", nav: "1", cash: "1", positionsValue: "0" },
      { fundId: "omega", day: "2025-12-30", nav: "1", cash: "1", positionsValue: "0" },
    ],
  };

  it("is put in once, with one entry that has its hash, and ends where today begins", async () => {
    expect(await importHistory(ports, view, history)).toBe(true);
    expect(await importHistory(books.fixture.portsOf("treasury"), view, { ...history, hash: "b".repeat(64) })).toBe(
      false,
    );
    expect(books.fixture.reported(subjects.seedImported)).toEqual([
      expect.objectContaining({
        name: "paper-history",
        hash: history.hash,
        counts: { fills: 0, navs: 4, backtests: 0 },
      }),
    ]);
    // It is still the first of January in New York, and so the trading day of the thirty-first, whose value is counted and not reported.
    const kept = [...books.fixture.tables.ledger.navs.values()].map(
      ({ every, point }) => `${every} ${format(point.at)} ${decimal.format(point.nav)}`,
    );
    expect(kept).toEqual(["day 2025-12-31T04:59:59.999999Z 9999000.5"]);
    expect([...books.fixture.tables.ledger.navs.values()].map(({ point }) => point.prices)).toEqual([prices]);
  });

  it("ends before the trading day that is running: over a weekend that is Friday's", () => {
    const ends = (at: string) => lastDayOf(view, parse(at));
    expect(ends("2026-11-15T18:00:00Z")).toBe("2026-11-12");
    expect(ends("2026-11-16T15:00:00Z")).toBe("2026-11-15");
    // In New York it is still Monday.
    expect(ends("2026-11-17T01:00:00Z")).toBe("2026-11-15");
  });

  it("is thinned by age, once a minute", async () => {
    const point = { fundId: "alpha", nav: decimal.one, cash: decimal.one, positionsValue: decimal.zero };
    const rest = { netFlows: decimal.zero, currency: "USD", oldestPriceAgeMs: 0 };
    const put = () =>
      ports.store.transact("treasury.value", (unit) =>
        unit.ledger.putNav({ ...point, ...rest, at: ports.clock.now() }),
      );
    const kept = () => [...books.fixture.tables.ledger.navs.values()].map(({ every }) => every).join(" ");
    const thinner = createThinner(ports);
    await put();
    await thinner.thin();
    expect(kept()).toBe("second minute hour day");
    await sleep(59_000);
    await thinner.thin();
    for (const [index, [, ageMs]] of keptMs.entries()) {
      await sleep(ageMs + 3_600_000);
      await thinner.thin();
      expect(kept()).toBe(["minute hour day", "hour day", "day"][index]);
    }
    const calls: string[] = [];
    const watched: Store = {
      ...ports.store,
      transact: (name, work) => {
        calls.push(name);
        return ports.store.transact(name, work);
      },
    };
    const busy = createThinner({ ...ports, store: watched });
    await busy.thin();
    await busy.thin();
    await sleep(60_000);
    await busy.thin();
    expect(calls).toHaveLength(6);
  });
});

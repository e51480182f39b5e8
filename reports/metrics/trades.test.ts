// Lots, costs and settlement: identities that hold for any fills, and the cases that have gone wrong elsewhere.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { isLongTerm, type LotFill, lotMethods, matchLots, netByYear, total, tradeStatistics } from "./lots.ts";
import { cashLadder, netCash, type SettlementRules, settlementOf } from "./settlement.ts";
import { costTotals, orderCost, type TcaOrder } from "./tca.ts";

const d = decimal.parse;
const seeded = { seed: 31, numRuns: 200 };
const times = (left: decimal.Decimal, right: decimal.Decimal) => decimal.multiply(left, right, "half-even");
const cents = (value: number) => decimal.divide(decimal.fromInteger(BigInt(value)), decimal.fromInteger(100n), "down");

const anyFill = fc.record({
  at: fc.integer({ min: 0, max: 800 }).map((day) => `20${24 + Math.floor(day / 366)}-0${1 + (day % 9)}-1${day % 10}`),
  direction: fc.constantFrom<1 | -1>(1, -1),
  quantity: fc.integer({ min: 1, max: 5_000 }).map(cents),
  price: fc.integer({ min: 1, max: 50_000 }).map(cents),
  fee: fc.integer({ min: 0, max: 500 }).map(cents),
});

const signed = (fill: LotFill, value: decimal.Decimal) => (fill.direction === 1 ? value : decimal.negate(value));

describe("lots", () => {
  it("ties: realised + unrealised - open fees = cash + value of what is held, to the last digit", () => {
    fc.assert(
      fc.property(fc.array(anyFill, { maxLength: 30 }), fc.constantFrom(...lotMethods), (fills, method) => {
        const { closed, open } = matchLots(fills, method);
        const mark = d("123.45");
        const held = total(fills.map((fill) => signed(fill, fill.quantity)));
        const cash = total(
          fills.map((fill) =>
            decimal.subtract(decimal.negate(signed(fill, times(fill.quantity, fill.price))), fill.fee),
          ),
        );
        const unrealised = total(open.map((lot) => times(lot.quantity, decimal.subtract(mark, lot.price))));
        const left = decimal.subtract(
          decimal.add(total(closed.map(({ net }) => net)), unrealised),
          total(open.map(({ fees }) => fees)),
        );
        expect(decimal.format(left)).toBe(decimal.format(decimal.add(cash, times(held, mark))));
        expect(total(open.map(({ quantity }) => quantity))).toBe(held);
      }),
      seeded,
    );
  });
  it("does not depend on the order in which fills of different days are given, nor does the whole gross on the method", () => {
    const fills: readonly LotFill[] = [
      { at: "2026-01-05", direction: 1, quantity: d("10"), price: d("10"), fee: d("1") },
      { at: "2026-01-06", direction: 1, quantity: d("5"), price: d("12"), fee: d("0") },
      { at: "2026-01-07", direction: -1, quantity: d("20"), price: d("11"), fee: d("0.3") },
      { at: "2026-01-08", direction: 1, quantity: d("5"), price: d("9"), fee: d("0.1") },
    ];
    for (const method of lotMethods) {
      expect(matchLots([...fills].reverse(), method)).toEqual(matchLots(fills, method));
      expect(decimal.format(tradeStatistics(matchLots(fills, method).closed).net)).toBe("13.6");
      expect(matchLots(fills, method).open).toEqual([]);
    }
  });
  it("divides lots at a split and a reverse split: each keeps its cost and day, and nothing is realised", () => {
    const fills: readonly LotFill[] = [
      { at: "2026-01-05", direction: 1, quantity: d("200"), price: d("10"), fee: d("2") },
      { at: "2026-01-06", direction: 1, quantity: d("152"), price: d("12"), fee: d("1") },
    ];
    const reverse: LotFill = {
      at: "2026-01-07",
      direction: -1,
      quantity: d("176"),
      price: d("0"),
      fee: d("0"),
      isSplit: true,
    };
    const split: LotFill = { ...reverse, direction: 1, quantity: d("1056") };
    const shown = ({ open }: ReturnType<typeof matchLots>) =>
      open.map((lot) => [lot.openedAt, decimal.format(lot.quantity), decimal.format(lot.price)]);
    const halved = matchLots([...fills, reverse], "FIFO");
    expect(halved.closed).toEqual([]);
    expect(shown(halved)).toEqual([
      ["2026-01-05", "100", "20"],
      ["2026-01-06", "76", "24"],
    ]);
    expect(shown(matchLots([...fills, split], "FIFO"))).toEqual([
      ["2026-01-05", "800", "2.5"],
      ["2026-01-06", "608", "3"],
    ]);
    const short = fills.map((fill) => ({ ...fill, direction: -1 as const }));
    expect(shown(matchLots([...short, { ...reverse, direction: 1 }], "FIFO"))).toEqual([
      ["2026-01-05", "-100", "20"],
      ["2026-01-06", "-76", "24"],
    ]);
    const sold: LotFill = { at: "2026-01-08", direction: -1, quantity: d("176"), price: d("22"), fee: d("0") };
    expect(decimal.format(tradeStatistics(matchLots([...fills, reverse, sold], "FIFO").closed).net)).toBe("45");
  });
  it("closes, then opens the other side with one fill, and splits its fee without losing a digit", () => {
    const { closed, open } = matchLots(
      [
        { at: "2026-01-05", direction: 1, quantity: d("3"), price: d("10"), fee: d("0") },
        { at: "2026-01-06", direction: -1, quantity: d("7"), price: d("11"), fee: d("1") },
      ],
      "FIFO",
    );
    expect(closed).toMatchObject([{ direction: "LONG", quantity: d("3"), gross: d("3") }]);
    expect(open).toMatchObject([{ quantity: d("-4"), price: d("11") }]);
    expect(decimal.add(closed[0]?.fees ?? decimal.zero, open[0]?.fees ?? decimal.zero)).toBe(d("1"));
  });
  it("knows what a point of an option is worth", () => {
    const fills: readonly LotFill[] = [
      { at: "2026-01-05", direction: -1, quantity: d("2"), price: d("1.5"), fee: d("0") },
      { at: "2026-01-06", direction: 1, quantity: d("2"), price: d("1"), fee: d("0") },
    ];
    expect(matchLots(fills, "FIFO", d("100")).closed[0]?.net).toBe(d("100"));
  });
  it("is long-term only after MORE than a year, by the calendar and never for a short", () => {
    expect(isLongTerm("2023-02-01", "2024-02-01")).toBe(false);
    expect(isLongTerm("2023-02-01", "2024-02-02")).toBe(true);
    expect(isLongTerm("2024-01-15", "2025-01-15")).toBe(false);
    expect(isLongTerm("2024-02-29", "2025-02-28")).toBe(false);
    expect(isLongTerm("2024-02-29", "2025-03-01")).toBe(true);
    const { closed } = matchLots(
      [
        { at: "2023-01-05", direction: -1, quantity: d("1"), price: d("10"), fee: d("0") },
        { at: "2024-12-31", direction: 1, quantity: d("1"), price: d("9"), fee: d("0") },
      ],
      "FIFO",
    );
    expect(closed[0]?.term).toBe("SHORT_TERM");
    // By trade date: it settles in 2025 and is 2024's.
    expect([...netByYear(closed).keys()]).toEqual(["2024"]);
  });
  it("has no statistics of nothing, and no profit factor without a loss", () => {
    expect(tradeStatistics([])).toEqual({
      n: 0,
      net: decimal.zero,
      winRate: null,
      profitFactor: null,
      expectancy: null,
      averageWin: null,
      averageLoss: null,
      payoff: null,
      best: null,
      worst: null,
    });
    expect(tradeStatistics([{ net: d("2") }])).toMatchObject({ profitFactor: null, payoff: null, winRate: 1 });
    expect(tradeStatistics([{ net: d("-2") }])).toMatchObject({ profitFactor: 0, averageWin: null, winRate: 0 });
    expect(tradeStatistics([{ net: d("0") }])).toMatchObject({ profitFactor: null, winRate: 0 });
  });
});

const order = (changes: Partial<TcaOrder>): TcaOrder => ({
  direction: 1,
  quantity: d("100"),
  decisionPrice: d("10"),
  arrivalPrice: d("10.1"),
  endPrice: d("11"),
  fills: [],
  marketTrades: [],
  averageDailyVolume: null,
  dailyVolatility: null,
  ...changes,
});
const fill = (quantity: string, price: string) => ({
  atSeconds: 1,
  price: d(price),
  quantity: d(quantity),
  fee: d("0.07"),
  midAtFill: null,
  midAfter300s: null,
});

describe("transaction costs", () => {
  it("sums to paper less actual, to the last digit, for any fills on both sides", () => {
    const anyOrder = fc.record({
      direction: fc.constantFrom<1 | -1>(1, -1),
      prices: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 1, max: 100_000 }).map(cents))),
      fills: fc.array(fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 99_999 })), {
        maxLength: 8,
      }),
    });
    fc.assert(
      fc.property(anyOrder, ({ direction, prices, fills }) => {
        const [decisionPrice, arrivalPrice, endPrice] = prices;
        if (decisionPrice === undefined || arrivalPrice === undefined || endPrice === undefined) return;
        const cost = orderCost(
          order({
            direction,
            quantity: d("9000"),
            decisionPrice,
            arrivalPrice,
            endPrice,
            fills: fills.map(([quantity, price]) => fill(String(quantity), decimal.format(cents(price)))),
          }),
        );
        expect(cost.shortfall).toBe(decimal.subtract(cost.paperProfit, cost.actualProfit));
      }),
      seeded,
    );
  });
  it("calls a worse price a cost on both sides", () => {
    expect(orderCost(order({ fills: [fill("100", "10.2")] })).arrivalSlippageBps).toBeGreaterThan(0);
    expect(orderCost(order({ direction: -1, fills: [fill("100", "10")] })).arrivalSlippageBps).toBeGreaterThan(0);
    expect(orderCost(order({ direction: -1, fills: [fill("100", "10.2")] })).arrivalSlippageBps).toBeLessThan(0);
  });
  it("counts what an unfilled order missed, without giving it a slippage", () => {
    const unfilled = orderCost(order({}));
    expect(unfilled).toMatchObject({
      arrivalSlippageBps: null,
      averagePrice: null,
      opportunity: d("100"),
      fillRate: 0,
    });
    const filled = orderCost(order({ fills: [fill("100", "10.1")] }));
    expect(costTotals([unfilled, filled]).shortfall).toBe(d("110.07"));
    expect(costTotals([unfilled, filled]).arrivalSlippageBps).toBe(filled.arrivalSlippageBps);
    expect(costTotals([])).toEqual({ shortfall: decimal.zero, shortfallBps: null, arrivalSlippageBps: null });
  });
  it("has a spread only where a quote was kept", () => {
    const cost = orderCost(order({ fills: [fill("50", "10.1"), { ...fill("50", "10.1"), midAtFill: d("10") }] }));
    expect(cost.effectiveSpreadBps).toBeCloseTo(200, 9);
    expect([cost.realisedSpreadBps, cost.markoutBps]).toEqual([null, null]);
  });
});

const us: SettlementRules = {
  cycles: [
    { from: "", days: 2 },
    { from: "2024-05-28", days: 1 },
  ],
  closed: new Set(["2024-05-27", "2024-10-14", "2025-01-01"]),
};

describe("settlement", () => {
  it.each([
    ["2024-05-24", "2024-05-29", "T+2"],
    ["2024-05-28", "2024-05-29", "T+1"],
    ["2024-10-11", "2024-10-15", "T+1"],
    ["2024-10-14", "2024-10-15", "T+1"],
    ["2024-12-31", "2025-01-02", "T+1"],
  ])("a trade of %s settles on %s, %s", (tradeDate, date, cycle) => {
    expect(settlementOf(us, tradeDate)).toEqual({ date, cycle });
  });
  it("goes on through weekends where a market never closes", () => {
    const always: SettlementRules = { cycles: [{ from: "", days: 0 }], closed: "never closed" };
    expect(settlementOf(always, "2026-11-14")).toEqual({ date: "2026-11-14", cycle: "T+0" });
  });
  it("refuses what is no date and a market without cycles", () => {
    expect(() => settlementOf(us, "28 May")).toThrow("does not begin with a date");
    expect(() => settlementOf({ ...us, cycles: [] }, "2024-05-28")).toThrow("at least one cycle");
  });
  it("adds cash by date and currency exactly, in any order", () => {
    const trade = { direction: -1, quantity: d("3"), price: d("0.1"), fee: d("0.02") } as const;
    expect(netCash(trade)).toBe(d("0.28"));
    expect(netCash({ ...trade, direction: 1 })).toBe(d("-0.32"));
    const rows = [
      { date: "2026-01-06", currency: "USD", cash: d("0.1") },
      { date: "2026-01-05", currency: "EUR", cash: d("1") },
      { date: "2026-01-06", currency: "USD", cash: d("0.2") },
    ];
    const byDate = cashLadder(rows);
    expect([...byDate.keys()]).toEqual(["2026-01-05", "2026-01-06"]);
    expect(byDate.get("2026-01-06")?.get("USD")).toBe(d("0.3"));
    expect(cashLadder([...rows].reverse())).toEqual(byDate);
  });
});

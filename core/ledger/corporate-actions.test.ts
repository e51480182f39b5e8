// Splits as functions: any order of trades and splits keeps value and cost.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { inputCount } from "../../testkit/full-count.ts";
import {
  allot,
  dividendsOf,
  inverse,
  parseRatio,
  pricesAfter,
  quantityRatioSince,
  type Ratio,
  requantified,
  scaled,
  wholeOf,
} from "./corporate-actions.ts";
import { bookTrade, flatPosition } from "./position.ts";

const d = decimal.parse;
const seed = 20_261_117;
const leg = (symbol: string, quantity: Ratio, newSymbol = symbol) => ({
  symbol,
  new_symbol: newSymbol,
  quantity: [...quantity] as [number, number],
  price: [...inverse(quantity)] as [number, number],
});

const ratios = fc
  .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }))
  .filter(([to, from]) => to !== from);

describe(`corporate actions, seed ${seed}`, () => {
  it("23.4: reads ratios, and nothing else", () => {
    expect(parseRatio("4:1")).toEqual([4, 1]);
    expect(parseRatio("2:20")).toEqual([1, 10]);
    for (const text of [
      "",
      "4",
      "4:0",
      "0:4",
      "1:1",
      "7:7",
      "-4:1",
      "4:1:1",
      "4/1",
      "1.5:1",
      "1001:1",
      "04:1",
      " 4:1",
    ]) {
      expect(parseRatio(text), text).toBeUndefined();
    }
  });

  it("23.4: an account holds whole lots, and its strategies together hold what it does (2, 3)", () => {
    const quantities = fc.array(fc.integer({ min: -2_000, max: 2_000 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(quantities, ratios, fc.constantFrom("1", "0.01", "5"), (whole, ratio, lotText) => {
        const lot = d(lotText);
        const held = whole.map((one) => decimal.multiply(decimal.fromInteger(BigInt(one)), lot, "half-even"));
        const allotted = allot(held, ratio, lot);
        const sum = (values: readonly decimal.Decimal[]) => values.reduce<decimal.Decimal>(decimal.add, decimal.zero);
        expect(sum(allotted.map((one) => one.whole))).toBe(wholeOf(sum(held), ratio, lot));
        for (const [index, { exact, whole: got }] of allotted.entries()) {
          expect(decimal.isMultipleOf(got, lot)).toBe(true);
          expect(exact).toBe(scaled(held[index] ?? decimal.zero, ratio));
          expect(decimal.abs(decimal.subtract(exact, got)) <= lot).toBe(true);
        }
      }),
      { seed, numRuns: inputCount(300) },
    );
  });

  it("23.4: any order of trades and splits keeps value and cost (1)", () => {
    const step = fc.oneof(
      fc.record({
        quantity: fc.integer({ min: 1, max: 500 }),
        cents: fc.integer({ min: 100, max: 50_000 }),
        isBuy: fc.boolean(),
      }),
      fc.record({ ratio: ratios }),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        let position = flatPosition;
        /** What was received less what was paid, to the last trade. */
        let cash = decimal.zero;
        let price = d("100");
        for (const [index, one] of steps.entries()) {
          if ("ratio" in one) {
            const notional = decimal.multiply(position.quantity, price, "half-even");
            const after = requantified(position, scaled(position.quantity, one.ratio));
            price = scaled(price, inverse(one.ratio));
            expect([after.cost, after.realisedPnl, after.openedBy]).toEqual([
              position.cost,
              position.realisedPnl,
              position.openedBy,
            ]);
            const difference = decimal.abs(
              decimal.subtract(decimal.multiply(after.quantity, price, "half-even"), notional),
            );
            expect(difference <= d("0.000000000001")).toBe(true);
            position = after;
            continue;
          }
          price = d((one.cents / 100).toFixed(2));
          const quantity = decimal.fromInteger(BigInt(one.quantity));
          const paid = decimal.multiply(quantity, price, "half-even");
          cash = one.isBuy ? decimal.subtract(cash, paid) : decimal.add(cash, paid);
          const side = one.isBuy ? "BUY" : "SELL";
          position = bookTrade(position, { fillId: `f-${index}`, side, quantity, price, multiplier: decimal.one });
        }
        // Closing at what it cost realises nothing more: what was realised and what is open explain all the cash, exactly.
        expect(decimal.subtract(position.realisedPnl, position.cost)).toBe(cash);
      }),
      { seed, numRuns: inputCount(300) },
    );
  });

  it("23.4: a price of before becomes one of after, once, through every action between (4)", () => {
    const [early, between, late] = [1_000, 2_000, 3_000].map((ms) => fromUnixMs(ms));
    if (early === undefined || between === undefined || late === undefined) throw new Error("three moments");
    const actions = [
      { legs: [leg("A", [4, 1])], appliedAt: between },
      { legs: [leg("A", [1, 1], "B")], appliedAt: late },
    ];
    const prices = new Map([
      ["A", { price: d("200"), at: early }],
      ["C", { price: d("7"), at: early }],
    ]);
    expect([...pricesAfter(prices, actions)]).toEqual([
      ["C", { price: d("7"), at: early }],
      ["B", { price: d("50"), at: early, turnedAt: late }],
    ]);
    expect(pricesAfter(pricesAfter(prices, actions), actions)).toEqual(pricesAfter(prices, actions));
    expect(pricesAfter(new Map([["A", { price: d("50"), at: between }]]), actions).get("B")?.price).toBe(d("50"));
    expect(pricesAfter(new Map([["A", { price: d("50"), at: late }]]), actions).get("A")?.price).toBe(d("50"));
    expect(quantityRatioSince("A", early, actions)).toEqual([4, 1]);
    expect(quantityRatioSince("A", late, actions)).toEqual([1, 1]);
  });

  it("23.4: a dividend is in every price or in the books, never in both and never in neither (4)", () => {
    const [early, ex, late] = [fromUnixMs(1_000), fromUnixMs(2_000), fromUnixMs(3_000)];
    const opening = { fundId: "f", strategyId: "s", openedBy: "t" };
    const due = [{ ...opening, quantity: "100" }];
    const declared = { symbol: "A", legs: [], dividend: { perShare: "0.5", exAt: ex } };
    const booked = { ...declared, appliedAt: ex, dividend: { ...declared.dividend, due } };
    const priced = (price: string, at: typeof early, ...actions: Parameters<typeof pricesAfter>[1]) =>
      decimal.format(pricesAfter(new Map([["A", { price: d(price), at }]]), actions).get("A")?.price ?? d("0"));
    expect([priced("10", early, declared), priced("9.5", ex, declared), priced("9.4", late, declared)]).toEqual([
      ...["10", "10", "9.9"],
    ]);
    expect([priced("10", early, booked), priced("9.5", ex, booked), priced("9.4", late, booked)]).toEqual([
      ...["9.5", "9.5", "9.4"],
    ]);
    const split = { symbol: "A", legs: [leg("A", [4, 1], "B")], appliedAt: late };
    const paid = (quantity: string, ...actions: Parameters<typeof dividendsOf>[1]) =>
      decimal.format(dividendsOf({ ...opening, quantity: d(quantity) }, actions));
    // What was reduced was paid as much a share, what was bought since was not; and a split divides it.
    expect([paid("100", booked), paid("40", booked), paid("200", booked)]).toEqual(["0.5", "0.5", "0.25"]);
    expect([paid("400", booked, split), paid("-100", booked), paid("100", declared)]).toEqual(["0.125", "0.5", "0"]);
    expect(decimal.format(dividendsOf({ ...opening, openedBy: "u", quantity: d("100") }, [booked]))).toBe("0");
    expect(
      decimal.format(
        pricesAfter(new Map([["A", { price: d("10"), at: early }]]), [booked, split]).get("B")?.price ?? d("0"),
      ),
    ).toBe("2.375");
  });

  it("24: prices that were turned are not turned again, by whatever actions and however often (4)", () => {
    const at = fc.integer({ min: 1, max: 40 }).map((ms) => fromUnixMs(ms));
    const names = fc.constantFrom("A", "B", "C");
    const split = fc.record({ appliedAt: at, ratio: ratios, symbol: names }).map(({ ratio, symbol, appliedAt }) => ({
      symbol,
      legs: [leg(symbol, ratio)],
      appliedAt,
    }));
    const paid = fc.record({ exAt: at, symbol: names }).map(({ exAt, symbol }) => ({
      symbol,
      legs: [],
      appliedAt: exAt,
      dividend: { perShare: "0.5", exAt },
    }));
    const actions = fc.uniqueArray(fc.oneof(split, paid), { maxLength: 8, selector: ({ appliedAt }) => appliedAt });
    const quoted = fc.array(fc.tuple(names, fc.record({ price: fc.integer({ min: 1, max: 999 }), at })));
    fc.assert(
      fc.property(actions, quoted, fc.option(names, { nil: undefined }), fc.nat(8), (some, prices, symbol, known) => {
        const applied = [...some].sort((one, other) => one.appliedAt - other.appliedAt);
        // Only what nothing was applied to since is declared, and later than all of it.
        const exAt = fromUnixMs(41);
        const declared = symbol === undefined ? [] : [{ symbol, legs: [], dividend: { perShare: "0.25", exAt } }];
        const raw = new Map(
          prices.map(([name, one]) => [
            name,
            { price: decimal.fromInteger(BigInt(one.price)), at: one.price % 5 === 0 ? fromUnixMs(42) : one.at },
          ]),
        );
        const all = [...applied, ...declared];
        const once = pricesAfter(raw, all);
        expect(pricesAfter(once, all)).toEqual(once);
        // Whoever turned them on the way, after some of the actions, comes to the same.
        const onTheWay = pricesAfter(raw, applied.slice(0, known));
        const moved = pricesAfter(onTheWay, all);
        for (const [name, { price }] of moved) expect(price).toBe(once.get(name)?.price);
        // What was only declared is booked in the end.
        const booked = [...applied, ...declared.map((one) => ({ ...one, appliedAt: exAt }))];
        const [late, early] = [pricesAfter(once, booked), pricesAfter(raw, booked)];
        for (const [name, { price }] of late) expect(price).toBe(early.get(name)?.price);
      }),
      { seed, numRuns: inputCount(500) },
    );
  });
});

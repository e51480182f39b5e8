// Positions against a naive list of lots: quantities, average price and results of random trades.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Side } from "../../contracts/src/records/values.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { type BookedPosition, bookTrade, flatPosition, signedQuantity, valued } from "./position.ts";

const seed = 6_002;
const d = decimal.parse;
const times = (left: decimal.Decimal, right: decimal.Decimal) => decimal.multiply(left, right, "half-even");

function trade(
  position: BookedPosition,
  fillId: string,
  side: Side,
  quantity: string,
  price: string,
  multiplier = "1",
) {
  return bookTrade(position, { fillId, side, quantity: d(quantity), price: d(price), multiplier: d(multiplier) });
}

describe("a position", () => {
  it("invariant 2: averages what opened it, keeps that while it closes, and begins anew when it flips", () => {
    const one = trade(flatPosition, "f-1", "BUY", "10", "100");
    const two = trade(one, "f-2", "BUY", "30", "104");
    expect(two).toMatchObject({ quantity: d("40"), averagePrice: d("103"), openedBy: "f-1" });
    const three = trade(two, "f-3", "SELL", "15", "110");
    expect(three).toMatchObject({ quantity: d("25"), averagePrice: d("103"), realisedPnl: d("105") });
    const four = trade(three, "f-4", "SELL_SHORT", "30", "90");
    expect(four).toMatchObject({ quantity: d("-5"), averagePrice: d("90"), realisedPnl: d("-220"), openedBy: "f-4" });
    const five = trade(four, "f-5", "BUY_TO_COVER", "5", "80");
    expect(five).toMatchObject({ quantity: 0n, averagePrice: 0n, cost: 0n, realisedPnl: d("-170") });
  });

  it("is worth its multiplier", () => {
    const short = trade(flatPosition, "f-1", "SELL", "2", "31.4", "100");
    expect(valued(short, d("30"), d("100"))).toEqual({ value: d("-6000"), unrealisedPnl: d("280") });
    expect(trade(short, "f-2", "BUY", "2", "30", "100").realisedPnl).toBe(d("280"));
  });

  it(`invariants 1 and 3: the sum of its trades, and exactly what was received less what was paid when flat, seed ${seed}`, () => {
    const thrown = prng(seed);
    for (let life = 0; life < 60; life += 1) {
      const multiplier = d(thrown.chance(0.3) ? "100" : "1");
      let position = flatPosition;
      let quantity = decimal.zero;
      let cash = decimal.zero;
      const book = (side: Side, size: decimal.Decimal): void => {
        const price = d(`${50 + thrown.below(100)}.${String(thrown.below(100)).padStart(2, "0")}`);
        const signed = signedQuantity(side, size);
        position = bookTrade(position, { fillId: "f", side, quantity: size, price, multiplier });
        quantity = decimal.add(quantity, signed);
        cash = decimal.subtract(cash, times(times(signed, price), multiplier));
      };
      for (let count = 0; count < 12; count += 1) {
        const size = d(`${1 + thrown.below(9)}.${thrown.below(10)}`);
        book(thrown.chance(0.5) ? "BUY" : "SELL", size);
        expect(position.quantity).toBe(quantity);
        expect(decimal.sign(position.cost)).toBe(decimal.sign(quantity));
      }
      if (quantity !== decimal.zero) book(decimal.sign(quantity) === 1 ? "SELL" : "BUY", decimal.abs(quantity));
      expect(position).toMatchObject({ quantity: 0n, cost: 0n, averagePrice: 0n, realisedPnl: cash });
    }
  });

  it(`agrees with a list of lots of which every closing takes the same share, seed ${seed}`, () => {
    const thrown = prng(seed);
    for (let life = 0; life < 60; life += 1) {
      let position = flatPosition;
      let lots: { size: number; price: number }[] = [];
      let result = 0;
      for (let count = 0; count < 10; count += 1) {
        const size = 1 + thrown.below(20);
        const price = 50 + thrown.below(50);
        const isBuy = thrown.chance(0.5);
        position = trade(position, "f", isBuy ? "BUY" : "SELL", String(size), String(price));
        const signed = isBuy ? size : -size;
        const held = lots.reduce((sum, lot) => sum + lot.size, 0);
        if (held === 0 || Math.sign(held) === Math.sign(signed)) {
          lots.push({ size: signed, price });
          continue;
        }
        const closing = Math.min(Math.abs(held), size);
        const average = lots.reduce((sum, lot) => sum + lot.size * lot.price, 0) / held;
        result += Math.sign(held) * closing * (price - average);
        const left = 1 - closing / Math.abs(held);
        lots = left === 0 ? [] : lots.map((lot) => ({ size: lot.size * left, price: lot.price }));
        if (size > closing) lots.push({ size: Math.sign(signed) * (size - closing), price });
      }
      const held = lots.reduce((sum, lot) => sum + lot.size, 0);
      expect(decimal.toNumber(position.quantity)).toBeCloseTo(held, 9);
      expect(decimal.toNumber(position.realisedPnl)).toBeCloseTo(result, 6);
    }
  });
});

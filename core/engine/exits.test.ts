// Exits: how large ones are cut, and which of those that rest have to shrink.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { nextSlice } from "../orders/exit-slices.ts";
import { type RestingExit, shrinkExits } from "../orders/reduce-only.ts";

const seed = 6_003;
const d = decimal.parse;

describe("slices", () => {
  const exit = { price: d("100"), multiplier: d("1"), lot: d("1"), notionalMax: d("1000"), slicesMax: 1_000 };

  it("are whole lots within the largest order, and all of it when it fits", () => {
    expect(nextSlice({ ...exit, quantity: d("25") })).toBe(d("10"));
    expect(nextSlice({ ...exit, quantity: d("10") })).toBe(d("10"));
    expect(nextSlice({ ...exit, quantity: d("25"), price: d("300") })).toBe(d("3"));
    expect(nextSlice({ ...exit, quantity: d("2"), price: d("31.4"), multiplier: d("100") })).toBe(d("1"));
    expect(nextSlice({ ...exit, quantity: d("0.5"), price: d("91000"), lot: d("0.00001") })).toBe(d("0.01098"));
  });

  it("grow when there would be too many, and the last takes all", () => {
    expect(nextSlice({ ...exit, quantity: d("1000"), slicesMax: 10 })).toBe(d("100"));
    expect(nextSlice({ ...exit, quantity: d("1000"), slicesMax: 1 })).toBe(d("1000"));
  });
});

describe("resting exits", () => {
  it(`never close more than there is, oldest first, and only those change that must, seed ${seed}`, () => {
    const thrown = prng(seed);
    for (let round = 0; round < 100; round += 1) {
      const position = decimal.fromInteger(BigInt(thrown.below(41) - 20));
      const exits: RestingExit[] = Array.from({ length: thrown.below(6) }, (_, index) => ({
        orderId: `o-${index}`,
        side: thrown.chance(0.7) ? "SELL" : "BUY",
        remaining: decimal.fromInteger(BigInt(1 + thrown.below(10))),
      }));
      const shrunk = new Map(shrinkExits(position, exits).map(({ orderId, remaining }) => [orderId, remaining]));
      const after = exits.map((exit) => ({ ...exit, remaining: shrunk.get(exit.orderId) ?? exit.remaining }));
      for (const side of ["SELL", "BUY"] as const) {
        const closable =
          side === "SELL" ? decimal.max(position, decimal.zero) : decimal.max(decimal.negate(position), decimal.zero);
        const own = after.filter((exit) => exit.side === side);
        const sum = own.reduce((total, { remaining }) => decimal.add(total, remaining), decimal.zero);
        expect(
          sum <= closable,
          `${decimal.format(position)} ${JSON.stringify(exits, (_key, value) => (typeof value === "bigint" ? String(value) : value))}`,
        ).toBe(true);
        const wanted = exits
          .filter((exit) => exit.side === side)
          .reduce((total, { remaining }) => decimal.add(total, remaining), decimal.zero);
        expect(sum).toBe(decimal.min(wanted, closable));
      }
    }
  });
});

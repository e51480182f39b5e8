// The grid of a fund: the server's exact texts in the chosen mode, shaded by sign and size.
import { describe, expect, it } from "vitest";
import { exactOf, gridOf, largestOf, modeOf, pairsBySymbols, shadeOf, symbolsShown } from "./grid.ts";

const cell = (strategy_id: string, symbol: string, market_value: string | undefined, share?: number) => ({
  strategy_id,
  symbol,
  quantity: "1",
  ...(market_value === undefined ? {} : { market_value, unrealised_pnl: `-${market_value}` }),
  ...(share === undefined ? {} : { share }),
  signal: 0.25,
});

const long = cell("one", "AAPL", "900719925474099.123456789012345678", 0.07);
const short = cell("two", "AAPL", "-10", -0.001);
const unpriced = cell("two", "XOM", undefined);

describe("a cell", () => {
  it("has the server's own text in every mode, digit by digit", () => {
    expect(exactOf(long, "value")).toBe("900719925474099.123456789012345678");
    expect(exactOf(long, "share")).toBe("0.07");
    expect(exactOf(long, "profit")).toBe("-900719925474099.123456789012345678");
    expect(exactOf(long, "signal")).toBe("0.25");
    expect([exactOf(unpriced, "value"), exactOf(unpriced, "share"), exactOf({}, "signal")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is shaded by its sign and its size beside the largest; nothing known and zero are not", () => {
    const largest = largestOf([long, short, unpriced], "share");
    expect(largest).toBe(0.07);
    expect([shadeOf(long, "share", largest), shadeOf(short, "share", largest)]).toEqual(["long-4", "short-1"]);
    expect([
      shadeOf(unpriced, "share", largest),
      shadeOf({ share: 0 }, "share", largest),
      shadeOf(long, "share", 0),
    ]).toEqual([undefined, undefined, undefined]);
    expect(shadeOf({ market_value: "-50" }, "value", 100)).toBe("short-2");
  });
});

describe("a grid", () => {
  it("has symbols by strategies, with both a long and a short of one symbol", () => {
    const sums = {
      by_strategy: [{ strategy_id: "one" }, { strategy_id: "two" }],
      by_symbol: [{ symbol: "AAPL" }, { symbol: "XOM" }],
    };
    const grid = gridOf({ cells: [long, short, unpriced], ...sums } as never);
    expect([grid.strategies, grid.symbols]).toEqual([
      ["one", "two"],
      ["AAPL", "XOM"],
    ]);
    expect([grid.cell("one", "AAPL"), grid.cell("two", "AAPL"), grid.cell("one", "XOM")]).toEqual([
      long,
      short,
      undefined,
    ]);
  });

  it("shows the symbols that are typed", () => {
    expect(symbolsShown(["AAPL", "XOM"], undefined)).toEqual(["AAPL", "XOM"]);
    expect(symbolsShown(["AAPL", "MSFT", "XOM"], "aa xo")).toEqual(["AAPL", "XOM"]);
  });

  it("shows shares unless another mode is asked for that there is", () => {
    expect([modeOf("profit"), modeOf(undefined), modeOf("volume")]).toEqual(["profit", "share", "share"]);
  });

  it("finds a pair either way round", () => {
    const pair = { a: "AAPL", b: "XOM", r: 0.5, n: 60 };
    const pairOf = pairsBySymbols([pair]);
    expect([pairOf("AAPL", "XOM"), pairOf("XOM", "AAPL"), pairOf("XOM", "XOM")]).toEqual([pair, pair, undefined]);
  });
});

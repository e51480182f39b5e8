// Sums of positions: exact, with longs and shorts apart, and never of what has no value.
import { expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { concentrationOf, type HeldCell, sumOf, sumsBy } from "./held-sums.ts";

const { parse, format } = decimal;

function cell(strategyId: string, symbol: string, value: string | undefined, pnl = "0"): HeldCell {
  const quantity = parse(value?.startsWith("-") ? "-1" : "1");
  if (value === undefined) return { strategyId, symbol, quantity };
  return { strategyId, symbol, quantity, worth: { value: parse(value), unrealisedPnl: parse(pnl) } };
}

const shown = ({ worth, quantity, without }: ReturnType<typeof sumOf>) => ({
  ...(worth !== undefined && {
    value: format(worth.value),
    gross: format(worth.gross),
    pnl: format(worth.unrealisedPnl),
  }),
  quantity: format(quantity),
  without,
});

it("are exact to the last digit, and a long and a short of one symbol stand against each other", () => {
  const cells = [
    cell("one", "AAPL", "0.1", "0.000000000000000001"),
    cell("one", "XOM", "0.2"),
    cell("two", "AAPL", "-0.3", "-1"),
  ];
  expect(shown(sumOf(cells))).toEqual({
    value: "0",
    gross: "0.6",
    pnl: "-0.999999999999999999",
    quantity: "1",
    without: [],
  });
  const bySymbol = sumsBy(cells, ({ symbol }) => symbol);
  expect(bySymbol.map(([symbol, sum]) => [symbol, shown(sum)])).toEqual([
    ["AAPL", { value: "-0.2", gross: "0.4", pnl: "-0.999999999999999999", quantity: "0", without: [] }],
    ["XOM", { value: "0.2", gross: "0.2", pnl: "0", quantity: "1", without: [] }],
  ]);
});

it("say without what they are, and are none of nothing known", () => {
  const cells = [cell("one", "XOM", undefined), cell("one", "AAPL", "5"), cell("two", "XOM", undefined)];
  expect(shown(sumOf(cells))).toEqual({ value: "5", gross: "5", pnl: "0", quantity: "3", without: ["XOM"] });
  expect(shown(sumOf(cells.slice(2)))).toEqual({ quantity: "1", without: ["XOM"] });
  expect(shown(sumOf([]))).toEqual({ value: "0", gross: "0", pnl: "0", quantity: "0", without: [] });
});

it("are concentrated as reports have it, by symbol", () => {
  const sums = sumsBy(
    [cell("a", "X", "70"), cell("b", "Y", "-30"), cell("a", "Z", "10"), cell("b", "Z", "-10")],
    ({ symbol }) => symbol,
  );
  expect(concentrationOf(sums.map(([, sum]) => sum))).toBeCloseTo(0.7 ** 2 + 0.3 ** 2, 12);
  expect(concentrationOf([])).toBeUndefined();
});

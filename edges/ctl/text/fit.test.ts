// What becomes of a table that is too wide, and what is always seen of it.
import { describe, expect, it } from "vitest";
import { type DrawnColumn, fit, shortened, widthOf } from "./fit.ts";

const column = (head: string, cells: readonly string[], more: Partial<DrawnColumn> = {}): DrawnColumn => ({
  head,
  cells,
  right: false,
  always: false,
  key: false,
  wraps: false,
  minor: 0,
  ...more,
});
const heads = (columns: readonly DrawnColumn[]) => columns.map(({ head }) => head);

describe("fit", () => {
  it("drops what is empty and reports what three rows or more agree on, but never PAPER, halted or a name", () => {
    const three = [
      column("FUND", ["a", "a", "a"]),
      column("MODE", ["PAPER", "PAPER", "PAPER"], { always: true }),
      column("HALTED", ["", "", ""], { always: true }),
      column("SYMBOL", ["X", "X", "X"], { key: true }),
      column("CODE", ["", "", ""]),
      column("SIDE", ["BUY", "BUY", "SELL"]),
    ];
    const fitted = fit(three, undefined);
    expect(heads(fitted.columns)).toEqual(["MODE", "HALTED", "SYMBOL", "SIDE"]);
    expect(fitted.constant).toEqual([["FUND", "a"]]);
    const two = three.map((one) => ({ ...one, cells: one.cells.slice(0, 2) }));
    expect(fit(two, undefined).constant).toEqual([]);
  });

  it("gives up the least important columns first, of equals the rightmost, until the rest fits", () => {
    const wide = [
      column("KEY", ["k".repeat(10), "x"], { key: true }),
      column("A", ["a".repeat(10), "b"], { minor: 1 }),
      column("B", ["b".repeat(10), "c"], { minor: 2 }),
      column("C", ["c".repeat(10), "d"]),
      column("D", ["d".repeat(10), "e"]),
      column("MODE", ["PAPER", "LIVE"], { always: true }),
    ];
    expect(fit(wide, 65).dropped).toEqual([]);
    expect(fit(wide, 64).dropped).toEqual(["B"]);
    expect(fit(wide, 30).dropped).toEqual(["B", "A", "D"]);
    expect(heads(fit(wide, 5).columns)).toEqual(["KEY", "MODE"]);
    expect(fit(wide, undefined).dropped).toEqual([]);
    // A name stays, but one that is minor goes for want of room.
    const names = [
      column("KEY", ["k".repeat(10)], { key: true }),
      column("ID", ["i".repeat(10)], { key: true, minor: 1 }),
    ];
    expect(fit(names, 12).dropped).toEqual(["ID"]);
  });

  it("lets free text wrap into what is left before anything goes", () => {
    const columns = [column("KEY", ["k".repeat(10)]), column("WHY", ["w ".repeat(100)], { wraps: true })];
    expect(fit(columns, 60)).toMatchObject({ widths: [undefined, 48], dropped: [] });
    expect(fit(columns, 20).dropped).toEqual(["WHY"]);
    expect(fit(columns, undefined).widths).toEqual([undefined, undefined]);
  });
});

it("ids keep as many characters as tell them apart, eight at least; what saves nothing stays whole", () => {
  expect(shortened(["0190aaaa-1111-7000", "0190bbbb-1111-7000"])).toEqual(["0190aaaa", "0190bbbb"]);
  expect(shortened(["0190aaaa-1111-7000", "0190aaaa-1112-7000"])).toEqual(["0190aaaa-1111", "0190aaaa-1112"]);
  expect(shortened(["0190aaaa-1111-7000", "0190aaaa-1111-7000"])).toEqual(["0190aaaa", "0190aaaa"]);
  expect(shortened(["o-1", "alpha-x-62", "halt-12345"])).toEqual(["o-1", "alpha-x-62", "halt-12345"]);
  expect(shortened([])).toEqual([]);
});

it("a wide character takes two columns, an accent none", () => {
  expect(widthOf("日本")).toBe(4);
  expect(widthOf("e\u0301a")).toBe(2);
});

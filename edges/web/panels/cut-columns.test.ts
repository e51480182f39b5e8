// Columns that a table shows only in part, at either side.
import { expect, test } from "vitest";
import { cutColumns } from "./cut-columns.ts";

const columns = [
  { left: 0, right: 100 },
  { left: 100, right: 220 },
  { left: 220, right: 300 },
];

test("only what stands there in part is cut", () => {
  expect(cutColumns(columns, { left: 0, right: 300 })).toEqual([]);
  expect(cutColumns(columns, { left: 0, right: 219.5 })).toEqual([]);
  expect(cutColumns(columns, { left: 0, right: 212 })).toEqual([]);
  expect(cutColumns(columns, { left: 0, right: 210 })).toEqual([2]);
  expect(cutColumns(columns, { left: 0, right: 200 })).toEqual([2]);
  expect(cutColumns(columns, { left: 40, right: 260 })).toEqual([1, 3]);
  expect(cutColumns(columns, { left: 100, right: 220 })).toEqual([]);
});

// No two amounts are compared with the language's own operators, in the whole core; planted comparisons are found.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { amountComparisons } from "./amount-comparisons.ts";

const root = join(import.meta.dirname, "../..");
const sources = readdirSync(join(root, "core"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => `core/${name}`);

const planted = `// Comparisons of amounts, and some that are none.
import { type Amount, isMore, oneUnit } from "./money/amount.ts";
import type { Notional } from "./money/exact.ts";
import { placeOf, type Plain } from "./money/plain.ts";
import type { FundView } from "./state/view.ts";
export const wrong = (view: FundView, left: Amount, right: Amount, notional: Notional, list: readonly Amount[]): boolean =>
  left < right ||
  view.position >= left ||
  view.nav === right ||
  notional !== view.grossOthers ||
  left <= (list[0] ?? right) ||
  view.terms.quantity !== oneUnit;
export const right = (view: FundView, left: Amount, right: Plain): boolean =>
  view.nav === undefined || isMore(left, right) || placeOf(right) > 1 || view.openOrders < view.openOrdersMax;
`;

test("nobody compares two amounts with the language's own operators", () => {
  const texts = new Map([["core/planted.ts", planted]]);
  const complaints = amountComparisons(root, [...sources, "core/planted.ts"], texts);
  const lines = complaints.filter(({ path }) => path === "core/planted.ts").map(({ line }) => line);
  expect(lines).toEqual([7, 8, 9, 10, 11, 12]);
  expect(complaints.filter(({ path }) => path !== "core/planted.ts")).toEqual([]);
}, 120_000);

// Which fills nobody vouches for, and under which cause; invariants 1 to 3.
import { describe, expect, test } from "vitest";
import * as instant from "../../../contracts/src/instant.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import {
  engineFixture,
  engineOptions,
  fillOf,
  moment,
  orderOf,
  reference,
} from "../../../testkit/risk/engine-fixture.ts";
import { createEngine } from "../engine.ts";
import type { FillStanding } from "./vouch-fill.ts";

const now = moment(60_000);
const dayMs = 86_400_000;
/** 100 at 200, so worth 20,000. */
const base: Fill = { ...fillOf(orderOf("a"), "100"), filled_at: instant.format(now) };
const known: FillStanding = {
  publisher: "desk",
  isAsked: true,
  askedAt: moment(59_000),
  actionsAt: [],
  hasOtherLeg: false,
};
const dated = (milliseconds: number): string => instant.format(moment(milliseconds));
const expiry = instant.parse("2028-12-15T12:00:00Z");

describe("a fill", () => {
  test.each<[string, string | undefined, Partial<Fill>, Partial<FillStanding>]>([
    ["of an order that was asked about", undefined, {}, {}],
    ["of an order that never was", "FILL_WITHOUT_ORDER", {}, { isAsked: false, askedAt: Number.NaN }],
    [
      "of ours, of an order that never was",
      undefined,
      {},
      { publisher: undefined, isAsked: false, askedAt: Number.NaN },
    ],
    ["one leg", "CROSS_ONE_LEG", { kind: "CROSS" }, {}],
    ["the second leg", undefined, { kind: "CROSS" }, { hasOtherLeg: true }],
    ["the second leg with a fee", "FILL_FEE_ODD", { kind: "CROSS", fee: "-1000" }, { hasOtherLeg: true }],
    [
      "a settlement on its day, with a fee",
      "FILL_FEE_ODD",
      { kind: "SETTLEMENT", symbol: "SPY-C500", filled_at: instant.format(expiry), fee: "-1000000" },
      {},
    ],
    [
      "a settlement of ours, with a fee",
      undefined,
      { kind: "SETTLEMENT", symbol: "SPY-C500", fee: "-1000000" },
      { publisher: undefined },
    ],
    ["a seed", "FILL_KIND_UNVOUCHED", { kind: "SEED" }, {}],
    ["an adjustment", "FILL_KIND_UNVOUCHED", { kind: "ADJUSTMENT" }, {}],
    ["an adjustment of ours", undefined, { kind: "ADJUSTMENT" }, { publisher: undefined }],
    ["a settlement of a share", "FILL_KIND_UNVOUCHED", { kind: "SETTLEMENT" }, {}],
    [
      "a settlement long before its option's end",
      "FILL_KIND_UNVOUCHED",
      { kind: "SETTLEMENT", symbol: "SPY-C500" },
      {},
    ],
    [
      "a settlement on its option's last day",
      undefined,
      { kind: "SETTLEMENT", symbol: "SPY-C500", filled_at: instant.format(expiry) },
      {},
    ],
    ["a corporate action that nobody announced", "FILL_KIND_UNVOUCHED", { kind: "CORPORATE_ACTION" }, {}],
    ["one that is under way", undefined, { kind: "CORPORATE_ACTION" }, { actionsAt: [Number.NaN] }],
    ["one that was applied", undefined, { kind: "CASH_IN_LIEU" }, { actionsAt: [moment(0)] }],
    ["one of last month", "FILL_KIND_UNVOUCHED", { kind: "CASH_IN_LIEU" }, { actionsAt: [moment(-8 * dayMs)] }],
    ["a fee of a tenth", undefined, { fee: "2000" }, {}],
    ["a fee above a tenth", "FILL_FEE_ODD", { fee: "2000.000000000000000001" }, {}],
    ["a fee above a tenth of next to nothing", undefined, { fee: "100", quantity: "1" }, {}],
    ["and one above 100", "FILL_FEE_ODD", { fee: "100.01", quantity: "1" }, {}],
    ["a rebate of a hundredth", undefined, { fee: "-200" }, {}],
    ["a larger one", "FILL_FEE_ODD", { fee: "-200.01" }, {}],
    ["of ours, with a rebate of a million", "FILL_FEE_ODD", { fee: "-1000000" }, { publisher: undefined }],
    [
      "a fee of an option, by its multiplier",
      undefined,
      { symbol: "SPY-C500", price: "5", quantity: "10", fee: "500" },
      {},
    ],
    [
      "a price and a quantity as large as they may be",
      undefined,
      { price: "9".repeat(20), quantity: "9".repeat(20) },
      {},
    ],
    ["5 s before its order was asked about", undefined, { filled_at: dated(54_000) }, {}],
    ["more than 5 s before", "FILL_DATE_ODD", { filled_at: dated(53_999) }, {}],
    ["5 s ahead of our clock", undefined, { filled_at: dated(65_000) }, {}],
    ["further ahead", "FILL_DATE_ODD", { filled_at: dated(65_001) }, {}],
    ["of 2001", "FILL_DATE_ODD", { filled_at: "2001-01-01T00:00:00Z" }, {}],
    ["of before a split that is booked", "FILL_DATE_ODD", {}, { actionsAt: [moment(60_001)] }],
    ["of after it", undefined, {}, { actionsAt: [moment(60_000)] }],
  ])("%s: %s", (_what, cause, differs, standing) => {
    const found = engineFixture().acceptance.unvouched({ ...base, ...differs }, { ...known, ...standing }, now);
    expect(found.map((one) => one.cause)).toEqual(cause === undefined ? [] : [cause]);
  });

  test("one leg with an odd fee: the other leg does not end that", () => {
    const found = engineFixture().acceptance.unvouched({ ...base, kind: "CROSS", fee: "-1000" }, known, now);
    expect(found.map((one) => one.cause)).toEqual(["FILL_FEE_ODD", "CROSS_ONE_LEG"]);
  });

  test("invariant 2: before the fund's first value seeds and fills without an order loosen nothing", () => {
    const engine = createEngine(engineOptions);
    engine.setReference(reference);
    const standing = { ...known, isAsked: false, askedAt: Number.NaN };
    expect(engine.acceptance.unvouched(base, standing, now)).toEqual([]);
    expect(engine.acceptance.unvouched({ ...base, kind: "SEED" }, standing, now)).toEqual([]);
    expect(engine.acceptance.unvouched({ ...base, kind: "ADJUSTMENT" }, standing, now)).toHaveLength(1);
  });

  test("with several troubles has all of them, the gravest first", () => {
    const differs = { fee: "-1000000", filled_at: "2001-01-01T00:00:00Z" };
    const found = engineFixture().acceptance.unvouched({ ...base, ...differs }, { ...known, isAsked: false }, now);
    expect(found.map(({ cause }) => cause)).toEqual(["FILL_WITHOUT_ORDER", "FILL_FEE_ODD", "FILL_DATE_ODD"]);
  });
});

// 32.5: who may bust which fill, and what is refused.
import { describe, expect, test } from "vitest";
import type { BookedFill, FillBusted } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { type BustStanding, refusedBust } from "./judge-bust.ts";
import { foreignKindOf } from "./judge-event.ts";

const booked: BookedFill = { ...exampleFill, published_by: "foreign-oms" };
const { fill_id, order_id, fund_id, strategy_id, symbol } = exampleFill;
const bust: FillBusted = {
  bust_id: "b-1",
  fill_id,
  order_id,
  fund_id,
  strategy_id,
  symbol,
  reason: "erroneous trade",
  at: exampleFill.filled_at,
};
const other = { ...bust, bust_id: "b-0" };
const standing = (differs: Partial<BustStanding> = {}): BustStanding => ({
  source: "foreign-oms",
  booked,
  isOurs: false,
  same: undefined,
  others: [],
  isTurned: false,
  ...differs,
});

describe("32.5: a bust", () => {
  test.each<[string | undefined, string, FillBusted, BustStanding]>([
    [undefined, "of a trade by its publisher", bust, standing()],
    [undefined, "again", bust, standing({ same: bust })],
    [undefined, "again, with another reason", { ...bust, reason: "as reported" }, standing({ same: bust })],
    [undefined, "before its fill", bust, standing({ booked: undefined })],
    [undefined, "after one that named the fill wrongly", bust, standing({ others: [{ ...other, symbol: "MSFT" }] })],
    ["EVENT_BUST_CHANGED", "under an id of another", bust, standing({ same: { ...bust, fill_id: "f-2" } })],
    ["EVENT_BUST_NOT_YOURS", "of another publisher's fill", bust, standing({ source: "desk" })],
    ["EVENT_BUST_NOT_YOURS", "of a fill of ours", bust, standing({ booked: undefined, isOurs: true })],
    ["EVENT_BUST_KIND", "of a seed", bust, standing({ booked: { ...booked, kind: "SEED" } })],
    ["EVENT_BUST_KIND", "of an adjustment", bust, standing({ booked: { ...booked, kind: "ADJUSTMENT" } })],
    ["EVENT_BUST_KIND", "of a cross", bust, standing({ booked: { ...booked, kind: "CROSS" } })],
    ["EVENT_BUST_MISMATCH", "of another order", { ...bust, order_id: "o-9" }, standing()],
    ["EVENT_BUST_MISMATCH", "of another symbol", { ...bust, symbol: "MSFT" }, standing()],
    ["EVENT_FILL_BUSTED", "of a fill that is busted", bust, standing({ others: [other] })],
    ["EVENT_FILL_BUSTED", "of a fill that another waits for", bust, standing({ booked: undefined, others: [other] })],
    ["EVENT_BUST_TOO_LATE", "after a split", bust, standing({ isTurned: true })],
  ])("%s: %s", (code, _what, given, known) => {
    expect(refusedBust(given, known)?.code).toBe(code);
  });

  test("uses a number of the fills", () => expect(foreignKindOf(subjects.fillsBusted.name)).toBe("fills"));
});

// Gate 6: the short that results after every other pending sale, whatever the order calls itself.
import { describe, expect, test } from "vitest";
import { d, judge, type Outcome, type Spoil } from "../../testkit/passing-order.ts";
import { product, toExact } from "../exact.ts";

function sale(quantity: string, view: object, more: Spoil = () => undefined): Outcome {
  return judge((draft) => {
    Object.assign(draft.order, { side: "SELL", quantity });
    Object.assign(draft.view, view);
    more(draft);
  });
}
const disabled: Spoil = ({ envelope }) => Object.assign(envelope, { shorting_enabled: false });

describe("trap: the short follows the position after other pending sells", () => {
  test("a plain sale of what is held is none", () => {
    expect(sale("100", { position: d("100") }, disabled).code).toBe("");
  });
  test("a plain sale of what another order already sells is one", () => {
    const outcome = sale("100", { position: d("100"), pendingSell: d("100") }, disabled);
    expect(outcome.code).toBe("SHORTING_DISABLED");
    expect(outcome.figures.get("resulting_short")).toBe("100");
  });
  test("a flip is judged by what results", () => {
    const outcome = sale("150", { position: d("100"), borrowAvailable: d("50") });
    expect(outcome.code).toBe("");
    expect(outcome.figures.get("resulting_short")).toBe("50");
    expect(sale("151", { position: d("100"), borrowAvailable: d("50") }).code).toBe("BORROW_UNAVAILABLE");
  });
  test("pending buys lend nothing", () => {
    expect(sale("10", { pendingBuy: d("1000") }, disabled).code).toBe("SHORTING_DISABLED");
  });
  test("an existing short counts with the new one", () => {
    expect(sale("10", { position: d("-90"), borrowAvailable: d("100") }).code).toBe("");
    expect(sale("11", { position: d("-90"), borrowAvailable: d("100") }).code).toBe("BORROW_UNAVAILABLE");
  });
  test("an amendment counts as the larger of old and new", () => {
    const own = { amends: true, ownRemaining: d("60"), borrowAvailable: d("59") };
    expect(sale("10", own).code).toBe("BORROW_UNAVAILABLE");
    expect(sale("10", { ...own, borrowAvailable: d("60") }).code).toBe("");
  });
});

test("a purchase is never a short sale, also while the fund is short", () => {
  const spoil: Spoil = (draft) => {
    Object.assign(draft.view, { position: d("-5"), pendingSell: d("50") });
    disabled(draft);
  };
  expect(judge(spoil).code).toBe("");
});

test("the fee exactly at its limit passes", () => {
  expect(sale("10", { borrowFee: d("0.03") }).code).toBe("");
  expect(sale("10", { borrowFee: d("0.030000000000000001") }).code).toBe("BORROW_FEE_EXCEEDED");
  const limit = toExact(product(d("0.03"), d("1")));
  expect(sale("10", { borrowFee: d("0.03") }).shares.get("max_borrow_fee_pct")).toEqual([limit, limit]);
});

test("what is known about the borrow may be a day old, not more", () => {
  expect(sale("10", { borrowAgeMs: 86_400_000 }).code).toBe("");
  expect(sale("10", { borrowAgeMs: 86_400_000.001 }).code).toBe("BORROW_STALE");
  expect(sale("10", { borrowAgeMs: Number.NaN }).code).toBe("BORROW_STALE");
});

test("trap: missing is denied, never unlimited", () => {
  expect(sale("10", { borrowAvailable: undefined }).code).toBe("BORROW_MISSING");
  expect(sale("10", { borrowFee: undefined }).code).toBe("BORROW_MISSING");
});

test("an option is written, not borrowed, but a fund without shorts writes none", () => {
  const option: Spoil = ({ order, instrument }) => {
    order.asset_class = "OPTION";
    instrument.assetClass = "OPTION";
  };
  expect(sale("10", { borrowAvailable: undefined }, option).code).toBe("");
  expect(sale("10", {}, (draft) => [option(draft), disabled(draft)]).code).toBe("SHORTING_DISABLED");
});

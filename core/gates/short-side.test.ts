// Gate 6: sides that fit the position, and where they need not, the short that results after every other pending sale, whatever the order calls
// itself.
import { describe, expect, test } from "vitest";
import { d, judge, type Outcome, type Spoil } from "../../testkit/passing-order.ts";
import { product, toExact } from "../money/exact.ts";

/** Where the word does not matter. */
function sale(quantity: string, view: object, more: Spoil = () => undefined): Outcome {
  return judge((draft) => {
    draft.envelope.strict_sides = false;
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
    Object.assign(draft.view, { position: d("-500"), pendingSell: d("50") });
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

type Side = "BUY" | "SELL" | "SELL_SHORT" | "BUY_TO_COVER";

function strict(side: Side, quantity: string, view: object, more: Spoil = () => undefined): Outcome {
  return judge((draft) => {
    Object.assign(draft.order, { side, quantity });
    Object.assign(draft.view, view);
    more(draft);
  });
}

describe("22.7: sides mean what they say", () => {
  const long = { position: d("100") };
  const shortOf = { position: d("-100") };
  test.each([
    ["BUY_TO_COVER", "100", shortOf, ""],
    ["BUY_TO_COVER", "101", shortOf, "COVER_EXCEEDS_SHORT"],
    ["BUY_TO_COVER", "61", { ...shortOf, pendingBuy: d("40") }, "COVER_EXCEEDS_SHORT"],
    ["BUY_TO_COVER", "60", { ...shortOf, pendingBuy: d("40") }, ""],
    ["BUY_TO_COVER", "1", {}, "COVER_EXCEEDS_SHORT"],
    ["BUY_TO_COVER", "1", long, "COVER_EXCEEDS_SHORT"],
    ["SELL", "100", long, ""],
    ["SELL", "101", long, "SELL_EXCEEDS_LONG"],
    ["SELL", "71", { ...long, pendingSell: d("30") }, "SELL_EXCEEDS_LONG"],
    ["SELL", "70", { ...long, pendingSell: d("30") }, ""],
    ["SELL", "1", { pendingBuy: d("100") }, "SELL_EXCEEDS_LONG"],
    ["SELL", "1", shortOf, "SELL_EXCEEDS_LONG"],
    ["SELL_SHORT", "1", long, "SHORT_WHILE_LONG"],
    ["SELL_SHORT", "1", { ...long, pendingSell: d("100") }, "SHORT_WHILE_LONG"],
    ["SELL_SHORT", "100", {}, ""],
    ["SELL_SHORT", "100", { pendingBuy: d("50") }, ""],
    ["SELL_SHORT", "100", shortOf, ""],
    ["BUY", "100", shortOf, ""],
    ["BUY", "101", shortOf, "BUY_CROSSES_ZERO"],
    ["BUY", "1", { ...shortOf, pendingBuy: d("100") }, "BUY_CROSSES_ZERO"],
    ["BUY", "101", {}, ""],
    ["BUY", "101", long, ""],
  ] as const)("%s %s with %o: %s", (side, quantity, view, code) => {
    const outcome = strict(side, quantity, view);
    expect([outcome.code, code === "" ? "" : outcome.gate]).toEqual([code, code === "" ? "" : "short_side"]);
  });

  test("fractions count to the last digit", () => {
    const odd = { position: d("10.5") };
    const fine: Spoil = ({ instrument }) => Object.assign(instrument, { lotSize: d("0.000000000000000001") });
    expect(strict("SELL", "10.5", odd, fine).code).toBe("");
    expect(strict("SELL", "10.500000000000000001", odd, fine).code).toBe("SELL_EXCEEDS_LONG");
  });

  test("a denial says how much could be closed, and why no more", () => {
    const { reason, figures } = strict("SELL", "101", { ...long, pendingSell: d("30") });
    expect(reason).toBe(
      'The fund holds 100 "AAPL", and other open orders may sell 30; SELL may close only what is long (a short sale is a SELL_SHORT), now at most 70.',
    );
    expect(figures.get("closing_quantity")).toBe("70");
  });

  test("hold for options, not for coins, and not where the envelope says otherwise", () => {
    const of =
      (assetClass: string): Spoil =>
      ({ order, instrument, envelope }) => {
        Object.assign(order, { asset_class: assetClass });
        Object.assign(instrument, { assetClass });
        envelope.allowed_asset_classes = ["EQUITY", "OPTION", "CRYPTO"];
      };
    expect(strict("SELL", "1", {}, of("OPTION")).code).toBe("SELL_EXCEEDS_LONG");
    for (const side of ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const) {
      for (const held of ["-50", "0", "50"]) {
        expect(strict(side, "100", { position: d(held) }, of("CRYPTO")).code).toBe("");
        const loose: Spoil = ({ envelope }) => Object.assign(envelope, { strict_sides: false });
        expect(strict(side, "100", { position: d(held) }, loose).code).toBe("");
      }
    }
  });

  test("are judged of an amendment by what it would have open, and not of what only takes away", () => {
    const own = { ...long, amends: true, ownFilled: d("20"), ownRemaining: d("80") };
    expect(strict("SELL", "120", own).code).toBe("");
    expect(strict("SELL", "121", own).code).toBe("SELL_EXCEEDS_LONG");
    expect(strict("SELL", "121", { ...own, lowers: true }).code).toBe("");
    // All that is left of it has filled: nothing would be open.
    expect(strict("SELL", "20", { amends: true, ownFilled: d("20") }).code).toBe("");
  });

  test("hold for exits too: a short sale is none, whatever it claims, and in a halt its mark does not help", () => {
    const exit: Spoil = ({ order }) => Object.assign(order, { reduce_only: true });
    const halted = { halt: "FUND_HALT", haltId: "h" };
    expect(strict("SELL_SHORT", "100", { ...long, ...halted }, exit).code).toBe("SCHEMA_SHORT_NOT_REDUCING");
    expect(strict("SELL", "100", { ...long, ...halted }, exit).code).toBe("");
    expect(strict("BUY", "100", { ...shortOf, ...halted }, exit).code).toBe("");
    expect(strict("BUY_TO_COVER", "100", { ...shortOf, ...halted }, exit).code).toBe("");
  });
});

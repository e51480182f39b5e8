// Gate 2, field by field: what is refused and with which code, and that the loops agree with the schema of the order's record.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { order as orderRecord } from "../../contracts/src/records/order.ts";
import { assetClass, orderType, side, tif } from "../../contracts/src/records/values.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { d, judge, passingDraft, type Spoil } from "../../testkit/passing-order.ts";
import { fieldDenial } from "./schema-fields.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");

/** The code when these fields are changed; anything may stand in them, as in JSON. */
function codeWith(changes: Record<string, unknown>, more: Spoil = () => undefined): string {
  return judge((draft) => [Object.assign(draft.order, changes), more(draft)]).code;
}

const reasonWith = (changes: Record<string, unknown>): string =>
  judge((draft) => Object.assign(draft.order, changes)).reason;

const requiredFields = [
  "idempotency_key",
  "order_id",
  "fund_id",
  "strategy_id",
  "symbol",
  "side",
  "quantity",
  "order_type",
  "tif",
  "broker",
  "asset_class",
  "actor",
] as const satisfies readonly (keyof Order)[];

describe("fields", () => {
  test.each(requiredFields)("%s must be there and be text", (field) => {
    expect(codeWith({ [field]: "" })).toBe("SCHEMA_FIELD_MISSING");
    expect(codeWith({ [field]: undefined })).toBe("SCHEMA_FIELD_MISSING");
    expect(codeWith({ [field]: null })).toBe("SCHEMA_FIELD_MISSING");
    expect(codeWith({ [field]: 7 })).toBe("SCHEMA_FIELD_INVALID");
    expect(codeWith({ [field]: {} })).toBe("SCHEMA_FIELD_INVALID");
  });

  const lengths = {
    idempotency_key: 200,
    order_id: 128,
    fund_id: 128,
    strategy_id: 128,
    symbol: 64,
    broker: 200,
    actor: 200,
    venue: 200,
    thesis: 4_096,
  };
  test.each(Object.entries(lengths))("%s may have %d characters, not one more", (field, lengthMax) => {
    const codeOf = (length: number) => codeWith({ [field]: "X".repeat(length) });
    expect(codeOf(lengthMax + 1)).toBe("SCHEMA_FIELD_TOO_LONG");
    expect(codeOf(lengthMax)).not.toMatch(/^SCHEMA_/);
  });

  test("texts of the wrong kind", () => {
    const wrong: readonly (readonly [keyof Order, readonly unknown[]])[] = [
      ["idempotency_key", ["a\nb", "a\u0000", "\u0085", "a\u2028b", "a\u007fb"]],
      ["order_id", [" a", "-a", "a b", "ä", "a\n", "a;b"]],
      ["symbol", ["aapl", "-AAPL", "AAPL;", "ÄPL", " AAPL"]],
      ["venue", ["", "a\tb"]],
      ["currency", ["", "US", "usd", "1USD", "U D"]],
      ["actor", ["\u001b[31mred"]],
      ["reduce_only", ["true", 1, null]],
      ["dry_run", ["false", 0]],
    ];
    for (const [field, values] of wrong) {
      for (const value of values)
        expect(codeWith({ [field]: value }), `${field} ${value}`).toBe("SCHEMA_FIELD_INVALID");
    }
    expect(codeWith({ currency: "ABCDEFGHIJK" })).toBe("SCHEMA_FIELD_TOO_LONG");
  });

  test("free texts may be in any script, and a thesis may have lines or be empty", () => {
    const actor = "Zoë, 取引 🦜";
    expect(codeWith({ actor, idempotency_key: actor, thesis: "one\ntwo", venue: "Zürich" })).toBe("");
    expect(codeWith({ thesis: "" })).toBe("");
  });

  test.each(["side", "order_type", "tif", "asset_class"] as const)("%s is one of its words, spelt exactly", (field) => {
    for (const value of ["buy", "Limit", " DAY", "EQUITY ", "constructor", "toString", "__proto__"]) {
      expect(codeWith({ [field]: value })).toBe("SCHEMA_VALUE_UNKNOWN");
    }
  });

  test("every known word is known here", () => {
    const { order } = passingDraft();
    const lists = { side, order_type: orderType, tif, asset_class: assetClass };
    for (const [field, words] of Object.entries(lists)) {
      for (const word of words.options) expect(fieldDenial({ ...order, [field]: word }, undefined)).toBeUndefined();
    }
  });

  test(`agrees with the schema of the order's record about any text (seed ${seed})`, () => {
    const fields = ["idempotency_key", "order_id", "symbol", "broker", "currency", "venue", "thesis", "actor"] as const;
    const nearly = fc.string({ unit: fc.constantFrom(..."AZaz09 ._:@/-;\n\u0085\u2028ä🦜\u007f"), maxLength: 14 });
    const { order } = passingDraft();
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.oneof(nearly, fc.string()), (field, text) => {
        const changed = { ...order, [field]: text };
        expect(fieldDenial(changed, undefined) === undefined).toBe(orderRecord.safeParse(changed).success);
      }),
      { seed, numRuns: inputCount(400) },
    );
  });
});

describe("numbers", () => {
  const notPlain = [
    "NaN",
    "Infinity",
    "-1",
    "-0",
    "0",
    "0.000",
    "1e3",
    "1E-7",
    "+1",
    " 1",
    "1.",
    ".5",
    "01",
    "0x10",
    "1_000",
  ];
  test("trap: NaN, Infinity, negative, -0 and exponents fail as quantity and as price", () => {
    for (const text of [...notPlain, "1234567890123456789012", "0.0000000000000000001"]) {
      expect(codeWith({ quantity: text }), text).toBe("SCHEMA_DECIMAL_INVALID");
      expect(codeWith({ limit_price: text }), text).toBe("SCHEMA_DECIMAL_INVALID");
      expect(codeWith({ order_type: "STOP_LIMIT", stop_price: text }), text).toBe("SCHEMA_DECIMAL_INVALID");
    }
    expect(codeWith({ limit_price: "" })).toBe("SCHEMA_FIELD_INVALID");
  });

  test("trap: NaN, Infinity, negative, -0 and huge exponents fail as notional", () => {
    for (const notional of [Number.NaN, Number.POSITIVE_INFINITY, -1, -0, 1e21, 5e-324, "20000", null]) {
      expect(codeWith({ notional }), String(notional)).toBe("SCHEMA_FIELD_INVALID");
    }
  });

  test("which prices a type needs, and that it carries no other", () => {
    const both = { limit_price: "200", stop_price: "200" };
    const none = { limit_price: undefined, stop_price: undefined };
    expect(codeWith({ order_type: "MARKET", ...none })).toBe("");
    expect(codeWith({ order_type: "STOP", ...none, stop_price: "200" })).toBe("");
    expect(codeWith({ order_type: "STOP_LIMIT", ...both })).toBe("");
    expect(codeWith({ order_type: "STOP_LIMIT", ...both, stop_price: undefined })).toBe("SCHEMA_STOP_PRICE_MISSING");
    expect(codeWith({ order_type: "STOP_LIMIT", ...both, limit_price: undefined })).toBe("SCHEMA_LIMIT_PRICE_MISSING");
    expect(codeWith({ order_type: "LIMIT", ...both, limit_price: undefined })).toBe("SCHEMA_LIMIT_PRICE_MISSING");
    expect(codeWith({ order_type: "STOP", ...both, stop_price: undefined })).toBe("SCHEMA_STOP_PRICE_MISSING");
    for (const order_type of ["MARKET", "LIMIT", "STOP"]) {
      expect(codeWith({ order_type, ...both }), order_type).toBe("SCHEMA_FIELD_INVALID");
    }
    expect(codeWith({ order_type: "MARKET", ...none, stop_price: "200" })).toBe("SCHEMA_FIELD_INVALID");
    expect(codeWith({ order_type: "MARKET", limit_price: "0" })).toBe("SCHEMA_DECIMAL_INVALID");
    expect(reasonWith({ order_type: "MARKET", ...both })).toBe(
      "A MARKET order has no use for limit_price: leave it out, or make it a LIMIT or STOP_LIMIT order.",
    );
  });

  test("trap: ticks are increments, not only decimals: 50000.03 on a 0.05 tick", () => {
    const tick: Spoil = ({ instrument, view }) => {
      instrument.tickSize = d("0.05");
      view.price = d("50000");
    };
    const small = { quantity: "1" };
    expect(codeWith({ ...small, limit_price: "50000.03" }, tick)).toBe("SCHEMA_PRICE_OFF_TICK");
    expect(codeWith({ ...small, limit_price: "50000.05" }, tick)).toBe("");
    const stop = { ...small, order_type: "STOP", limit_price: undefined };
    expect(codeWith({ ...stop, stop_price: "50000.01" }, tick)).toBe("SCHEMA_PRICE_OFF_TICK");
  });

  test("lots are increments too", () => {
    const lot: Spoil = ({ instrument }) => Object.assign(instrument, { lotSize: d("0.3") });
    expect(codeWith({ quantity: "0.9" }, lot)).toBe("");
    expect(codeWith({ quantity: "1" }, lot)).toBe("SCHEMA_QUANTITY_OFF_LOT");
  });
});

describe("trap: the lot must not block a full close", () => {
  const closing = (quantity: string, position: string, pendingSell = "0") =>
    codeWith({ side: "SELL", quantity }, ({ view }) =>
      Object.assign(view, { position: d(position), pendingSell: d(pendingSell) }),
    );
  test("all that is left may be closed, odd or not", () => expect(closing("10.5", "10.5")).toBe(""));
  test("all that other orders leave may be closed", () => expect(closing("0.5", "10.5", "10")).toBe(""));
  test("a part may not be odd", () => expect(closing("10.4", "10.5")).toBe("SCHEMA_QUANTITY_OFF_LOT"));
  test("an odd flip may not either", () => expect(closing("11.5", "10.5")).toBe("SCHEMA_QUANTITY_OFF_LOT"));
  test("a short position closes the same way", () => {
    const code = codeWith({ side: "BUY_TO_COVER", quantity: "10.5" }, ({ view }) =>
      Object.assign(view, { position: d("-10.5") }),
    );
    expect(code).toBe("");
  });
});

describe("notional", () => {
  test("may differ by exactly 1 % from quantity times the order's own price", () => {
    expect(codeWith({ notional: 20_200 })).toBe("");
    expect(codeWith({ notional: 19_800 })).toBe("");
    expect(codeWith({ notional: 20_200.01 })).toBe("SCHEMA_NOTIONAL_MISMATCH");
    expect(codeWith({ notional: 19_799.99 })).toBe("SCHEMA_NOTIONAL_MISMATCH");
    expect(codeWith({ notional: 0 })).toBe("SCHEMA_NOTIONAL_MISMATCH");
  });

  const market = { order_type: "MARKET", limit_price: undefined };
  test("may differ by 10 % where only a mark is at hand", () => {
    expect(codeWith({ ...market, notional: 22_000 })).toBe("");
    expect(codeWith({ ...market, notional: 22_000.01 })).toBe("SCHEMA_NOTIONAL_MISMATCH");
  });

  test("of a stop is compared with its stop price", () => {
    const stop = { order_type: "STOP", limit_price: undefined, stop_price: "205" };
    expect(codeWith({ ...stop, notional: 20_705 })).toBe("");
    expect(codeWith({ ...stop, notional: 20_000 })).toBe("SCHEMA_NOTIONAL_MISMATCH");
  });

  test("counts the multiplier", () => {
    const option: Spoil = ({ instrument, view }) => {
      Object.assign(instrument, { multiplier: d("100") });
      view.price = d("2");
    };
    const contracts = { limit_price: "2", quantity: "10" };
    expect(codeWith({ ...contracts, notional: 2_000 }, option)).toBe("");
    expect(codeWith({ ...contracts, notional: 20 }, option)).toBe("SCHEMA_NOTIONAL_MISMATCH");
  });

  test("is not compared without a price, and an old mark keeps no exit from passing", () => {
    const exit =
      (changes: object): Spoil =>
      ({ view }) =>
        Object.assign(view, { position: d("100"), ...changes });
    const sale = { ...market, side: "SELL", notional: 1, reduce_only: true };
    expect(codeWith(sale, exit({}))).toBe("SCHEMA_NOTIONAL_MISMATCH");
    expect(codeWith(sale, exit({ price: undefined }))).toBe("");
    expect(codeWith(sale, exit({ priceAgeMs: 10_001 }))).toBe("");
    expect(codeWith(sale, exit({ priceAgeMs: Number.NaN }))).toBe("");
  });

  test("must fit a decimal", () => {
    const price: Spoil = ({ view }) => Object.assign(view, { price: d("10000000000") });
    const at = { limit_price: "10000000000" };
    expect(codeWith({ ...at, quantity: "9999999999" }, price)).toBe("NOTIONAL_ABOVE_MAX");
    expect(codeWith({ ...at, quantity: "10000000000" }, price)).toBe("SCHEMA_NOTIONAL_OVERFLOW");
  });
});

describe("times", () => {
  test("created_at may lie 5 minutes ahead and 24 hours back, not a microsecond more", () => {
    expect(codeWith({ created_at: "2026-11-16T15:05:00Z" })).toBe("");
    expect(codeWith({ created_at: "2026-11-16T15:05:00.000001Z" })).toBe("SCHEMA_CREATED_AT_IMPLAUSIBLE");
    expect(codeWith({ created_at: "2026-11-15T15:00:00Z" })).toBe("");
    expect(codeWith({ created_at: "2026-11-15T14:59:59.999999Z" })).toBe("SCHEMA_CREATED_AT_IMPLAUSIBLE");
    expect(codeWith({ created_at: "2026-11-16T16:00:00+01:00" })).toBe("");
    expect(codeWith({ created_at: "yesterday" })).toBe("SCHEMA_FIELD_INVALID");
  });

  test("an amendment may speak of an order that was made days ago", () => {
    const amends: Spoil = ({ view }) => Object.assign(view, { amends: true });
    expect(codeWith({ created_at: "2026-11-10T15:00:00Z" }, amends)).toBe("");
    expect(codeWith({ created_at: "2026-11-17T15:00:00Z" }, amends)).toBe("SCHEMA_CREATED_AT_IMPLAUSIBLE");
  });

  test("a GTD order ends in the future, and no other order has an end", () => {
    expect(codeWith({ tif: "GTD", expires_at: "2026-11-16T15:00:00.000001Z" })).toBe("");
    expect(codeWith({ tif: "GTD", expires_at: "2026-11-16T15:00:00Z" })).toBe("SCHEMA_EXPIRY_INVALID");
    expect(codeWith({ tif: "GTD" })).toBe("SCHEMA_EXPIRY_INVALID");
    expect(codeWith({ tif: "GTD", expires_at: "soon" })).toBe("SCHEMA_FIELD_INVALID");
    expect(codeWith({ tif: "DAY", expires_at: "2026-11-17T15:00:00Z" })).toBe("SCHEMA_EXPIRY_INVALID");
  });
});

describe("trap: reduce_only is a claim", () => {
  const claimed = (quantity: string, changes: object) =>
    codeWith({ side: "SELL", quantity, reduce_only: true }, ({ view }) => Object.assign(view, changes));
  const unproven = "SCHEMA_REDUCE_ONLY_UNPROVEN";
  test("from flat", () => expect(claimed("10", {})).toBe(unproven));
  test("equal", () => expect(claimed("10", { position: d("10") })).toBe(""));
  test("oversize by one lot", () => expect(claimed("11", { position: d("10") })).toBe(unproven));
  test("two concurrent closes", () => {
    expect(claimed("10", { position: d("10"), pendingSell: d("10") })).toBe(unproven);
    expect(claimed("5", { position: d("10"), pendingSell: d("5") })).toBe("");
    expect(claimed("6", { position: d("10"), pendingSell: d("5") })).toBe(unproven);
  });
  test("a denial tells what other orders may close first", () => {
    const claim = (side: string, changes: object) =>
      judge(({ order, view }) => {
        Object.assign(order, { side, quantity: "6", reduce_only: true });
        Object.assign(view, changes);
      });
    const sale = claim("SELL", { position: d("10"), pendingSell: d("5") });
    expect(sale.figures.get("pending_sell")).toBe("5");
    expect(sale.reason).toContain(
      "a position of 10 only, of which other open orders may sell 5, but of it 5 could close",
    );
    const purchase = claim("BUY", { position: d("-10"), pendingBuy: d("7") });
    expect(purchase.figures.get("pending_buy")).toBe("7");
    expect(purchase.reason).toContain("may buy back 7");
    expect(claim("BUY", { position: d("10"), pendingBuy: d("7") }).reason).not.toContain("other open orders");
  });
  test("a claim of false is no claim", () => expect(codeWith({ reduce_only: false })).toBe(""));
});

test.each([
  ["another", "is open with another fund, strategy, symbol or side."],
  ["ended", "has ended, or only waits for its last fills"],
  ["unapproved", "the risk officer has not answered"],
] as const)("an amendment that is refused says why: %s", (amendRefusal, words) => {
  const { code, reason } = judge(({ view }) =>
    Object.assign(view, { amends: true, amendsAnother: true, amendRefusal }),
  );
  expect(code).toBe("SCHEMA_AMENDMENT_MISMATCH");
  expect(reason).toContain(words);
});

test(`whatever stands in an order, the gates answer and never approve nonsense (seed ${seed})`, () => {
  const field = fc.constantFrom(...(Object.keys(orderRecord.shape) as (keyof Order)[]));
  fc.assert(
    fc.property(field, fc.anything(), (name, value) => {
      const outcome = judge((draft) => Object.assign(draft.order, { [name]: value }));
      const record = { ...passingDraft().order, [name]: value };
      if (outcome.approved) expect(orderRecord.safeParse(record).success).toBe(true);
      else expect(outcome.reason.length).toBeLessThan(400);
    }),
    { seed, numRuns: inputCount(500) },
  );
});

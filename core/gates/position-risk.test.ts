// Gate 4: each limit at its edge, the worst case over pending orders, and a naive model that tries every way the orders can fill.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";
import { type Exact, product, toExact } from "../money/exact.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const usd = (text: string): Exact => toExact(product(d(text), d("1")));

function codeWith(order: object, view: object = {}, more: Spoil = () => undefined): string {
  const spoil: Spoil = (draft) => {
    Object.assign(draft.order, order);
    Object.assign(draft.view, view);
    more(draft);
  };
  return judge(spoil).code;
}

describe("invariant 4: exactly at a limit passes", () => {
  // The order is worth 20,000; the fund is worth 10,000,000.
  test("position", () => {
    expect(codeWith({}, { position: d("3400") })).toBe("");
    expect(codeWith({}, { position: d("3401") })).toBe("POSITION_LIMIT_EXCEEDED");
    expect(codeWith({ side: "SELL_SHORT" }, { position: d("-3400") })).toBe("");
    expect(codeWith({ side: "SELL_SHORT" }, { position: d("-3401") })).toBe("POSITION_LIMIT_EXCEEDED");
  });
  test("gross", () => {
    expect(codeWith({}, { grossOthers: usd("14980000") })).toBe("");
    expect(codeWith({}, { grossOthers: (usd("14980000") + 1n) as Exact })).toBe("GROSS_EXPOSURE_EXCEEDED");
  });
  test("net, long and short", () => {
    expect(codeWith({}, { netHighOthers: usd("9980000"), netLowOthers: usd("9980000") })).toBe("");
    expect(codeWith({}, { netHighOthers: usd("9980000.01") })).toBe("NET_EXPOSURE_EXCEEDED");
    expect(codeWith({ side: "SELL_SHORT" }, { netLowOthers: usd("-9980000") })).toBe("");
    expect(codeWith({ side: "SELL_SHORT" }, { netLowOthers: usd("-9980000.01") })).toBe("NET_EXPOSURE_EXCEEDED");
  });
  test("sector; a sector that is not named has no limit of its own", () => {
    expect(codeWith({}, { sectorOthers: usd("3980000") })).toBe("");
    expect(codeWith({}, { sectorOthers: usd("3980000.01") })).toBe("SECTOR_LIMIT_EXCEEDED");
    const energy: Spoil = ({ instrument }) => Object.assign(instrument, { sector: "Energy" });
    expect(codeWith({}, { sectorOthers: usd("9000000") }, energy)).toBe("");
  });
});

describe("invariant 1, trap: pending buys are never netted with pending sells", () => {
  test("the worse end counts", () => {
    expect(codeWith({}, { pendingBuy: d("3400"), pendingSell: d("3400") })).toBe("");
    expect(codeWith({}, { pendingBuy: d("3401"), pendingSell: d("3401") })).toBe("POSITION_LIMIT_EXCEEDED");
    expect(codeWith({}, { pendingSell: d("3501") })).toBe("POSITION_LIMIT_EXCEEDED");
  });
  test("net exposure has two ends as well", () => {
    const others = { netHighOthers: usd("9990000"), netLowOthers: usd("-9990000") };
    expect(codeWith({ quantity: "50" }, others)).toBe("");
    expect(codeWith({ quantity: "51" }, others)).toBe("NET_EXPOSURE_EXCEEDED");
    expect(codeWith({ quantity: "51", side: "SELL_SHORT" }, others)).toBe("NET_EXPOSURE_EXCEEDED");
  });
});

test("trap: what was approved counts from that moment: two orders that fit alone do not fit together", () => {
  expect(codeWith({ quantity: "1250" }, { position: d("2250") })).toBe("");
  expect(codeWith({ quantity: "1250" }, { position: d("2250"), pendingBuy: d("1250") })).toBe(
    "POSITION_LIMIT_EXCEEDED",
  );
});

describe("invariant 2: what the order opens counts at its own worst price", () => {
  test("a limit above the market", () => {
    expect(codeWith({ limit_price: "210", quantity: "100" }, { position: d("3395") })).toBe("");
    expect(codeWith({ limit_price: "210", quantity: "100" }, { position: d("3396") })).toBe("POSITION_LIMIT_EXCEEDED");
  });
  test("a market order, with the collar", () => {
    const market = { order_type: "MARKET", limit_price: undefined };
    expect(codeWith(market, { position: d("3395") })).toBe("");
    expect(codeWith(market, { position: d("3396") })).toBe("POSITION_LIMIT_EXCEEDED");
    expect(codeWith({ ...market, side: "SELL_SHORT" }, { position: d("-3395") })).toBe("");
    expect(codeWith({ ...market, side: "SELL_SHORT" }, { position: d("-3396") })).toBe("POSITION_LIMIT_EXCEEDED");
  });
  test("trap: of a flip only the opening part is new, and the position that results is judged", () => {
    const flip = { side: "SELL", quantity: "4500" };
    const wide: Spoil = ({ envelope }) => Object.assign(envelope, { max_notional: 10_000_000, strict_sides: false });
    expect(codeWith(flip, { position: d("1000") }, wide)).toBe("");
    expect(codeWith(flip, { position: d("999") }, wide)).toBe("POSITION_LIMIT_EXCEEDED");
  });
  test("what a flip closes is not valued at its own price", () => {
    // 100 closes and 1,000 opens: 1,000 at the mark of 200, and the collar of 10 on top of each.
    const outcome = judge(({ order, view }) => {
      Object.assign(order, { side: "SELL", quantity: "1100", order_type: "MARKET", limit_price: undefined });
      view.position = d("100");
    });
    expect(outcome.shares.get("max_position_pct")?.[0]).toBe(usd("210000"));
  });
  test("trap: short from flat is exposure", () => {
    const wide: Spoil = ({ envelope }) => Object.assign(envelope, { max_notional: 10_000_000 });
    expect(codeWith({ side: "SELL_SHORT", quantity: "3500" }, {}, wide)).toBe("");
    expect(codeWith({ side: "SELL_SHORT", quantity: "3501" }, {}, wide)).toBe("POSITION_LIMIT_EXCEEDED");
  });
  test("multiplier and exchange rate", () => {
    const option: Spoil = ({ instrument, view, order }) => {
      Object.assign(instrument, { multiplier: d("100") });
      Object.assign(view, { price: d("2"), fundCurrency: "EUR", fxRate: d("0.5"), fxAgeMs: 0 });
      order.limit_price = "2";
    };
    expect(codeWith({}, { position: d("6900") }, option)).toBe("");
    expect(codeWith({}, { position: d("6901") }, option)).toBe("POSITION_LIMIT_EXCEEDED");
  });
});

describe("invariant 3, trap: an amendment counts as the larger of old and new", () => {
  const amended = (quantity: string, changes: object) => codeWith({ quantity }, { amends: true, ...changes });
  test("upwards the new quantity counts", () => {
    const own = { position: d("2500"), ownFilled: d("100"), ownRemaining: d("100") };
    expect(amended("1100", own)).toBe("");
    expect(amended("1101", own)).toBe("POSITION_LIMIT_EXCEEDED");
  });
  test("downwards the old one still may fill", () => {
    expect(amended("1", { position: d("2500"), ownRemaining: d("1000") })).toBe("");
    expect(amended("1", { position: d("2500"), ownRemaining: d("1001") })).toBe("POSITION_LIMIT_EXCEEDED");
  });
});

describe("trap: missing is denied, never unlimited", () => {
  test("ages at their edge", () => {
    expect(codeWith({}, { navAgeMs: 60_000 })).toBe("");
    expect(codeWith({}, { navAgeMs: 60_000.001 })).toBe("NAV_STALE");
    expect(codeWith({}, { navAgeMs: Number.NaN })).toBe("NAV_STALE");
    expect(codeWith({}, { oldestPriceAgeMs: 10_000 })).toBe("");
    expect(codeWith({}, { oldestPriceAgeMs: 10_000.001 })).toBe("MARK_STALE");
    expect(codeWith({}, { oldestPriceAgeMs: Number.NaN })).toBe("MARK_STALE");
  });
  test("a NAV of zero or below allows nothing", () => {
    expect(codeWith({}, { nav: d("0") })).toBe("NAV_NOT_POSITIVE");
    expect(codeWith({}, { nav: d("-1") })).toBe("NAV_NOT_POSITIVE");
  });
  test("one position without a price is enough", () => {
    const outcome = judge(({ view }) => Object.assign(view, { unpricedSymbol: "MSFT" }));
    expect(outcome.code).toBe("MARK_MISSING");
    expect(outcome.reason).toContain("MSFT");
  });
  test("one position without a fresh exchange rate is enough, and it is the rate that is named", () => {
    const old = judge(({ view }) =>
      Object.assign(view, { unpricedSymbol: "SAP", unpricedRate: "old", unpricedRateAgeMs: 7_200_000 }),
    );
    expect(old).toMatchObject({ code: "FX_RATE_STALE", gate: "position_risk" });
    expect(old.reason).toBe(
      '"SAP" is held or ordered, and the rate from its currency into USD is 7200.0 s old; 3600.0 s is the most.',
    );
    expect(old.ages.get("fx_rate")).toBe(7_200_000);
    const missing = judge(({ view }) => Object.assign(view, { unpricedSymbol: "SAP", unpricedRate: "missing" }));
    expect(missing).toMatchObject({ code: "FX_RATE_MISSING", gate: "position_risk" });
    expect(missing.reason).toContain('"SAP"');
  });
});

test("a denial names the figures of its case", () => {
  const { reason } = judge(({ view }) => Object.assign(view, { position: d("3401") }));
  expect(reason).toBe('The position in "AAPL" could reach 700,200.00 USD, 7.01 % of NAV; 7 % is the most.');
});

test("shares are reported for every limit, also the sector's by its name", () => {
  const { shares, ages } = judge(() => undefined);
  expect([...shares.keys()]).toEqual([
    "max_notional",
    "max_position_pct",
    "max_gross_exposure_pct",
    "max_net_exposure_pct",
    "sector_limits_pct.Technology",
  ]);
  expect(shares.get("max_position_pct")).toEqual([usd("20000"), usd("700000")]);
  expect(ages.get("nav")).toBe(1_000);
});

const quantity = fc.integer({ min: 0, max: 4_000 });
const signed = fc.integer({ min: -4_000, max: 4_000 });

test(`trap: a proven reduction is never denied here, however far above the limits the fund is (seed ${seed})`, () => {
  fc.assert(
    fc.property(signed, quantity, quantity, fc.integer({ min: 1, max: 4_000 }), (position, buys, sells, size) => {
      const spoil: Spoil = ({ order, view, envelope }) => {
        Object.assign(order, { side: position > 0 ? "SELL" : "BUY", quantity: String(size) });
        envelope.max_notional = 1_000_000_000;
        Object.assign(view, {
          position: d(String(position)),
          pendingBuy: d(String(buys)),
          pendingSell: d(String(sells)),
        });
        Object.assign(view, { nav: undefined, grossOthers: usd("99999999"), netHighOthers: usd("99999999") });
        Object.assign(envelope, { max_position_pct: 0, max_gross_exposure_pct: 0, max_net_exposure_pct: 0 });
      };
      const outcome = judge(spoil);
      if (outcome.view.classification === "REDUCE") expect(outcome.code).toBe("");
      else expect(outcome.approved).toBe(false);
    }),
    { seed, numRuns: inputCount(500) },
  );
});

test(`an approved order exceeds no limit, whichever orders fill; a denied one could (seed ${seed})`, () => {
  const arbitrary = fc.record({
    position: signed,
    buys: quantity,
    sells: quantity,
    size: fc.integer({ min: 1, max: 4_000 }),
  });
  fc.assert(
    fc.property(arbitrary, fc.constantFrom("BUY", "SELL"), ({ position, buys, sells, size }, side) => {
      const outcome = judge(({ order, view, envelope }) => {
        Object.assign(order, { side, quantity: String(size) });
        Object.assign(view, {
          position: d(String(position)),
          pendingBuy: d(String(buys)),
          pendingSell: d(String(sells)),
        });
        Object.assign(envelope, { max_notional: 1_000_000_000, strict_sides: false });
      });
      if (outcome.view.classification === "REDUCE") return;
      const own = side === "BUY" ? size : -size;
      const ends = [0, buys].flatMap((bought) =>
        [0, sells].flatMap((sold) => [0, own].map((mine) => Math.abs(position + bought - sold + mine) * 200)),
      );
      expect(outcome.code).toBe(Math.max(...ends) > 700_000 ? "POSITION_LIMIT_EXCEEDED" : "");
    }),
    { seed, numRuns: inputCount(500) },
  );
});

test(`once a quantity is denied, every larger one is (seed ${seed})`, () => {
  const size = fc.integer({ min: 1, max: 8_000 });
  fc.assert(
    fc.property(signed, size, size, fc.constantFrom("BUY", "SELL"), (position, a, b, side) => {
      const denied = (wanted: number) => {
        const wide: Spoil = ({ envelope }) =>
          Object.assign(envelope, { max_notional: 1_000_000_000, strict_sides: false });
        return codeWith({ side, quantity: String(wanted) }, { position: d(String(position)) }, wide) !== "";
      };
      // A reduction passes above the limits, so quantities are compared from where new risk begins.
      const closing = (side === "BUY") === position < 0 ? Math.abs(position) : 0;
      const [smaller, larger] = a < b ? [a, b] : [b, a];
      if (smaller > closing && denied(smaller)) expect(denied(larger)).toBe(true);
    }),
    { seed, numRuns: inputCount(500) },
  );
});

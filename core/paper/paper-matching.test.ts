// Matching keeps its invariants for thousands of random orders and quotes, and does by hand what the rules say.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { OrderType, Side, Tif } from "../../contracts/src/records/values.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { feeOf } from "./paper-fees.ts";
import {
  isBuy,
  isOpenState,
  type MatchingQuote,
  type MatchingStep,
  matchQuote,
  type PaperOrder,
  type PaperTerms,
} from "./paper-matching.ts";
import type { PaperPosition } from "./paper-positions.ts";

const q = decimal.parse;
const terms: PaperTerms = { assetClass: "EQUITY", currency: "USD", lotSize: q("1") };
const at = (n: number) => (n * 1_000_000) as Instant;

function order(arrival: number, over: Partial<PaperOrder> = {}): PaperOrder {
  return {
    clientOrderId: `order-${arrival}`,
    brokerOrderId: `P${arrival}`,
    account: "alpha",
    symbol: "AAPL",
    side: "BUY",
    quantity: q("100"),
    orderType: "MARKET",
    tif: "GTC",
    reduceOnly: false,
    arrival,
    eligibleAt: at(0),
    triggered: false,
    state: "WORKING",
    filledQuantity: decimal.zero,
    executionCount: 0,
    updatedAt: at(0),
    ...over,
  };
}

const limit = (arrival: number, price: string, over: Partial<PaperOrder> = {}): PaperOrder =>
  order(arrival, { orderType: "LIMIT", limitPrice: q(price), ...over });
const quote = (bid: string, ask: string, size?: string, second = 1): MatchingQuote => ({
  symbol: "AAPL",
  bid: q(bid),
  ask: q(ask),
  at: at(second),
  ...(size !== undefined && { bidSize: q(size), askSize: q(size) }),
});
const held = (quantity: string): ReadonlyMap<string, PaperPosition> =>
  new Map([["alpha", { account: "alpha", symbol: "AAPL", quantity: q(quantity), averagePrice: q("40") }]]);

/** What happened, as text: "1 FILLED 100@50". */
function stepTexts(steps: readonly MatchingStep[]): readonly string[] {
  return steps.map(({ order: { arrival, state }, execution }) => {
    const trade =
      execution === undefined ? "" : ` ${decimal.format(execution.quantity)}@${decimal.format(execution.price)}`;
    return `${arrival} ${state}${trade}`;
  });
}

describe("matching", () => {
  it("invariant 4: the better price goes first, then who came first, and the quote's size ends it", () => {
    const orders = [limit(1, "50"), limit(2, "51"), limit(3, "51"), order(4, { quantity: q("30") })];
    expect(stepTexts(matchQuote(orders, quote("49", "50", "180"), new Map(), terms).steps)).toEqual([
      "4 FILLED 30@50",
      "2 FILLED 100@50",
      "3 PARTIALLY_FILLED 50@50",
    ]);
  });

  it("invariant 1: limits hold on both sides, and a better price is given", () => {
    const orders = [
      limit(1, "49.99"),
      limit(2, "55"),
      limit(3, "49", { side: "SELL" }),
      limit(4, "49.5", { side: "SELL" }),
    ];
    expect(stepTexts(matchQuote(orders, quote("49", "50"), new Map(), terms).steps)).toEqual([
      "2 FILLED 100@50",
      "3 FILLED 100@49",
    ]);
  });

  it("stops wait until they are touched, then trade at the market or at their limit", () => {
    const buy = order(1, { orderType: "STOP", stopPrice: q("50") });
    const sell = order(2, { side: "SELL", orderType: "STOP", stopPrice: q("48") });
    const limited = order(3, { side: "SELL", orderType: "STOP_LIMIT", stopPrice: q("48"), limitPrice: q("47.9") });
    expect(matchQuote([buy, sell, limited], quote("48.5", "49.5"), new Map(), terms)).toMatchObject({
      steps: [],
      touched: [],
    });
    const fallen = matchQuote([buy, sell, limited], quote("47", "47.1"), new Map(), terms);
    expect(stepTexts(fallen.steps)).toEqual(["2 FILLED 100@47"]);
    expect(fallen.touched).toMatchObject([{ arrival: 3, triggered: true }]);
    expect(stepTexts(matchQuote(fallen.touched, quote("48", "48.1"), new Map(), terms).steps)).toEqual([
      "3 FILLED 100@48",
    ]);
  });

  it("invariant 3: fill-or-kill is all or nothing, immediate-or-cancel does not rest", () => {
    const few = quote("49", "50", "60");
    expect(stepTexts(matchQuote([order(1, { tif: "FOK" })], few, new Map(), terms).steps)).toEqual(["1 CANCELLED"]);
    expect(stepTexts(matchQuote([order(1, { tif: "FOK", quantity: q("60") })], few, new Map(), terms).steps)).toEqual([
      "1 FILLED 60@50",
    ]);
    expect(stepTexts(matchQuote([order(1, { tif: "IOC" })], few, new Map(), terms).steps)).toEqual([
      "1 PARTIALLY_FILLED 60@50",
      "1 CANCELLED",
    ]);
    expect(stepTexts(matchQuote([limit(1, "49", { tif: "IOC" })], few, new Map(), terms).steps)).toEqual([
      "1 CANCELLED",
    ]);
  });

  it("invariant 5: reduce-only trades what there is to reduce and then ends", () => {
    const exit = order(1, { side: "SELL", reduceOnly: true });
    const late = order(2, { side: "SELL", reduceOnly: true });
    const matched = matchQuote([exit, late], quote("49", "50"), held("70"), terms);
    expect(stepTexts(matched.steps)).toEqual(["1 PARTIALLY_FILLED 70@49", "1 CANCELLED", "2 CANCELLED"]);
    expect(matched.positions.get("alpha")).toMatchObject({ quantity: decimal.zero, averagePrice: decimal.zero });
    expect(stepTexts(matchQuote([order(1, { reduceOnly: true })], quote("49", "50"), held("70"), terms).steps)).toEqual(
      ["1 CANCELLED"],
    );
  });

  it("invariant 6: no price from before the order, none at or after its end", () => {
    const young = order(1, { eligibleAt: at(2) });
    expect(matchQuote([young], quote("49", "50", "500", 1), new Map(), terms).steps).toEqual([]);
    expect(stepTexts(matchQuote([young], quote("49", "50", "500", 2), new Map(), terms).steps)).toEqual([
      "1 FILLED 100@50",
    ]);
    const old = order(1, { tif: "DAY", expiresAt: at(2) });
    expect(stepTexts(matchQuote([old], quote("49", "50", "500", 2), new Map(), terms).steps)).toEqual(["1 EXPIRED"]);
  });

  it("a crossed quote is nobody's price", () => {
    expect(matchQuote([order(1)], quote("51", "50"), new Map(), terms).steps).toEqual([]);
  });

  it("charges by the table, in whole cents", () => {
    expect(decimal.format(feeOf("EQUITY", q("101"), q("232.5")))).toBe("0.51");
    expect(decimal.format(feeOf("CRYPTO", q("0.001"), q("91000")))).toBe("0.1");
    expect(decimal.format(feeOf("OPTION", q("4"), q("31.4")))).toBe("2.6");
  });
});

const seed = 60_211;

it(`keeps every invariant over ${inputCount(500)} random rounds, and twice the same (seed ${seed})`, () => {
  expect(randomLife()).toEqual(randomLife());
});

/** Orders come and go on a random walk of quotes; what every round says is judged, and what was said is handed back. */
function randomLife(): readonly string[] {
  const roll = prng(seed);
  const pick = <One>(from: readonly One[]): One => from[roll.below(from.length)] as One;
  const whole = (low: number, high: number): number => low + roll.below(high - low + 1);
  const sides: readonly Side[] = ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"];
  const types: readonly OrderType[] = ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"];
  const tifs: readonly Tif[] = ["DAY", "GTC", "IOC", "FOK", "GTD"];
  let open: PaperOrder[] = [];
  let positions = new Map<string, PaperPosition>();
  const lines: string[] = [];
  let arrivals = 0;
  for (let round = 1; round <= inputCount(500); round += 1) {
    for (let n = whole(0, 2); n > 0; n -= 1) {
      const cents = () => q(String(whole(4_900, 5_100) / 100));
      const tif = pick(tifs);
      arrivals += 1;
      open.push(
        order(arrivals, {
          account: pick(["alpha", "beta"]),
          side: pick(sides),
          orderType: pick(types),
          quantity: q(String(whole(1, 300))),
          limitPrice: cents(),
          stopPrice: cents(),
          tif,
          reduceOnly: roll.chance(0.2),
          ...((tif === "DAY" || tif === "GTD") && { expiresAt: at(round + whole(1, 20)) }),
        }),
      );
    }
    const bid = whole(4_900, 5_098);
    const shown = quote(String(bid / 100), String((bid + whole(0, 4)) / 100), String(whole(0, 400)), round);
    const matched = matchQuote(open, shown, positions, terms);
    judge(open, shown, positions, matched.steps);
    lines.push(...stepTexts(matched.steps));
    const changed = new Map(
      [...matched.touched, ...matched.steps.map((step) => step.order)].map((one) => [one.clientOrderId, one]),
    );
    open = open.map((one) => changed.get(one.clientOrderId) ?? one).filter(({ state }) => isOpenState(state));
    positions = new Map([...positions, ...matched.positions]);
  }
  expect(lines.filter((line) => line.includes("@")).length).toBeGreaterThan(inputCount(500) * 0.4);
  return lines;
}

function judge(
  before: readonly PaperOrder[],
  shown: MatchingQuote,
  positions: ReadonlyMap<string, PaperPosition>,
  steps: readonly MatchingStep[],
): void {
  const used = { BUY: decimal.zero, SELL: decimal.zero };
  const held = new Map([...positions].map(([account, { quantity }]) => [account, quantity]));
  const last: { BUY?: PaperOrder; SELL?: PaperOrder } = {};
  const began = new Map(before.map((one) => [one.clientOrderId, one]));
  for (const { order: after, execution } of steps) {
    expect(after.filledQuantity <= after.quantity).toBe(true);
    if (execution === undefined) continue;
    const buys = isBuy(after.side);
    const price = buys ? shown.ask : shown.bid;
    expect(execution.price).toBe(price);
    const isLimited = after.orderType === "LIMIT" || after.orderType === "STOP_LIMIT";
    if (isLimited && after.limitPrice !== undefined) {
      expect(buys ? price <= after.limitPrice : price >= after.limitPrice, "within its limit").toBe(true);
    }
    if (after.orderType === "STOP" || after.orderType === "STOP_LIMIT") expect(after.triggered).toBe(true);
    if (after.tif === "FOK") expect(execution.quantity).toBe(after.quantity);
    const side = buys ? "BUY" : "SELL";
    expect(last[side] === undefined || goesBefore(last[side], after), "in its turn").toBe(true);
    last[side] = after;
    used[side] = decimal.add(used[side], execution.quantity);
    const had = held.get(after.account) ?? decimal.zero;
    const has = decimal.add(had, buys ? execution.quantity : decimal.negate(execution.quantity));
    if (after.reduceOnly) {
      expect(decimal.abs(has) < decimal.abs(had) && decimal.sign(has) * decimal.sign(had) >= 0, "only less").toBe(true);
    }
    held.set(after.account, has);
    const started = began.get(after.clientOrderId);
    expect(started !== undefined && started.eligibleAt <= shown.at).toBe(true);
    expect(started?.expiresAt === undefined || started.expiresAt > shown.at).toBe(true);
  }
  expect(used.BUY <= (shown.askSize ?? used.BUY) && used.SELL <= (shown.bidSize ?? used.SELL)).toBe(true);
}

/** Written once more, so that the rule is not its own witness. */
function goesBefore(first: PaperOrder, second: PaperOrder): boolean {
  const price = ({ orderType, limitPrice = decimal.zero, side }: PaperOrder): decimal.Decimal => {
    if (orderType === "MARKET" || orderType === "STOP") return decimal.largest;
    return isBuy(side) ? limitPrice : decimal.negate(limitPrice);
  };
  return price(first) > price(second) || (price(first) === price(second) && first.arrival < second.arrival);
}

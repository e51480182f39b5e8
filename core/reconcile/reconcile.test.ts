// What a comparison finds, what explains it, and what a look makes of what earlier looks saw; each invariant by its number.
import { describe, expect, it } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import {
  adjustmentFor,
  classify,
  compareHoldings,
  type Evidence,
  judgeLook,
  type KnownDifference,
  looksMax,
  type OrderGap,
} from "./reconcile.ts";

const at = (second: number): Instant => (second * 1_000_000) as Instant;
const holdings = (of: Record<string, string>) => new Map(Object.entries(of).map(([symbol, text]) => [symbol, d(text)]));

it("1: compares the union of both sides", () => {
  const found = compareHoldings(holdings({ AAPL: "10", MSFT: "5", XOM: "0" }), holdings({ MSFT: "5", SPY: "-3" }));
  expect(found).toEqual([
    { symbol: "AAPL", ours: d("10"), brokers: d("0") },
    { symbol: "SPY", ours: d("0"), brokers: d("-3") },
  ]);
});

describe("the class", () => {
  const mismatch = { symbol: "AAPL", ours: d("100"), brokers: d("130") };
  const gap = (known: OrderGap["known"], quantity = "30"): OrderGap => ({ orderId: "o", known, gap: d(quantity) });
  const none: Evidence = { gaps: [], booked: [], isWhole: true };
  const classOf = (evidence: Partial<Evidence>): string => classify(mismatch, { ...none, ...evidence }).class;

  it.each([
    ["LOST_FILL", { gaps: [gap("open")] }],
    ["CANCELLATION_RACE", { gaps: [gap("ended")] }],
    ["OFF_SYSTEM_TRADE", { gaps: [gap("nobody")] }],
    ["OFF_SYSTEM_TRADE", {}],
    ["BROKER_LAG", { booked: [{ orderId: "o", quantity: d("-30"), at: at(9) }] }],
    ["UNKNOWN", { isWhole: false }],
  ] as const)("is %s when that explains it all", (expected, evidence) => {
    expect(classOf(evidence)).toBe(expected);
    expect(classify(mismatch, { ...none, ...evidence }).evidence).toContain("We have 100 AAPL, the broker has 130");
  });

  it("7: is UNKNOWN when the evidence explains a part only", () => {
    expect(classOf({ gaps: [gap("open", "29")] })).toBe("UNKNOWN");
    expect(classOf({ isWhole: false, booked: [{ orderId: "o", quantity: d("-29"), at: at(9) }] })).toBe("UNKNOWN");
  });

  it("adds orders and trades up", () => {
    expect(classOf({ gaps: [gap("open", "50"), gap("ended", "-20")] })).toBe("CANCELLATION_RACE");
    const trade = (quantity: string) => ({ orderId: "o", quantity: d(quantity), at: at(9) });
    expect(classOf({ booked: [trade("-50"), trade("20"), trade("7")] })).toBe("BROKER_LAG");
  });
});

describe("a look", () => {
  const known: KnownDifference = {
    status: "SUSPECTED",
    looks: 1,
    ours: d("100"),
    brokers: d("130"),
    brokerAsOf: at(1),
    isAdjusting: false,
  };
  const look = (ours: string, brokers: string, second = 2) =>
    ({ ours: d(ours), brokers: d(brokers), brokerAsOf: at(second) }) as const;

  it("2: suspects at first and never more", () => {
    expect(judgeLook(undefined, look("1", "1"))).toEqual({ verdict: "nothing" });
    expect(judgeLook(undefined, look("1", "2"))).toEqual({ verdict: "suspect" });
  });

  it("2: an answer that is no newer says nothing, neither for nor against", () => {
    expect(judgeLook(known, look("100", "130", 1))).toMatchObject({ verdict: "stay", mayCorrect: false });
    expect(judgeLook(known, look("130", "130", 1))).toMatchObject({ verdict: "stay" });
  });

  it("3: confirms the same difference, clears none, and neither with another", () => {
    expect(judgeLook(known, look("100", "130"))).toEqual({ verdict: "confirm", mayCorrect: true });
    expect(judgeLook(known, look("110", "140"))).toEqual({ verdict: "confirm", mayCorrect: false });
    expect(judgeLook(known, look("130", "130"))).toEqual({ verdict: "clear" });
    // Whoever asks at once again has not waited for it.
    expect(judgeLook(known, look("100", "130"), 10_000)).toEqual({ verdict: "early" });
    expect(judgeLook({ ...known, status: "CONFIRMED" }, look("100", "130"), 10_000)).toEqual({ verdict: "early" });
    expect(judgeLook(known, look("130", "130"), 10_000)).toEqual({ verdict: "clear" });
    expect(judgeLook(known, look("100", "131"))).toMatchObject({ verdict: "stay", isStuck: false });
  });

  it("4: is stuck once, after many looks", () => {
    const stuck = (looks: number) => judgeLook({ ...known, looks }, look("100", "131"));
    expect(stuck(looksMax - 2)).toMatchObject({ isStuck: false });
    expect(stuck(looksMax - 1)).toMatchObject({ isStuck: true });
    expect(stuck(looksMax)).toMatchObject({ isStuck: false });
  });

  it("5, 6: a confirmed one stays until both sides are equal, and is corrected only on two agreeing answers", () => {
    const confirmed: KnownDifference = { ...known, status: "CONFIRMED" };
    expect(judgeLook(confirmed, look("100", "130"))).toEqual({ verdict: "stay", isStuck: false, mayCorrect: true });
    expect(judgeLook(confirmed, look("101", "131"))).toEqual({ verdict: "stay", isStuck: false, mayCorrect: false });
    expect(judgeLook(confirmed, look("100", "131"))).toEqual({ verdict: "change" });
    expect(judgeLook(confirmed, look("101", "130"))).toEqual({ verdict: "change" });
    expect(judgeLook(confirmed, look("7", "7"))).toEqual({ verdict: "clear" });
    expect(judgeLook({ ...confirmed, isAdjusting: true }, look("130", "130"))).toEqual({ verdict: "corrected" });
  });
});

it("sets the position of whoever the evidence names, else of who holds most, else of the first strategy", () => {
  const mismatch = { symbol: "AAPL", ours: d("70"), brokers: d("100") };
  const held = [
    { strategyId: "a", quantity: d("-30"), averagePrice: d("10") },
    { strategyId: "b", quantity: d("100"), averagePrice: d("20") },
  ];
  const fallback = { strategyId: "first", brokerPrice: d("15") };
  expect(adjustmentFor(mismatch, held, [], fallback)).toEqual({
    strategyId: "b",
    from: d("100"),
    to: d("130"),
    price: d("15"),
  });
  const gaps: OrderGap[] = [{ orderId: "o", known: "open", strategyId: "a", gap: d("30"), price: d("12") }];
  expect(adjustmentFor(mismatch, held, gaps, fallback)).toEqual({
    strategyId: "a",
    from: d("-30"),
    to: d("0"),
    price: d("12"),
  });
  const flat = adjustmentFor({ symbol: "AAPL", ours: d("0"), brokers: d("-3") }, [], [], fallback);
  expect(flat).toEqual({ strategyId: "first", from: d("0"), to: d("-3"), price: d("15") });
  expect(adjustmentFor(mismatch, [], [], { strategyId: "first", brokerPrice: d("0") })).toBeUndefined();
});

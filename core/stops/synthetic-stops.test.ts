// When stops fire, what bad quotes do, and what a stop that fired does next; each invariant by its number.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Decimal, parse as d } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { attemptPauseMs, judgeStop, nextOwedStep, type OwedFacts, triggerPrice } from "./synthetic-stops.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const now = 1_800_000_000_000_000 as Instant;
const pct = d("0.05");
const long = { quantity: d("100"), basisPrice: d("200") };
const short = { quantity: d("-100"), basisPrice: d("200") };
const quote = (bid: string, ask: string, ageMs = 0) => ({
  bid: d(bid),
  ask: d(ask),
  at: (now - ageMs * 1_000) as Instant,
});
const stateOf = (position: typeof long, ...given: Parameters<typeof quote>): string =>
  judgeStop(position, pct, quote(...given), now, 15_000).state;

describe("the trigger", () => {
  it("lies a fraction below the average entry of a long position and above that of a short one", () => {
    expect(triggerPrice(long, pct)).toBe(d("190"));
    expect(triggerPrice(short, pct)).toBe(d("210"));
  });

  it("is one for the whole opening, not one per lot: 100 at 100 and 100 at 300 are watched at 200", () => {
    expect(stateOf({ quantity: d("200"), basisPrice: d("200") }, "280", "281")).toBe("RESTING");
    expect(stateOf({ quantity: d("200"), basisPrice: d("200") }, "190", "191")).toBe("FIRES");
  });

  it("1, 2: is compared with the bid for longs and the ask for shorts, and reached is crossed", () => {
    expect(stateOf(long, "190.01", "191")).toBe("RESTING");
    expect(stateOf(long, "190", "300")).toBe("FIRES");
    expect(stateOf(long, "120", "300")).toBe("FIRES");
    expect(stateOf(short, "100", "209.99")).toBe("RESTING");
    expect(stateOf(short, "100", "210")).toBe("FIRES");
    expect(stateOf(short, "211", "500")).toBe("FIRES");
  });

  it("3: is not judged by a bad quote, whatever its price", () => {
    expect(stateOf(long, "100", "101", 15_000)).toBe("FIRES");
    expect(stateOf(long, "100", "101", 15_001)).toBe("UNPRICED");
    expect(stateOf(long, "100", "101", -15_001)).toBe("UNPRICED");
    expect(stateOf(long, "101", "100")).toBe("UNPRICED");
    expect(stateOf(long, "0", "1")).toBe("UNPRICED");
    expect(stateOf(long, "-5", "1")).toBe("UNPRICED");
    expect(judgeStop(long, pct, undefined, now, 15_000)).toMatchObject({ complaint: "there is no quote" });
    const unread = { bid: undefined, ask: d("1"), at: now };
    expect(judgeStop(long, pct, unread, now, 15_000).state).toBe("UNPRICED");
    expect(stateOf({ quantity: d("1"), basisPrice: d("0") }, "1", "2")).toBe("UNPRICED");
  });

  it(`fires monotonously: once a price fires, every worse one does (seed ${seed})`, () => {
    const price = fc.integer({ min: 1, max: 400_00 });
    fc.assert(
      fc.property(price, price, fc.boolean(), (one, other, isLong) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)].map((cents) => (cents / 100).toFixed(2));
        const at = (text = "1") => stateOf(isLong ? long : short, text, text);
        const [better, worse] = isLong ? [high, low] : [low, high];
        if (at(better) === "FIRES") expect(at(worse)).toBe("FIRES");
      }),
      { seed, numRuns: 200 },
    );
  });
});

describe("what a stop that fired does next", () => {
  const facts = (differs: Partial<OwedFacts> = {}): OwedFacts => ({
    openQuantity: d("100"),
    attempt: "none",
    pendingOfStrategy: d("0"),
    pendingOfFund: d("0"),
    fundQuantity: d("100"),
    lotSize: d("1"),
    ...differs,
  });
  const quantityOf = (differs: Partial<OwedFacts>): Decimal | undefined => {
    const step = nextOwedStep(facts(differs));
    return step.step === "attempt" ? step.quantity : undefined;
  };

  it("4: has one attempt at a time", () => {
    expect(nextOwedStep(facts({ attempt: "alive" })).step).toBe("wait");
    expect(nextOwedStep(facts({ attempt: "not there" })).step).toBe("hand in again");
    expect(nextOwedStep(facts({ attempt: "ended" })).step).toBe("attempt");
  });

  it("5: closes what is left minus what others close, and what the fund can prove to reduce", () => {
    expect(quantityOf({})).toBe(d("100"));
    expect(quantityOf({ pendingOfStrategy: d("30"), pendingOfFund: d("30") })).toBe(d("70"));
    expect(quantityOf({ fundQuantity: d("60") })).toBe(d("60"));
    expect(quantityOf({ fundQuantity: d("150"), pendingOfFund: d("80") })).toBe(d("70"));
    expect(quantityOf({ openQuantity: d("-100"), fundQuantity: d("-40") })).toBe(d("40"));
    expect(nextOwedStep(facts({ fundQuantity: d("-5") }))).toMatchObject({ step: "blocked" });
    const netted = { fundQuantity: d("0"), pendingOfFund: d("0"), pendingOfStrategy: d("0") };
    expect(nextOwedStep(facts(netted))).toMatchObject({ step: "blocked" });
    expect(nextOwedStep(facts({ ...netted, endsWithFund: true }))).toEqual({ step: "end" });
    expect(nextOwedStep(facts({ ...netted, endsWithFund: true, attempt: "alive" }))).toEqual({ step: "wait" });
    expect(nextOwedStep(facts({ pendingOfStrategy: d("100"), pendingOfFund: d("100") }))).toMatchObject({
      step: "blocked",
      complaint: "other open orders close all of it already",
    });
  });

  it("5: goes in whole lots, unless it closes all, and never rounds up", () => {
    expect(quantityOf({ openQuantity: d("10.5"), fundQuantity: d("10.5") })).toBe(d("10.5"));
    expect(quantityOf({ openQuantity: d("10.5"), fundQuantity: d("20") })).toBe(d("10"));
    expect(quantityOf({ openQuantity: d("0.5"), fundQuantity: d("20") })).toBe(d("0.5"));
  });

  it("6: ends when the opening is over, and only when nothing of its own can trade any more", () => {
    const over = { openQuantity: undefined, fundQuantity: d("0") };
    expect(nextOwedStep(facts(over)).step).toBe("end");
    expect(nextOwedStep(facts({ ...over, attempt: "ended" })).step).toBe("end");
    expect(nextOwedStep(facts({ ...over, attempt: "not there" })).step).toBe("end");
    expect(nextOwedStep(facts({ ...over, attempt: "alive" })).step).toBe("withdraw");
  });

  it("waits longer after each failure, up to a minute", () => {
    expect([0, 1, 5, 6, 1_000].map(attemptPauseMs)).toEqual([1_000, 2_000, 32_000, 60_000, 60_000]);
  });
});

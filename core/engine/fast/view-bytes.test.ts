// A view goes into bytes and comes out as it was, whatever is in it; one that waited for the risk officer comes out twice.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decimal } from "../../../contracts/src/decimal.ts";
import { startOfDay } from "../../../testkit/risk/engine-fixture.ts";
import { conditions } from "../../blocks/index.ts";
import { gateRules } from "../../gates/rules.ts";
import { nothing } from "../../money/amount.ts";
import type { Exact } from "../../money/exact.ts";
import { emptyView } from "../../state/empty-view.ts";
import type { StandingCondition } from "../../state/standing-condition.ts";
import type { FundView } from "../../state/view.ts";
import { createViewPacker, joinViews, rulesOf, unpackViews } from "./view-bytes.ts";

const whole = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const amount = whole.map((value) => value as Decimal);
/** What is nothing is not written, and comes back as a plain number. */
const some = amount.filter((value) => value !== 0n);
const exact = whole.map((value) => (value * 10n ** 30n) as Exact);
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const age = fc.oneof(fc.constant(Number.NaN), fc.double({ noNaN: true, noDefaultInfinity: true }));
const words = fc.string({ unit: "binary", maxLength: 40 });

const by = fc
  .record({ restrictionId: words, watchdog: words, episodeId: words, allowed: maybe(exact) })
  .map(({ allowed, ...names }) => (allowed === undefined ? names : { ...names, allowed }));
const restrictions = fc.record({ noShortOptions: maybe(by), gross: maybe(by) });
const standing: fc.Arbitrary<StandingCondition> = fc
  .record({
    code: fc.constantFrom(...conditions.map(({ code }) => code)),
    reason: words,
    symbol: maybe(words),
    facts: fc.array(fc.tuple(words, words), { minLength: 1, maxLength: 3 }),
    count: fc.integer({ min: 2, max: 2_000 }),
  })
  .map(({ symbol, ...rest }) => (symbol === undefined ? rest : { ...rest, symbol }));

const views: fc.Arbitrary<FundView> = fc
  .record({
    keySeen: fc.constantFrom("no" as const, "same order" as const, "another order" as const),
    keyAgeMs: age,
    fundKnown: fc.boolean(),
    fundCurrency: words,
    strategyKnown: fc.boolean(),
    instrument: maybe(
      fc.record({
        symbol: words,
        assetClass: words,
        currency: words,
        tickSize: amount,
        lotSize: amount,
        multiplier: amount,
        sector: words,
        restriction: maybe(words),
      }),
    ),
    amends: fc.boolean(),
    amendsAnother: fc.boolean(),
    amendRefusal: maybe(
      fc.constantFrom("another" as const, "ended" as const, "unapproved" as const, "not yours" as const),
    ),
    lowers: fc.boolean(),
    ages: fc.record({ mark: fc.nat(), nav: fc.nat(), fx: fc.nat(), borrow: fc.nat() }),
    position: amount,
    pendingBuy: amount,
    pendingSell: amount,
    lapsed: some,
    strategyPosition: some,
    strategyPending: some,
    strategyHalted: fc.boolean(),
    ownRemaining: amount,
    ownFilled: amount,
    openOrders: fc.nat(),
    openOrdersMax: fc.nat(),
    price: maybe(amount),
    bid: maybe(amount),
    ask: maybe(amount),
    priceAgeMs: age,
    priceSource: words,
    fxRate: maybe(amount),
    fxAgeMs: age,
    unitValue: maybe(amount),
    nav: maybe(amount),
    navAgeMs: age,
    grossOthers: exact,
    netHighOthers: exact,
    netLowOthers: exact,
    sectorOthers: exact,
    unpricedSymbol: maybe(words),
    unpricedRate: maybe(fc.constantFrom("missing" as const, "old" as const)),
    oldestPriceAgeMs: age,
    haltsKnown: fc.boolean(),
    haltEpoch: fc.nat(),
    halt: maybe(fc.constantFrom("STRATEGY_HALT" as const, "FUND_HALT" as const, "FIRM_HALT" as const)),
    haltId: words,
    haltReason: words,
    strategyOrdersInSecond: fc.nat(),
    fundOrdersInSecond: fc.nat(),
    restrictions: maybe(restrictions),
    conditions: fc.array(standing, { maxLength: 4 }),
    repeatedExecutions: fc.nat(),
    borrowAvailable: maybe(amount),
    borrowFee: maybe(amount),
    borrowAgeMs: age,
  })
  .map((filled) => ({
    ...emptyView(),
    ...filled,
    // What is zero is not written, and comes out as the plain zero.
    ...(filled.lapsed === 0n && { lapsed: nothing }),
    ...(filled.strategyPosition === 0n && { strategyPosition: nothing, strategyPending: nothing }),
    unpricedRateAgeMs: filled.unpricedRate === "old" ? 3_600_000.5 : Number.NaN,
  }));

describe("a view as bytes", () => {
  const packer = createViewPacker();

  it("comes out as it went in", () => {
    fc.assert(
      fc.property(views, (view) => {
        expect(unpackViews(packer.pack(view, startOfDay))).toEqual([{ at: startOfDay, view }]);
      }),
      { seed: 45, numRuns: 200 },
    );
  });

  it("comes out twice when it was read twice, with the verdict", () => {
    fc.assert(
      fc.property(views, views, (first, second) => {
        const verdict = {
          kind: "veto",
          reason: "ü",
          model: "m",
          promptHash: "h",
          costUsd: "0.1",
          tookMs: 4.5,
        } as const;
        const reported = { ...second, verdict };
        const joined = joinViews(packer.pack(first, startOfDay), packer.pack(reported, startOfDay));
        expect(unpackViews(joined).map(({ view }) => view)).toEqual([first, reported]);
      }),
      { seed: 46, numRuns: 50 },
    );
  });

  it("says by which rules it was decided, of two looks by those of the second", () => {
    const content = packer.pack(emptyView(), startOfDay);
    expect(rulesOf(content)).toBe(gateRules);
    const raised = Uint8Array.of(13, 7, 1, ...content.subarray(3));
    expect([rulesOf(raised), rulesOf(joinViews(content, raised))]).toEqual([263, 263]);
    expect(unpackViews(raised)).toEqual(unpackViews(content));
  });

  it.each([1, 2, 8])("of form %i, which no release wrote, is not read: it was decided by no rules of today", (form) => {
    const old = Uint8Array.of(form, ...packer.pack(emptyView(), startOfDay).subarray(3));
    expect(rulesOf(old)).toBe(0);
    expect(() => unpackViews(old)).toThrow(/form . are not read any more/);
  });

  it("is refused when it is cut short or of another form", () => {
    const content = packer.pack(emptyView(), startOfDay);
    expect(() => unpackViews(content.subarray(0, 50))).toThrow(/end before they should/);
    expect(() => unpackViews(Uint8Array.of(14, ...content.subarray(1)))).toThrow(/form 14/);
  });

  it("stays small", () => {
    expect(packer.pack(emptyView(), startOfDay).length).toBeLessThan(400);
  });
});

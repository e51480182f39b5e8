// A view goes into bytes and comes out as it was, whatever is in it; one that waited for the risk officer comes out twice.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decimal } from "../../../contracts/src/decimal.ts";
import { startOfDay } from "../../../testkit/risk/engine-fixture.ts";
import { nothing } from "../../money/amount.ts";
import type { Exact } from "../../money/exact.ts";
import { emptyView } from "../../state/empty-view.ts";
import type { FundView } from "../../state/view.ts";
import { createViewPacker, joinViews, unpackViews } from "./view-bytes.ts";

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
const restrictions = fc.record({
  isUnknown: fc.boolean(),
  throttle: maybe(by),
  cooldown: maybe(by),
  shadow: maybe(by),
  noShortOptions: maybe(by),
  gross: maybe(by),
});

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
    amendRefusal: maybe(fc.constantFrom("another" as const, "ended" as const, "unapproved" as const)),
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
    throttleTripped: fc.boolean(),
    restrictions: maybe(restrictions),
    symbolBlock: fc.option(fc.string(), { nil: undefined }),
    openBlock: maybe(fc.record({ blockId: words, reason: words, symbol: words, count: fc.nat() })),
    auditBlock: fc.option(fc.string(), { nil: undefined }),
    diskBlock: fc.option(fc.string(), { nil: undefined }),
    changeBlock: fc.option(fc.string(), { nil: undefined }),
    lossBlock: fc.constantFrom("pending" as const, "missing" as const, "not judged" as const, undefined),
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
    lossReason: filled.lossBlock === "not judged" ? "daily: no baseline; é" : "",
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

  it("of the first form is still read, and says nothing of what came later", () => {
    const view = { ...emptyView(), fundKnown: true, repeatedExecutions: 3 };
    const content = packer.pack(view, startOfDay);
    const first = Uint8Array.of(1, ...content.subarray(1, content.length - 1));
    const second = Uint8Array.of(2, ...content.subarray(1));
    expect(unpackViews(first)).toEqual(unpackViews(second));
    expect(unpackViews(first)[0].view).toMatchObject({ fundKnown: true, repeatedExecutions: 3 });
    // What was recorded by then was decided by other rules.
    expect(unpackViews(second)[0].view.earlierRules).toBe(true);
    expect(unpackViews(content)[0].view).toEqual({
      ...unpackViews(second)[0].view,
      earlierRules: false,
      heldAtBroker: false,
      strategyPosition: nothing,
    });
  });

  it("of the ninth form, with one byte of blocks, is still read", () => {
    const view = { ...emptyView(), heldAtBroker: true, restrictions: undefined, auditBlock: "behind" };
    const content = packer.pack(view, startOfDay);
    // Behind the two bytes of blocks stands only the text of one: its length in two bytes, or one, and six letters.
    const second = content.length - packer.pack({ ...view, auditBlock: undefined }, startOfDay).length;
    // And behind everything the empty text of who said the price.
    const at = content.length - second - 3;
    expect(content[at]).toBe(0);
    const ninth = Uint8Array.of(9, ...content.subarray(1, at), ...content.subarray(at + 1, -2));
    expect(unpackViews(ninth)).toEqual(unpackViews(content));
    expect(unpackViews(ninth)[0].view).toMatchObject({ auditBlock: "behind", diskBlock: undefined });
  });

  it("32.2: of the tenth form does not say who said the price", () => {
    const view = { ...emptyView(), priceSource: "feed" };
    const content = packer.pack(view, startOfDay);
    const tenth = Uint8Array.of(10, ...content.subarray(1, -2 - view.priceSource.length));
    expect(unpackViews(content)[0].view.priceSource).toBe("feed");
    expect(unpackViews(tenth)[0].view).toEqual({ ...unpackViews(content)[0].view, priceSource: "" });
  });

  it("is refused when it is cut short or of another form", () => {
    const content = packer.pack(emptyView(), startOfDay);
    expect(() => unpackViews(content.subarray(0, 50))).toThrow(/end before they should/);
    expect(() => unpackViews(Uint8Array.of(13, ...content.subarray(1)))).toThrow(/form 13/);
  });

  it("stays small", () => {
    expect(packer.pack(emptyView(), startOfDay).length).toBeLessThan(400);
  });
});

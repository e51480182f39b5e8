// 25.4: the effective allocation and status of a strategy.
import { describe, expect, test } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { type BaseStrategy, effectiveStrategy, reducingTargets, reductionsOf } from "./effective-strategy.ts";

const base: BaseStrategy = { strategyId: "trend", fundId: "alpha", status: "live", allocationPct: 0.1 };
const restriction = (restrictionId: string, differs: Partial<Restriction>): Restriction => ({
  restrictionId,
  kind: "ALLOCATION",
  fundId: "alpha",
  watchdog: "drift_monitor",
  episodeId: restrictionId,
  since: 0 as Instant,
  ...differs,
});
const halved = restriction("r-1", { strategyId: "trend", factor: d("0.5") });
const reduced = restriction("r-2", { factor: d("0.333333333333333333") });
const shadow = restriction("r-3", { kind: "SHADOW", strategyId: "trend" });

describe("25.4: what a strategy may do", () => {
  test("is its base times every open factor, once each, in whatever order they came and go", () => {
    expect(effectiveStrategy(base, [])).toEqual({
      status: "live",
      allocationPct: 0.1,
      onlyReduces: false,
      restrictionIds: [],
    });
    expect(effectiveStrategy(base, [halved]).allocationPct).toBe(0.05);
    const both = effectiveStrategy(base, [halved, reduced]);
    expect(both.allocationPct).toBe(effectiveStrategy(base, [reduced, halved]).allocationPct);
    expect(both.allocationPct).toBeCloseTo(0.1 / 6, 12);
    expect(both.restrictionIds).toEqual(["r-1", "r-2"]);
    expect(effectiveStrategy(base, [reduced]).allocationPct).toBeCloseTo(0.1 / 3, 12);
    expect(effectiveStrategy({ ...base, allocationPct: 0.2 }, [halved]).allocationPct, "the new base").toBe(0.1);
  });

  test("follows only what covers it: its own, and its fund's", () => {
    const others = [
      restriction("r-4", { strategyId: "value", factor: d("0.5") }),
      restriction("r-5", { fundId: "beta", factor: d("0.5") }),
      restriction("r-6", { kind: "SHADOW", strategyId: "value" }),
      restriction("r-7", { kind: "GROSS", factor: d("0.5"), base: d("1") }),
    ];
    expect(effectiveStrategy(base, others)).toMatchObject({ status: "live", allocationPct: 0.1, restrictionIds: [] });
  });

  test("has the stricter status", () => {
    expect(effectiveStrategy(base, [shadow])).toMatchObject({ status: "shadow", onlyReduces: true });
    expect(effectiveStrategy({ ...base, status: "shadow" }, [shadow])).toMatchObject({
      status: "shadow",
      onlyReduces: false,
    });
    expect(effectiveStrategy({ ...base, status: "halted" }, [shadow])).toMatchObject({
      status: "halted",
      onlyReduces: false,
    });
  });

  test("when it is shadowed wants no more of anything, and what it wanted on the other side is nothing", () => {
    const positions = new Map([
      ["LONG", d("10")],
      ["SHRT", d("-5")],
    ]);
    const target = (symbol: string, quantity: string) => ({ symbol, quantity: d(quantity) });
    const asked = [target("LONG", "4"), target("SHRT", "-8"), target("NONE", "3")];
    expect(reducingTargets(asked, positions)).toEqual([target("LONG", "4")]);
    expect(reducingTargets([target("LONG", "-2"), target("SHRT", "1")], positions)).toEqual([
      ...[target("LONG", "0"), target("SHRT", "0")],
    ]);
    expect(reducingTargets([target("LONG", "11"), target("SHRT", "-3")], positions)).toEqual([target("SHRT", "-3")]);
  });

  test("when it is shadowed are orders towards zero of its own positions, never beyond", () => {
    const order = (symbol: string, side: "BUY" | "SELL" | "SELL_SHORT" | "BUY_TO_COVER", quantity: string) => ({
      symbol,
      side,
      quantity,
    });
    const passing = [order("LONG", "SELL", "10"), order("SHRT", "BUY_TO_COVER", "4.5")];
    const refused = [
      ...[order("LONG", "BUY", "1"), order("LONG", "SELL", "10.01"), order("SHRT", "SELL_SHORT", "1")],
      ...[order("NONE", "SELL", "1"), order("NONE", "BUY", "1"), order("SHRT", "BUY", "5.1")],
    ];
    const positions = new Map([
      ["LONG", d("10")],
      ["SHRT", d("-5")],
    ]);
    expect(reductionsOf([...passing, ...refused], positions)).toEqual(passing);
  });
});

// A deposit is no profit: units, drawdowns and periods, against figures worked by hand.
import { describe, expect, test } from "vitest";
import { rangeStartMs } from "../model/range.ts";
import { bookWord } from "../ops/books.tsx";
import { lagsOf, silentIn } from "../ops/lag.ts";
import { tokenWord } from "../ops/tokens.tsx";
import { periodStart, profitSince, stepFor, unitValues } from "./unit-value.ts";

const valued = (as_of: string, nav: string, net_flows = "0") => ({ as_of, nav, net_flows });

describe("the value of a unit", () => {
  test("rises with profit and not with a deposit, and knows its peak", () => {
    const units = unitValues([
      valued("2026-11-01T00:00:00Z", "1000"),
      valued("2026-11-02T00:00:00Z", "1100"),
      valued("2026-11-03T00:00:00Z", "2100", "1000"),
      valued("2026-11-04T00:00:00Z", "1050", "0"),
    ]);
    expect(units.map(({ unit }) => Number(unit.toFixed(6)))).toEqual([100, 110, 110, 107.380952]);
    expect(units.map(({ drawdown }) => Number(drawdown.toFixed(6)))).toEqual([0, 0, 0, -0.02381]);
  });

  test("of a fund that begins with nothing is not divided by it", () => {
    const units = unitValues([valued("a", "0"), valued("b", "500", "500"), valued("c", "550", "500")]);
    expect(units.map(({ unit }) => Math.round(unit))).toEqual([100, 100, 110]);
  });
});

describe("what a period made", () => {
  const values = [
    valued("2025-12-31T20:00:00Z", "1000.10"),
    valued("2026-10-31T20:00:00Z", "1500.30", "400"),
    valued("2026-11-17T20:00:00Z", "1450.20", "300"),
  ];

  test("is exact, from the last value before it, without what flowed", () => {
    expect(profitSince(values, periodStart("month", "2026-11-17T22:00:00Z"))).toBe("49.9");
    expect(profitSince(values, periodStart("year", "2026-11-17T22:00:00Z"))).toBe("150.1");
  });

  test("is not known of a single value", () => {
    expect(profitSince(values.slice(2), "2026-11-01T00:00:00Z")).toBeUndefined();
    expect(profitSince([], "2026-11-01T00:00:00Z")).toBeUndefined();
  });
});

test("a range is a span back from now or a moment, in steps that can be sent", () => {
  const now = Date.parse("2026-11-17T00:00:00Z");
  expect(rangeStartMs("7d", now)).toBe(now - 7 * 86_400_000);
  expect(rangeStartMs("2026-11-01", now)).toBe(Date.parse("2026-11-01"));
  expect(rangeStartMs("soon", now)).toBeUndefined();
  expect(["1d", "3d", "30d"].map((range) => stepFor(rangeStartMs(range, now) ?? 0, now))).toEqual([
    "minute",
    "hour",
    "day",
  ]);
});

describe("silence is never green", () => {
  test("books that were not compared do not agree", () => {
    expect(bookWord({ agrees: true })).toBe("never compared");
    expect(bookWord({ agrees: true, checked_at: "x", not_compared: "no broker" })).toBe("not compared");
    expect(bookWord({ agrees: false, checked_at: "x" })).toBe("DIFFERS");
    expect(bookWord({ agrees: true, checked_at: "x" })).toBe("agrees");
  });

  test("lag is read per reader, and text without any gives none", () => {
    const text =
      '# HELP x\nportcullis_bus_lag_events{subscription="audit",service="operations"} 12\nportcullis_other 3\n';
    expect(lagsOf(text)).toEqual([{ subscription: "audit", service: "operations", events: 12 }]);
    expect(lagsOf("")).toEqual([]);
    expect(silentIn('portcullis_up{service="oms"} 0\nportcullis_up{service="operations"} 1\n')).toEqual(["oms"]);
  });

  test("a token is good only while it is", () => {
    const token = { expires_at: "2026-11-18T00:00:00.000000Z" };
    expect(tokenWord(token, "2026-11-17T00:00:00.000000Z")).toBe("good");
    expect(tokenWord(token, "2026-11-19T00:00:00.000000Z")).toBe("expired");
    expect(tokenWord({ ...token, revoked_at: "x" }, "2026-11-17T00:00:00.000000Z")).toBe("revoked");
  });
});

// The range that all panels share, as text, as moments and as what the server is asked for.
import { expect, test } from "vitest";
import { hoursText } from "../data/list-place.ts";
import { hoursOf, isWithin, rangeOf, rangeStartMs, rangeText } from "./range.ts";

const now = Date.parse("2026-11-18T12:00:00Z");

test("reaches back from now or from a moment, and is nothing where the address is wrong", () => {
  expect(rangeOf({ from: "7d", to: "1h" }, now)).toEqual({ fromMs: now - 7 * 86_400_000, toMs: now - 3_600_000 });
  expect(rangeStartMs("2026-11-01", now)).toBe(Date.parse("2026-11-01"));
  expect(rangeOf({ from: "soon" }, now)).toEqual({ fromMs: undefined, toMs: undefined });
});

test("keeps what lies inside, its ends too, and what has no time", () => {
  const range = rangeOf({ from: "2h", to: "1h" }, now);
  expect(isWithin("2026-11-18T10:00:00Z", range)).toBe(true);
  expect(isWithin("2026-11-18T11:00:00Z", range)).toBe(true);
  expect(isWithin("2026-11-18T09:59:59Z", range)).toBe(false);
  expect(isWithin("2026-11-18T11:00:01Z", range)).toBe(false);
  expect(isWithin(undefined, range)).toBe(true);
});

test("is asked for in hours within what the server takes", () => {
  expect(hoursOf(rangeOf({ from: "7d" }, now), now, 24)).toBe(168);
  expect(hoursOf(rangeOf({}, now), now, 24)).toBe(24);
  expect(hoursOf(rangeOf({ from: "9999d" }, now), now, 24)).toBe(8_784);
  expect(hoursOf(rangeOf({ from: "2026-12-01" }, now), now, 24)).toBeGreaterThan(0);
  expect([hoursText({ from: "7d" }, 24), hoursText({ from: "2026-11-01" }, 24)]).toEqual(["168", "24"]);
});

test("is said in a title", () => {
  expect(rangeText({}, "newest")).toBe("newest");
  expect(rangeText({ from: "7d" }, "newest")).toBe("last 7 d");
  expect(rangeText({ from: "2026-11-01T00:00:00Z" }, "newest")).toBe("since 2026-11-01 00:00:00Z");
  expect(rangeText({ from: "2d", to: "1d" }, "newest")).toBe("from 2 d ago to 1 d ago");
});

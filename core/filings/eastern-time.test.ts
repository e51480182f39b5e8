// Times in CAT's words, where the clocks change and where they do not.
import { describe, expect, it } from "vitest";
import { parse } from "../../contracts/src/instant.ts";
import { catDate, catTime, easternDate } from "./eastern-time.ts";

describe("a time for CAT", () => {
  it.each([
    ["winter", "2026-11-13T14:30:00.000001Z", '"20261113T093000.000001"'],
    ["summer", "2026-07-01T13:30:00.999999Z", '"20260701T093000.999999"'],
    ["the last moment before the clocks go forward", "2026-03-08T06:59:59.999999Z", '"20260308T015959.999999"'],
    ["the first after it", "2026-03-08T07:00:00.000000Z", '"20260308T030000.000000"'],
    ["the first 01:30 of the hour that occurs twice", "2026-11-01T05:30:00.000001Z", "1793511000000001000"],
    ["the second 01:30", "2026-11-01T06:30:00.000001Z", "1793514600000001000"],
    ["the moment before that hour", "2026-11-01T04:59:59.999999Z", '"20261101T005959.999999"'],
    ["the moment after it", "2026-11-01T07:00:00.000000Z", '"20261101T020000.000000"'],
  ])("%s", (_name, at, expected) => {
    expect(catTime(parse(at))).toBe(expected);
  });

  it("has a date of its own", () => {
    expect(easternDate(parse("2026-11-14T04:59:59.999999Z"))).toBe("2026-11-13");
    expect(easternDate(parse("2026-11-14T05:00:00.000000Z"))).toBe("2026-11-14");
    expect(catDate("2026-11-14")).toBe("20261114");
  });
});

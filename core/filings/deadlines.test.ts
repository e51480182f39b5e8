// Deadlines at the edges of days, sessions and clocks.
import { describe, expect, it } from "vitest";
import { format, parse } from "../../contracts/src/instant.ts";
import { catDeadline, catRepairBy } from "./deadlines.ts";

const due = (at: string): string => format(catDeadline(parse(at)));

describe("a CAT deadline", () => {
  it.each([
    ["a Friday's is Monday at 08:00 Eastern", "2026-11-13T14:30:00.000000Z", "2026-11-16T13:00:00.000000Z"],
    ["16:15:00 itself belongs to the day", "2026-11-12T21:15:00.000000Z", "2026-11-13T13:00:00.000000Z"],
    ["a microsecond after 16:15 does not", "2026-11-12T21:15:00.000001Z", "2026-11-16T13:00:00.000000Z"],
    ["a Saturday belongs to Monday", "2026-11-14T15:00:00.000000Z", "2026-11-17T13:00:00.000000Z"],
    ["a half day ends at 16:15 too", "2026-11-27T21:15:00.000000Z", "2026-11-30T13:00:00.000000Z"],
    ["after it the next session's day counts", "2026-11-27T21:15:01.000000Z", "2026-12-01T13:00:00.000000Z"],
    ["Thanksgiving belongs to the half day after it", "2026-11-26T16:00:00.000000Z", "2026-11-30T13:00:00.000000Z"],
    ["the evening before a holiday weekend", "2026-09-04T21:00:00.000000Z", "2026-09-09T12:00:00.000000Z"],
    ["over the change to summer time", "2026-03-06T15:00:00.000000Z", "2026-03-09T12:00:00.000000Z"],
    ["over the change to winter time", "2026-10-30T15:00:00.000000Z", "2026-11-02T13:00:00.000000Z"],
    ["in the hour that occurs twice", "2026-11-01T06:30:00.000000Z", "2026-11-03T13:00:00.000000Z"],
    ["just before midnight in New York", "2026-11-13T04:59:59.999999Z", "2026-11-16T13:00:00.000000Z"],
  ])("%s", (_name, at, expected) => {
    expect(due(at)).toBe(expected);
  });

  it("never goes back as time goes on", () => {
    let last = 0;
    const start = parse("2026-10-28T00:00:00.000000Z");
    for (let minute = 0; minute < 40 * 24 * 60; minute += 197) {
      const next = catDeadline((start + minute * 60_000_000) as typeof start);
      expect(next).toBeGreaterThanOrEqual(last);
      expect(next).toBeGreaterThan(start + minute * 60_000_000);
      last = next;
    }
  });
});

it("a repair is in time until the third trading day at 08:00 Eastern", () => {
  expect(format(catRepairBy(parse("2026-11-13T14:30:00.000000Z")))).toBe("2026-11-18T13:00:00.000000Z");
  expect(format(catRepairBy(parse("2026-11-24T21:30:00.000000Z")))).toBe("2026-12-01T13:00:00.000000Z");
});

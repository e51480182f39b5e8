// Trading calendars across changes of clocks, holidays and early closes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import {
  type CalendarDefinition,
  isKnown,
  isOpen,
  localDate,
  nextClose,
  nextOpen,
  startOfDate,
  tradingCalendar,
  tradingDay,
} from "./calendar.ts";
import { alwaysOpen, calendarByName, usEquities } from "./calendars.ts";
import * as instant from "./instant.ts";

const at = instant.parse;
const shown = (moment: instant.Instant | undefined): string | undefined =>
  moment === undefined ? undefined : instant.format(moment);
const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");

describe("US equities", () => {
  test("invariant 1: a session contains its open and not its close", () => {
    expect(isOpen(usEquities, at("2026-11-16T14:29:59.999999Z"))).toBe(false);
    expect(isOpen(usEquities, at("2026-11-16T14:30:00Z"))).toBe(true);
    expect(isOpen(usEquities, at("2026-11-16T20:59:59.999999Z"))).toBe(true);
    expect(isOpen(usEquities, at("2026-11-16T21:00:00Z"))).toBe(false);
  });

  test("the spring change of clocks moves the open in UTC, and the weekend stays one", () => {
    expect(shown(nextOpen(usEquities, at("2026-03-06T15:00:00Z")))).toBe("2026-03-09T13:30:00.000000Z");
    expect(isOpen(usEquities, at("2026-03-06T14:29:00Z"))).toBe(false);
    expect(isOpen(usEquities, at("2026-03-09T13:30:00Z"))).toBe(true);
    expect(tradingDay(usEquities, at("2026-03-08T12:00:00Z"))).toBe("2026-03-06");
    expect(shown(nextClose(usEquities, at("2026-03-08T06:59:59Z")))).toBe("2026-03-09T20:00:00.000000Z");
  });

  test("the autumn change of clocks moves it back", () => {
    expect(shown(nextClose(usEquities, at("2026-10-30T19:00:00Z")))).toBe("2026-10-30T20:00:00.000000Z");
    expect(shown(nextOpen(usEquities, at("2026-10-30T20:00:00Z")))).toBe("2026-11-02T14:30:00.000000Z");
    expect(shown(nextClose(usEquities, at("2026-11-01T05:30:00Z")))).toBe("2026-11-02T21:00:00.000000Z");
  });

  test("a holiday has no session and belongs to the trading day before", () => {
    expect(isOpen(usEquities, at("2026-11-26T16:00:00Z"))).toBe(false);
    expect(tradingDay(usEquities, at("2026-11-26T16:00:00Z"))).toBe("2026-11-25");
    expect(shown(nextOpen(usEquities, at("2026-11-25T22:00:00Z")))).toBe("2026-11-27T14:30:00.000000Z");
    expect(tradingDay(usEquities, at("2027-01-01T12:00:00Z"))).toBe("2026-12-31");
  });

  test("an early close ends the session at 13:00 and not the trading day", () => {
    expect(isOpen(usEquities, at("2026-11-27T17:59:59Z"))).toBe(true);
    expect(isOpen(usEquities, at("2026-11-27T18:00:00Z"))).toBe(false);
    expect(shown(nextClose(usEquities, at("2026-11-27T15:00:00Z")))).toBe("2026-11-27T18:00:00.000000Z");
    expect(tradingDay(usEquities, at("2026-11-27T23:00:00Z"))).toBe("2026-11-27");
  });

  test("invariant 2: the trading day begins at local midnight", () => {
    expect(tradingDay(usEquities, at("2026-11-17T04:59:59.999999Z"))).toBe("2026-11-16");
    expect(tradingDay(usEquities, at("2026-11-17T05:00:00Z"))).toBe("2026-11-17");
    expect(localDate(usEquities, at("2026-11-15T03:00:00Z"))).toBe("2026-11-14");
  });

  test("all holidays and early closes fall on weekdays, and each year has its holidays", () => {
    const { holidays, earlyCloses } = usEquities.definition;
    for (const date of [...holidays, ...Object.keys(earlyCloses)]) {
      expect([1, 2, 3, 4, 5]).toContain(new Date(`${date}T00:00:00Z`).getUTCDay());
    }
    expect(holidays.filter((date) => date.startsWith("2024"))).toHaveLength(10);
    // With a day of mourning.
    expect(holidays.filter((date) => date.startsWith("2025"))).toHaveLength(11);
    expect(holidays.filter((date) => date.startsWith("2026"))).toHaveLength(10);
    expect(holidays.filter((date) => date.startsWith("2027"))).toHaveLength(10);
  });

  test("years whose holidays are not known are reported", () => {
    expect(isKnown(usEquities, at("2027-12-31T12:00:00Z"))).toBe(true);
    expect(isKnown(usEquities, at("2028-01-01T12:00:00Z"))).toBe(false);
    expect(isKnown(alwaysOpen, at("2200-01-01T12:00:00Z"))).toBe(true);
  });

  test(`invariant 3: over time the day never goes back, and opens and closes alternate (seed ${seed})`, () => {
    const moment = fc
      .integer({ min: at("2026-01-02T00:00:00Z"), max: at("2027-12-20T00:00:00Z") })
      .map(instant.fromMicroseconds);
    fc.assert(
      fc.property(moment, fc.integer({ min: 0, max: 5 * 86_400_000 }), (from, aheadMs) => {
        const to = instant.plusMilliseconds(from, aheadMs);
        expect(tradingDay(usEquities, from) <= tradingDay(usEquities, to)).toBe(true);
        const [open, close] = [nextOpen(usEquities, from), nextClose(usEquities, from)];
        if (open === undefined || close === undefined) throw new Error("a market with sessions always opens again");
        expect(isOpen(usEquities, from)).toBe(close < open);
        expect(isOpen(usEquities, open)).toBe(true);
        expect(isOpen(usEquities, instant.plusMicroseconds(close, -1))).toBe(true);
        expect(isOpen(usEquities, close)).toBe(false);
      }),
      { seed, numRuns: inputCount(300) },
    );
  });
});

describe("always open", () => {
  test("it is open on weekends and holidays, and its days are the dates of UTC", () => {
    expect(isOpen(alwaysOpen, at("2026-12-25T00:00:00Z"))).toBe(true);
    expect(isOpen(alwaysOpen, at("2026-11-15T03:00:00Z"))).toBe(true);
    expect(tradingDay(alwaysOpen, at("2026-11-15T23:59:59.999999Z"))).toBe("2026-11-15");
    expect(tradingDay(alwaysOpen, at("2026-11-16T00:00:00Z"))).toBe("2026-11-16");
    expect(nextOpen(alwaysOpen, at("2026-11-16T00:00:00Z"))).toBeUndefined();
    expect(nextClose(alwaysOpen, at("2026-11-16T00:00:00Z"))).toBeUndefined();
  });
});

describe("any calendar", () => {
  const definition: CalendarDefinition = {
    name: "test",
    zone: "America/New_York",
    sessions: [{ weekday: 7, open: "01:30", close: "02:30" }],
    holidays: [],
    earlyCloses: {},
  };

  test("invariant 4: skipped and doubled times of day", () => {
    const sundays = tradingCalendar(definition);
    // 02:30 does not exist on 8 March 2026: the close is taken as 03:30 summer time.
    expect(shown(nextClose(sundays, at("2026-03-08T06:45:00Z")))).toBe("2026-03-08T07:30:00.000000Z");
    expect(isOpen(sundays, at("2026-03-08T07:29:59Z"))).toBe(true);
    expect(isOpen(sundays, at("2026-03-08T07:30:00Z"))).toBe(false);
    // 01:30 happens twice on 1 November 2026: the first one opens.
    expect(shown(nextOpen(sundays, at("2026-11-01T04:00:00Z")))).toBe("2026-11-01T05:30:00.000000Z");
    expect(isOpen(sundays, at("2026-11-01T06:15:00Z"))).toBe(true);
  });

  test("a day may have two sessions, and one may last until midnight", () => {
    const split = tradingCalendar({
      ...definition,
      zone: "Asia/Tokyo",
      sessions: [
        { weekday: 1, open: "12:30", close: "24:00" },
        { weekday: 1, open: "09:00", close: "11:30" },
      ],
      earlyCloses: { "2026-11-23": "11:00" },
    });
    expect(isOpen(split, at("2026-11-16T03:00:00Z"))).toBe(false);
    expect(shown(nextOpen(split, at("2026-11-16T01:00:00Z")))).toBe("2026-11-16T03:30:00.000000Z");
    expect(shown(nextClose(split, at("2026-11-16T14:59:00Z")))).toBe("2026-11-16T15:00:00.000000Z");
    expect(shown(nextClose(split, at("2026-11-23T00:30:00Z")))).toBe("2026-11-23T02:00:00.000000Z");
    expect(isOpen(split, at("2026-11-23T05:00:00Z"))).toBe(false);
  });

  test("a date begins at its local midnight", () => {
    expect(shown(startOfDate(usEquities, { year: 2026, month: 3, day: 9 }))).toBe("2026-03-09T04:00:00.000000Z");
    expect(shown(startOfDate(usEquities, { year: 2026, month: 3, day: 8 }))).toBe("2026-03-08T05:00:00.000000Z");
  });

  test.each<[string, Partial<CalendarDefinition>]>([
    ["an unknown zone", { zone: "America/Gotham" }],
    ["a session that ends before it begins", { sessions: [{ weekday: 1, open: "16:00", close: "09:30" }] }],
    ["a time that does not exist", { sessions: [{ weekday: 1, open: "9:30", close: "25:00" }] }],
    ["a holiday that does not exist", { holidays: ["2026-02-30"] }],
    ["an early close on no date", { earlyCloses: { soon: "13:00" } }],
    ["an early close at no time", { earlyCloses: { "2026-11-27": "1pm" } }],
  ])("refuses %s", (_name, wrong) => {
    expect(() => tradingCalendar({ ...definition, ...wrong })).toThrow(RangeError);
  });

  test("a calendar without any session says so instead of searching for ever", () => {
    const never = tradingCalendar({ ...definition, sessions: [] });
    expect(isOpen(never, at("2026-11-16T15:00:00Z"))).toBe(false);
    expect(nextOpen(never, at("2026-11-16T15:00:00Z"))).toBeUndefined();
    expect(() => tradingDay(never, at("2026-11-16T15:00:00Z"))).toThrow("it has no trading days");
  });

  test("calendars are found by name", () => {
    expect(calendarByName("us-equities")).toBe(usEquities);
    expect(calendarByName("always-open")).toBe(alwaysOpen);
    expect(calendarByName("mars")).toBeUndefined();
  });
});

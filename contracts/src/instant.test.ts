// Instants: parsing, formatting and arithmetic, with the platform's Date as the oracle for calendar arithmetic.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import * as instant from "./instant.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const anyInstant = fc
  .integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
  .map((microseconds) => instant.fromMicroseconds(microseconds));

describe(`against the oracle (seed ${seed})`, () => {
  test("format agrees with Date to the millisecond and keeps the microseconds", () => {
    fc.assert(
      fc.property(anyInstant, (at) => {
        const milliseconds = Math.floor(at / 1_000);
        const rest = String(at - milliseconds * 1_000).padStart(3, "0");
        expect(instant.format(at)).toBe(new Date(milliseconds).toISOString().replace("Z", `${rest}Z`));
        expect(instant.parse(instant.format(at))).toBe(at);
      }),
      { seed, numRuns: inputCount(5_000) },
    );
  });

  test("texts sort as the instants do", () => {
    fc.assert(
      fc.property(anyInstant, anyInstant, (a, b) => {
        const [textA, textB] = [instant.format(a), instant.format(b)];
        expect(textA < textB ? -1 : textA > textB ? 1 : 0).toBe(instant.compare(a, b));
        expect(instant.isBefore(a, b)).toBe(a < b);
        expect(instant.earlier(a, b)).toBe(Math.min(a, b));
        expect(instant.later(a, b)).toBe(Math.max(a, b));
      }),
      { seed, numRuns: inputCount(2_000) },
    );
  });

  test("days and dates convert into each other", () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000, max: 105_000 }), (days) => {
        const date = instant.civilFromDays(days);
        expect(instant.formatDate(date)).toBe(new Date(days * 86_400_000).toISOString().slice(0, 10));
        expect(instant.daysFromCivil(date)).toBe(days);
      }),
      { seed, numRuns: inputCount(5_000) },
    );
  });
});

describe("parse", () => {
  test.each<[string, string]>([
    ["2026-11-15T13:30:00Z", "2026-11-15T13:30:00.000000Z"],
    ["2026-11-15T13:30:00.1Z", "2026-11-15T13:30:00.100000Z"],
    ["2026-11-15T13:30:00.123456Z", "2026-11-15T13:30:00.123456Z"],
    ["2026-11-15T13:30:00.123456789Z", "2026-11-15T13:30:00.123456Z"],
    ["2026-11-15T13:30:00.999999999Z", "2026-11-15T13:30:00.999999Z"],
    ["2026-11-15T08:30:00-05:00", "2026-11-15T13:30:00.000000Z"],
    ["2026-11-15T19:00:00.5+05:30", "2026-11-15T13:30:00.500000Z"],
    ["2026-11-15T13:30:00+00:00", "2026-11-15T13:30:00.000000Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000000Z"],
    ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"],
  ])("%s is %s", (text, utc) => {
    expect(instant.format(instant.parse(text))).toBe(utc);
  });

  test.each([
    "",
    "now",
    "2026-11-15",
    "2026-11-15T13:30Z",
    "2026-11-15 13:30:00Z",
    "2026-11-15t13:30:00z",
    "2026-11-15T13:30:00",
    "2026-02-29T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-12-31T23:59:60Z",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00.1234567890Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+0000",
    "2026-01-01T00:00:00,5Z",
    " 2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00Z\n",
    "٢٠٢٦-01-01T00:00:00Z",
    "1600-01-01T00:00:00Z",
    "2300-01-01T00:00:00Z",
    "-2026-01-01T00:00:00Z",
    "9".repeat(100_000),
  ])("refuses %j", (text) => {
    expect(instant.tryParse(text)).toBeUndefined();
    expect(() => instant.parse(text)).toThrow(RangeError);
  });
});

describe("arithmetic", () => {
  const at = instant.parse("2026-11-15T13:30:00.000001Z");

  test("milliseconds and microseconds are added and taken away exactly", () => {
    expect(instant.format(instant.plusMilliseconds(at, 250))).toBe("2026-11-15T13:30:00.250001Z");
    expect(instant.format(instant.minusMilliseconds(at, 0.001))).toBe("2026-11-15T13:30:00.000000Z");
    expect(instant.format(instant.plusMicroseconds(at, -2))).toBe("2026-11-15T13:29:59.999999Z");
    expect(instant.millisecondsBetween(at, instant.plusMilliseconds(at, 1.5))).toBe(1.5);
    expect(instant.toUnixMs(instant.fromUnixMs(1_790_000_000_123))).toBe(1_790_000_000_123);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, 2 ** 53])("%s microseconds are refused", (microseconds) => {
    expect(() => instant.fromMicroseconds(microseconds)).toThrow(RangeError);
  });

  test("what leaves the range or is not a time is refused", () => {
    expect(() => instant.plusMilliseconds(at, Number.NaN)).toThrow(RangeError);
    expect(() => instant.plusMicroseconds(at, Number.MAX_SAFE_INTEGER)).toThrow(RangeError);
    expect(Object.is(instant.fromMicroseconds(-0), 0)).toBe(true);
  });
});

test.each(["2026-02-29", "2026-1-1", "2026-13-01", "", "20260101", "2026-01-01T"])("refuses the date %j", (text) => {
  expect(instant.tryParseDate(text)).toBeUndefined();
});

test("the formatter that remembers its last second writes what format writes", () => {
  const write = instant.createFormatter();
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -9e15, max: 9e15 }), { minLength: 1 }),
      fc.nat(3_000_000),
      (starts, step) => {
        for (const start of starts) {
          for (const at of [start, start + step, start + 1].map(instant.fromMicroseconds)) {
            expect(write(at)).toBe(instant.format(at));
          }
        }
      },
    ),
    { seed: 4242, numRuns: 200 },
  );
});

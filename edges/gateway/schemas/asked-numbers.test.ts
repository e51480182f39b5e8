// A number in an address is taken in one form only, so that two addresses that differ never ask for the same.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { decimalAsked, wholeAsked } from "./asked-numbers.ts";

const loose = [
  "",
  " 5",
  "5 ",
  "+5",
  "-5",
  "-0",
  "05",
  "00",
  "1e1",
  "0x10",
  "1_000",
  "5.",
  ".5",
  "٥",
  "Infinity",
  "NaN",
  "true",
];
const repeated = [["5", "6"], null, {}];
const words = (result: z.ZodSafeParseResult<unknown>) => [
  ...new Set(result.error?.issues.map(({ message }) => message)),
];

describe("a whole number", () => {
  const query = z.strictObject({ count: wholeAsked(1, 1_000).optional(), from: wholeAsked(0) });

  it("is decimal digits within its bounds", () => {
    expect(query.parse({ count: "10", from: "0" })).toEqual({ count: 10, from: 0 });
    expect(query.parse({ from: "9007199254740991" })).toEqual({ from: Number.MAX_SAFE_INTEGER });
    expect(words(query.safeParse({ count: "0", from: "0" }))).toEqual(["expected at least 1"]);
    expect(words(query.safeParse({ count: "1001", from: "0" }))).toEqual(["expected at most 1000"]);
  });

  it.each([...loose, ...repeated, "1.5", "1.0", "9007199254740993", "99999999999999999999"])("is not %j", (from) => {
    expect(words(query.safeParse({ from }))).toEqual(["expected a whole number in plain decimal digits, such as 12"]);
  });

  it("is asked for as a number by the description of the interface", () => {
    const described = z.toJSONSchema(query, { io: "input" });
    expect(described).toMatchObject({ required: ["from"], properties: { from: { type: "integer", minimum: 0 } } });
  });
});

describe("a number with decimals", () => {
  it("is decimal digits, a point where it needs one, and above zero", () => {
    const hours = decimalAsked(100);
    expect(["12", "0.5", "100", "1.50"].map((text) => hours.parse(text))).toEqual([12, 0.5, 100, 1.5]);
    for (const text of [...loose, ...repeated, "1.0000000000", "1.2.3"]) {
      expect(words(hours.safeParse(text))).toEqual(["expected a number in plain decimal digits, such as 12 or 0.5"]);
    }
    for (const text of ["0", "0.0", "100.5"]) expect(hours.safeParse(text).success).toBe(false);
  });
});

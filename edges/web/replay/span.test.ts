// Of which time a replay is, as the address says it.
import { describe, expect, it } from "vitest";
import { format, parse } from "../../../contracts/src/instant.ts";
import { spanOf, speedOf } from "./span.ts";

const now = parse("2026-11-19T12:00:00Z");
const textOf = (search: Parameters<typeof spanOf>[0]) => {
  const { start, to, at } = spanOf(search, now);
  return [start, to, at].map((one) => (one === undefined ? undefined : format(one).replace(/(\.0{6})?Z$/, "")));
};

describe("a replay", () => {
  it.each([
    ["of the last day stands at its end", {}, ["2026-11-18T12:00:00", undefined, "2026-11-19T12:00:00"]],
    ["with a beginning stands there", { from: "7d" }, ["2026-11-12T12:00:00", undefined, "2026-11-12T12:00:00"]],
    [
      "with an end is of the day before it",
      { to: "2026-11-10T00:00:00.123456Z" },
      ["2026-11-09T00:00:00.123456", "2026-11-10T00:00:00.123456", "2026-11-10T00:00:00.123456"],
    ],
    [
      "of a moment stands there",
      { from: "7d", at: "2026-11-18T01:02:03.456789Z" },
      ["2026-11-12T12:00:00", undefined, "2026-11-18T01:02:03.456789"],
    ],
    [
      "of a moment before its range has the day that led to it, and stands there",
      { at: "2026-10-01T00:00:00Z" },
      ["2026-09-30T00:00:00", undefined, "2026-10-01T00:00:00"],
    ],
    [
      "of a minute before midnight, asked an hour later, begins a day before now",
      { at: "2026-11-18T23:59:00Z" },
      ["2026-11-18T12:00:00", undefined, "2026-11-18T23:59:00"],
    ],
    [
      "of today, asked for a moment of yesterday, has the day that led to it",
      { from: "2026-11-19T00:00:00Z", at: "2026-11-18T23:59:00Z" },
      ["2026-11-17T23:59:00", undefined, "2026-11-18T23:59:00"],
    ],
    [
      "does not begin after now",
      { from: "2027-01-01T00:00:00Z" },
      ["2026-11-19T12:00:00", undefined, "2026-11-19T12:00:00"],
    ],
  ])("%s", (_what, search, expected) => {
    expect(textOf(search)).toEqual(expected);
  });

  it("goes a minute a second where nothing is said", () => {
    expect([speedOf({}), speedOf({ speed: "3600" }), speedOf({ speed: "7" })]).toEqual([60, 3_600, 60]);
  });
});

// What a route that is left behind says, in the forms of RFC 9745 and RFC 8594.
import { describe, expect, it } from "vitest";
import { deprecationHeaders } from "./deprecation.ts";

const headers = (since: string, sunset: string) =>
  deprecationHeaders({ id: "old", deprecated: { since, sunset, instead: "new" } });

describe("a deprecated route", () => {
  it("says since when and until when", () => {
    expect(headers("2026-11-15", "2027-06-01")).toMatchObject({
      deprecation: "@1794700800",
      sunset: "Tue, 01 Jun 2027 00:00:00 GMT",
      link: expect.stringContaining('rel="deprecation"'),
    });
    expect(deprecationHeaders({ id: "current" })).toEqual({});
  });

  it("has dates that are dates, the end after the beginning", () => {
    expect(() => headers("2026-11-31", "2027-06-01")).toThrow(/which is none/);
    expect(() => headers("2026-11-15", "2026-11-15")).toThrow(/before it is deprecated/);
  });
});

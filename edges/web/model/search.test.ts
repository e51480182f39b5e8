// What goes along from desk to desk, and the address of a replay.
import { describe, expect, it } from "vitest";
import { carried, readSearch, refusedIn, replayOf } from "./search.ts";

const at = "2026-11-18T12:00:00.000000Z";
const nowMs = Date.parse("2026-11-19T12:00:00Z");

describe("a link to another desk", () => {
  it("keeps fund, range, symbol and moment, and nothing that is of one desk alone", () => {
    const kept = { fund: "alpha", from: "7d", to: at, symbol: "AAPL", at };
    const own = {
      q: "x",
      sort: "orders.at.desc",
      show: "o-1",
      tables: "all",
      mode: "value",
      strategy: "s",
      status: "FAILED",
    };
    expect(carried({ ...kept, ...own })).toEqual(kept);
    expect(carried({})).toEqual({});
  });
});

describe("the address", () => {
  it("has a moment and a mode, and names what cannot be one", () => {
    expect(readSearch({ at, mode: "profit", strategy: "alpha-momentum", status: "REFUSED" })).toEqual({
      at,
      mode: "profit",
      strategy: "alpha-momentum",
      status: "REFUSED",
    });
    const wrong = { at: "yesterday", mode: "share; rm", status: "refused", strategy: "$(id)" };
    expect(readSearch(wrong)).toEqual({});
    expect(refusedIn(wrong)).toEqual(["at", "mode", "strategy", "status"]);
    expect(readSearch({ at: "2026-11-18T12:00:00Z" })).toEqual({ at: "2026-11-18T12:00:00Z" });
  });
});

describe("the way to a replay", () => {
  it("names the row's fund, symbol and moment", () => {
    expect(replayOf({ q: "x", symbol: "XOM" }, { fund: "alpha", at, symbol: "AAPL" }, nowMs)).toEqual({
      fund: "alpha",
      symbol: "AAPL",
      at,
    });
    expect(replayOf({ fund: "beta", symbol: "XOM" }, { fund: "alpha", at }, nowMs)).toEqual({
      fund: "alpha",
      symbol: "XOM",
      at,
    });
  });

  it("keeps a range in which the moment lies, and drops one that would end before it", () => {
    expect(replayOf({ from: "7d" }, { fund: "alpha", at }, nowMs)).toMatchObject({ from: "7d", at });
    expect(replayOf({ from: "1h" }, { fund: "alpha", at }, nowMs)).toEqual({ fund: "alpha", at });
    const early = { from: "2026-11-17T00:00:00Z", to: "2026-11-17T12:00:00Z" };
    expect(replayOf(early, { fund: "alpha", at }, nowMs)).toEqual({ fund: "alpha", at });
  });

  it("is none of what has no fund or no time", () => {
    for (const row of [
      { fund: undefined, at },
      { fund: "", at },
      { fund: "alpha", at: undefined },
      { fund: "alpha", at: "" },
    ])
      expect(replayOf({}, row, nowMs)).toBeUndefined();
  });
});

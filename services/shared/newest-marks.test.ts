// Which price counts for which funds, whatever comes first and however late.
import { describe, expect, it } from "vitest";
import { format, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import { createPriceSources } from "../../core/exposure/price-sources.ts";
import { createNewestMarks } from "./newest-marks.ts";

const now = parse("2026-11-18T03:00:00.000000Z");

function heard(...marks: readonly (readonly [source: string, price: string, atMs: number])[]) {
  const sources = createPriceSources({ namedFor: () => undefined, markAgeMsMax: 10_000 });
  const newest = createNewestMarks(({ price }, at) => ({ price, at }), sources);
  for (const [source, price, atMs] of marks) {
    newest.hear({ symbol: "AAPL", price, source, at: format(plusMilliseconds(now, atMs)) }, now);
  }
  return { live: newest.live.get("AAPL")?.price, paper: newest.paper.get("AAPL")?.price, newest };
}

describe("32.2: the newest marks", () => {
  it("of the simulated market are for PAPER funds alone", () =>
    expect(heard(["paper", "100", 0])).toMatchObject({ live: undefined, paper: "100" }));

  it("from outside are for LIVE funds, and for PAPER ones until the simulated market has spoken", () => {
    expect(heard(["feed", "90", 0])).toMatchObject({ live: "90", paper: "90" });
    // Also when what it says is older.
    expect(heard(["feed", "90", 0], ["paper", "100", -500])).toMatchObject({ live: "90", paper: "100" });
    expect(heard(["paper", "100", -500], ["feed", "90", 0])).toMatchObject({ live: "90", paper: "100" });
  });

  it("do not make a price older, and are not believed ahead of the clock", () => {
    expect(heard(["feed", "90", 0], ["feed", "80", -1], ["feed", "70", 60_000])).toMatchObject({ live: "90" });
    expect(heard(["paper", "100", 0], ["paper", "80", -1])).toMatchObject({ paper: "100" });
  });

  it("of zero or less are no prices", () => {
    expect(heard(["feed", "90", 0], ["feed", "0", 1], ["feed", "-1", 2])).toMatchObject({ live: "90", paper: "90" });
    expect(heard(["feed", "0.00", 0], ["paper", "-0.1", 1])).toMatchObject({ live: undefined, paper: undefined });
  });

  it("that are forgotten are gone for both, and the next one counts again", () => {
    const { newest } = heard(["paper", "100", 0], ["feed", "90", 0]);
    newest.forget("AAPL");
    expect([newest.live.size, newest.paper.size]).toEqual([0, 0]);
    newest.hear({ symbol: "AAPL", price: "50", source: "feed", at: format(now) }, now);
    expect([newest.live.get("AAPL")?.price, newest.paper.get("AAPL")?.price]).toEqual(["50", "50"]);
  });
});

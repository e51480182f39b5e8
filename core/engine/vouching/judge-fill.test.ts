// Which prices of a fill are believed: the collar of its order around the mark with its bid and ask, and nothing without a fresh mark.
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { engineFixture, engineOptions, markOf, moment, reference } from "../../../testkit/risk/engine-fixture.ts";
import { createEngine } from "../engine.ts";

const options = { priceJumpMax: decimal.parse("0.25") };
const fill = { fundId: "alpha", symbol: "AAPL", isExit: false };
const kinds = (prices: readonly string[], isExit = false, quote: object = {}) => {
  // The mark is 200, the collar 5 %, that of exits four times as wide.
  const engine = engineFixture({}, options);
  engine.setMark({ ...markOf("AAPL", "200", moment(1)), ...quote });
  return prices.map((price) => engine.acceptance.judge({ ...fill, price, isExit }, moment(2)).kind);
};

describe("28.5: the price of a fill", () => {
  it("may lie as far from the mark as the collar lets an order's, to the last digit", () => {
    expect(kinds(["190", "210", "200", "195.5"])).toEqual(Array(4).fill("within"));
    expect(kinds(["189.99999999", "210.00000001", "0", "-5", "100000000000000000"])).toEqual(Array(5).fill("outside"));
  });

  it("has the collar of exits when its order was a marked one", () => {
    expect(kinds(["160", "240"], true)).toEqual(["within", "within"]);
    expect(kinds(["159.99", "240.01"], true)).toEqual(["outside", "outside"]);
  });

  it("is counted from bid and ask where those lie further out", () => {
    const quote = { bid: "180", ask: "215" };
    expect(kinds(["170", "225"], false, quote)).toEqual(["within", "within"]);
    expect(kinds(["169.99", "225.01"], false, quote)).toEqual(["outside", "outside"]);
    // As far as a price may jump; what lies further out is none.
    expect(kinds(["240", "260"], false, { bid: "150", ask: "250" })).toEqual(["within", "within"]);
    expect(kinds(["240", "260"], false, { bid: "150", ask: "250.01" })).toEqual(["outside", "outside"]);
    expect(kinds(["145", "140"], false, { bid: "149.99" })).toEqual(["outside", "outside"]);
    // A crossed quote narrows nothing.
    expect(kinds(["190", "210"], false, { bid: "210", ask: "190" })).toEqual(["within", "within"]);
  });

  it("cannot be judged without a fresh mark, or without an envelope", () => {
    const engine = engineFixture();
    const judged = (symbol: string, atMs: number, fundId = "alpha") =>
      engine.acceptance.judge({ fundId, symbol, price: "200", isExit: false }, moment(atMs));
    expect(judged("AAPL", 10_000).kind).toBe("within");
    expect(judged("AAPL", 10_001)).toEqual({ kind: "unknown", reason: "the price of AAPL is too old" });
    expect(judged("NONE", 0)).toEqual({ kind: "unknown", reason: "there is no price of NONE" });
    expect(judged("AAPL", 0, "omega").kind).toBe("unknown");
    const silent = createEngine(engineOptions);
    silent.setReference(reference);
    expect(silent.acceptance.judge({ ...fill, price: "200" }, moment(0)).kind).toBe("unknown");
  });

  it("cannot be judged while the price has jumped, and is when that is over", () => {
    const engine = engineFixture({}, options);
    const judged = (price: string, second: number) =>
      engine.acceptance.judge({ ...fill, price }, moment(second * 1_000)).kind;
    const say = (price: string, second: number): void => {
      engine.noteClock(moment(second * 1_000));
      engine.setMark(markOf("AAPL", price, moment(second * 1_000)));
    };
    say("200", 1);
    say("1000", 2);
    expect([judged("1000", 2), judged("200", 2)]).toEqual(["unknown", "unknown"]);
    say("200", 3);
    expect([judged("1000", 3), judged("200", 3)]).toEqual(["outside", "within"]);
    say("1000", 4);
    say("1000", 9);
    expect(judged("1000", 9)).toBe("within");
  });

  it("says what it is, what the mark is and how far it may lie", () => {
    const engine = engineFixture();
    expect(engine.acceptance.judge({ ...fill, price: "260.50" }, moment(0))).toEqual({
      kind: "outside",
      reason: "260.5 is more than 5 % from the mark 200",
    });
  });
});

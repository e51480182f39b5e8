// An order whose end was reported and that works after it is reserved again, by the dates of what was said and never by their order. The numbers are those of
// ended-orders.ts.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as instant from "../../contracts/src/instant.ts";
import type { OrderTransition } from "../../contracts/src/records/order.ts";
import { engineFixture, fillOf, moment, orderOf, transitionOf } from "../../testkit/risk/engine-fixture.ts";
import type { Engine } from "../engine/engine.ts";

const order = orderOf("a", { quantity: "100" });
const at = (ms: number): string => instant.format(moment(ms));
type Said = (engine: Engine) => unknown;

const ends = (ms: number, filled = "0", to: OrderTransition["to"] = "CANCELLED"): Said => {
  return (engine) => engine.applyTransition(transitionOf(order, to, { filled_quantity: filled, at: at(ms) }));
};
const works = (ms: number, filled: string, remaining: string): Said => {
  const more = { filled_quantity: filled, remaining_quantity: remaining, at: at(ms) };
  return (engine) => engine.applyTransition(transitionOf(order, "WORKING", more));
};
const fills = (ms: number, quantity: string, n = 1): Said => {
  return (engine) => engine.applyFill({ ...fillOf(order, quantity, n), filled_at: at(ms) });
};

function engineAfter(...said: readonly Said[]): Engine {
  const engine = engineFixture();
  expect(engine.check(order, moment(0)).outcome).toBe("approved");
  for (const say of said) say(engine);
  return engine;
}
const reserved = (engine: Engine): string => {
  return engine.lines().find(({ symbol, fund_id }) => symbol === "AAPL" && fund_id === "alpha")?.pending_buy ?? "0";
};

describe("1: an order whose end was reported", () => {
  it.each<[string, string, Said]>([
    ["stays ended by a report of 5 s later", "0", works(15_000, "0", "100")],
    ["is reserved again by one of more", "100", works(15_000.001, "0", "100")],
    ["stays ended by a fill of 5 s later", "0", fills(15_000, "1")],
    ["is reserved again by one of more", "99", fills(15_000.001, "1")],
    [
      "stays ended by an acknowledgement, however late",
      "0",
      (engine) => engine.applyTransition(transitionOf(order, "ACCEPTED", { at: at(99_000) })),
    ],
  ])("%s", (_what, expected, said) => {
    expect(reserved(engineAfter(ends(10_000), said))).toBe(expected);
  });

  it("is told to work again once, by what shows it first", () => {
    const engine = engineAfter(ends(10_000));
    expect(works(20_000, "0", "100")(engine)).toMatchObject({ worksAgain: true, reservedAgain: false });
    expect(works(21_000, "0", "100")(engine)).toMatchObject({ worksAgain: false });
    expect(fills(22_000, "10")(engine)).toMatchObject({ known: true, worksAgain: false });
    const late = engineAfter(works(20_000, "0", "100"));
    expect(ends(10_000)(late)).toMatchObject({ worksAgain: true });
    const filled = engineAfter(ends(10_000));
    expect(fills(22_000, "10")(filled)).toMatchObject({ known: true, worksAgain: true, closed: false });
  });

  it("that was filled has nothing to reserve again", () => {
    expect(reserved(engineAfter(fills(1_000, "100"), ends(2_000, "100", "FILLED"), works(20_000, "0", "100")))).toBe(
      "0",
    );
  });
});

describe("2: what is reserved again", () => {
  it.each<[string, string, readonly Said[]]>([
    [
      "what was approved less what has filled, after a fill",
      "70",
      [fills(1_000, "20"), ends(2_000, "20"), fills(9_000, "10", 2)],
    ],
    [
      "the remainder that the report names, when that is less",
      "30",
      [fills(1_000, "20"), ends(2_000, "20"), works(9_000, "20", "30")],
    ],
    [
      "what was approved less what has filled, when that is less",
      "80",
      [fills(1_000, "20"), ends(2_000, "20"), works(9_000, "20", "500")],
    ],
    [
      "the remainder less what has filled since",
      "25",
      [fills(1_000, "20"), ends(2_000, "20"), works(9_000, "20", "30"), fills(9_500, "5", 2)],
    ],
    ["what the newest report names", "10", [ends(2_000), works(9_000, "0", "30"), works(9_100, "0", "10")]],
  ])("is %s", (_what, expected, said) => {
    expect(reserved(engineAfter(...said))).toBe(expected);
  });
});

describe("3: what was reserved again", () => {
  it("is freed by an end of a later date, and not by the same end again or by an earlier one", () => {
    const engine = engineAfter(ends(2_000), works(9_000, "0", "30"));
    for (const earlier of [ends(2_000), ends(3_999), ends(1_000)]) {
      earlier(engine);
      expect(reserved(engine)).toBe("30");
    }
    ends(10_000)(engine);
    expect(reserved(engine)).toBe("0");
    works(14_000, "0", "30")(engine);
    expect(reserved(engine)).toBe("0");
    works(15_001, "0", "30")(engine);
    expect(reserved(engine)).toBe("30");
  });

  it("is the same whatever came first", () => {
    const said: readonly Said[] = [
      fills(1_000, "10"),
      ends(2_000, "10"),
      works(9_000, "10", "60"),
      fills(9_500, "5", 2),
      ends(20_000, "15"),
      works(26_000, "15", "40"),
    ];
    for (const count of [2, 3, 4, 5, 6]) {
      const some = said.slice(0, count);
      const expected = reserved(engineAfter(...some));
      fc.assert(
        fc.property(fc.shuffledSubarray([...some], { minLength: count }), (shuffled) => {
          expect(reserved(engineAfter(...shuffled))).toBe(expected);
        }),
        { seed: 45, numRuns: 60 },
      );
    }
  });
});

describe("4: an order that ended before it was filled", () => {
  it("is remembered over a restart, and its id is not used again", () => {
    const engine = engineAfter(fills(1_000, "20"), ends(2_000, "20"));
    const next = engineFixture();
    next.restore(engine.snapshot());
    expect(next.snapshot()).toEqual(engine.snapshot());
    expect(next.check({ ...order, idempotency_key: "new" }, moment(60_000)).code).toBe("SCHEMA_AMENDMENT_MISMATCH");
    works(9_000, "20", "30")(next);
    expect(reserved(next)).toBe("30");
    const last = engineFixture();
    last.restore(next.snapshot());
    expect(last.snapshot()).toEqual(next.snapshot());
    ends(10_000, "20")(last);
    expect(reserved(last)).toBe("0");
  });
});

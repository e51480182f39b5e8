// Losses that something could hide: old prices, flows while nobody could value the fund, another currency, a rebase, and a fund with nothing left.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromMicroseconds, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import { lossLife, secondsAfter } from "../../testkit/risk/loss-life.ts";
import { priceStanding } from "./loss-prices.ts";

const noon = "2026-11-18T12:00:00Z";
const seed = 236;

describe("23.6: a flow is applied at the last value before it", () => {
  test("a deposit that comes while nobody can value the fund hides nothing of what was lost meanwhile", () => {
    const life = lossLife({ confirmations: 1 });
    life.value(noon, "100");
    // 10 % is lost, 900 comes, and only then is the fund valued again.
    expect(life.value(secondsAfter(noon, 30), "990", { flows: "900" })).toEqual(["daily", "weekly", "monthly"]);
  });

  test("not even when nothing was left of it", () => {
    const life = lossLife({ confirmations: 1 });
    life.value(noon, "100");
    expect(life.value(secondsAfter(noon, 30), "895", { flows: "900" })).toEqual(["daily", "weekly", "monthly"]);
  });

  test("a deposit after a gain makes no loss of it, and an ordinary one is applied at the value of the second before", () => {
    const life = lossLife({ confirmations: 1 });
    life.value(noon, "100");
    expect(life.value(secondsAfter(noon, 30), "1010", { flows: "900" })).toEqual([]);
    expect(life.value(secondsAfter(noon, 31), "2010", { flows: "1900" })).toEqual([]);
    expect(life.pending()).toEqual([]);
  });
});

describe("23.6: another currency", () => {
  test("a loss below its limit is the same share after it, there and back", () => {
    const life = lossLife({ confirmations: 1 });
    life.value(noon, "100");
    expect(life.value(secondsAfter(noon, 1), "98.5")).toEqual([]);
    expect(life.value(secondsAfter(noon, 2), "197", { currency: "EUR" })).toEqual([]);
    expect(life.value(secondsAfter(noon, 3), "98.5")).toEqual([]);
    expect(life.value(secondsAfter(noon, 4), "98")).toEqual(["daily"]);
  });

  test("a breach that waits is confirmed after it", () => {
    const life = lossLife();
    life.value(noon, "100");
    life.value(secondsAfter(noon, 1), "97");
    expect(life.pending()).toEqual(["daily"]);
    expect(life.value(secondsAfter(noon, 2), "48.5", { currency: "EUR", flows: "7" })).toEqual(["daily"]);
  });

  test("what halted and was lifted with its baseline kept halts again from the same loss on", () => {
    const life = lossLife({ confirmations: 1 });
    life.value(noon, "100");
    expect(life.value(secondsAfter(noon, 1), "97.5")).toEqual(["daily"]);
    life.lift();
    expect(life.value(secondsAfter(noon, 2), "195", { currency: "EUR" })).toEqual([]);
    expect(life.value(secondsAfter(noon, 3), "194.7", { currency: "EUR" })).toEqual([]);
    expect(life.value(secondsAfter(noon, 4), "194.6", { currency: "EUR" })).toEqual(["daily"]);
  });

  test("windows, the highest value and strategies are counted on", () => {
    const off = { daily_loss_halt_pct: 0.9, weekly_loss_halt_pct: 0.9, monthly_loss_halt_pct: 0.9 };
    const limits = {
      ...off,
      rolling_24h_loss_halt_pct: 0.03,
      high_water_loss_halt_pct: 0.05,
      strategy_loss_halt_pct: 0.04,
    };
    const life = lossLife({ confirmations: 1, limits });
    const say = (second: number, value: string, profit: string, currency = "USD") =>
      life.value(secondsAfter(noon, second), value, { currency, strategies: { a: profit } });
    say(0, "100", "0");
    expect([...say(1, "98", "-2"), ...say(2, "196", "-4", "EUR")]).toEqual([]);
    expect(say(3, "193", "-7", "EUR")).toEqual(["rolling_24h"]);
    expect(say(4, "191", "-7.9", "EUR")).toEqual([]);
    expect(say(5, "190", "-8", "EUR")).toEqual(["high_water", "strategy a"]);
  });

  test("where there is no ratio, what waited halts at once", () => {
    const life = lossLife();
    life.value(noon, "100");
    life.value(secondsAfter(noon, 1), "-1", { holds: false });
    expect(life.value(secondsAfter(noon, 2), "50", { currency: "EUR" })).toEqual(["daily", "weekly", "monthly"]);
  });
});

describe("23.6: a fund with nothing left", () => {
  test("is halted while it holds positions, whatever it was worth before, and again when somebody lifts or rebases that", () => {
    const life = lossLife({ confirmations: 1 });
    expect(life.value(noon, "-5", { holds: true })).toEqual(["equity"]);
    expect(life.value(secondsAfter(noon, 1), "-5", { holds: true })).toEqual([]);
    life.lift();
    expect(life.value(secondsAfter(noon, 2), "-4", { holds: true })).toEqual(["equity"]);
    life.lift();
    life.rebase(secondsAfter(noon, 3));
    expect(life.value(secondsAfter(noon, 4), "0", { holds: true })).toEqual(["equity"]);
    life.lift();
    // Money ends it.
    expect(life.value(secondsAfter(noon, 5), "100", { flows: "100", holds: true })).toEqual([]);
    expect(life.pending()).toEqual([]);
  });

  test("also when all of its money was withdrawn beside its positions, and not when it holds nothing", () => {
    const held = lossLife({ confirmations: 1 });
    held.value(noon, "100", { holds: true });
    expect(held.value(secondsAfter(noon, 1), "0", { flows: "-100", holds: true })).toContain("equity");
    const empty = lossLife({ confirmations: 1 });
    empty.value(noon, "100", { holds: false });
    expect(empty.value(secondsAfter(noon, 1), "0", { flows: "-100", holds: false })).toEqual([]);
  });

  test("waits for its confirmation like any other: one bad mark halts nothing", () => {
    const life = lossLife();
    life.value(noon, "100", { holds: true });
    expect(life.value(secondsAfter(noon, 1), "-5", { holds: true })).toEqual([]);
    expect(life.pending()).toContain("equity");
    expect(life.value(secondsAfter(noon, 2), "100", { holds: true })).toEqual([]);
    expect(life.pending()).toEqual([]);
  });
});

test("23.6: a rebase with the lifting of another halt does not forget a breach that waits", () => {
  const life = lossLife();
  life.value(noon, "100");
  life.value(secondsAfter(noon, 1), "97");
  life.rebase(secondsAfter(noon, 1));
  life.restart(secondsAfter(noon, 1));
  expect(life.pending()).toEqual(["daily"]);
  expect(life.value(secondsAfter(noon, 2), "97")).toEqual(["daily"]);
});

/** Every step is one of these, and one valuation: the market moves by thousandths, money flows, the currency changes, somebody restarts. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("move" as const), by: fc.integer({ min: -9, max: 5 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("flow" as const), by: fc.integer({ min: -900, max: 9_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("currency" as const), by: fc.integer({ min: 10, max: 9_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), by: fc.constant(0) }) },
);

test(`23.6: whatever flows, flips and restarts come between, a day's loss per unit halts when it reaches its limit (seed ${seed})`, () => {
  let halted = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
      const life = lossLife({ confirmations: 1, limits: { weekly_loss_halt_pct: 0.9, monthly_loss_halt_pct: 0.9 } });
      const say = (second: number, nav: number, flows: number, currency: string) =>
        life.value(secondsAfter(noon, second), nav.toFixed(6), { flows: flows.toFixed(6), currency, holds: true });
      let [nav, flows, unit, currency] = [1_000_000, 0, 1, "USD"];
      say(0, nav, flows, currency);
      for (const [index, { kind, by }] of steps.entries()) {
        if (kind === "move") {
          nav *= 1 + by / 1_000;
          unit *= 1 + by / 1_000;
        } else if (kind === "flow") {
          const amount = (nav * by) / 1_000;
          nav += amount;
          flows += amount;
        } else if (kind === "currency") {
          nav *= by / 1_000;
          flows *= by / 1_000;
          currency = currency === "USD" ? "EUR" : "USD";
        } else life.restart(secondsAfter(noon, index + 1));
        const reported = say(index + 1, nav, flows, currency);
        const lost = 1 - unit;
        // The figures here are not exact, and those there are rounded.
        if (lost > 0.02 + 1e-7) expect(reported).toEqual(["daily"]);
        if (lost < 0.02 - 1e-7) expect(reported).toEqual([]);
        if (reported.length === 0) continue;
        halted += 1;
        return;
      }
    }),
    { numRuns: 60, seed },
  );
  expect(halted).toBeGreaterThan(10);
});

describe("23.6: the prices in a value", () => {
  const at = parse(noon);
  const price = (secondsAgo: number) => ({
    quantity: "1",
    price: "10",
    at: new Date(fromMicroseconds(at - secondsAgo * 1_000_000) / 1_000).toISOString(),
  });
  const nav = (differs: Partial<NavUpdated>): NavUpdated => ({
    fund_id: "alpha",
    nav: "100",
    currency: "USD",
    as_of: noon,
    ...differs,
  });
  const standing = (of: Partial<NavUpdated>, open: readonly string[] = ["AAPL", "XOM"]) =>
    priceStanding(nav(of), {
      isInSession: (symbol) => open.includes(symbol),
      ageMsMax: 60_000,
      valueAgeMsMax: 15_000,
      at,
    });

  test("are too old from the microsecond after the last that is allowed, and only in session", () => {
    expect(standing({ prices: { AAPL: price(60), XOM: price(1) } })).toEqual({
      until: fromMicroseconds(at + 1),
    });
    expect(standing({ prices: { AAPL: price(61), XOM: price(1) } })).toEqual({
      why: expect.stringContaining("AAPL (61 s)"),
      until: fromMicroseconds(at + 19_000_001),
    });
    expect(standing({ prices: { AAPL: price(61), XOM: price(1) } }, ["XOM"]).why).toBeUndefined();
  });

  test("a value is as old as the newest price in session that it is made from, and a little more is allowed", () => {
    const dead = "it tells of no loss since";
    expect(standing({ prices: { AAPL: price(20), XOM: price(50) } })).toEqual({ until: fromMicroseconds(at + 1) });
    expect(standing({ prices: { AAPL: price(21), XOM: price(50) } }).why).toContain(dead);
    // One that trades keeps the value alive, and one that is closed does not.
    expect(standing({ prices: { AAPL: price(1), XOM: price(50) } }).why).toBeUndefined();
    expect(standing({ prices: { AAPL: price(1), XOM: price(50) } }, ["XOM"]).why).toContain(dead);
    expect(standing({ prices: { AAPL: price(50) } }, []).why).toBeUndefined();
  });

  test("that nobody named count as in session", () => {
    expect(standing({ oldest_price_age_ms: 60_001 }).why).toContain("a position (60 s)");
    expect(standing({ oldest_price_age_ms: 60_000 }).why).toBeUndefined();
    expect(standing({}).until).toBe(plusMilliseconds(at, 60_000) + 1);
    expect(standing({ prices: {} }).why).toBeUndefined();
  });
});

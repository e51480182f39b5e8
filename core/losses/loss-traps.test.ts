// The traps of time, peaks and days, each under its own name: what has fooled loss limits elsewhere must not fool these.
import { describe, expect, test } from "vitest";
import { lossLife, newYork, secondsAfter } from "../../testkit/risk/loss-life.ts";

describe("days", () => {
  test("the day's loss is realised and unrealised together, fees and borrow fees included: it is the value's", () => {
    const life = lossLife({ confirmations: 1 });
    // Nothing was sold: what is lost stands in the positions, and in fees that were paid.
    life.value("2026-11-18T10:00:00Z", "1000000", { strategies: { a: "0" } });
    expect(life.value("2026-11-18T10:00:01Z", "980000.01", { strategies: { a: "-19999.99" } })).toEqual([]);
    expect(life.value("2026-11-18T10:00:02Z", "980000", { strategies: { a: "-20000" } })).toEqual(["daily"]);
  });

  test("the end of a month and of a year: each period begins with the same value, and the week goes on", () => {
    const life = lossLife({ calendar: newYork });
    life.value("2026-12-31T20:59:59Z", "100");
    // New Year's Day belongs to 2026 still; 2027 begins with its first trading day.
    life.tick("2027-01-01T05:00:00Z");
    expect(life.baseline("monthly")?.slice(0, 10)).toBe("2026-12-01");
    life.value("2027-01-04T04:59:59Z", "99.5");
    life.tick("2027-01-04T05:00:00Z");
    expect(["daily", "weekly", "monthly"].map((limit) => life.baseline(limit))).toEqual([
      "2027-01-04 99.5 v0",
      "2027-01-04 99.5 v0",
      "2027-01-01 99.5 v0",
    ]);
  });

  test("a market around the clock has its day at midnight of its zone, seven days a week", () => {
    const life = lossLife();
    for (const day of ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"]) {
      life.value(`${day}T00:00:00Z`, "100");
      life.value(`${day}T23:59:59Z`, "99");
      expect(life.baseline("daily")?.slice(0, 10)).toBe(day);
    }
    expect(life.baseline("daily")).toBe("2026-11-23 99 v0");
  });

  test("a restart exactly at midnight, killed before its tick was written, finds the value before midnight", () => {
    const life = lossLife();
    life.value("2026-11-18T23:59:59.999999Z", "101");
    life.restart("2026-11-19T00:00:00Z");
    expect(life.isKnown("2026-11-19T00:00:00Z")).toBe(false);
    // The first thing that it hears is a valuation of that very moment.
    life.value("2026-11-19T00:00:00Z", "99.5");
    expect(life.baseline("daily")).toBe("2026-11-19 101 v0");
    life.restart("2026-11-19T00:00:00Z");
    life.tick("2026-11-19T00:00:00Z");
    expect(life.baselines.filter(({ period }) => period === "2026-11-19")).toHaveLength(1);
  });

  test("a halt of 23:59 is in force at 00:00, and the new day counts from what was left", () => {
    const life = lossLife({ confirmations: 1 });
    life.value("2026-11-18T10:00:00Z", "100");
    expect(life.value("2026-11-18T23:59:59Z", "98")).toEqual(["daily"]);
    life.tick("2026-11-19T00:00:00Z");
    expect(life.baseline("daily")).toBe("2026-11-19 98 v0");
    expect(life.value("2026-11-19T00:00:01Z", "96.05")).toEqual([]);
    expect(life.value("2026-11-19T00:00:02Z", "96.04")).toEqual(["daily"]);
  });

  test("a clock that was set back a day, and forward again, writes nothing twice and forgives nothing", () => {
    const life = lossLife();
    life.value("2026-11-18T12:00:00Z", "100");
    life.value("2026-11-18T12:00:01Z", "98");
    life.restart("2026-11-17T12:00:00Z");
    expect(life.tick("2026-11-17T12:00:01Z")).toEqual([]);
    expect(life.pending()).toEqual(["daily"]);
    life.restart("2026-11-18T12:01:00Z");
    expect(life.value("2026-11-18T12:01:01Z", "98")).toEqual(["daily"]);
  });
});

describe("peaks", () => {
  test("the highest value survives restarts, and a resume keeps it unless somebody chose otherwise", () => {
    const life = lossLife({ confirmations: 1, limits: { high_water_loss_halt_pct: 0.02, daily_loss_halt_pct: 0.5 } });
    life.value("2026-11-18T12:00:00Z", "100");
    life.value("2026-11-18T12:00:01Z", "110");
    life.restart("2026-11-18T12:00:02Z");
    expect(life.peak()).toBe("110");
    expect(life.value("2026-11-18T12:00:03Z", "107.8")).toEqual(["high_water"]);
    life.lift();
    expect([life.peak(), life.value("2026-11-18T12:00:04Z", "107.7")]).toEqual(["110", []]);
    expect(life.value("2026-11-18T12:00:05Z", "107.58")).toEqual(["high_water"]);
    life.lift();
    life.rebase("2026-11-18T12:00:06Z");
    expect([life.peak(), life.value("2026-11-18T12:00:07Z", "107")]).toEqual(["107.58", []]);
  });

  test("a tick that is too high once, and again much later, is no peak; two in a row are the lower of them", () => {
    const life = lossLife({ limits: { high_water_loss_halt_pct: 0.02 } });
    life.value("2026-11-18T12:00:00Z", "100");
    for (const second of [1, 60, 120]) {
      life.value(secondsAfter("2026-11-18T12:00:00Z", second), "101.9");
      life.value(secondsAfter("2026-11-18T12:00:00Z", second + 1), "100");
    }
    expect(life.peak()).toBe("100");
    life.value("2026-11-18T12:10:00Z", "101.9");
    life.value("2026-11-18T12:10:01Z", "101");
    expect(life.peak()).toBe("101");
  });

  test("a dividend or a split that the value shows as no change is no loss, and a payout is a flow", () => {
    const life = lossLife({ confirmations: 1, limits: { high_water_loss_halt_pct: 0.02 } });
    life.value("2026-11-18T12:00:00Z", "100");
    life.value("2026-11-18T12:00:01Z", "100");
    expect(life.value("2026-11-18T12:00:02Z", "92", { flows: "-8" })).toEqual([]);
    expect(life.value("2026-11-18T12:00:03Z", "90.16", { flows: "-8" })).toEqual(["daily", "high_water"]);
  });
});

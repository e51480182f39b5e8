// What the chart draws: holes where nothing was heard, marks at the bar in which we learned of something, and a view that stays where it was.
import { describe, expect, it } from "vitest";
import { format, parse } from "../../../contracts/src/instant.ts";
import { candlesOf, gapsOf, marksOf, viewAfter } from "./candles.ts";
import type { PastBars } from "./past-answers.ts";
import type { PastEvent } from "./past-events.ts";

const first = parse("2026-11-19T12:00:00Z");
const startOf = (minute: number): string => format((first + minute * 60_000_000) as never);
const barsOf = (minutes: readonly number[], last: object = {}): PastBars =>
  minutes.map((minute, index) => ({
    symbol: "AAPL",
    interval: "1m",
    start: startOf(minute),
    open: "10",
    high: "12.5",
    low: "9",
    close: "11",
    closed: true,
    source: "recorded",
    cut: false,
    ...(index === minutes.length - 1 ? last : {}),
  }));
const seconds = (minute: number): number => first / 1_000_000 + minute * 60;

describe("candles", () => {
  it("leave a hole where nothing was heard, and the last one is not whole while it forms", () => {
    const candles = candlesOf(barsOf([0, 1, 4], { closed: false }), "1m");
    expect(candles.map(({ time, close, isPart }) => [time, close, isPart])).toEqual([
      [seconds(0), 11, false],
      [seconds(1), 11, false],
      [seconds(2), undefined, undefined],
      [seconds(3), undefined, undefined],
      [seconds(4), 11, true],
    ]);
  });

  it("of a weekend do not push everything else out of sight, and stay in order", () => {
    const times = candlesOf(barsOf([0, 3_000]), "1m").map(({ time }) => time);
    expect(times.length).toBe(62);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  it("name their gaps", () => {
    expect(gapsOf(barsOf([0, 1, 4, 5, 9]), "1m")).toEqual([
      { from: seconds(2), to: seconds(4) },
      { from: seconds(6), to: seconds(9) },
    ]);
  });
});

describe("marks", () => {
  const event = (minute: number, kind: PastEvent["kind"], data: object, symbol = "AAPL"): PastEvent =>
    ({
      event_id: "e",
      at: format((first + minute * 60_000_000 + 5_000_000) as never),
      kind,
      symbol,
      data,
    }) as PastEvent;

  it("are our new orders, fills and stops of the symbol, at the bar in which they were recorded", () => {
    const candles = candlesOf(barsOf([0, 1, 2]), "1m");
    const events = [
      event(-1, "fill", { side: "BUY", quantity: "1", price: "2" }),
      event(0, "order", { side: "BUY", quantity: "5" }),
      event(0, "order", { from: "NEW", to: "WORKING" }),
      event(1, "fill", { side: "SELL", quantity: "5", price: "11" }),
      event(1, "fill", { side: "BUY", quantity: "5", price: "11" }, "MSFT"),
      event(2, "stop", { trigger_price: "9" }),
      event(2, "news", {}),
    ];
    expect(marksOf(events, "AAPL", "1m", candles)).toEqual([
      { time: seconds(0), kind: "order", position: "belowBar", shape: "circle", text: "" },
      { time: seconds(1), kind: "fill", position: "aboveBar", shape: "arrowDown", text: "−5" },
      { time: seconds(2), kind: "stop", position: "aboveBar", shape: "square", text: "stop" },
    ]);
  });
});

describe("the view", () => {
  const at = (minutes: readonly number[]) => minutes.map((minute) => ({ time: seconds(minute) }));
  const ten = at([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

  it("follows the clock when it went on and the newest bar was in sight", () => {
    expect(viewAfter({ from: 4, to: 12 }, ten, at([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), false)).toEqual({
      from: 6,
      to: 14,
    });
    // The oldest went out at the same time: at the same places other bars stand.
    expect(viewAfter({ from: 4, to: 12 }, ten, at([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), false)).toEqual({
      from: 4,
      to: 12,
    });
  });

  it("stays at its times when the newest bar was out of sight", () => {
    expect(viewAfter({ from: 1, to: 5 }, ten, at([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), false)).toEqual({
      from: -1,
      to: 3,
    });
  });

  it("stays where it was when the clock went back, although bars are gone from it", () => {
    expect(viewAfter({ from: 4, to: 12 }, ten, at([0, 1, 2, 3, 4, 5]), true)).toEqual({ from: 4, to: 12 });
    expect(viewAfter({ from: 4, to: 12 }, ten, at([-3, -2, -1, 0, 1]), true)).toEqual({ from: 7, to: 15 });
  });

  it("is given up when nothing of it is there any more", () => {
    expect(viewAfter({ from: 4, to: 12 }, ten, at([100, 101]), false)).toBeUndefined();
    expect(viewAfter({ from: 6, to: 9 }, ten, at([-2, -1, 0, 1]), false)).toBeUndefined();
  });
});

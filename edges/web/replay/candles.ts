// What the chart draws: bars as they were known, times of which nothing was heard as holes, and our orders, fills and stops on them. Pure. Binary figures are
// for drawing alone.
import { barLengthUs, barNumber } from "../../../contracts/src/bar-intervals.ts";
import { microsecondsPerSecond, parse } from "../../../contracts/src/instant.ts";
import type { Interval } from "./intervals.ts";
import type { PastBars } from "./past-answers.ts";
import type { PastEvent } from "./past-events.ts";

/** In seconds, as the library has it; without figures where nothing was heard. */
export interface Candle {
  readonly time: number;
  readonly open?: number;
  readonly high?: number;
  readonly low?: number;
  readonly close?: number;
  /** Its interval was not over, or a part of it was not heard. */
  readonly isPart?: boolean;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A long silence takes no more room than so many bars. */
const holesMax = 60;

const secondsOf = (text: string): number => Math.floor(parse(text) / microsecondsPerSecond);
const lengthS = (interval: Interval): number => barLengthUs[interval] / microsecondsPerSecond;

export function candlesOf(bars: PastBars, interval: Interval): readonly Candle[] {
  const found: Candle[] = [];
  for (const { start, open, high, low, close, closed, cut } of bars) {
    const time = secondsOf(start);
    const before = found.at(-1)?.time;
    if (before !== undefined) {
      const missing = Math.round((time - before) / lengthS(interval)) - 1;
      for (let n = 1; n <= Math.min(missing, holesMax); n += 1) found.push({ time: before + n * lengthS(interval) });
    }
    found.push({
      time,
      open: Number(open),
      high: Number(high),
      low: Number(low),
      close: Number(close),
      isPart: !closed || cut,
    });
  }
  return found;
}

/** Times between bars of which there is none. */
export function gapsOf(bars: PastBars, interval: Interval): readonly Gap[] {
  return bars.flatMap(({ start }, index) => {
    const before = bars[index - 1];
    if (before === undefined) return [];
    const from = secondsOf(before.start) + lengthS(interval);
    const to = secondsOf(start);
    return to > from ? [{ from, to }] : [];
  });
}

export interface Mark {
  readonly time: number;
  readonly position: "aboveBar" | "belowBar";
  readonly shape: "arrowUp" | "arrowDown" | "circle" | "square";
  readonly kind: "order" | "fill" | "stop";
  readonly text: string;
}

const textAt = (data: PastEvent["data"], name: string): string => {
  const value = data[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};

/** New orders, fills and stops that fired, at the bar in which we learned of them; those before the first bar are not on the chart. */
export function marksOf(
  events: readonly PastEvent[],
  symbol: string,
  interval: Interval,
  candles: readonly Candle[],
): readonly Mark[] {
  const times = new Map(
    candles.map(({ time }) => [barNumber(interval, (time * microsecondsPerSecond) as never), time]),
  );
  return events.flatMap((event) => {
    if (event.symbol !== symbol) return [];
    const mark = markOf(event);
    const time = times.get(barNumber(interval, parse(event.at)));
    return mark === undefined || time === undefined ? [] : [{ ...mark, time }];
  });
}

function markOf({ kind, data }: PastEvent): Omit<Mark, "time"> | undefined {
  const isBuy = textAt(data, "side").startsWith("BUY");
  const position = isBuy ? "belowBar" : "aboveBar";
  const quantity = textAt(data, "quantity");
  if (kind === "fill" && textAt(data, "price") !== "") {
    return { kind, position, shape: isBuy ? "arrowUp" : "arrowDown", text: `${isBuy ? "+" : "−"}${quantity}` };
  }
  // What moved an order later has no side of its own.
  if (kind === "order" && textAt(data, "side") !== "") return { kind, position, shape: "circle", text: "" };
  if (kind === "stop" && textAt(data, "trigger_price") !== "")
    return { kind, position: "aboveBar", shape: "square", text: "stop" };
  return undefined;
}

/** Positions on the chart, counted in bars from its first. */
interface View {
  readonly from: number;
  readonly to: number;
}

/**
 * Where the view stands after the bars changed: at the same times, though the first bar may be another one. Where the clock went on and its newest bar was in
 * sight, it stays in sight at the same place. Undefined where nothing of the view is there any more: then everything is shown.
 */
export function viewAfter(
  view: View,
  before: readonly Candle[],
  after: readonly Candle[],
  isBack: boolean,
): View | undefined {
  const [oldLast, newLast] = [before.length - 1, after.length - 1];
  const placeOf = new Map(after.map(({ time }, index) => [time, index]));
  const shared = before.findIndex(({ time }) => placeOf.has(time));
  if (shared < 0) return undefined;
  const shift = (placeOf.get(before[shared]?.time ?? 0) ?? 0) - shared;
  const same = { from: view.from + shift, to: view.to + shift };
  const wasFollowing = view.from <= oldLast && oldLast <= view.to;
  const isAhead = newLast > oldLast + shift;
  if (!isBack && isAhead && wasFollowing) {
    const by = newLast - oldLast;
    return { from: view.from + by, to: view.to + by };
  }
  if (!isBack && (newLast < same.from || same.to < 0)) return undefined;
  return same;
}

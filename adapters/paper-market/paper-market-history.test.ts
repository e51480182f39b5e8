// The paper market's past keeps the promises of every past, is the past of what was quoted, and looks like a market over a year.
import { describe, expect, it } from "vitest";
import {
  format,
  fromUnixMs,
  millisecondsBetween,
  minusMilliseconds,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";
import type { Quote } from "../../contracts/src/records/market.ts";
import { paperListings } from "../../services/shared/paper-seeds.ts";
import { marketHistoryConformance } from "../../testkit/conformance/market-history.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { type PaperMarketOptions, paperMarket } from "./paper-market.ts";
import { paperMarketHistory } from "./paper-market-history.ts";

const noon = fromUnixMs(1_794_744_000_000);
const dayMs = 86_400_000;

function fixture(over: Partial<PaperMarketOptions> = {}, startAt = noon) {
  const time = scheduler({ seed: 1, startAt });
  const stop = time.pump();
  const options = { ...time, seed: 1, quoteEveryMs: 500, listings: paperListings, beganAt: noon, ...over };
  return {
    time,
    options,
    history: paperMarketHistory(options),
    known: "AAPL",
    unknown: "NOPE",
    now: () => time.clock.now(),
    close: stop,
  };
}

marketHistoryConformance("paper market", async () => fixture());
marketHistoryConformance("paper market with real sessions", async () =>
  fixture({ sessions: "real" }, fromUnixMs(Date.UTC(2026, 10, 16, 17))),
);

describe("the paper market's past", () => {
  it("is what was quoted, and the newest bar grows", async () => {
    const { history, options, time, close } = fixture();
    const heard: Quote[] = [];
    const stream = await paperMarket(options).subscribe(["BTC-USD"], (quotes) => void heard.push(...quotes));
    await time.timers.sleep(90_200);
    const { bars } = await history.bars("BTC-USD", "1m", noon, time.clock.now(), 10);
    expect(bars.map(({ start }) => start)).toEqual([format(noon), format(plusMilliseconds(noon, 60_000))]);
    expect(bars[0]?.open).toBe(heard[0]?.last);
    expect(bars[0]?.close).toBe(bars[1]?.open);
    expect(bars[1]?.close).toBe(heard.at(-1)?.last);
    await time.timers.sleep(10_000);
    expect((await history.bars("BTC-USD", "1m", noon, time.clock.now(), 10)).bars[0]).toEqual(bars[0]);
    await stream.stop();
    await close();
  });

  it("costs little the second time, and is made anew when a gap among the faults moves it", async () => {
    let gaps: { symbol: string; pct: number; from: string }[] = [];
    const { history, time, close } = fixture({ faults: () => ({ gaps }) as never });
    const from = minusMilliseconds(noon, 60 * dayMs);
    const ask = async () => {
      const began = time.clock.now();
      const { bars } = await history.bars("AAPL", "1d", from, noon, 100);
      return { bars, pausedMs: millisecondsBetween(began, time.clock.now()) };
    };
    const [first, second] = [await ask(), await ask()];
    expect(second.bars).toEqual(first.bars);
    expect(first.pausedMs).toBeGreaterThan(20);
    expect(second.pausedMs).toBeLessThan(10);
    gaps = [{ symbol: "AAPL", pct: -0.5, from: format(from) }];
    const moved = await ask();
    expect(Number(moved.bars[3]?.close)).toBeCloseTo(Number(first.bars[3]?.close) / 2, 1);
    await close();
  });

  it("has the volatility of its listing over a year of days, and gets to the listed price", async () => {
    const { history, close } = fixture();
    for (const [symbol, least, most] of [
      ["AAPL", 0.2, 0.35],
      ["BTC-USD", 0.45, 0.7],
    ] as const) {
      const { bars } = await history.bars(symbol, "1d", minusMilliseconds(noon, 365 * dayMs), noon, 400);
      expect(bars).toHaveLength(365);
      const closes = bars.map((each) => Number(each.close));
      const squares = closes.slice(1).map((each, index) => Math.log(each / (closes[index] ?? each)) ** 2);
      const volatility = Math.sqrt((squares.reduce((sum, each) => sum + each, 0) / squares.length) * 365);
      expect(volatility, symbol).toBeGreaterThan(least);
      expect(volatility, symbol).toBeLessThan(most);
      const listed = Number(paperListings.find((listing) => listing.symbol === symbol)?.price);
      expect(Math.abs((closes.at(-1) ?? 0) / listed - 1)).toBeLessThan(0.02);
      for (const each of bars) expect(Number(each.volume)).toBeGreaterThan(0);
    }
    await close();
  });

  it("25.8: has so many stories within a minute as the faults says, each its own, beside the usual news", async () => {
    const from = minusMilliseconds(noon, 120_000);
    const faults = { set_by: "operator:duty", reason: "tested", at: format(noon) };
    const news = [{ symbol: "AAPL", count: 40, from: format(from) }];
    const loud = fixture({ faults: () => ({ ...faults, news }) });
    const quiet = fixture();
    const past = minusMilliseconds(noon, 20 * dayMs);
    const usual = await quiet.history.news("AAPL", past, noon, 1_000);
    const heard = await loud.history.news("AAPL", past, noon, 1_000);
    expect(heard.length).toBe(usual.length + 40);
    expect(new Set(heard.map(({ story_id }) => story_id)).size).toBe(heard.length);
    expect(heard.filter(({ at }) => at >= format(from) && at < format(minusMilliseconds(noon, 60_000)))).toHaveLength(
      40,
    );
    expect(await loud.history.news("AAPL", past, plusMilliseconds(from, 30_000), 1_000)).toHaveLength(
      usual.length + 20,
    );
    expect(await loud.history.news("MSFT", past, noon, 1_000)).toEqual(
      await quiet.history.news("MSFT", past, noon, 1_000),
    );
    await loud.close();
    await quiet.close();
  });

  it("has more news where volume bursts", async () => {
    const { history, close } = fixture();
    const from = minusMilliseconds(noon, 20 * dayMs);
    const items = await history.news("AAPL", from, noon, 1_000);
    const { bars } = await history.bars("AAPL", "15m", from, noon, 10_000);
    const usual = bars.map((each) => Number(each.volume)).sort((left, right) => left - right)[bars.length >> 1] ?? 0;
    const loud = bars.filter(({ volume }) => Number(volume) > 2 * usual);
    const near = (start: string) =>
      items.some(({ at }) => Math.abs(Date.parse(at) - Date.parse(start) - 450_000) < 1_350_000);
    expect(loud.length).toBeGreaterThan(30);
    expect(loud.filter(({ start }) => near(start)).length / loud.length).toBeGreaterThan(0.5);
    expect(items.length).toBeGreaterThan(40);
    await close();
  });

  it("with real sessions has no bars of a closed market", async () => {
    const { history, close } = fixture({ sessions: "real" });
    const monday = fromUnixMs(Date.UTC(2026, 10, 9));
    const { bars } = await history.bars("AAPL", "1d", monday, plusMilliseconds(monday, 6 * dayMs), 10);
    expect(bars.map(({ start }) => start.slice(0, 10))).toEqual([
      "2026-11-09",
      "2026-11-10",
      "2026-11-11",
      "2026-11-12",
      "2026-11-13",
    ]);
    await close();
  });
});

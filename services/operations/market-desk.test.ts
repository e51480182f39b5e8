// The market desk answers with the newest quotes that the feed brought, and with bars and news of the past; senseless questions are told what to ask.
import { expect, it } from "vitest";
import { paperMarket } from "../../adapters/paper-market.ts";
import { paperMarketHistory } from "../../adapters/paper-market-history.ts";
import type { Bars, News, Quotes } from "../../contracts/src/generated/svc/v1/marketdesk.ts";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { rejection } from "../../testkit/conformance/waiting.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { paperListings } from "../paper-seeds.ts";
import { marketDesk } from "./market-desk.ts";
import { rememberQuotes } from "./newest-quotes.ts";

const noon = fromUnixMs(1_794_744_000_000);

async function rig() {
  const time = scheduler({ seed: 1, startAt: noon });
  const stop = time.pump();
  const options = { ...time, seed: 1, quoteEveryMs: 500, listings: paperListings, beganAt: noon };
  const remembered = rememberQuotes(paperMarket(options));
  const desk = marketDesk({ ...time, ...remembered, marketHistory: paperMarketHistory(options) });
  const ask = <Answer>(procedure: string, request: unknown) =>
    desk.handlers[procedure]?.(request as never, undefined as never) as Promise<Answer>;
  return { time, remembered, ask, close: stop };
}

it("lists the newest quotes, those that were asked for or all, while somebody listens", async () => {
  const { time, remembered, ask, close } = await rig();
  expect(await ask<Quotes>("ListQuotes", { symbols: [] })).toEqual({ quotes: [] });
  const heard: string[] = [];
  const stream = await remembered.quotes.subscribe(["AAPL", "BTC-USD", "NOPE"], (quotes) => {
    heard.push(...quotes.map((quote) => JSON.stringify(quote)));
  });
  expect(stream.unknown).toEqual(["NOPE"]);
  await time.timers.sleep(1_200);
  const all = await ask<Quotes>("ListQuotes", { symbols: [] });
  expect(all.quotes.map((quote) => JSON.stringify(quote))).toEqual(heard.slice(-2));
  const some = await ask<Quotes>("ListQuotes", { symbols: ["BTC-USD", "NOPE", "BTC-USD"] });
  expect(some.quotes.map(({ symbol }) => symbol)).toEqual(["BTC-USD"]);
  await stream.stop();
  expect(await ask<Quotes>("ListQuotes", { symbols: [] })).toEqual({ quotes: [] });
  await close();
});

it("lists bars from a date, or as many back as there may be", async () => {
  const { ask, close } = await rig();
  const days = await ask<Bars>("ListBars", { symbol: "AAPL", interval: "1d", start: "2026-11-01", count_max: 0 });
  expect(days.bars.map(({ start }) => start.slice(0, 10))).toEqual(
    Array.from({ length: 15 }, (_unused, n) => `2026-11-${String(n + 1).padStart(2, "0")}`),
  );
  const minutes = await ask<Bars>("ListBars", { symbol: "SPY", interval: "1m", count_max: 30 });
  expect(minutes.bars).toHaveLength(30);
  expect(minutes.bars.at(-1)?.start).toBe("2026-11-15T11:59:00.000000Z");
  await close();
});

it("lists news and refuses what makes no sense by name", async () => {
  const { ask, close } = await rig();
  const news = await ask<News>("ListNews", { hours: 240, count_max: 5 });
  expect(news.items).toHaveLength(5);
  const asked = { symbol: "AAPL", interval: "1d", count_max: 10 };
  for (const [request, code, words] of [
    [{ ...asked, interval: "2d" }, "INVALID_ARGUMENT", /1m, 5m, 15m, 1h, 1d/],
    [{ ...asked, start: "yesterday" }, "INVALID_ARGUMENT", /2026-11-15/],
    [{ ...asked, count_max: 5_000 }, "INVALID_ARGUMENT", /1000/],
    [{ ...asked, symbol: "NOPE" }, "NOT_FOUND", /NOPE/],
  ] as const) {
    const thrown = await rejection(ask("ListBars", request), "a question that makes no sense");
    expect(thrown).toMatchObject({ code, message: expect.stringMatching(words) });
  }
  await close();
});

// The market queries answer with the newest quotes that the feed brought, and with bars and news of the past; senseless questions are told what to ask.
import { expect, it } from "vitest";
import { paperMarket } from "../../adapters/paper-market/paper-market.ts";
import { paperMarketHistory } from "../../adapters/paper-market/paper-market-history.ts";
import type { Bars, News, Quotes } from "../../contracts/src/generated/svc/v1/marketdesk.ts";
import { fromUnixMs, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Reference } from "../../ports/reference-data.ts";
import { rejection } from "../../testkit/conformance/waiting.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { paperListings, paperReference } from "../shared/paper-seeds.ts";
import { marketQueries } from "./market-queries.ts";
import { rememberQuotes } from "./newest-quotes.ts";

const noon = fromUnixMs(1_794_744_000_000);
/** All that the market lists but one. */
const referenceData = {
  read: async () => {
    const { instruments } = paperReference("");
    return { instruments: instruments.filter(({ symbol }) => symbol !== "MSFT") } as Reference;
  },
  changed: async () => 1,
};

async function fixture() {
  const time = scheduler({ seed: 1, startAt: noon });
  const stop = time.pump();
  const options = { ...time, seed: 1, quoteEveryMs: 500, listings: paperListings, beganAt: noon };
  const remembered = rememberQuotes(paperMarket(options), time.clock);
  const queries = marketQueries({ ...time, ...remembered, marketHistory: paperMarketHistory(options), referenceData });
  const ask = <Answer>(
    procedure: string,
    request: unknown,
    signal = new AbortController().signal,
    actor = "operator:o",
  ) => queries.handlers[procedure]?.(request as never, { identity: { actor }, signal } as never) as Promise<Answer>;
  return { time, remembered, ask, close: stop };
}

it("lists the newest quotes, those that were asked for or all, while somebody listens", async () => {
  const { time, remembered, ask, close } = await fixture();
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
  const { ask, close } = await fixture();
  const minutes = await ask<Bars>("ListBars", { symbol: "SPY", interval: "1m", count_max: 30 });
  expect(minutes.bars).toHaveLength(30);
  expect(minutes.bars.at(-1)?.start).toBe("2026-11-15T11:59:00.000000Z");
  const days = await ask<Bars>("ListBars", { symbol: "AAPL", interval: "1d", start: "2026-11-01", count_max: 0 });
  expect(days.bars.map(({ start }) => start.slice(0, 10))).toEqual(
    Array.from({ length: 15 }, (_unused, n) => `2026-11-${String(n + 1).padStart(2, "0")}`),
  );
  await close();
});

it("says where bars go on that were left out, and ends where it is asked to", async () => {
  const { ask, close } = await fixture();
  const asked = { symbol: "AAPL", interval: "1d", start: "2026-11-01", end: "2026-11-08" };
  const first = await ask<Bars>("ListBars", { ...asked, count_max: 5 });
  expect([first.bars.length, first.next_start]).toEqual([5, "2026-11-06T00:00:00.000000Z"]);
  const rest = await ask<Bars>("ListBars", { ...asked, start: first.next_start, count_max: 5 });
  expect(rest.bars.map(({ start }) => start.slice(8, 10))).toEqual(["06", "07"]);
  expect(rest).not.toHaveProperty("next_start");
  const newest = await ask<Bars>("ListBars", { ...asked, start: undefined, count_max: 3 });
  expect(newest.bars.map(({ start }) => start.slice(8, 10))).toEqual(["05", "06", "07"]);
  await close();
});

it("lists news and refuses what makes no sense by name", async () => {
  const { ask, close } = await fixture();
  const news = await ask<News>("ListNews", { hours: 240, count_max: 5 });
  expect(news.items).toHaveLength(5);
  const pages = [];
  for (let after: string | undefined; pages.length < 5; ) {
    const page = await ask<News>("ListNews", { hours: 240, count_max: 1, after_item: after });
    pages.push(...page.items);
    after = `${page.items[0]?.at}/${page.items[0]?.news_id}`;
  }
  expect(pages).toEqual(news.items);
  for (const after_item of ["yesterday/x", "paper-AAPL-1"]) {
    await expect(ask("ListNews", { hours: 240, count_max: 1, after_item })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  }
  const asked = { symbol: "AAPL", interval: "1d", count_max: 10 };
  for (const [request, code, words] of [
    [{ ...asked, interval: "2d" }, "INVALID_ARGUMENT", /1m, 5m, 15m, 30m, 1h, 4h, 1d, 1w/],
    [{ ...asked, start: "yesterday" }, "INVALID_ARGUMENT", /2026-11-15/],
    [{ ...asked, count_max: 5_000 }, "INVALID_ARGUMENT", /1000/],
    [{ ...asked, symbol: "NOPE" }, "NOT_FOUND", /NOPE/],
    // The market would quote it, and yet nobody here trades it.
    [{ ...asked, symbol: "MSFT" }, "NOT_FOUND", /no instrument/],
    [{ ...asked, start: "1969-12-31" }, "INVALID_ARGUMENT", /begins at 1970-01-01/],
    [{ ...asked, start: "2026-11-02", end: "2026-11-01" }, "INVALID_ARGUMENT", /not before end/],
  ] as const) {
    const thrown = await rejection(ask("ListBars", request), "a question that makes no sense");
    expect(thrown).toMatchObject({ code, message: expect.stringMatching(words) });
  }
  await close();
});

it("makes the bars of the past one after the other, refuses early, and stops when nobody waits", async () => {
  const { time, ask, close } = await fixture();
  const year = { symbol: "SPY 281215C00650000", interval: "1d", start: "2025-11-15", count_max: 500 };
  const leaving = new AbortController();
  const began = time.clock.now();
  const asked = Array.from({ length: 8 }, (_unused, n) =>
    ask<Bars>("ListBars", { ...year, interval: n === 0 ? "1h" : "1d" }, leaving.signal, "service:gateway").then(
      ({ bars }) => bars.length,
      ({ code }: { code: string }) => code,
    ),
  );
  // The public's questions are not in the way of those who logged in.
  const own = ask<Bars>("ListBars", { ...year, count_max: 3 }, undefined, "operator:o");
  expect((await own).bars).toHaveLength(3);
  leaving.abort();
  const ends = await Promise.all(asked);
  expect(ends.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => "CANCELLED"));
  expect(ends.slice(3)).toEqual(Array.from({ length: 5 }, () => "RESOURCE_EXHAUSTED"));
  expect(millisecondsBetween(began, time.clock.now())).toBeLessThan(100);
  expect((await ask<Bars>("ListBars", year, undefined, "service:gateway")).bars).toHaveLength(366);
  await close();
});

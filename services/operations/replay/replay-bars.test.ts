// Bars of a moment of the past: made of what was heard by then, whatever the market says of it today.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { ReplayBar } from "../../../contracts/src/generated/svc/v1/replay.ts";
import { format, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { listeningSymbol } from "../../../contracts/src/records/market.ts";
import type { MarketHistory } from "../../../ports/market-history.ts";
import type { MinuteBar } from "../../../ports/market-records.ts";
import { serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { minuteOf, minuteUs } from "./minute-bars.ts";
import { listReplayBars } from "./replay-bars.ts";

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

const none = new AbortController().signal;

/** A market whose past is another one every time: whoever asks it for what was kept is found out. */
const history = (asked: string[]): MarketHistory => ({
  bars: async (symbol, interval, from, to) => {
    asked.push(`${interval} ${format(from)} ${format(to)}`);
    const first = Math.ceil(from / minuteUs) * minuteUs;
    const isMinutes = interval === "1m";
    const bars = isMinutes
      ? Array.from({ length: Math.max((to - first) / minuteUs, 0) }, (_unused, n) => first + n * minuteUs)
      : [];
    const prices = { open: "7", high: "7", low: "7", close: "7", volume: "1" };
    return {
      known: true,
      bars: bars.map((start) => ({ symbol, interval, start: format(start as Instant), ...prices, closed: true })),
    };
  },
  closes: async () => ({ known: true, closes: [] }),
  news: async () => [],
});

async function fixture() {
  const opened = serviceFixture(7);
  closes.push(opened.close);
  const ports = opened.portsOf("operations");
  const { clock, timers } = opened.time;
  const asked: string[] = [];
  const setAt = clock.now();
  const instrument = {
    symbol: "AAPL",
    name: "n",
    asset_class: "EQUITY",
    currency: "USD",
    tick_size: "0.01",
    lot_size: "1",
    multiplier: "1",
    sector: "s",
    calendar: "always-open",
  };
  await opened.portsOf("treasury").store.transact("list", (unit) =>
    unit.reference.put({
      kind: "instruments",
      version: 1,
      content: [instrument],
      setBy: "t",
      setAt,
      reason: "r",
      hash: "0",
    }),
  );
  // A whole hour later, at a whole minute, so that hours have whole minutes.
  const hourUs = 60 * minuteUs;
  const start = ((Math.floor(clock.now() / hourUs) + 1) * hourUs) as Instant;
  await timers.sleep((start - clock.now()) / 1_000);
  const minute = (number: number, price: string, slices: readonly [number, string][] = []): MinuteBar[] => {
    const value = decimal.parse(price);
    const all = { open: value, high: value, low: value, close: value, quoteCount: 1, source: "paper", cut: false };
    const at = (start + number * minuteUs) as Instant;
    const parts = slices.map(([untilSecond, text]) => {
      const part = decimal.parse(text);
      return { untilSecond, high: part, low: part, close: part, quoteCount: 1 };
    });
    return [
      { symbol: "AAPL", start: at, ...all, slices: parts },
      { symbol: listeningSymbol, start: at, ...all, slices: [] },
    ];
  };
  const keep = (...bars: readonly MinuteBar[][]): Promise<void> =>
    ports.store.transact("market.keep", (unit) => unit.market.keepMinutes(bars.flat()));
  const at = (seconds: number): string => format(plusMilliseconds(start, seconds * 1_000));
  const ask = async (request: {
    readonly at?: string;
    readonly interval?: string;
    readonly count_max?: number;
    readonly symbol?: string;
  }) =>
    (
      await listReplayBars(
        { ...ports, marketHistory: history(asked), running: () => undefined },
        { symbol: "AAPL", interval: "1m", count_max: 5, ...request },
        none,
      )
    ).bars;
  return { ...opened.time, store: ports.store, ask, keep, minute, at, asked, start };
}

const seen = ({ start, close, closed, source, cut }: ReplayBar) => [start.slice(14, 19), close, closed, source, cut];

describe("bars of a moment", () => {
  it("hold nothing that was heard after it: the bar of the moment is made of what was before", async () => {
    const { ask, keep, minute, at, timers } = await fixture();
    await keep(
      minute(0, "10"),
      minute(1, "11", [
        [10, "11"],
        [20, "14"],
        [60, "99"],
      ]),
      minute(2, "12"),
    );
    await timers.sleep(600_000);
    expect((await ask({ at: at(85), count_max: 2 })).map(seen)).toEqual([
      ["00:00", "10", true, "recorded", false],
      ["01:00", "14", false, "recorded", false],
    ]);
    expect((await ask({ at: at(60), count_max: 2 })).map(seen)).toEqual([["00:00", "10", true, "recorded", false]]);
    const [five] = await ask({ at: at(130), interval: "5m" });
    expect(five).toMatchObject({ open: "10", close: "11", closed: false, cut: false });
  });

  it("leave a gap where nobody listened, and cut the bars around it", async () => {
    const { ask, keep, minute, at, timers } = await fixture();
    await keep(minute(0, "10"), minute(3, "13"));
    await timers.sleep(900_000);
    expect((await ask({ at: at(240) })).map(seen)).toEqual([
      ["00:00", "10", true, "recorded", false],
      ["03:00", "13", true, "recorded", false],
    ]);
    expect((await ask({ at: at(600), interval: "5m", count_max: 3 })).map(seen)).toEqual([
      ["00:00", "13", true, "recorded", true],
    ]);
  });

  it("ask the market only about times before anything was kept", async () => {
    const { ask, keep, minute, at, asked, timers, start } = await fixture();
    await keep(minute(0, "10"));
    await timers.sleep(120_000);
    const bars = await ask({ at: at(60), count_max: 3 });
    expect(bars.map(({ close, source }) => [close, source])).toEqual([
      ["7", "history"],
      ["10", "recorded"],
    ]);
    expect(asked).toEqual([`1m ${format((start - minuteUs) as Instant)} ${format(start)}`]);
  });

  it("are of history alone before anything was kept, and those of a moment inside are not closed", async () => {
    const { ask, at, timers, start } = await fixture();
    await timers.sleep(600_000);
    const [bar] = await ask({ at: at(150), interval: "5m", count_max: 1 });
    expect(bar).toMatchObject({ start: format(start), close: "7", closed: false, source: "history" });
  });

  it("of hours stay when their minutes are forgotten", async () => {
    const { ask, keep, minute, at, timers, store, start } = await fixture();
    await keep(...Array.from({ length: 61 }, (_unused, n) => minute(n, String(100 + n))));
    await timers.sleep(3_700_000);
    const over = (start + 60 * minuteUs) as Instant;
    await store.transact("market.keep", (unit) => unit.market.keepHours(over));
    await store.transact("market.forget", (unit) =>
      unit.market.forget({ minutes: over, slices: over, news: over }, 500),
    );
    expect(await ask({ at: at(3_661), interval: "1h", count_max: 2 })).toMatchObject([
      { open: "100", high: "159", close: "159", closed: true, cut: false },
      { open: "160", close: "160", closed: false },
    ]);
  });

  it.each([
    [{ at: "2030-01-01T00:00:00Z" }, "INVALID_ARGUMENT", /lies in the future/],
    [{ at: "yesterday" }, "INVALID_ARGUMENT", /2026-11-15/],
    [{ interval: "2d" }, "INVALID_ARGUMENT", /1m, 5m/],
    [{ symbol: "NOPE" }, "NOT_FOUND", /NOPE/],
  ])("refuse %j by name", async (request, code, words) => {
    const { ask } = await fixture();
    await expect(ask(request)).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
  });
});

it("a minute begins on whole minutes of UTC", () => {
  expect(minuteOf((5 * minuteUs + 1) as Instant)).toBe(5 * minuteUs);
});

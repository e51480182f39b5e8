// The suite that every store passes with the market as it was heard: ports/market-records.ts.
import { expect, it } from "vitest";
import { parse } from "../../contracts/src/decimal.ts";
import { format, fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import { listeningSymbol } from "../../contracts/src/records/market.ts";
import type { KeptNews, MinuteBar } from "../../ports/market-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";

export interface MarketFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const minuteUs = 60_000_000;
const hourUs = 60 * minuteUs;
/** An hour of 2026. */
const hourStart = Math.floor(1_794_744_000_000_000 / hourUs) * hourUs;
const minute = (number: number): Instant => fromMicroseconds(hourStart + number * minuteUs);

function barOf(
  symbol: string,
  number: number,
  prices: readonly [string, string, string, string],
  cut = false,
): MinuteBar {
  const [open, high, low, close] = prices.map(parse) as [never, never, never, never];
  const slices = [{ untilSecond: 10, high, low, close, quoteCount: 3 }];
  return { symbol, start: minute(number), open, high, low, close, quoteCount: 3, source: "paper", cut, slices };
}

const listened = (number: number): MinuteBar => barOf(listeningSymbol, number, ["0", "0", "0", "0"]);

function newsOf(id: string, recorded: number): KeptNews {
  const at = format(minute(0));
  const item = { news_id: id, story_id: id, symbol: "AAPL", headline: "Up", source: "paper", at };
  return { item, at: minute(0), recordedAt: minute(recorded) };
}

const ofHour = { originUs: 0, lengthUs: hourUs, from: minute(0), to: minute(600), countMax: 10 };

// tidy: long because each promise is a test of its own over the same rows.
export function marketConformance(name: string, open: () => Promise<MarketFixture>): void {
  const withStore = async (
    run: (doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>) => Promise<void>,
  ) => {
    const { store, close } = await open();
    try {
      await run((work) => store.transact("conformance.market", work));
    } finally {
      await close();
    }
  };

  it(`kept bars, ${name}: 1: the first of a minute stays, to the last digit`, () =>
    withStore(async (doing) => {
      const first = barOf("KEEP", 0, ["1.000000000000000001", "3", "1", "2"]);
      await doing((unit) => unit.market.keepMinutes([first, listened(0)]));
      await doing((unit) => unit.market.keepMinutes([barOf("KEEP", 0, ["9", "9", "9", "9"])]));
      expect(await doing((unit) => unit.market.minute("KEEP", minute(0)))).toMatchObject({
        open: first.open,
        source: "paper",
        slices: first.slices,
      });
      expect(await doing((unit) => unit.market.minute("KEEP", minute(1)))).toBeUndefined();
    }));

  it(`kept bars, ${name}: are gathered by intervals, the newest so many, oldest first`, () =>
    withStore(async (doing) => {
      const bars = [
        barOf("SUM", 2, ["5", "6", "4", "5"], true),
        barOf("SUM", 0, ["1", "3", "1", "2"]),
        barOf("SUM", 1, ["2", "8", "0.5", "7"]),
        barOf("SUM", 61, ["4", "4", "4", "4"]),
        barOf("SUM", 125, ["1", "1", "1", "1"]),
      ];
      await doing((unit) => unit.market.keepMinutes(bars));
      const query = { ...ofHour, symbol: "SUM", of: "minute" as const, to: minute(125) };
      const [one, other] = await doing((unit) => unit.market.gather(query));
      const whole = { open: parse("1"), high: parse("8"), low: parse("0.5"), close: parse("5"), source: "paper" };
      expect(one).toEqual({
        symbol: "SUM",
        bucket: hourStart / hourUs,
        ...whole,
        quoteCount: 9,
        cut: true,
        minutes: 3,
      });
      expect(other).toMatchObject({ bucket: hourStart / hourUs + 1, minutes: 1, cut: false });
      expect(await doing((unit) => unit.market.gather({ ...query, countMax: 1 }))).toEqual([other]);
    }));

  it(`kept bars, ${name}: 3: an hour is made once, of its minutes, and stays when they are forgotten`, () =>
    withStore(async (doing) => {
      await doing((unit) => unit.market.keepMinutes([listened(0), barOf("HOUR", 0, ["1", "3", "1", "2"])]));
      await doing((unit) => unit.market.keepMinutes([listened(59), barOf("HOUR", 59, ["2", "4", "2", "3"])]));
      const hours = { ...ofHour, symbol: "HOUR", of: "hour" as const };
      await doing((unit) => unit.market.keepHours(minute(59)));
      expect(await doing((unit) => unit.market.gather(hours))).toEqual([]);
      await doing((unit) => unit.market.keepHours(minute(61)));
      await doing((unit) => unit.market.keepMinutes([barOf("HOUR", 30, ["9", "9", "9", "9"])]));
      await doing((unit) => unit.market.keepHours(minute(62)));
      const made = {
        open: parse("1"),
        high: parse("4"),
        low: parse("1"),
        close: parse("3"),
        minutes: 2,
        quoteCount: 6,
      };
      expect(await doing((unit) => unit.market.gather(hours))).toMatchObject([made]);
      const [before, after] = [minute(59), minute(0)];
      expect(await doing((unit) => unit.market.forget({ minutes: before, slices: after, news: after }, 1_000))).toBe(3);
      expect(await doing((unit) => unit.market.gather(hours))).toMatchObject([made]);
      expect(await doing((unit) => unit.market.gather({ ...hours, of: "minute" }))).toMatchObject([{ minutes: 1 }]);
      expect(await doing((unit) => unit.market.kept("HOUR"))).toEqual({ first: minute(0), lastHour: minute(0) });
    }));

  it(`kept news, ${name}: the first stays, and they are read on behind a mark`, () =>
    withStore(async (doing) => {
      await doing((unit) => unit.market.keepNews([newsOf("n-2", 1), newsOf("n-1", 1), newsOf("n-3", 2)]));
      await doing((unit) => unit.market.keepNews([newsOf("n-1", 5)]));
      const query = { from: minute(1), to: minute(2), countMax: 2 };
      const ids = (found: readonly KeptNews[]): string[] => found.map(({ item }) => item.news_id);
      const first = await doing((unit) => unit.market.news(query));
      expect(ids(first)).toEqual(["n-1", "n-2"]);
      const after = { recordedAt: minute(1), newsId: "n-2" };
      expect(ids(await doing((unit) => unit.market.news({ ...query, after })))).toEqual(["n-3"]);
      expect(await doing((unit) => unit.market.newsItem("n-1"))).toEqual(newsOf("n-1", 1));
      expect(await doing((unit) => unit.market.newsItem("n-9"))).toBeUndefined();
    }));
}

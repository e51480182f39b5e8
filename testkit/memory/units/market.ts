// The market as it was heard, in a transaction of the memory store.
import * as decimal from "../../../contracts/src/decimal.ts";
import { fromMicroseconds, type Instant, microsecondsPerSecond } from "../../../contracts/src/instant.ts";
import { listeningSymbol } from "../../../contracts/src/records/market.ts";
import type { GatheredBar, KeptNews, MarketRecords, MinuteBar } from "../../../ports/market-records.ts";
import type { RecordTools } from "../layered-map.ts";

interface KeptBar extends Omit<MinuteBar, "slices"> {
  readonly minutes: number;
}

interface KeptSlices extends Pick<MinuteBar, "symbol" | "start" | "slices"> {}

export interface MarketTables {
  readonly minutes: Map<string, KeptBar>;
  readonly hours: Map<string, KeptBar>;
  readonly slices: Map<string, KeptSlices>;
  readonly news: Map<string, KeptNews>;
}

export function marketTables(): MarketTables {
  return { minutes: new Map(), hours: new Map(), slices: new Map(), news: new Map() };
}

const hourUs = 3_600 * microsecondsPerSecond;
const keyOf = ({ symbol, start }: { readonly symbol: string; readonly start: Instant }): string => `${symbol} ${start}`;
const byStart = (one: KeptBar, other: KeptBar): number => one.start - other.start;
const byRecorded = (one: KeptNews, other: KeptNews): number =>
  one.recordedAt - other.recordedAt || (one.item.news_id < other.item.news_id ? -1 : 1);

/** Bars of one symbol as one; they come in the order of time. */
function together(bars: readonly KeptBar[]): Omit<GatheredBar, "bucket"> {
  const [first, last] = [bars[0], bars.at(-1)];
  if (first === undefined || last === undefined) throw new Error("nothing is no bar");
  return {
    symbol: first.symbol,
    open: first.open,
    high: bars.reduce((most, { high }) => decimal.max(most, high), first.high),
    low: bars.reduce((least, { low }) => decimal.min(least, low), first.low),
    close: last.close,
    quoteCount: bars.reduce((sum, { quoteCount }) => sum + quoteCount, 0),
    source: last.source,
    cut: bars.some(({ cut }) => cut),
    minutes: bars.reduce((sum, { minutes }) => sum + minutes, 0),
  };
}

function grouped(bars: readonly KeptBar[], keyOfBar: (bar: KeptBar) => string): readonly KeptBar[][] {
  const groups = new Map<string, KeptBar[]>();
  for (const bar of bars.toSorted(byStart)) {
    const key = keyOfBar(bar);
    groups.set(key, [...(groups.get(key) ?? []), bar]);
  }
  return [...groups.values()];
}

// tidy: long because the four tables are opened once for everything that is asked of them.
export function marketChanges(tables: MarketTables, { inTurn, table }: RecordTools): MarketRecords {
  const minutes = table("market_minute", tables.minutes);
  const hours = table("market_hour", tables.hours);
  const slices = table("market_slice", tables.slices);
  const news = table("market_news", tables.news);
  const startsOf = (bars: readonly KeptBar[]): number[] => bars.map(({ start }) => start);
  const instantOf = (us: number): Instant | undefined => (Number.isFinite(us) ? fromMicroseconds(us) : undefined);
  const lastHour = (): number => Math.max(...startsOf(hours.filter(({ symbol }) => symbol === listeningSymbol)));

  return {
    keepMinutes: (bars) =>
      inTurn(async () => {
        for (const { slices: own, ...bar } of bars) {
          if (minutes.has(keyOf(bar))) continue;
          minutes.set(keyOf(bar), { ...bar, minutes: 1 });
          slices.set(keyOf(bar), { symbol: bar.symbol, start: bar.start, slices: own });
        }
      }),
    keepHours: (before) =>
      inTurn(async () => {
        const [from, to] = [lastHour() + hourUs, Math.floor(before / hourUs) * hourUs];
        const due = minutes.filter(({ start }) => start >= from && start < to);
        const hourOf = ({ start }: KeptBar): Instant => fromMicroseconds(Math.floor(start / hourUs) * hourUs);
        for (const group of grouped(due, (bar) => `${bar.symbol} ${hourOf(bar)}`)) {
          const [first] = group;
          const start = first && hourOf(first);
          if (first === undefined || start === undefined) continue;
          const key = keyOf({ symbol: first.symbol, start });
          if (!hours.has(key)) hours.set(key, { ...together(group), start });
        }
      }),
    keepNews: (items) =>
      inTurn(async () => {
        for (const kept of items) if (!news.has(kept.item.news_id)) news.set(kept.item.news_id, kept);
      }),
    gather: ({ symbol, of, originUs, lengthUs, from, to, countMax }) =>
      inTurn(async () => {
        const rows = (of === "minute" ? minutes : hours).filter(
          (bar) => bar.symbol === symbol && bar.start >= from && bar.start < to,
        );
        const bucketOf = ({ start }: KeptBar): number => Math.floor((start - originUs) / lengthUs);
        return grouped(rows, (bar) => String(bucketOf(bar)))
          .map((group) => ({ ...together(group), bucket: Math.min(...group.map(bucketOf)) }))
          .slice(-countMax);
      }),
    minute: (symbol, start) =>
      inTurn(async () => {
        const bar = minutes.get(keyOf({ symbol, start }));
        return bar && { ...bar, slices: slices.get(keyOf(bar))?.slices ?? [] };
      }),
    kept: (symbol) =>
      inTurn(async () => {
        const own = [minutes, hours].flatMap((bars) => startsOf(bars.filter((bar) => bar.symbol === symbol)));
        return { first: instantOf(Math.min(...own)), lastHour: instantOf(lastHour()) };
      }),
    news: ({ from, to, after, countMax }) =>
      inTurn(async () =>
        news
          .filter(({ recordedAt }) => recordedAt >= from && recordedAt <= to)
          .filter(
            ({ recordedAt, item }) =>
              after === undefined ||
              recordedAt > after.recordedAt ||
              (recordedAt === after.recordedAt && item.news_id > after.newsId),
          )
          .sort(byRecorded)
          .slice(0, countMax),
      ),
    newsItem: (newsId) => inTurn(async () => news.get(newsId)),
    forget: (before, countMax) =>
      inTurn(async () => {
        const olderThan =
          (moment: Instant) =>
          ({ start }: { readonly start: Instant }): boolean =>
            start < moment;
        const gone = [
          ...minutes
            .filter(olderThan(before.minutes))
            .slice(0, countMax)
            .map((bar) => () => minutes.delete(keyOf(bar))),
          ...slices
            .filter(olderThan(before.slices))
            .slice(0, countMax)
            .map((one) => () => slices.delete(keyOf(one))),
          ...news
            .filter(({ recordedAt }) => recordedAt < before.news)
            .slice(0, countMax)
            .map(
              ({ item }) =>
                () =>
                  news.delete(item.news_id),
            ),
        ];
        for (const remove of gone) remove();
        return gone.length;
      }),
  };
}

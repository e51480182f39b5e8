// The suite that every source of a market's past passes: one list of checks, each a promise of ports/market-history.ts.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, minusMilliseconds, parse } from "../../contracts/src/instant.ts";
import { type BarInterval, bar, barInterval, newsItem } from "../../contracts/src/records/market.ts";
import type { MarketHistory } from "../../ports/market-history.ts";

export interface MarketHistoryFixture {
  readonly history: MarketHistory;
  /** It was traded at some time in the days before now. */
  readonly known: string;
  readonly unknown: string;
  now(): Instant;
  close(): Promise<void>;
}

export interface MarketHistoryCheck {
  readonly sentence: string;
  run(fixture: MarketHistoryFixture): Promise<void>;
}

const lengthMs: Readonly<Record<BarInterval, number>> = {
  "1m": 60_000,
  "5m": 300_000,
  "15m": 900_000,
  "30m": 1_800_000,
  "1h": 3_600_000,
  "4h": 14_400_000,
  "1d": 86_400_000,
  "1w": 604_800_000,
};
/** A Monday, and midnight. */
const monday = parse("2026-11-16T00:00:00Z");

export const marketHistoryChecks: readonly MarketHistoryCheck[] = [
  {
    sentence: "promise 1: bars come oldest first, begin on whole intervals and hold their opening and closing",
    async run({ history, known, now }) {
      for (const interval of barInterval.options) {
        const from = minusMilliseconds(now(), lengthMs[interval] * 20);
        const { known: isKnown, bars } = await history.bars(known, interval, from, now(), 100);
        expect(isKnown).toBe(true);
        expect(bars.length, interval).toBeGreaterThan(0);
        const starts = bars.map((each) => parse(each.start));
        expect(
          bars.slice(0, -1).every(({ closed }) => closed),
          interval,
        ).toBe(true);
        expect(starts).toEqual([...new Set(starts)].sort((left, right) => left - right));
        for (const each of bars) {
          expect(bar.parse(each)).toEqual(each);
          expect(Math.abs(parse(each.start) - monday) % (lengthMs[interval] * 1_000), interval).toBe(0);
          const endsBy = parse(each.start) + lengthMs[interval] * 1_000;
          expect(each.closed && endsBy > now(), `${interval} ${each.start}`).toBe(false);
          expect(parse(each.start)).toBeGreaterThanOrEqual(from);
          const [low, high] = [decimal.parse(each.low), decimal.parse(each.high)];
          for (const price of [each.open, each.close]) {
            expect(low <= decimal.parse(price) && decimal.parse(price) <= high, JSON.stringify(each)).toBe(true);
          }
        }
      }
    },
  },
  {
    sentence: "promise 1: no more bars than were asked for, the oldest of them",
    async run({ history, known, now }) {
      const from = minusMilliseconds(now(), 10 * lengthMs["1d"]);
      const all = (await history.bars(known, "1d", from, now(), 100)).bars;
      expect((await history.bars(known, "1d", from, now(), 3)).bars).toEqual(all.slice(0, 3));
      expect((await history.bars(known, "1d", now(), from, 3)).bars).toEqual([]);
    },
  },
  {
    sentence: "promise 2: what is over is told the same again",
    async run({ history, known, now }) {
      const to = minusMilliseconds(now(), 3 * lengthMs["1d"]);
      const from = minusMilliseconds(to, 20 * lengthMs["1d"]);
      const ask = async () => [
        await history.bars(known, "1h", from, to, 50),
        await history.news(undefined, from, to, 50),
      ];
      expect(await ask()).toEqual(await ask());
    },
  },
  {
    sentence:
      "promise 5: it ends early when nobody waits, and an answer that was cut short is not remembered as the whole",
    async run({ history, known, now }) {
      const to = minusMilliseconds(now(), lengthMs["1d"]);
      const from = minusMilliseconds(to, 6 * lengthMs["1d"]);
      const leaving = new AbortController();
      const cut = history.bars(known, "1h", from, to, 1_000, leaving.signal);
      leaving.abort();
      const whole = (await history.bars(known, "1h", from, to, 1_000)).bars;
      expect((await cut).bars.length).toBeLessThan(whole.length);
      expect((await history.bars(known, "1h", from, to, 1_000)).bars).toEqual(whole);
    },
  },
  {
    sentence: "promise 3: a symbol that it does not know has no past, and is said to be unknown",
    async run({ history, unknown, now }) {
      const from = minusMilliseconds(now(), lengthMs["1d"]);
      expect(await history.bars(unknown, "1h", from, now(), 10)).toEqual({ known: false, bars: [] });
      expect(await history.news(unknown, from, now(), 10)).toEqual([]);
    },
  },
  {
    sentence: "news come newest first, within the time that was asked for, and of one symbol when one was named",
    async run({ history, known, now }) {
      const from = minusMilliseconds(now(), 10 * lengthMs["1d"]);
      const all = await history.news(undefined, from, now(), 100);
      const own = await history.news(known, from, now(), 100);
      for (const items of [all, own]) {
        for (const item of items) {
          expect(newsItem.parse(item)).toEqual(item);
          expect(item.at >= format(from) && item.at <= format(now())).toBe(true);
        }
        const places = items.map(({ at, news_id }) => ({ at, news_id }));
        const inOrder = [...places].sort((one, other) =>
          one.at === other.at ? (one.news_id < other.news_id ? -1 : 1) : one.at < other.at ? 1 : -1,
        );
        expect(places).toEqual(inOrder);
        expect(new Set(items.map(({ news_id }) => news_id)).size).toBe(items.length);
      }
      expect(new Set(own.map(({ symbol }) => symbol)).size).toBeLessThanOrEqual(1);
      expect(await history.news(undefined, from, now(), 2)).toEqual(all.slice(0, 2));
    },
  },
];

export function marketHistoryConformance(name: string, open: () => Promise<MarketHistoryFixture>): void {
  describe(`market history: ${name}`, () => {
    for (const check of marketHistoryChecks) {
      it(check.sentence, async () => {
        const fixture = await open();
        try {
          await check.run(fixture);
        } finally {
          await fixture.close();
        }
      });
    }
  });
}

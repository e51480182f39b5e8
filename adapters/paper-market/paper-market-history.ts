// The paper market's past: bars and news of any moment, computed when they are asked for. A bar's high and low are those of its opening, its
// closing and the moments in between that are looked at: a minute is looked at every ten seconds, a day every two hours,
// a week every half day.
import { barLengthUs, firstBarStart } from "../../contracts/src/bar-intervals.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import {
  format,
  fromMicroseconds,
  fromUnixMs,
  type Instant,
  later,
  parse,
  toUnixMs,
} from "../../contracts/src/instant.ts";
import type { Bar, BarInterval, NewsItem } from "../../contracts/src/records/market.ts";
import { headlineIn, slotS } from "../../core/paper/paper-flow.ts";
import { boundedMap } from "../../core/state/bounded-map.ts";
import type { MarketHistory } from "../../ports/market-history.ts";
import { type PaperMarketOptions, pricesOf, sessionsOf, termsOf } from "./paper-market.ts";

const secondUs = 1_000_000;
/** How often a price is looked at in each interval. */
const looksIn: Readonly<Record<BarInterval, number>> = {
  "1m": 6,
  "5m": 10,
  "15m": 10,
  "30m": 10,
  "1h": 12,
  "4h": 12,
  "1d": 12,
  "1w": 14,
};
/** After so much work others get their turn. */
const workPerTurn = 250;
/** Bars are made in this many looks at a time, a few milliseconds, and then everybody else gets as long. */
const barLooksPerTurn = 96;
const barPauseMs = 4;
/** Bars that are over do not change, so that asking for them again costs nothing. */
const keptBarsMax = 20_000;
/** No answer looks at more than this, however empty the time is that was asked about. */
const workMax = 200_000;

export function paperMarketHistory(options: PaperMarketOptions): MarketHistory {
  const { clock, timers, quoteEveryMs } = options;
  const prices = pricesOf(options);
  const terms = termsOf(options);
  const isTraded = sessionsOf(options);

  /** The moment of the newest quote: later ones do not exist yet. */
  function newest(): Instant {
    const stepUs = quoteEveryMs * 1_000;
    return fromMicroseconds(Math.floor(clock.now() / stepUs) * stepUs);
  }

  function barAt(symbol: string, interval: BarInterval, start: number, end: number): Bar | undefined {
    const [lengthUs, looks] = [barLengthUs[interval], looksIn[interval]];
    const moments: Instant[] = [];
    for (let look = 0; look <= looks; look += 1) {
      const at = fromMicroseconds(Math.min(end, start + Math.floor((lengthUs * look) / looks)));
      if (isTraded(prices.listing(symbol), at)) moments.push(at);
      if (at === end) break;
    }
    const [first] = moments;
    const last = moments.at(-1);
    if (first === undefined || last === undefined) return undefined;
    const seen = moments.map((at) => prices.middle(symbol, at));
    const [open = decimal.zero] = seen;
    return {
      symbol,
      interval,
      start: format(fromMicroseconds(start)),
      open: decimal.format(open),
      high: decimal.format(seen.reduce(decimal.max)),
      low: decimal.format(seen.reduce(decimal.min)),
      close: decimal.format(seen.at(-1) ?? open),
      volume: decimal.format(prices.volume(symbol, first, last)),
      closed: end === start + lengthUs,
    };
  }

  const kept = boundedMap<string, Bar>(keptBarsMax);
  let keptUnder = "";

  /** A gap or informed flow of the faults moves prices of the past as well, for as long as it is there, and so does a split. */
  function forgetOtherFaults(): void {
    const { gaps: moved = [], informed = [] } = options.faults?.() ?? {};
    const gaps = JSON.stringify([moved, informed, ...terms()]);
    if (gaps !== keptUnder) kept.clear();
    keptUnder = gaps;
  }

  /** As the bar closes: its last moment that is looked at and in which the symbol was traded. */
  function closeAt(symbol: string, interval: BarInterval, start: number, end: number): string | undefined {
    const [lengthUs, looks] = [barLengthUs[interval], looksIn[interval]];
    for (let look = looks; look >= 0; look -= 1) {
      const at = fromMicroseconds(Math.min(end, start + Math.floor((lengthUs * look) / looks)));
      if (isTraded(prices.listing(symbol), at)) return decimal.format(prices.middle(symbol, at));
    }
    return undefined;
  }

  return {
    async closes(symbol, interval, from, to, countMax) {
      if (prices.listing(symbol) === undefined) return { known: false, closes: [] };
      const lengthUs = barLengthUs[interval];
      const until = Math.min(to, newest());
      const closes: Pick<Bar, "start" | "close">[] = [];
      let work = 0;
      const first = firstBarStart(interval, later(from, fromUnixMs(0)));
      for (let start: number = first; start < until; start += lengthUs) {
        const close = closeAt(symbol, interval, start, Math.min(start + lengthUs, newest()));
        if (close !== undefined) closes.push({ start: format(fromMicroseconds(start)), close });
        work += 1;
        if (closes.length >= countMax || work >= workMax) break;
        if (work % workPerTurn === 0) await timers.sleep(0);
      }
      return { known: true, closes };
    },
    async bars(symbol, interval, from, to, countMax, signal) {
      if (prices.listing(symbol) === undefined) return { known: false, bars: [] };
      const [lengthUs, looks] = [barLengthUs[interval], looksIn[interval]];
      const until = Math.min(to, newest());
      const bars: Bar[] = [];
      forgetOtherFaults();
      let work = 0;
      let sincePause = 0;
      const first = firstBarStart(interval, later(from, fromUnixMs(0)));
      for (let start: number = first; start < until; start += lengthUs) {
        const name = `${symbol} ${interval} ${start}`;
        const known = kept.get(name);
        const quotedUntil = newest();
        const bar = known ?? barAt(symbol, interval, start, Math.min(start + lengthUs, quotedUntil));
        if (known === undefined && bar !== undefined && start + lengthUs <= quotedUntil) kept.set(name, bar);
        if (bar !== undefined) bars.push(bar);
        const cost = known === undefined ? looks : 1;
        work += cost;
        sincePause += cost;
        if (bars.length >= countMax || work >= workMax) break;
        if (sincePause < barLooksPerTurn) continue;
        sincePause = 0;
        await timers.sleep(barPauseMs, signal);
        if (signal?.aborted === true) break;
        forgetOtherFaults();
      }
      return { known: true, bars };
    },
    async news(symbol, from, to, countMax) {
      const wanted =
        symbol === undefined ? [...prices.symbols()] : [symbol].filter((one) => prices.listing(one) !== undefined);
      const named = wanted.filter((one) => prices.listing(one)?.option === undefined);
      const until = Math.min(to, clock.now());
      const isAsked = ({ at }: NewsItem): boolean =>
        at >= format(from) && at < format(fromMicroseconds(Math.floor(until)));
      const items: NewsItem[] = [];
      let work = 0;
      const lowest = Math.floor(prices.time.secondsAt(from) / slotS) - 1;
      for (
        let slot = Math.floor(prices.time.secondsAt(fromMicroseconds(Math.floor(until))) / slotS);
        slot >= lowest;
        slot -= 1
      ) {
        const found = named.flatMap((one) => newsIn(one, slot));
        items.push(...found.filter(isAsked));
        work += named.length;
        if (items.length >= countMax || work >= workMax) break;
        if (work % (workPerTurn * 40) < named.length) await timers.sleep(0);
      }
      items.push(...named.flatMap(burstsOf).filter(isAsked));
      return items.sort(newestFirst).slice(0, countMax);
    },
  };

  /** The stories of the faults, spread over a minute. */
  function burstsOf(symbol: string): readonly NewsItem[] {
    const bursts = (options.faults?.()?.news ?? []).filter((burst) => burst.symbol === symbol);
    return bursts.flatMap(({ count, from }) =>
      Array.from({ length: count }, (_none, index) => {
        const story = `paper-${symbol}-burst-${toUnixMs(parse(from))}-${index}`;
        const at = fromMicroseconds(parse(from) + Math.floor((60 * secondUs * index) / count));
        const headline = `${symbol} is in the news, story ${index + 1} of ${count}`;
        return { news_id: story, story_id: story, symbol, headline, source: "paper", at: format(at) };
      }),
    );
  }

  function newsIn(symbol: string, slot: number): readonly NewsItem[] {
    const headline = headlineIn(prices.flow(symbol), slot);
    if (headline === undefined) return [];
    const at = fromUnixMs(prices.time.unixMsOf(headline.atS));
    return [
      {
        news_id: `paper-${symbol}-${slot}`,
        story_id: `paper-${symbol}-${slot}`,
        symbol,
        headline: `${symbol} ${headline.text}`,
        source: "paper",
        at: format(at),
      },
    ];
  }
}

/** Of one moment in order of their ids, so that a list can be read page by page. */
function newestFirst(left: NewsItem, right: NewsItem): number {
  if (left.at !== right.at) return left.at < right.at ? 1 : -1;
  return left.news_id < right.news_id ? -1 : left.news_id > right.news_id ? 1 : 0;
}

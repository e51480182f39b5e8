// Writes the market down as it is heard: a bar of every symbol that is quoted when its minute is over, an hour when that is over, and news. What
// was written stays; charts of yesterday are made of it.
//
//  1. Whoever quotes waits for nothing: hearing is a few numbers in memory, and the rest happens beside it.
//  2. Minutes that cannot be written wait for a while, and an alarm tells of it until they, or those after them, are written.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import {
  format,
  fromMicroseconds,
  type Instant,
  millisecondsPerDay,
  minusMilliseconds,
  parse,
  tryParse,
} from "../../../contracts/src/instant.ts";
import type { Quote } from "../../../contracts/src/records/market.ts";
import { isNewest } from "../../../core/state/dated.ts";
import type { MinuteBar } from "../../../ports/market-records.ts";
import type { Quotes } from "../../../ports/quotes.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { breathe } from "../../shared/waiting.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { createMinuteBars, type MinuteBars, minuteOf, minuteUs } from "./minute-bars.ts";

export interface KeptMarket {
  /** A price that counts, of a program outside. */
  hearOutside(quote: Quote, source: string): void;
  /** The same feed; what it brings is heard here first. */
  tapped(from: Quotes): Quotes;
  /** What the minute that is going on is made of so far. */
  readonly running: MinuteBars["running"];
  stop(): Promise<void>;
}

type KeepMarketPorts = Pick<ServicePorts, "clock" | "timers" | "store" | "marketHistory" | "log" | "crash" | "metrics">;

/** Bars of one transaction. */
const portionMax = 1_000;
/** Bars that wait for the store; minutes beyond are lost, and said to be. */
const waitingMax = 200_000;
/** Symbols that are heard; more than any platform lists. */
const symbolsMax = 200_000;
const newsEveryMs = 60_000;
/** News that reach us later than this after they were true, while we run, are not looked for. */
const newsLookBackMs = 600_000;
const newsMax = 1_000;
const forgetEveryMs = 600_000;
const forgetMax = 5_000;
const keptDays = { minutes: 90, slices: 7, news: 90 };
const hourUs = 60 * minuteUs;
const two = decimal.fromInteger(2n);

export function keepMarket(ports: KeepMarketPorts, alarms: WorkerAlarms): KeptMarket {
  const { clock, timers, store } = ports;
  const minutes = createMinuteBars(clock.now());
  const heard = ports.metrics.counter("portcullis_bars_kept_total", "Minutes of symbols that were written down.");
  /** When the newest quote of each symbol was true; bounded by the symbols that are heard. */
  const newest = new Map<string, Instant>();
  let waiting: readonly MinuteBar[] = [];
  /** The hour up to which hours were made. */
  let hoursUntil = -1;

  function hear(quote: Quote, source: string, isOwn: boolean): void {
    const now = clock.now();
    const at = tryParse(quote.quoted_at);
    const [bid, ask] = [decimal.tryParse(quote.bid), decimal.tryParse(quote.ask)];
    if (at === undefined || bid === undefined || ask === undefined || bid > ask) return;
    const key = `${isOwn ? "own" : "outside"} ${quote.symbol}`;
    // A quote that comes late is none of what the market says now, and one from the future is none at all.
    if (!isNewest(at, newest.get(key), now) || (newest.size >= symbolsMax && !newest.has(key))) return;
    newest.set(key, at);
    const price = decimal.divide(decimal.add(bid, ask), two, "half-even");
    minutes.hear({ symbol: quote.symbol, price, source, isOwn }, now);
  }

  async function keep(): Promise<number> {
    const now = clock.now();
    const due = [...waiting, ...minutes.take(now)];
    waiting = due.slice(-waitingMax);
    if (waiting.length > 0) await write();
    return Math.max((minuteOf(now) + minuteUs - clock.now()) / 1_000, 1);
  }

  async function write(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const portion = waiting.slice(0, portionMax);
        await store.transact("market.keep", (unit) => unit.market.keepMinutes(portion));
        heard.add(portion.length);
        waiting = waiting.slice(portion.length);
        await breathe(timers);
      }
      alarms.clear("BARS_NOT_KEPT", "minutes");
      const hour = Math.floor(clock.now() / hourUs);
      if (hour === hoursUntil) return;
      await store.transact("market.keep", (unit) => unit.market.keepHours(clock.now()));
      hoursUntil = hour;
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      const first = waiting[0];
      if (first !== undefined) {
        const sentence = `Prices of the minute ${format(first.start)} could not be written down yet: ${messageOf(thrown)}.`;
        await alarms.raise("BARS_NOT_KEPT", "minutes", sentence, { minute: format(first.start), bars: waiting.length });
      }
      throw thrown;
    }
  }

  const what = { failing: "prices cannot be written down", working: "prices can be written down again" };
  const keeping = startLoop({ ports, what, firstAfterMs: 0, run: keep, troubleMsMax: 5_000 });
  const news = startLoop({ ports, what: "the record of news", firstAfterMs: 0, run: () => keepNews(ports) });
  const forgetting = startLoop({
    ports,
    what: "the record of old prices",
    firstAfterMs: forgetEveryMs,
    run: (ending) => forgetOld(ports, ending),
  });
  return {
    hearOutside: (quote, source) => hear(quote, source, false),
    running: minutes.running,
    tapped: (from) => ({
      name: from.name,
      subscribe: (symbols, listen) =>
        from.subscribe(symbols, (quotes) => {
          for (const quote of quotes) hear(quote, from.name, true);
          listen(quotes);
        }),
    }),
    async stop() {
      await Promise.all([keeping.stop(), news.stop(), forgetting.stop()]);
      // The minute that is going on is not listened to until its end any more.
      const rest = minutes.take(fromMicroseconds(minuteOf(clock.now()) + minuteUs));
      waiting = [...waiting, ...rest.map((bar) => ({ ...bar, cut: true }))];
      await write().catch((thrown: unknown) => {
        ports.log.warn("the last minute of prices could not be written down", { reason: messageOf(thrown) });
      });
    },
  };
}

async function keepNews({ marketHistory, clock, store }: KeepMarketPorts): Promise<number> {
  const now = clock.now();
  const found = await marketHistory.news(undefined, minusMilliseconds(now, newsLookBackMs), now, newsMax);
  const items = found.map((item) => ({ item, at: parse(item.at), recordedAt: now }));
  if (items.length > 0) await store.transact("market.keep", (unit) => unit.market.keepNews(items));
  return newsEveryMs;
}

async function forgetOld({ clock, store }: KeepMarketPorts, ending: AbortSignal): Promise<number> {
  const now = clock.now();
  const before = (days: number): Instant => fromMicroseconds(Math.max(now - days * millisecondsPerDay * 1_000, 0));
  const olderThan = { minutes: before(keptDays.minutes), slices: before(keptDays.slices), news: before(keptDays.news) };
  let removed = forgetMax;
  while (removed >= forgetMax && !ending.aborted) {
    removed = await store.transact("market.forget", (unit) => unit.market.forget(olderThan, forgetMax));
  }
  return forgetEveryMs;
}

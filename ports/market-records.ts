// The market as it was heard, in a unit of work: bars of a minute and of an hour, made of quotes as they came, and news. Only operations writes; nothing
// that was written changes, whatever the market says later of the same time.
//
// What every store promises (testkit/conformance/market-records.ts):
//  1. What was kept first stays: the same minute of the same symbol, the same hour and the same news again change nothing.
//  2. A row of no symbol (contracts/src/records/market.ts, `listeningSymbol`) says that somebody listened: a minute without one is a minute of which nothing can be known.
//  3. An hour is made of its minutes once, and stays when they are forgotten.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { NewsItem } from "../contracts/src/records/market.ts";

interface KeptPrices {
  readonly symbol: string;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  readonly quoteCount: number;
  /** Who quoted. */
  readonly source: string;
  /** Not all of its time was listened to. */
  readonly cut: boolean;
}

/** So many seconds of a minute, for whoever asks what had happened in the middle of it. */
export interface BarSlice {
  /** Of the minute, where it ends. */
  readonly untilSecond: number;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  readonly quoteCount: number;
}

export interface MinuteBar extends KeptPrices {
  readonly start: Instant;
  /** Those of its slices in which something was quoted, in their order. */
  readonly slices: readonly BarSlice[];
}

/** Of minutes or hours that were kept, as many as one interval has. */
export interface GatheredBar extends KeptPrices {
  /** The number of the interval: so many of its length after the origin. */
  readonly bucket: number;
  /** Minutes that are in it. */
  readonly minutes: number;
}

export interface GatherQuery {
  readonly symbol: string;
  readonly of: "minute" | "hour";
  readonly originUs: number;
  readonly lengthUs: number;
  /** From this moment on. */
  readonly from: Instant;
  /** Before this moment. */
  readonly to: Instant;
  readonly countMax: number;
}

export interface KeptNews {
  readonly item: NewsItem;
  readonly at: Instant;
  readonly recordedAt: Instant;
}

export interface NewsQuery {
  /** By when it was recorded, both included. */
  readonly from: Instant;
  readonly to: Instant;
  /** Towards newer ones, from behind this one on. */
  readonly after?: { readonly recordedAt: Instant; readonly newsId: string };
  readonly countMax: number;
}

export interface ForgetBefore {
  readonly minutes: Instant;
  readonly slices: Instant;
  readonly news: Instant;
}

export interface MarketRecords {
  keepMinutes(bars: readonly MinuteBar[]): Promise<void>;
  /** Of all minutes before that moment whose hour is over by then and has no row yet. */
  keepHours(before: Instant): Promise<void>;
  keepNews(items: readonly KeptNews[]): Promise<void>;
  /** The newest so many, oldest first; each made of what was kept. */
  gather(query: GatherQuery): Promise<readonly GatheredBar[]>;
  /** Undefined where it was not kept, or is forgotten. */
  minute(symbol: string, start: Instant): Promise<Pick<MinuteBar, "open" | "source" | "slices"> | undefined>;
  /** Where the first row of a symbol begins, and where the newest hour of all does. */
  kept(symbol: string): Promise<{ readonly first: Instant | undefined; readonly lastHour: Instant | undefined }>;
  /** Oldest first, by when they were recorded and their ids. */
  news(query: NewsQuery): Promise<readonly KeptNews[]>;
  /** One that was recorded. */
  newsItem(newsId: string): Promise<KeptNews | undefined>;
  /** At most so many of each; gives how many went. */
  forget(before: ForgetBefore, countMax: number): Promise<number>;
}

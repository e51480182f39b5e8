// What the paper broker must know of what it trades: terms for matching, and when the day of an order ends.
import { nextClose, type TradingCalendar } from "../../contracts/src/calendar.ts";
import { calendarByName } from "../../contracts/src/calendars.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromUnixMs, type Instant, millisecondsPerDay, toUnixMs } from "../../contracts/src/instant.ts";
import type { AssetClass } from "../../contracts/src/records/values.ts";
import type { PaperTerms } from "../../core/paper-matching.ts";

/** `always`: everything trades around the clock. `real`: as the instruments' calendars say. */
export type SessionKind = "always" | "real";

export interface PaperInstrument {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly currency: string;
  /** A decimal. */
  readonly lotSize: string;
  /** The name of a trading calendar. */
  readonly calendar: string;
}

export interface PaperInstruments {
  termsOf(symbol: string): PaperTerms | undefined;
  /** When a DAY order that comes now ends: at the next close, or at midnight UTC where there is none. */
  dayEnd(symbol: string, now: Instant): Instant;
}

export function paperInstruments(listed: readonly PaperInstrument[], sessions: SessionKind): PaperInstruments {
  const terms = new Map<string, PaperTerms>();
  const calendars = new Map<string, TradingCalendar>();
  for (const { symbol, assetClass, currency, lotSize, calendar } of listed) {
    terms.set(symbol, { assetClass, currency, lotSize: decimal.parse(lotSize) });
    const found = sessions === "real" ? calendarByName(calendar) : undefined;
    if (found !== undefined) calendars.set(symbol, found);
  }
  return {
    termsOf: (symbol) => terms.get(symbol),
    dayEnd(symbol, now) {
      const calendar = calendars.get(symbol);
      const close = calendar === undefined ? undefined : nextClose(calendar, now);
      return close ?? fromUnixMs((Math.floor(toUnixMs(now) / millisecondsPerDay) + 1) * millisecondsPerDay);
    },
  };
}

// What the paper broker must know of what it trades: terms for matching, and when the day of an order ends.
import { nextClose, type TradingCalendar } from "../../contracts/src/calendar.ts";
import { calendarByName } from "../../contracts/src/calendars.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromUnixMs, type Instant, millisecondsPerDay, toUnixMs } from "../../contracts/src/instant.ts";
import type { AssetClass } from "../../contracts/src/records/values.ts";
import { endOfDate } from "../../core/options/option-expiry.ts";
import type { SettledTerms } from "../../core/options/option-settlement.ts";
import type { PaperTerms } from "../../core/paper/paper-matching.ts";

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
  readonly option?: {
    readonly underlying: string;
    readonly right: "CALL" | "PUT";
    readonly strike: string;
    /** A date; it ends when that date does, in UTC. */
    readonly expiry: string;
    /** 100 when absent. */
    readonly multiplier?: string;
  };
}

/** An option and the first moment at which it has ended. */
interface EndingOption {
  readonly terms: SettledTerms;
  readonly endsAt: Instant;
}

export interface PaperInstruments {
  termsOf(symbol: string): PaperTerms | undefined;
  /** When a DAY order that comes now ends: at the next close, or at midnight UTC where there is none. */
  dayEnd(symbol: string, now: Instant): Instant;
  /** Undefined for what is no option. */
  endingOption(symbol: string): EndingOption | undefined;
  /** Options on that symbol. */
  optionsOn(symbol: string): readonly EndingOption[];
}

export function paperInstruments(listed: readonly PaperInstrument[], sessions: SessionKind): PaperInstruments {
  const terms = new Map<string, PaperTerms>();
  const calendars = new Map<string, TradingCalendar>();
  for (const { symbol, assetClass, currency, lotSize, calendar } of listed) {
    terms.set(symbol, { assetClass, currency, lotSize: decimal.parse(lotSize) });
    const found = sessions === "real" ? calendarByName(calendar) : undefined;
    if (found !== undefined) calendars.set(symbol, found);
  }
  const options = new Map(
    listed.flatMap((one) => endingOption(one, listed).map((found) => [one.symbol, found] as const)),
  );
  const underlyings = new Map<string, EndingOption[]>();
  for (const option of options.values()) {
    underlyings.set(option.terms.underlying, [...(underlyings.get(option.terms.underlying) ?? []), option]);
  }
  return {
    endingOption: (symbol) => options.get(symbol),
    optionsOn: (symbol) => underlyings.get(symbol) ?? [],
    termsOf: (symbol) => terms.get(symbol),
    dayEnd(symbol, now) {
      const calendar = calendars.get(symbol);
      const close = calendar === undefined ? undefined : nextClose(calendar, now);
      return close ?? fromUnixMs((Math.floor(toUnixMs(now) / millisecondsPerDay) + 1) * millisecondsPerDay);
    },
  };
}

function endingOption({ symbol, option }: PaperInstrument, listed: readonly PaperInstrument[]): EndingOption[] {
  const endsAt = option === undefined ? undefined : endOfDate(option.expiry);
  if (option === undefined || endsAt === undefined) return [];
  const { underlying, right } = option;
  const isDelivered = listed.find((one) => one.symbol === underlying)?.assetClass === "EQUITY";
  const [strike, multiplier] = [decimal.parse(option.strike), decimal.parse(option.multiplier ?? "100")];
  return [{ endsAt, terms: { symbol, underlying, right, strike, multiplier, isDelivered } }];
}

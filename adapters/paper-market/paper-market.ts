// The paper market: quotes that nobody traded. Prices, sizes and volume are core/paper/paper-prices.ts; here they are told every step, but for symbols
// that are halted or, with real sessions, whose market is closed.
import { isOpen, type TradingCalendar } from "../../contracts/src/calendar.ts";
import { calendarByName } from "../../contracts/src/calendars.ts";
import { fromUnixMs, type Instant, millisecondsBetween, toUnixMs } from "../../contracts/src/instant.ts";
import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import type { SpeedChange } from "../../core/paper/market-time.ts";
import {
  type ListingStep,
  type ListingTerms,
  type PaperListing,
  type PaperPrices,
  paperPrices,
} from "../../core/paper/paper-prices.ts";
import type { Clock } from "../../ports/clock.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { QuoteStream, Quotes } from "../../ports/quotes.ts";
import type { Timers } from "../../ports/timers.ts";

export interface PaperMarketOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly seed: number;
  readonly quoteEveryMs: number;
  readonly listings: readonly PaperListing[];
  /** When prices were those of the listings; the same for everybody who plays this market. */
  readonly beganAt: Instant;
  /** How many times as fast the course of a day runs, from when on; once when absent. */
  readonly speeds?: readonly SpeedChange[];
  /** `real` quotes only while the instruments' markets are open; `always` when absent. */
  readonly sessions?: "always" | "real";
  /** What it is made to suffer; fair when absent. */
  readonly faults?: () => PaperWeather | undefined;
  /** The corporate actions that it follows, as they were read last; it knows of none when absent. */
  readonly actions?: () => KnownActions | undefined;
}

export interface KnownActions {
  /** Those that are under way or were applied, in the order in which they were. */
  readonly actions: readonly Pick<StoredAction, "state" | "symbol" | "legs" | "appliedAt" | "dividend">[];
  readonly readAt: Instant;
}

/**
 * For so long what was read of corporate actions may be relied on; then nothing is quoted until it is read again. An action is applied 5 s
 * after it was announced, and by then nobody quotes a price of before it any more, whatever he has read and whatever he could not.
 */
const actionsGoodMs = 3_000;

export function paperMarket(options: PaperMarketOptions): Quotes {
  const { clock, timers, quoteEveryMs } = options;
  const prices = pricesOf(options);
  const isTraded = sessionsOf(options);
  // A symbol that is halted stays halted under its new name.
  const isHalted = (symbol: string, at: Instant): boolean =>
    (options.faults?.()?.halted_symbols ?? []).some(
      (name) => name === symbol || prices.namesNow(name).includes(symbol),
    ) || isSuspended(options, symbol, at);

  return {
    name: "paper",
    subscribe: async (symbols, hear): Promise<QuoteStream> => {
      const isKnown = (symbol: string): boolean => prices.namesNow(symbol).length > 0;
      const asked = [...new Set(symbols)];
      let stopped = false;
      let cancel = timers.after(0, tick);

      function tick(): void {
        if (stopped) return;
        const step = Math.floor(toUnixMs(clock.now()) / quoteEveryMs);
        // Armed before a listener is told, so that one that throws does not silence the market.
        cancel = timers.after((step + 1) * quoteEveryMs - toUnixMs(clock.now()), tick);
        const at = fromUnixMs(step * quoteEveryMs);
        // Who asked for a symbol that is called otherwise by now hears it by its new name; who asked for a new name before the action that
        // makes it was read here hears it from then on.
        const names = new Set(asked.flatMap(prices.namesNow));
        const traded = [...names].filter((symbol) => !isHalted(symbol, at) && isTraded(prices.listing(symbol), at));
        if (traded.length > 0) hear(traded.map((symbol) => prices.quote(symbol, at)));
      }

      return {
        get unknown() {
          return asked.filter((symbol) => !isKnown(symbol));
        },
        stop: async () => {
          stopped = true;
          cancel();
        },
      };
    },
  };
}

/** Between the announcement of a corporate action and its end nobody trades its symbols, and nothing is dated before it afterwards. */
function isSuspended(options: PaperMarketOptions, symbol: string, at: Instant): boolean {
  if (options.actions === undefined) return false;
  const known = options.actions();
  if (known === undefined || millisecondsBetween(known.readAt, options.clock.now()) > actionsGoodMs) return true;
  return known.actions.some(
    ({ state, legs, appliedAt }) =>
      (state !== "DONE" || (appliedAt ?? 0) > at) &&
      legs.some((leg) => leg.symbol === symbol || leg.new_symbol === symbol),
  );
}

const asListed: ReadonlyMap<string, ListingTerms> = new Map();

/** What became of the listings by the actions that were applied. */
export function termsOf({ actions, listings }: Pick<PaperMarketOptions, "actions" | "listings">) {
  let known: KnownActions["actions"] | undefined;
  let terms = asListed;
  return (): ReadonlyMap<string, ListingTerms> => {
    const now = actions?.()?.actions;
    if (now === known || now === undefined) return terms;
    known = now;
    // A dividend is known before its moment, so that everybody who quotes goes ex at the same one.
    const momentOf = ({ appliedAt, dividend }: (typeof now)[number]) => dividend?.exAt ?? appliedAt;
    const applied = now
      .filter((one) => momentOf(one) !== undefined)
      .sort((one, other) => (momentOf(one) ?? 0) - (momentOf(other) ?? 0));
    terms = applied.length === 0 ? asListed : new Map(listings.flatMap(({ symbol }) => termsAfter(symbol, applied)));
    return terms;
  };
}

function termsAfter(listed: string, applied: KnownActions["actions"]): readonly (readonly [string, ListingTerms])[] {
  let name = listed;
  const steps: ListingStep[] = [];
  for (const { symbol: its, legs, dividend } of applied) {
    if (dividend !== undefined && its === name) {
      const paid = { perShare: dividend.perShare, from: dividend.exAt };
      steps.push({ quantity: [1, 1], price: [1, 1], paid });
    }
    const leg = legs.find(({ symbol }) => symbol === name);
    if (leg === undefined) continue;
    name = leg.new_symbol;
    const { quantity, price } = leg;
    if (quantity[0] !== quantity[1] || price[0] !== price[1]) steps.push({ quantity, price });
  }
  return name === listed && steps.length === 0 ? [] : [[listed, { name, steps }]];
}

export function pricesOf(options: PaperMarketOptions): PaperPrices {
  return paperPrices({
    seed: options.seed,
    beganAt: options.beganAt,
    speeds: options.speeds ?? [],
    listings: options.listings,
    gaps: () => options.faults?.()?.gaps ?? [],
    informed: () => options.faults?.()?.informed ?? [],
    terms: termsOf(options),
  });
}

/** Whether a symbol is traded at a moment. */
export function sessionsOf(options: PaperMarketOptions): (listing: PaperListing | undefined, at: Instant) => boolean {
  if (options.sessions !== "real") return () => true;
  const calendars = new Map<string, TradingCalendar | undefined>(
    options.listings.map(({ symbol, calendar }) => [symbol, calendarByName(calendar)]),
  );
  return (listing, at) => {
    const calendar = calendars.get(listing?.symbol ?? "");
    return calendar === undefined || isOpen(calendar, at);
  };
}

// The paper market's prices: a pure function of the seed, the moment at which the market began, the symbol and the moment that is asked about.
// Nothing is kept, so a restart goes on where the market would be, two processes agree, and any day of the past can be asked for.
//
//  - Shares and coins follow random walks: one that all of a kind share, and one of their own. At the moment when the market began, each is at its
//    listed price; the year before leads up to it, and what comes after goes where it goes.
//  - Bursts of informed trading push a price for a while (paper-flow.ts).
//  - Options are worth what Black and Scholes say, at the volatility that their listed price had when the market began.
//  - A speed runs the course of a day, bursts and news so many times as fast; the course of the years, the calendar and all timestamps stay. When
//    the speed changes, what has passed stays (market-time.ts).
//  - Gaps multiply a price from a moment on, for as long as they are in the faults.
//  - Informed flow of the faults has a price drift one way from a moment on, up to a bound.
//  - A split divides the prices of all times, as charts show them; what was quoted before it is what it was.
//  - An option keeps the tick and the spread that its listing had, adjusted with it: right after a split its quote is the adjusted one of before,
//    which may lie between two ticks of its new price. A whole tick, or the old spread, of a price that fell would be a loss that nobody made.
//  - For the same reason a share that was split is quoted on a finer tick, by powers of ten, and its spread is divided with its price.
//  - A dividend is no part of prices from the moment on at which its share goes ex.
// Chance is a binary number, money is not: a price becomes a decimal on its tick before anybody sees it.
import * as decimal from "../../contracts/src/decimal.ts";
import { daysFromCivil, format, type Instant, toUnixMs, tryParse, tryParseDate } from "../../contracts/src/instant.ts";
import type { Quote } from "../../contracts/src/records/market.ts";
import type { AssetClass } from "../../contracts/src/records/values.ts";
import { inverse, type Ratio, scaled } from "../ledger/corporate-actions.ts";
import { type Greeks, greeksOf, impliedVolatility, interestRate, type OptionTerms } from "../options/black-scholes.ts";
import { exp } from "../stats/elementary.ts";
import { dayWalk, longWalk } from "./brownian.ts";
import { type MarketTime, marketTime, type SpeedChange } from "./market-time.ts";
import { burstNow, burstPush, type FlowStreams, flowStreams, volumeBetween } from "./paper-flow.ts";
import { bitsAt, laneOf } from "./seeded-random.ts";

/** A symbol that the paper market quotes: where its price begins and how it moves. */
export interface PaperListing {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly currency: string;
  readonly calendar: string;
  /** Decimals. */
  readonly price: string;
  readonly tickSize: string;
  readonly lotSize: string;
  /** Half of the distance between bid and ask, in ticks. */
  readonly halfSpreadTicks: number;
  /** Of a year, as a fraction; an option has none of its own. */
  readonly volatility: number;
  /** How much of its walk it shares with others of its asset class, from 0 to 1. */
  readonly correlation: number;
  /** How many units are traded in a usual minute. */
  readonly minuteVolume: number;
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

interface PriceGap {
  readonly symbol: string;
  readonly pct: number;
  readonly from: string;
}

/** One-sided flow by those who know something. */
interface InformedFlow {
  readonly symbol: string;
  readonly side: "buy" | "sell";
  readonly from: string;
}

/** What corporate actions have made of a listing: its name now, and by what quantities and prices were multiplied, action by action. */
export interface ListingTerms {
  readonly name: string;
  readonly steps: readonly ListingStep[];
}

export interface ListingStep {
  readonly quantity: Ratio;
  readonly price: Ratio;
  /** Of a dividend: a decimal that prices lack from a moment on. */
  readonly paid?: { readonly perShare: string; readonly from: Instant };
}

interface PaperPricesOptions {
  readonly seed: number;
  readonly beganAt: Instant;
  /** How fast it ran from when on; as our time does without any. */
  readonly speeds: readonly SpeedChange[];
  readonly listings: readonly PaperListing[];
  readonly gaps: () => readonly PriceGap[];
  /** None when absent. */
  readonly informed?: () => readonly InformedFlow[];
  /** By the symbol of the listing, for those that are not as they were listed; none when absent. */
  readonly terms?: () => ReadonlyMap<string, ListingTerms>;
}

export interface PaperPrices {
  /** What is called so now, as it was listed; undefined when nothing is. */
  listing(symbol: string): PaperListing | undefined;
  /** All of them as they are now; the same array until an action changes them. */
  listings(): readonly PaperListing[];
  /** The names of all of them. */
  symbols(): readonly string[];
  /** What those are called now that were listed, or are called, by that name. */
  namesNow(symbol: string): readonly string[];
  /** The middle of bid and ask, on its tick. */
  middle(symbol: string, at: Instant): decimal.Decimal;
  quote(symbol: string, at: Instant): Quote;
  /** Units traded between two moments, in whole lots. */
  volume(symbol: string, from: Instant, to: Instant): decimal.Decimal;
  flow(symbol: string): FlowStreams;
  /** The market's own time, which may run faster than ours. */
  readonly time: MarketTime;
}

const secondsPerYear = 31_557_600;
const secondsPerDay = 86_400;
/** How far a burst at full strength pushes the price, in years of the symbol's volatility: 0.5 % for 25 % a year. */
const burstPushShare = 0.02;
/** How far informed flow moves a price in a second, a few times what it moves by chance, and at most. */
const informedPerS = 0.0002;
const informedMax = 0.03;
const billion = decimal.fromInteger(1_000_000_000n);

interface Listed {
  readonly listing: PaperListing;
  readonly price: decimal.Decimal;
  readonly tick: decimal.Decimal;
  readonly lot: decimal.Decimal;
  readonly halfSpread: decimal.Decimal;
  readonly lane: number;
  readonly sharedStream: number;
  readonly flow: FlowStreams;
  readonly sizeStream: number;
  /** The walk's level when the market began. */
  readonly begun: number;
  readonly option: Omit<OptionTerms, "price" | "years"> | undefined;
  readonly endsS: number;
}

/** The tick of a share after splits: so many powers of ten finer that it is no larger a part of the price than it was. */
function finerTick(tick: decimal.Decimal, sharesForOne: number): decimal.Decimal {
  let finer = tick;
  for (let power = 1; power < sharesForOne && power < 1e9; power *= 10) {
    finer = decimal.divide(finer, decimal.fromInteger(10n), "half-even");
  }
  return finer;
}

export function paperPrices(options: PaperPricesOptions): PaperPrices {
  const time = marketTime(options.speeds);
  const listed = new Map(options.listings.map((listing) => [listing.symbol, prepared(options, listing, time)]));

  const termsOf = (listedName: string): ListingTerms | undefined => options.terms?.().get(listedName);
  const nameOf = (listedName: string): string => termsOf(listedName)?.name ?? listedName;

  function find(symbol: string): Listed | undefined {
    const found = listed.get(symbol);
    if (found !== undefined && nameOf(symbol) === symbol && isAdjusted(found)) return found;
    for (const [listedName, { name }] of options.terms?.() ?? []) {
      const renamed = name === symbol ? listed.get(listedName) : undefined;
      if (renamed !== undefined && isAdjusted(renamed)) return renamed;
    }
    return undefined;
  }

  /** An option that a split of its share left as it was is worth nothing that could be said: nobody had it when the share was split. */
  function isAdjusted(it: Listed): boolean {
    const { option } = it.listing;
    const splits = (listedName: string): number => stepsOf(listedName).filter((step) => step.paid === undefined).length;
    return option === undefined || splits(it.listing.symbol) === splits(option.underlying);
  }

  function listedAs(symbol: string): Listed {
    const found = find(symbol);
    if (found === undefined) throw new RangeError(`the paper market does not list ${symbol}`);
    return found;
  }

  const marketSeconds = time.secondsAt;

  function gapFactor(symbol: string, at: Instant): number {
    let factor = 1;
    for (const gap of options.gaps()) {
      const from = gap.symbol === symbol || gap.symbol === nameOf(symbol) ? tryParse(gap.from) : undefined;
      if (from !== undefined && from <= at) factor *= 1 + gap.pct;
    }
    for (const flow of options.informed?.() ?? []) {
      const from = flow.symbol === symbol || flow.symbol === nameOf(symbol) ? tryParse(flow.from) : undefined;
      if (from === undefined || from > at) continue;
      const drift = Math.min(informedMax, ((at - from) / 1_000_000) * informedPerS);
      factor *= flow.side === "buy" ? 1 + drift : 1 - drift;
    }
    return factor;
  }

  const stepsOf = (listedName: string): ListingTerms["steps"] => termsOf(listedName)?.steps ?? [];
  const splitPrice = (price: decimal.Decimal, listedName: string): decimal.Decimal =>
    stepsOf(listedName).reduce((before, step) => scaled(before, step.price), price);

  const steppedPrice = (price: decimal.Decimal, { price: ratio, paid }: ListingStep, at: Instant): decimal.Decimal => {
    if (paid === undefined) return scaled(price, ratio);
    return at < paid.from ? price : decimal.subtract(price, decimal.parse(paid.perShare));
  };

  /** More of what is worth less is traded. */
  const sizeFactor = ({ listing: { symbol } }: Listed): number =>
    stepsOf(symbol).reduce((factor, { quantity: [to, from] }) => (factor * to) / from, 1);

  const middle = (symbol: string, at: Instant): decimal.Decimal => middleOf(listedAs(symbol), at);

  function middleOf(it: Listed, at: Instant): decimal.Decimal {
    const floor = decimal.add(halfSpreadOf(it), tickOf(it));
    return decimal.max(floor, it.option === undefined ? walked(it, at, tickOf(it)) : optionPrice(it, it.option, at));
  }

  const isOption = (it: Listed): boolean => it.option !== undefined;
  const tickOf = (it: Listed): decimal.Decimal =>
    isOption(it) ? splitPrice(it.tick, it.listing.symbol) : finerTick(it.tick, sizeFactor(it));
  const halfSpreadOf = (it: Listed): decimal.Decimal => {
    const adjusted = splitPrice(it.halfSpread, it.listing.symbol);
    return isOption(it) ? adjusted : decimal.roundToIncrement(adjusted, tickOf(it), "ceiling");
  };

  function walked(it: Listed, at: Instant, tick: decimal.Decimal): decimal.Decimal {
    const push = burstPush(it.flow, marketSeconds(at)) * it.listing.volatility * burstPushShare;
    const moved = level(it, toUnixMs(at) / 1_000, marketSeconds(at)) - it.begun + push;
    const factor = Math.min(1_000, exp(moved) * gapFactor(it.listing.symbol, at));
    const ratio = decimal.fromInteger(BigInt(Math.round(factor * 1e9)));
    const unsplit = decimal.divide(decimal.multiply(it.price, ratio, "half-even"), billion, "half-even");
    const free = stepsOf(it.listing.symbol).reduce((price, step) => steppedPrice(price, step, at), unsplit);
    return decimal.roundToIncrement(free, tick, "half-even");
  }

  function optionPrice(it: Listed, terms: NonNullable<Listed["option"]>, at: Instant): decimal.Decimal {
    const { value } = greeksOf(optionAt(it, terms, at));
    const factor = gapFactor(it.listing.symbol, at);
    const tick = tickOf(it);
    const ticks = BigInt(Math.round((value * factor) / decimal.toNumber(tick)));
    return decimal.multiply(decimal.fromInteger(ticks), tick, "half-even");
  }

  function optionAt(it: Listed, terms: NonNullable<Listed["option"]>, at: Instant): OptionTerms {
    const underlying = underlyingOf(it, at);
    const years = (it.endsS - toUnixMs(at) / 1_000) / secondsPerYear;
    const strike = decimal.toNumber(splitPrice(decimal.parse(it.listing.option?.strike ?? "0"), it.listing.symbol));
    return { ...terms, strike, price: decimal.toNumber(underlying), years };
  }

  /** On the tick that it was listed with, adjusted: its own tick after a split would move the option. */
  function underlyingOf(it: Listed, at: Instant): decimal.Decimal {
    const share = listedAs(nameOf(it.listing.option?.underlying ?? ""));
    const adjusted = (price: decimal.Decimal): decimal.Decimal => splitPrice(price, share.listing.symbol);
    const floor = adjusted(decimal.add(share.halfSpread, share.tick));
    return decimal.max(floor, walked(share, at, adjusted(share.tick)));
  }

  function listingNow({ listing }: Listed): PaperListing {
    const { symbol, option } = listing;
    const own = { ...listing, symbol: nameOf(symbol) };
    if (option === undefined) return own;
    const multiplier = stepsOf(symbol).reduce(
      (shares, step) => scaled(scaled(shares, inverse(step.quantity)), inverse(step.price)),
      decimal.parse(option.multiplier ?? "100"),
    );
    const strike = decimal.format(splitPrice(decimal.parse(option.strike), symbol));
    const terms = { underlying: nameOf(option.underlying), strike, multiplier: decimal.format(multiplier) };
    return { ...own, option: { ...option, ...terms } };
  }

  let current = options.listings;
  let currentUnder: unknown;

  function listingsNow(): readonly PaperListing[] {
    const terms = options.terms?.();
    if (terms === currentUnder) return current;
    currentUnder = terms;
    const all = [...listed.values()];
    current = terms?.size === 0 ? options.listings : all.filter(isAdjusted).map(listingNow);
    return current;
  }

  function volume(symbol: string, from: Instant, to: Instant): decimal.Decimal {
    const it = listedAs(symbol);
    const { flow, listing, lot } = it;
    const minutes = volumeBetween(flow, marketSeconds(from), marketSeconds(to));
    const minuteVolume = listing.minuteVolume * sizeFactor(it);
    const units = decimal.fromInteger(BigInt(Math.floor(minutes * minuteVolume * 1_000)));
    return decimal.roundToIncrement(decimal.divide(units, thousand, "down"), lot, "down");
  }

  return {
    listing: (symbol) => find(symbol)?.listing,
    listings: listingsNow,
    symbols: () => [...listed.keys()].map(nameOf),
    namesNow: (symbol) =>
      [symbol, ...(listed.has(symbol) ? [nameOf(symbol)] : [])].filter((name) => find(name) !== undefined),
    middle,
    volume,
    time,
    flow: (symbol) => listedAs(symbol).flow,
    quote(symbol, at) {
      const it = listedAs(symbol);
      const price = middle(symbol, at);
      const seconds = toUnixMs(at) / 1_000;
      const dayStart = (at - (Math.floor(at) % (secondsPerDay * 1_000_000))) as Instant;
      const [bidSize, askSize] = sizes(it, seconds, marketSeconds(at), sizeFactor(it));
      return {
        symbol,
        bid: decimal.format(decimal.subtract(price, halfSpreadOf(it))),
        ask: decimal.format(decimal.add(price, halfSpreadOf(it))),
        last: decimal.format(price),
        bid_size: decimal.format(bidSize),
        ask_size: decimal.format(askSize),
        volume: decimal.format(volume(symbol, dayStart, at)),
        currency: it.listing.currency,
        venue: "paper",
        ...(it.option !== undefined && { greeks: shownGreeks(greeksOf(optionAt(it, it.option, at))) }),
        quoted_at: format(at),
      };
    },
  };
}

const thousand = decimal.fromInteger(1_000n);

/** To millionths: more says nothing. */
function shownGreeks({ delta, gamma, theta, vega }: Greeks): NonNullable<Quote["greeks"]> {
  const shown = (value: number): number => Math.round(value * 1_000_000) / 1_000_000;
  return { delta: shown(delta), gamma: shown(gamma), theta: shown(theta), vega: shown(vega) };
}

function prepared(options: PaperPricesOptions, listing: PaperListing, time: MarketTime): Listed {
  const { seed, beganAt } = options;
  const { symbol, option } = listing;
  const tick = decimal.parse(listing.tickSize);
  const beganS = toUnixMs(beganAt) / 1_000;
  const endsS = option === undefined ? 0 : (dayNumber(option.expiry) + 1) * secondsPerDay;
  const it = {
    listing,
    price: decimal.parse(listing.price),
    tick,
    lot: decimal.parse(listing.lotSize),
    halfSpread: decimal.multiply(tick, decimal.fromInteger(BigInt(listing.halfSpreadTicks)), "half-even"),
    lane: laneOf(seed, symbol),
    sharedStream: laneOf(seed, `all ${listing.assetClass}`),
    flow: flowStreams(seed, symbol),
    sizeStream: laneOf(seed, `${symbol} size`),
    begun: 0,
    option: undefined,
    endsS,
  };
  if (option === undefined) return { ...it, begun: level(it, beganS, time.secondsAt(beganAt)) };
  const underlying = options.listings.find((other) => other.symbol === option.underlying);
  const terms = { right: option.right, strike: Number(option.strike), rate: interestRate };
  const begun = { ...terms, price: Number(underlying?.price), years: (endsS - beganS) / secondsPerYear };
  return { ...it, option: { ...terms, volatility: impliedVolatility(begun, Number(listing.price)) } };
}

/** The logarithm of the price, but for where it begins. */
function level(it: Pick<Listed, "listing" | "lane" | "sharedStream">, seconds: number, marketS: number): number {
  const { volatility, correlation } = it.listing;
  const walk = (lane: number): number => longWalk(lane, seconds) + dayWalk(lane, marketS);
  const own = Math.sqrt(1 - correlation * correlation);
  const mixed = (correlation === 0 ? 0 : correlation * walk(it.sharedStream)) + own * walk(it.lane);
  return (volatility / Math.sqrt(secondsPerYear)) * mixed;
}

function dayNumber(date: string): number {
  const found = tryParseDate(date);
  if (found === undefined) throw new RangeError(`${date} is not a date`);
  return daysFromCivil(found);
}

/** What can be traded at once: a third of a minute's to three minutes' volume, and little of what informed traders take. */
function sizes(
  it: Listed,
  seconds: number,
  marketS: number,
  factor: number,
): readonly [decimal.Decimal, decimal.Decimal] {
  const bits = bitsAt(it.sizeStream, Math.floor(seconds * 4));
  const burst = burstNow(it.flow, marketS);
  const thin = 0.15;
  const sized = (share: number, isTaken: boolean): decimal.Decimal => {
    const units = it.listing.minuteVolume * factor * (0.33 + 2.67 * share) * (isTaken ? thin : 1);
    const exact = decimal.divide(decimal.fromInteger(BigInt(Math.round(units * 1_000))), thousand, "down");
    return decimal.max(it.lot, decimal.roundToIncrement(exact, it.lot, "down"));
  };
  return [
    sized((bits & 0xffff) / 0xffff, burst?.direction === -1),
    sized((bits >>> 16) / 0xffff, burst?.direction === 1),
  ];
}

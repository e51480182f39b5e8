// The paper market: quotes that nobody traded, always in session. A price is a pure function of the seed, the symbol and the moment:
// a sum of smooth noises of many time scales, whose sizes grow with the root of their period as those of a random walk do. So a
// restart goes on where the market would be, two feeds of one seed agree, and a price never wanders off for good.
import * as decimal from "../contracts/src/decimal.ts";
import { format, fromUnixMs, toUnixMs } from "../contracts/src/instant.ts";
import type { Quote } from "../contracts/src/records/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { QuoteStream, Quotes } from "../ports/quotes.ts";
import type { Timers } from "../ports/timers.ts";

/** A symbol that the market quotes: where its price begins and how it moves. */
export interface PaperListing {
  readonly symbol: string;
  /** Decimals. */
  readonly price: string;
  readonly tickSize: string;
  /** Half of the distance between bid and ask, in ticks. */
  readonly halfSpreadTicks: number;
  /** How far the price swings around where it begins, in millionths of it. */
  readonly swingPpm: number;
  /** An option moves with its underlying instead of by itself: by this much for every unit. */
  readonly follows?: { readonly symbol: string; readonly delta: string };
}

export interface PaperMarketOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly seed: number;
  readonly quoteEveryMs: number;
  readonly listings: readonly PaperListing[];
}

/** Periods of 1, 2, 4 … steps; with a step of half a second the longest is about nine hours. */
const octaveCount = 17;
const ppm = decimal.fromInteger(1_000_000n);

export function paperMarket(options: PaperMarketOptions): Quotes {
  const { clock, timers, quoteEveryMs } = options;
  const market = pricing(options.seed, options.listings);
  const stepNow = (): number => Math.floor(toUnixMs(clock.now()) / quoteEveryMs);

  return {
    name: "paper",
    subscribe: async (symbols, hear): Promise<QuoteStream> => {
      const known = [...new Set(symbols)].filter((symbol) => market.knows(symbol));
      const unknown = [...new Set(symbols)].filter((symbol) => !market.knows(symbol));
      let stopped = false;
      let cancel = timers.after(0, tick);

      function tick(): void {
        if (stopped) return;
        const step = stepNow();
        // Armed before anybody is told, so that a listener that throws does not silence the market.
        cancel = timers.after((step + 1) * quoteEveryMs - toUnixMs(clock.now()), tick);
        const quotedAt = format(fromUnixMs(step * quoteEveryMs));
        if (known.length > 0) hear(known.map((symbol) => market.quote(symbol, step, quotedAt)));
      }

      return {
        unknown,
        stop: async () => {
          stopped = true;
          cancel();
        },
      };
    },
  };
}

interface Pricing {
  knows(symbol: string): boolean;
  quote(symbol: string, step: number, quotedAt: string): Quote;
}

interface Listed {
  readonly symbol: string;
  readonly price: decimal.Decimal;
  readonly tickSize: decimal.Decimal;
  readonly halfSpread: decimal.Decimal;
  readonly swingPpm: number;
  readonly lane: number;
  readonly follows: { readonly symbol: string; readonly delta: decimal.Decimal } | undefined;
}

function pricing(seed: number, listings: readonly PaperListing[]): Pricing {
  const listed = new Map(listings.map((listing) => [listing.symbol, prepared(seed, listing)]));

  function listedAs(symbol: string): Listed {
    const found = listed.get(symbol);
    if (found === undefined) throw new RangeError(`the paper market does not list ${symbol}`);
    return found;
  }

  /** On the tick, and never below two of them: what is worth nothing could not be quoted on both sides. */
  function middle(symbol: string, step: number): decimal.Decimal {
    const it = listedAs(symbol);
    const free = it.follows === undefined ? swung(it, step) : following(it, it.follows, step);
    const floor = decimal.add(it.halfSpread, it.tickSize);
    return decimal.max(floor, decimal.roundToIncrement(free, it.tickSize, "half-even"));
  }

  function following(it: Listed, to: NonNullable<Listed["follows"]>, step: number): decimal.Decimal {
    const moved = decimal.subtract(middle(to.symbol, step), listedAs(to.symbol).price);
    return decimal.add(it.price, decimal.multiply(moved, to.delta, "half-even"));
  }

  return {
    knows: (symbol) => listed.has(symbol),
    quote(symbol, step, quotedAt) {
      const it = listedAs(symbol);
      const price = middle(symbol, step);
      const size = String(100 + (hashed(it.lane ^ 0x5bd1e995, step) % 900));
      return {
        symbol,
        bid: decimal.format(decimal.subtract(price, it.halfSpread)),
        ask: decimal.format(decimal.add(price, it.halfSpread)),
        last: decimal.format(price),
        bid_size: size,
        ask_size: size,
        venue: "paper",
        quoted_at: quotedAt,
      };
    },
  };
}

function prepared(seed: number, listing: PaperListing): Listed {
  const tickSize = decimal.parse(listing.tickSize);
  const { follows } = listing;
  return {
    symbol: listing.symbol,
    price: decimal.parse(listing.price),
    tickSize,
    halfSpread: decimal.multiply(tickSize, decimal.fromInteger(BigInt(listing.halfSpreadTicks)), "half-even"),
    swingPpm: listing.swingPpm,
    lane: laneOf(seed, listing.symbol),
    follows: follows === undefined ? undefined : { symbol: follows.symbol, delta: decimal.parse(follows.delta) },
  };
}

/** The price moved by a whole number of millionths: chance is a number, money is not. */
function swung(it: Listed, step: number): decimal.Decimal {
  const moved = Math.round(noise(it.lane, step) * it.swingPpm);
  const factor = decimal.add(ppm, decimal.fromInteger(BigInt(moved)));
  return decimal.divide(decimal.multiply(it.price, factor, "half-even"), ppm, "half-even");
}

/** From -1 to 1; only operations that every machine rounds alike. */
function noise(lane: number, step: number): number {
  let sum = 0;
  let weights = 0;
  for (let octave = 0; octave < octaveCount; octave += 1) {
    const period = 2 ** octave;
    const weight = Math.sqrt(period);
    const at = step / period;
    const corner = Math.floor(at);
    const within = at - corner;
    const left = signed(lane + octave, corner);
    sum += weight * (left + (signed(lane + octave, corner + 1) - left) * within);
    weights += weight;
  }
  return sum / weights;
}

function signed(lane: number, corner: number): number {
  return (hashed(lane, corner) / 0xffff_ffff) * 2 - 1;
}

/** 32 bits that look random, of a lane and a place in it. */
function hashed(lane: number, place: number): number {
  let mixed = (lane ^ Math.imul(place >>> 0, 0x9e37_79b1) ^ Math.imul(Math.floor(place / 2 ** 32), 0x85eb_ca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** FNV-1a of the symbol, begun from the seed; octaves take the lanes next to it. */
function laneOf(seed: number, symbol: string): number {
  let hash = (0x811c_9dc5 ^ Math.imul(seed >>> 0, 0x0100_0193)) >>> 0;
  for (let index = 0; index < symbol.length; index += 1) {
    hash = Math.imul(hash ^ symbol.charCodeAt(index), 0x0100_0193) >>> 0;
  }
  return hash;
}

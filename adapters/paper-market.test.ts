// The paper market keeps the promises of every feed, shows the same prices for the same seed and moment, and moves like a market
// that never leaves its bounds.
import { describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import { fromUnixMs, type Instant } from "../contracts/src/instant.ts";
import type { Quote } from "../contracts/src/records/market.ts";
import { paperListings } from "../services/paper-seeds.ts";
import { quotesConformance } from "../testkit/conformance/quotes.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { type PaperListing, paperMarket } from "./paper-market.ts";

const seed = 20_261_115;
const quoteEveryMs = 500;

quotesConformance(`paper market, seed ${seed}`, async () => {
  const time = scheduler({ seed });
  const stop = time.pump();
  return {
    quotes: paperMarket({ ...time, seed, quoteEveryMs, listings: paperListings }),
    known: ["AAPL", "BTC-USD", "SPY 281215C00650000"],
    unknown: "NOPE",
    soonMs: 2_000,
    now: () => time.clock.now(),
    settle: (ms) => time.timers.sleep(ms),
    close: stop,
  };
});

/** Everything that a feed says from that moment on for so long. */
async function heardFrom(startAt: Instant, forMs: number, options: { seed?: number; listings?: PaperListing[] } = {}) {
  const time = scheduler({ seed, startAt });
  const market = paperMarket({ ...time, quoteEveryMs, seed, listings: paperListings, ...options });
  const heard: Quote[] = [];
  const symbols = (options.listings ?? paperListings).map(({ symbol }) => symbol);
  const stream = await market.subscribe(symbols, (quotes) => void heard.push(...quotes));
  await time.run({ untilMs: forMs });
  await stream.stop();
  return heard;
}

const noon = fromUnixMs(1_794_744_000_000);

describe("the paper market", () => {
  it("says the same for the same seed and moment, also when it was started later", async () => {
    const first = await heardFrom(noon, 5_000);
    expect(await heardFrom(noon, 5_000)).toEqual(first);
    const later = await heardFrom(fromUnixMs(1_794_744_003_210), 1_500);
    const known = new Map(first.map((each) => [`${each.symbol} ${each.quoted_at}`, each]));
    expect(later.length).toBeGreaterThan(2 * paperListings.length);
    for (const each of later) expect(known.get(`${each.symbol} ${each.quoted_at}`)).toEqual(each);
    expect(await heardFrom(noon, 5_000, { seed: seed + 1 })).not.toEqual(first);
  });

  it("quotes every symbol at once and then every step", async () => {
    const heard = await heardFrom(fromUnixMs(1_794_744_000_123), 1_400);
    expect(heard).toHaveLength(4 * paperListings.length);
  });

  it("stays on the tick, moves, and keeps within its swing over a year of hours", async () => {
    const aapl = paperListings.filter(({ symbol }) => symbol === "AAPL");
    const start = decimal.parse(aapl[0]?.price ?? "");
    const seen: decimal.Decimal[] = [];
    for (let hour = 0; hour < 24 * 365; hour += 7) {
      const [first] = await heardFrom(fromUnixMs(1_794_744_000_000 + hour * 3_600_000), 0, { listings: aapl });
      seen.push(decimal.parse(first?.last ?? ""));
    }
    const bound = decimal.multiply(start, decimal.parse("0.02"), "up");
    for (const price of seen) {
      expect(decimal.isMultipleOf(price, decimal.parse("0.01"))).toBe(true);
      expect(decimal.abs(decimal.subtract(price, start)) <= bound).toBe(true);
    }
    expect(new Set(seen).size).toBeGreaterThan(100);
  });

  it("takes small steps: no price jumps by more than half a percent from quote to quote", async () => {
    const heard = (await heardFrom(noon, 600_000)).filter(({ symbol }) => symbol === "BTC-USD");
    expect(heard.length).toBeGreaterThan(1_000);
    let moves = 0;
    heard.slice(1).forEach((each, index) => {
      const before = decimal.toNumber(decimal.parse(heard[index]?.last ?? ""));
      const after = decimal.toNumber(decimal.parse(each.last ?? ""));
      expect(Math.abs(after / before - 1)).toBeLessThan(0.005);
      if (after !== before) moves += 1;
    });
    expect(moves).toBeGreaterThan(heard.length / 2);
  });

  it("moves an option with its underlying, a put the other way", async () => {
    const heard = await heardFrom(noon, 0);
    const moved = (symbol: string): number => {
      const start = paperListings.find((listing) => listing.symbol === symbol)?.price ?? "";
      return Number(heard.find((each) => each.symbol === symbol)?.last) - Number(start);
    };
    expect(moved("SPY 281215C00650000")).toBeCloseTo(0.56 * moved("SPY"), 1);
    expect(moved("SPY 281215P00500000")).toBeCloseTo(-0.19 * moved("SPY"), 1);
  });

  it("a listener that throws does not silence the market", async () => {
    const time = scheduler({ seed });
    const market = paperMarket({ ...time, seed, quoteEveryMs, listings: paperListings });
    let calls = 0;
    const stream = await market.subscribe(["AAPL"], () => {
      calls += 1;
      throw new Error("a listener's mistake");
    });
    for (let turn = 0; turn < 3; turn += 1) await expect(time.step()).rejects.toThrow("a listener's mistake");
    await stream.stop();
    expect(calls).toBe(3);
  });
});

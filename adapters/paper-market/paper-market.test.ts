// The paper market keeps the promises of every feed, shows the same prices for the same seed and moment, and moves like a market: near its
// listed prices when it begins, with the volatility of a year in a year.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, fromUnixMs, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import type { Quote } from "../../contracts/src/records/market.ts";
import { paperPrices } from "../../core/paper/paper-prices.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import { rememberQuotes } from "../../services/operations/newest-quotes.ts";
import { paperListings } from "../../services/shared/paper-seeds.ts";
import { quotesConformance } from "../../testkit/conformance/quotes.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { type PaperMarketOptions, paperMarket, pricesOf } from "./paper-market.ts";

const seed = 20_261_115;
const quoteEveryMs = 500;
const noon = fromUnixMs(1_794_744_000_000);

quotesConformance(`paper market, seed ${seed}`, async () => {
  const time = scheduler({ seed });
  const stop = time.pump();
  return {
    quotes: paperMarket({ ...time, seed, quoteEveryMs, listings: paperListings, beganAt: time.clock.now() }),
    known: ["AAPL", "BTC-USD", "SPY 281215C00650000"],
    unknown: "NOPE",
    soonMs: 2_000,
    now: () => time.clock.now(),
    settle: (ms) => time.timers.sleep(ms),
    close: stop,
  };
});

type Options = Partial<Omit<PaperMarketOptions, "clock" | "timers">>;

/** Everything that a feed says from that moment on for so long. */
async function heardFrom(startAt: Instant, forMs: number, options: Options = {}): Promise<readonly Quote[]> {
  const time = scheduler({ seed, startAt });
  const market = paperMarket({ ...time, quoteEveryMs, seed, listings: paperListings, beganAt: noon, ...options });
  const heard: Quote[] = [];
  const symbols = (options.listings ?? paperListings).map(({ symbol }) => symbol);
  const stream = await market.subscribe(symbols, (quotes) => void heard.push(...quotes));
  await time.run({ untilMs: forMs });
  await stream.stop();
  return heard;
}

const priceIn = (heard: readonly Quote[], symbol: string): number =>
  Number(heard.find((each) => each.symbol === symbol)?.last);
const faults = (over: Partial<PaperWeather>) => (): PaperWeather => ({
  set_by: "operator:duty",
  reason: "tested",
  at: format(noon),
  ...over,
});

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

  it("25.8: drifts the way of informed flow by 3 % at most, in that symbol alone, and says the very same without it", async () => {
    const informed = [{ symbol: "AAPL", side: "buy" as const, from: format(noon) }];
    const share = async (ms: number, side: "buy" | "sell") => {
      const at = plusMilliseconds(noon, ms);
      const moved = await heardFrom(at, 0, { faults: faults({ informed: informed.map((one) => ({ ...one, side })) }) });
      const usual = await heardFrom(at, 0, { faults: faults({}) });
      expect(usual).toEqual(await heardFrom(at, 0));
      expect(moved.filter(({ symbol }) => symbol !== "AAPL")).toEqual(usual.filter(({ symbol }) => symbol !== "AAPL"));
      return priceIn(moved, "AAPL") / priceIn(usual, "AAPL") - 1;
    };
    expect(await share(50_000, "buy")).toBeCloseTo(0.01, 3);
    expect(await share(50_000, "sell")).toBeCloseTo(-0.01, 3);
    expect(await share(150_000, "buy")).toBeCloseTo(0.03, 3);
    expect(await share(600_000, "buy")).toBeCloseTo(0.03, 3);
    expect(await share(-1_000, "buy")).toBe(0);
  });

  it("says these very prices on every machine", async () => {
    const heard = await heardFrom(plusMilliseconds(noon, 86_400_000), 0);
    expect(heard.map(({ symbol, last }) => `${symbol} ${last}`)).toMatchInlineSnapshot(`
      [
        "AAPL 230",
        "MSFT 425.02",
        "GOOGL 171.07",
        "AMZN 207.29",
        "NVDA 140.8",
        "JPM 242.77",
        "XOM 117.05",
        "SPY 585.65",
        "BTC-USD 91735.58",
        "ETH-USD 3161.94",
        "SOL-USD 219.57",
        "SPY 281215C00650000 64.78",
        "SPY 281215C00700000 44.22",
        "SPY 281215P00500000 32.75",
        "SPY 281215P00550000 47.74",
      ]
    `);
  });

  it("begins at the listed prices, for every seed and wherever time stands", async () => {
    for (const beganAt of [noon, plusMilliseconds(noon, 200 * 86_400_000)]) {
      for (const other of [1, 2, 3, seed]) {
        for (const { symbol, last } of await heardFrom(beganAt, 0, { beganAt, seed: other })) {
          const listed = Number(paperListings.find((listing) => listing.symbol === symbol)?.price);
          // A burst may be under way.
          expect(Math.abs(Number(last) / listed - 1), `${symbol} ${last}`).toBeLessThan(0.02);
        }
      }
    }
  });

  it("quotes every symbol at once and then every step, on the tick, moving", async () => {
    const heard = await heardFrom(fromUnixMs(1_794_744_000_123), 1_400);
    expect(heard).toHaveLength(4 * paperListings.length);
    const minutes = await heardFrom(noon, 120_000, { listings: paperListings.slice(0, 11) });
    for (const { symbol } of paperListings.slice(0, 11)) {
      const own = minutes.filter((each) => each.symbol === symbol);
      for (const { bid, ask, last = "" } of own) {
        for (const price of [bid, ask, last])
          expect(decimal.isMultipleOf(decimal.parse(price), decimal.parse("0.01"))).toBe(true);
        expect(decimal.parse(bid) < decimal.parse(last) && decimal.parse(last) < decimal.parse(ask)).toBe(true);
      }
      const steps = own.slice(1).map((each, index) => Math.abs(Number(each.last) / Number(own[index]?.last) - 1));
      expect(Math.max(...steps), symbol).toBeLessThan(0.005);
      expect(steps.filter((step) => step > 0).length, symbol).toBeGreaterThan(own.length / 4);
      const volumes = own.map((each) => Number(each.volume));
      expect(volumes).toEqual([...volumes].sort((left, right) => left - right));
    }
  });

  it("moves an option with its underlying, a put the other way, and lets it lose value in time", async () => {
    const up = { gaps: [{ symbol: "SPY", pct: 0.01, from: format(noon) }] };
    const [before, after] = [await heardFrom(noon, 0), await heardFrom(noon, 0, { faults: faults(up) })];
    const moved = (symbol: string): number => priceIn(after, symbol) - priceIn(before, symbol);
    expect(moved("SPY")).toBeCloseTo(5.92, 0);
    expect(moved("SPY 281215C00650000") / moved("SPY")).toBeCloseTo(0.55, 1);
    expect(moved("SPY 281215P00500000") / moved("SPY")).toBeCloseTo(-0.19, 1);
  });

  it("suffers gaps from their moment on, and does not quote what is halted", async () => {
    const gap = { gaps: [{ symbol: "AAPL", pct: -0.12, from: format(plusMilliseconds(noon, 1_000)) }] };
    const fair = (await heardFrom(noon, 2_000)).filter(({ symbol }) => symbol === "AAPL");
    const foul = (await heardFrom(noon, 2_000, { faults: faults(gap) })).filter(({ symbol }) => symbol === "AAPL");
    expect(foul.slice(0, 2)).toEqual(fair.slice(0, 2));
    for (const [index, each] of foul.slice(2).entries()) {
      expect(Number(each.last) / Number(fair[index + 2]?.last)).toBeCloseTo(0.88, 3);
    }
    const halted = await heardFrom(noon, 1_000, { faults: faults({ halted_symbols: ["AAPL"] }) });
    expect(new Set(halted.map(({ symbol }) => symbol)).size).toBe(paperListings.length - 1);
  });

  it("with real sessions is silent while a market is closed, and reopens elsewhere", async () => {
    const sunday = fromUnixMs(Date.UTC(2026, 10, 15, 18));
    const monday = fromUnixMs(Date.UTC(2026, 10, 16, 15));
    const closed = await heardFrom(sunday, 0, { sessions: "real" });
    expect(closed.map(({ symbol }) => symbol)).toEqual(["BTC-USD", "ETH-USD", "SOL-USD"]);
    expect(await heardFrom(monday, 0, { sessions: "real" })).toHaveLength(paperListings.length);
  });

  it("at a higher speed moves more within a minute and agrees with itself", async () => {
    const travelled = (quotes: readonly Quote[]): number => {
      const own = quotes.filter(({ symbol }) => symbol === "BTC-USD").map(({ last }) => Number(last));
      return own.slice(1).reduce((sum, each, index) => sum + Math.abs(each - (own[index] ?? each)), 0);
    };
    const slow = await heardFrom(noon, 60_000);
    const fast = await heardFrom(noon, 60_000, { speeds: [{ from: noon, speed: 60 }] });
    expect(travelled(fast)).toBeGreaterThan(3 * travelled(slow));
    expect(await heardFrom(noon, 60_000, { speeds: [{ from: noon, speed: 60 }] })).toEqual(fast);
  });

  it("a listener that throws does not silence the market", async () => {
    const time = scheduler({ seed });
    const market = paperMarket({ ...time, seed, quoteEveryMs, listings: paperListings, beganAt: noon });
    let calls = 0;
    const stream = await market.subscribe(["AAPL"], () => {
      calls += 1;
      throw new Error("a listener's mistake");
    });
    for (let turn = 0; turn < 3; turn += 1) await expect(time.step()).rejects.toThrow("a listener's mistake");
    await stream.stop();
    expect(calls).toBe(3);
  });

  it("shows an option's greeks with its quote, and none of anything else", async () => {
    const heard = await heardFrom(noon, 1_000);
    const greeks = (symbol: string) => heard.find((one) => one.symbol === symbol)?.greeks;
    expect(greeks("SPY")).toBeUndefined();
    const { delta = 0, gamma = 0, theta = 0, vega = 0 } = greeks("SPY 281215C00650000") ?? {};
    expect(delta).toBeGreaterThan(0.2);
    expect(delta).toBeLessThan(0.8);
    expect(gamma).toBeGreaterThan(0);
    expect(theta).toBeLessThan(0);
    expect(vega).toBeGreaterThan(0);
  });

  it("moves shares together, each by how much of the shared walk it takes", () => {
    const prices = paperPrices({ seed, beganAt: noon, speeds: [], listings: paperListings, gaps: () => [] });
    const shares = ["AAPL", "MSFT", "JPM", "XOM", "SPY"];
    const days = Array.from({ length: 401 }, (_none, day) => plusMilliseconds(noon, (day - 400) * 86_400_000));
    const returns = shares.map((symbol) => {
      const closes = days.map((at) => decimal.toNumber(prices.middle(symbol, at)));
      return closes.slice(1).map((close, index) => Math.log(close / (closes[index] ?? close)));
    });
    for (const [one, mine = []] of returns.entries()) {
      for (const [other, theirs = []] of returns.entries()) {
        if (other <= one) continue;
        const [left, right] = [shares[one] ?? "", shares[other] ?? ""];
        const expected = shareOf(left) * shareOf(right);
        expect(Math.abs(correlation(mine, theirs) - expected), `${left} ${right}`).toBeLessThan(0.15);
      }
    }
  });
});

const shareOf = (symbol: string): number => paperListings.find((one) => one.symbol === symbol)?.correlation ?? 0;

function correlation(left: readonly number[], right: readonly number[]): number {
  const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
  const spread = (one: readonly number[], other: readonly number[]): number => {
    const [at, to] = [mean(one), mean(other)];
    return mean(one.map((value, index) => (value - at) * ((other[index] ?? 0) - to)));
  };
  return spread(left, right) / Math.sqrt(spread(left, left) * spread(right, right));
}

describe("23.4: options on a share that was split or renamed", () => {
  it.each([
    ["a split of fifty for one", [50, 1] as const, 50],
    ["a split of three for two", [3, 2] as const, 1.5],
    ["a reverse split", [1, 10] as const, 0.1],
  ])(
    "T7: a share is quoted after %s as before it, adjusted: neither tick nor spread are a larger part of the price",
    (_, quantity, factor) => {
      const leg: Leg = {
        symbol: "AAPL",
        new_symbol: "AAPL",
        quantity: [...quantity],
        price: [quantity[1], quantity[0]],
      };
      const [before, after] = [pricesWith().quote("AAPL", at), pricesWith(leg).quote("AAPL", at)];
      for (const side of ["bid", "ask"] as const) {
        const moved = (Number(after[side]) * factor) / Number(before[side]) - 1;
        expect(Math.abs(moved)).toBeLessThan(0.01 / Number(before.bid));
        expect(after[side].length).toBeLessThan(10);
      }
      expect((Number(after.ask) - Number(after.bid)) * factor).toBeLessThan(
        3 * (Number(before.ask) - Number(before.bid)),
      );
    },
  );

  it("T7: what is halted stays halted under its new name", async () => {
    const legs: Leg[] = [{ symbol: "AAPL", new_symbol: "APPL", quantity: [1, 1], price: [1, 1] }];
    const actions = [{ state: "DONE" as const, symbol: "AAPL", legs, appliedAt: noon }];
    for (const halted of ["AAPL", "APPL"]) {
      const time = scheduler({ seed, startAt: noon });
      const listing = { seed, quoteEveryMs, beganAt: noon, listings: paperListings };
      const said = faults({ halted_symbols: [halted] });
      const read = () => ({ actions, readAt: time.clock.now() });
      const market = paperMarket({ ...time, ...listing, actions: read, faults: said });
      const heard = new Set<string>();
      const stream = await market.subscribe(["APPL", "MSFT"], (quotes) => {
        for (const { symbol } of quotes) heard.add(symbol);
      });
      await time.run({ untilMs: 2_000 });
      await stream.stop();
      expect([...heard]).toEqual(["MSFT"]);
    }
  });

  it("a symbol that was asked for before the market has read of its action is quoted from when it has, and not unknown any more", async () => {
    const time = scheduler({ seed, startAt: noon });
    const legs: Leg[] = [{ symbol: "AAPL", new_symbol: "APPL", quantity: [1, 1], price: [1, 1] }];
    const applied = [{ state: "DONE" as const, symbol: "AAPL", legs, appliedAt: noon }];
    let actions: typeof applied = [];
    const listing = { seed, quoteEveryMs, beganAt: noon, listings: paperListings };
    const market = paperMarket({ ...time, ...listing, actions: () => ({ actions, readAt: time.clock.now() }) });
    const remembered = rememberQuotes(market, time.clock);
    const heard = new Set<string>();
    const stream = await remembered.quotes.subscribe(["APPL", "NOPE"], (quotes) => {
      for (const { symbol } of quotes) heard.add(symbol);
    });
    await time.run({ untilMs: 2_000 });
    expect([[...heard], stream.unknown]).toEqual([[], ["APPL", "NOPE"]]);
    actions = applied;
    await time.run({ untilMs: 4_000 });
    await stream.stop();
    expect([[...heard], stream.unknown]).toEqual([["APPL"], ["NOPE"]]);
  });

  const at = plusMilliseconds(noon, 3_600_000);
  type Leg = StoredAction["legs"][number];
  const pricesWith = (...legs: readonly Leg[]) => {
    const actions = [{ state: "DONE" as const, symbol: "SPY", legs, appliedAt: noon }];
    return pricesOf({
      clock: { now: () => at },
      timers: scheduler({ seed }).timers,
      seed,
      quoteEveryMs,
      beganAt: noon,
      listings: paperListings,
      actions: () => ({ actions, readAt: at }),
    });
  };
  const [call, put] = ["SPY 281215C00650000", "SPY 281215P00500000"];
  const plain = pricesWith();

  it("are priced by the new price and strike, traded in the new terms, and settled by them", () => {
    const [fewer, more]: [[number, number], [number, number]] = [
      [1, 10],
      [10, 1],
    ];
    const split = pricesWith(
      { symbol: "SPY", new_symbol: "SPY", quantity: fewer, price: more },
      { symbol: call, new_symbol: "SPY1 281215C06500000", quantity: [1, 1], price: more },
    );
    const [before, after] = [plain.middle(call, at), split.middle("SPY1 281215C06500000", at)];
    // Ten times as much a share, but for the tick of the one and the other.
    expect(Math.abs(Number(after) / Number(before) - 10)).toBeLessThan(0.01);
    expect(split.quote("SPY1 281215C06500000", at).greeks?.delta).toBeCloseTo(
      plain.quote(call, at).greeks?.delta ?? 0,
      3,
    );
    const listed = new Map(split.listings().map((one) => [one.symbol, one.option]));
    expect(listed.get("SPY1 281215C06500000")).toMatchObject({ underlying: "SPY", strike: "6500", multiplier: "10" });
    expect(split.listings()).toBe(split.listings());
    // One that nobody had when its share was split has no terms that could be priced.
    expect([listed.has(call), listed.has(put), split.listing(put)]).toEqual([false, false, undefined]);
    expect([split.namesNow(call), split.namesNow(put)]).toEqual([["SPY1 281215C06500000"], []]);
  });

  it("keep their price under another root, and one that takes another's name leaves that one its own", () => {
    const renamed = pricesWith(
      { symbol: "SPY", new_symbol: "SPX", quantity: [1, 1], price: [1, 1] },
      { symbol: call, new_symbol: "SPX 281215C00650000", quantity: [1, 1], price: [1, 1] },
    );
    expect(renamed.middle("SPX 281215C00650000", at)).toBe(plain.middle(call, at));
    expect(renamed.listings().find(({ symbol }) => symbol === "SPX 281215C00650000")?.option?.underlying).toBe("SPX");
    // 650 becomes 325, and what was 325, had it been listed, something else: who asked for a listed name hears both that it may mean.
    const chain = pricesWith(
      { symbol: "SPY", new_symbol: "SPY", quantity: [2, 1], price: [1, 2] },
      { symbol: put, new_symbol: "X", quantity: [2, 1], price: [1, 2] },
      { symbol: "SPY 281215P00550000", new_symbol: put, quantity: [2, 1], price: [1, 2] },
    );
    expect(chain.namesNow(put)).toEqual([put, "X"]);
  });

  it("are quoted right after a split as the adjusted quotes of before it, to the last tick and with the adjusted spread", () => {
    for (const [shares, listedPrice] of [
      [5, "2"],
      [80, "31.2"],
      [3, "0.5"],
    ] as const) {
      const listings = paperListings.map((one) => (one.symbol === put ? { ...one, price: listedPrice } : one));
      const terms = { quantity: [shares, 1] as [number, number], price: [1, shares] as [number, number] };
      const legs = ["SPY", put].map((symbol) => ({ symbol, new_symbol: symbol, ...terms }));
      const actions = [{ state: "DONE" as const, symbol: "SPY", legs, appliedAt: noon }];
      const quoted = (known: typeof actions, moment: Instant) =>
        pricesOf({
          clock: { now: () => at },
          timers: scheduler({ seed }).timers,
          seed,
          quoteEveryMs,
          beganAt: noon,
          listings,
          actions: () => ({ actions: known, readAt: at }),
        }).quote(put, moment);
      for (let minute = 0; minute < 60; minute += 5) {
        const moment = plusMilliseconds(noon, minute * 60_000);
        const [before, after] = [quoted([], moment), quoted(actions, moment)];
        for (const side of ["bid", "ask"] as const) {
          const adjusted = Number(before[side]) / shares;
          expect(Math.abs(Number(after[side]) / adjusted - 1), `${shares}:1 ${side}`).toBeLessThan(1e-9);
        }
      }
    }
  });

  it("a dividend is no part of prices from its ex moment on, for whoever read of it, declared or booked", () => {
    const exAt = plusMilliseconds(noon, 1_800_000);
    const dividend = { perShare: "2.5", currency: "USD", exDate: "2026-11-15", exAt };
    const declared = { state: "DECLARED" as const, symbol: "SPY", legs: [], dividend };
    const booked = { ...declared, state: "DONE" as const, appliedAt: exAt };
    for (const one of [declared, booked]) {
      const prices = pricesOf({
        clock: { now: () => at },
        timers: scheduler({ seed }).timers,
        seed,
        quoteEveryMs,
        beganAt: noon,
        listings: paperListings,
        actions: () => ({ actions: [one], readAt: at }),
      });
      const fallen = (moment: Instant) => decimal.subtract(plain.middle("SPY", moment), prices.middle("SPY", moment));
      const last = plusMilliseconds(exAt, -1);
      expect([fallen(noon), fallen(last), fallen(exAt), fallen(at)].map(decimal.format)).toEqual([
        "0",
        "0",
        "2.5",
        "2.5",
      ]);
      expect(prices.listing(call)?.symbol).toBe(call);
    }
  });
});

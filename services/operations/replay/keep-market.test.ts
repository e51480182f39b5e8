// What is heard is written down once, minute by minute, and stays; what cannot be written is an alarm and keeps nobody waiting.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { listeningSymbol, type Quote } from "../../../contracts/src/records/market.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { GatheredBar } from "../../../ports/market-records.ts";
import type { Quotes } from "../../../ports/quotes.ts";
import { exampleQuote } from "../../../testkit/record-examples.ts";
import { type ServiceFixture, serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { type KeptMarket, keepMarket } from "./keep-market.ts";
import { minuteOf, minuteUs } from "./minute-bars.ts";

const seed = 20_261_119;
const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

interface Market {
  readonly fixture: ServiceFixture;
  readonly ports: ServicePorts;
  readonly kept: KeptMarket;
  /** The first whole minute. */
  readonly start: Instant;
  say(bid: string, ask: string, symbol?: string): void;
  /** So many seconds after the beginning of the first whole minute. */
  until(second: number): Promise<void>;
  minutes(symbol: string): Promise<readonly GatheredBar[]>;
}

async function market(wrap: (ports: ServicePorts) => ServicePorts = (ports) => ports): Promise<Market> {
  const fixture = serviceFixture(seed);
  closes.push(fixture.close);
  // It begins in the middle of a minute.
  await fixture.time.timers.sleep(10_500);
  const ports = wrap(fixture.portsOf("operations"));
  const kept = keepMarket(ports, createWorkerAlarms(ports));
  closes.push(() => kept.stop());
  let tell: (quotes: readonly Quote[]) => void = () => undefined;
  const feed: Quotes = {
    name: "puppet",
    subscribe: async (_symbols, hear) => {
      tell = hear;
      return { unknown: [], stop: async () => undefined };
    },
  };
  await kept.tapped(feed).subscribe(["AAPL"], () => undefined);
  const { clock, timers } = fixture.time;
  const start = (minuteOf(clock.now()) + minuteUs) as Instant;
  return {
    fixture,
    ports,
    kept,
    start,
    say: (bid, ask, symbol = "AAPL") => tell([{ ...exampleQuote, symbol, bid, ask, quoted_at: format(clock.now()) }]),
    until: (second) => timers.sleep((plusMilliseconds(start, second * 1_000) - clock.now()) / 1_000),
    minutes: (symbol) =>
      fixture.portsOf("operations").store.transact("replay.look", (unit) =>
        unit.market.gather({
          symbol,
          of: "minute",
          originUs: 0,
          lengthUs: minuteUs,
          from: start,
          to: clock.now(),
          countMax: 100,
        }),
      ),
  };
}

const prices = ({ open, high, low, close, quoteCount }: GatheredBar) => [
  ...[open, high, low, close].map(decimal.format),
  quoteCount,
];

describe(`the kept market, seed ${seed}`, () => {
  it("writes a minute of middles when it is over, and what was before its first whole minute is cut", async () => {
    const { say, until, minutes, fixture, start } = await market();
    say("10", "12");
    await until(1);
    say("20", "22");
    await until(30);
    say("30", "32");
    say("8", "10");
    await until(59);
    expect(await minutes("AAPL")).toEqual([]);
    await until(61);
    expect((await minutes("AAPL")).map(prices)).toEqual([["21", "31", "9", "9", 3]]);
    expect(await minutes("AAPL")).toMatchObject([{ source: "puppet", cut: false }]);
    const before = await fixture.portsOf("operations").store.transact("replay.look", (unit) =>
      unit.market.gather({
        symbol: "AAPL",
        of: "minute",
        originUs: 0,
        lengthUs: minuteUs,
        from: (start - minuteUs) as Instant,
        to: start,
        countMax: 9,
      }),
    );
    expect(before).toMatchObject([{ cut: true, quoteCount: 1 }]);
  });

  it("says of every minute that it listened, also where nothing was quoted", async () => {
    const { until, minutes } = await market();
    await until(181);
    expect(await minutes("AAPL")).toEqual([]);
    expect(await minutes(listeningSymbol)).toHaveLength(3);
  });

  it("takes no crossed, late or unreadable quote, and its own feed before what others say", async () => {
    const { say, until, minutes, kept, fixture } = await market();
    await until(1);
    const outside = (bid: string, symbol: string): void =>
      kept.hearOutside({ symbol, bid, ask: bid, quoted_at: format(fixture.time.clock.now()) }, "their-feed");
    outside("50", "AAPL");
    outside("70", "ETH");
    say("12", "10");
    say("x", "10");
    say("10", "12");
    outside("90", "AAPL");
    await until(61);
    expect((await minutes("AAPL")).map(prices)).toEqual([["11", "11", "11", "11", 1]]);
    expect(await minutes("ETH")).toMatchObject([{ source: "their-feed" }]);
  });

  it("keeps what was heard in the middle of the minute that is going on", async () => {
    const { say, until, kept, start } = await market();
    await until(2);
    say("10", "10");
    await until(15);
    say("20", "20");
    expect(kept.running("AAPL", start)?.slices.map(({ untilSecond, quoteCount }) => [untilSecond, quoteCount])).toEqual(
      [
        [10, 1],
        [20, 1],
      ],
    );
  });

  it("raises BARS_NOT_KEPT once while the store fails, and writes what waited when it works again", async () => {
    let isDown = false;
    const failing = (ports: ServicePorts): ServicePorts => ({
      ...ports,
      store: {
        ...ports.store,
        transact: (name, work, options) =>
          isDown && name === "market.keep"
            ? Promise.reject(new Fault("STORE_UNAVAILABLE", "The store is away.", { retry: "later" }))
            : ports.store.transact(name, work, options),
      },
    });
    const { say, until, minutes, fixture } = await market(failing);
    const reported = () => fixture.reported(subjects.alarmRaised) as readonly { readonly code: string }[];
    await until(1);
    isDown = true;
    say("10", "10");
    await until(150);
    expect(reported().map(({ code }) => code)).toEqual(["BARS_NOT_KEPT"]);
    expect(await minutes("AAPL")).toEqual([]);
    isDown = false;
    await until(200);
    expect((await minutes("AAPL")).map(prices)).toEqual([["10", "10", "10", "10", 1]]);
    isDown = true;
    say("11", "11");
    await until(300);
    expect(reported()).toHaveLength(2);
  });
});

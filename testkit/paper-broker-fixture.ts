// Fixtures that put the paper broker under the broker's suite, on any form of its books: the market is played by hand.

import type { PaperBooks } from "../adapters/paper-broker/paper-books.ts";
import { type PaperBroker, paperBroker } from "../adapters/paper-broker/paper-broker.ts";
import type { PaperInstrument } from "../adapters/paper-broker/paper-instruments.ts";
import { format, type Instant, plusMilliseconds } from "../contracts/src/instant.ts";
import type { PaperWeather } from "../contracts/src/records/fund.ts";
import type { Clock } from "../ports/clock.ts";
import type { Timers } from "../ports/timers.ts";
import type { BrokerFixture } from "./conformance/broker.ts";
import { memoryPaperBooks } from "./memory/memory-books.ts";
import { quietLog } from "./quiet-log.ts";
import { scheduler } from "./virtual/scheduler.ts";

export const fixtureInstruments: readonly PaperInstrument[] = [
  { symbol: "AAPL", assetClass: "EQUITY", currency: "USD", lotSize: "1", calendar: "us-equities" },
  { symbol: "BTC-USD", assetClass: "CRYPTO", currency: "USD", lotSize: "0.00001", calendar: "always-open" },
  {
    symbol: "AAPL-C200",
    assetClass: "OPTION",
    currency: "USD",
    lotSize: "1",
    calendar: "us-equities",
    option: { underlying: "AAPL", right: "CALL", strike: "200", expiry: "2027-11-16" },
  },
];

export interface PaperBrokerFixture extends BrokerFixture {
  readonly broker: PaperBroker;
  readonly books: PaperBooks;
  /** What the broker suffers from now on. */
  suffer(faults: Partial<PaperWeather>): void;
  another(): PaperBroker;
  /** Sets the clock on, where it is a virtual one. */
  step(ms: number): void;
}

let accounts = 0;

export async function paperBrokerFixtureOn(
  books: PaperBooks,
  time: {
    readonly clock: Clock;
    readonly timers: Timers;
    readonly settle?: (ms: number) => Promise<void>;
    readonly stepClock?: (ms: number) => void;
  },
  close: () => Promise<void>,
): Promise<PaperBrokerFixture> {
  let faults: PaperWeather | undefined;
  const suffer = (next: Partial<PaperWeather>) => {
    faults = { set_by: "operator:duty", reason: "tested", at: format(time.clock.now()), ...next };
  };
  const opened: PaperBroker[] = [];
  const another = (): PaperBroker => {
    const broker = paperBroker({
      ...time,
      log: quietLog,
      books,
      faults: () => faults,
      instruments: () => fixtureInstruments,
      sessions: "always",
      latencyMs: 5,
    });
    opened.push(broker);
    return broker;
  };
  const broker = another();
  await broker.begin([]);
  accounts += 1;
  const account = `account-${accounts}`;
  const symbol = "AAPL";
  return {
    broker,
    books,
    account,
    symbol,
    now: () => time.clock.now(),
    suffer,
    another,
    step: (ms) => time.stepClock?.(ms),
    reopen: async () => another(),
    async show(bid, ask, size) {
      await time.timers.sleep(2);
      const quoted_at = format(time.clock.now());
      await broker.match([{ symbol, bid, ask, bid_size: size, ask_size: size, quoted_at }]);
    },
    async silence() {
      suffer({ broker_silent_until: format(plusMilliseconds(time.clock.now(), 600_000) as Instant) });
      return async () => suffer({});
    },
    async close() {
      // What a check leaves behind would trade before the next one's orders.
      const { open } = await books.account(account);
      for (const { clientOrderId } of open) await broker.cancel(clientOrderId);
      for (const each of opened) await each.close();
      await close();
    },
    ...(time.settle !== undefined && { settle: time.settle }),
  };
}

/** In memory and in virtual time. */
export async function memoryPaperBrokerFixture(seed = 1): Promise<PaperBrokerFixture> {
  const time = scheduler({ seed });
  const stop = time.pump();
  return paperBrokerFixtureOn(memoryPaperBooks(), { ...time, settle: (ms) => time.timers.sleep(ms) }, stop);
}

// The paper broker keeps the promises of every broker, suffers the faults it is given, and differs only where it is made to.
import { describe, expect, it } from "vitest";
import { parse } from "../../contracts/src/decimal.ts";
import { format, fromUnixMs, plusMilliseconds } from "../../contracts/src/instant.ts";
import { paperListings } from "../../services/shared/paper-seeds.ts";
import { auditAnewConformance } from "../../testkit/conformance/audit-anew-records.ts";
import { auditStandingConformance } from "../../testkit/conformance/audit-standing-records.ts";
import { botConformance } from "../../testkit/conformance/bot-records.ts";
import { brokerConformance, order } from "../../testkit/conformance/broker.ts";
import { corporateActionConformance } from "../../testkit/conformance/corporate-action-records.ts";
import { filingConformance } from "../../testkit/conformance/filing-records.ts";
import { filingStepConformance } from "../../testkit/conformance/filing-steps.ts";
import { filingSubmissionsConformance } from "../../testkit/conformance/filing-submissions.ts";
import { firstSeenConformance } from "../../testkit/conformance/first-seen-records.ts";
import { foreignConformance } from "../../testkit/conformance/foreign-records.ts";
import { marketConformance } from "../../testkit/conformance/market-records.ts";
import { paperFaultsConformance } from "../../testkit/conformance/paper-faults-records.ts";
import { parkedConformance } from "../../testkit/conformance/parked-records.ts";
import { quoteConformance } from "../../testkit/conformance/quote-records.ts";
import { reportConformance } from "../../testkit/conformance/report-records.ts";
import { reportRunConformance } from "../../testkit/conformance/report-run-records.ts";
import { requestKeyConformance } from "../../testkit/conformance/request-key-records.ts";
import { signalConformance } from "../../testkit/conformance/signal-records.ts";
import { eventually } from "../../testkit/conformance/waiting.ts";
import { watchdogConformance } from "../../testkit/conformance/watchdog-records.ts";
import { memoryPaperBooks } from "../../testkit/memory/memory-books.ts";
import { memoryPaperBrokerFixture, type PaperBrokerFixture } from "../../testkit/paper-broker-fixture.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { memoryStoreFixture } from "../../testkit/virtual/memory-fixture.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { paperMarket } from "../paper-market/paper-market.ts";
import { startPaperMatching } from "./matching.ts";
import { paperBroker } from "./paper-broker.ts";
import { paperInstruments } from "./paper-instruments.ts";

brokerConformance("paper, in memory", () => memoryPaperBrokerFixture());
paperFaultsConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
marketConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
filingStepConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
filingSubmissionsConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
filingConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
corporateActionConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
auditStandingConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
firstSeenConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
foreignConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
parkedConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
auditAnewConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});

watchdogConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
signalConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
quoteConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
reportConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
reportRunConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
botConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});
requestKeyConformance("memory", async () => {
  const { store, close } = await memoryStoreFixture({ seed: 1 });
  return { store, close };
});

const market = { orderType: "MARKET" } as const;

async function withFixture(run: (fixture: PaperBrokerFixture) => Promise<void>): Promise<void> {
  const fixture = await memoryPaperBrokerFixture();
  try {
    await run(fixture);
  } finally {
    await fixture.close();
  }
}

async function quantityOf({ broker, account }: PaperBrokerFixture): Promise<bigint | string> {
  const answer = await broker.positions(account);
  return answer.complete ? (answer.items[0]?.quantity ?? 0n) : answer.why;
}

describe("the paper broker's faults", () => {
  it("in silence about half of what is sent arrives, and no sender hears of it", () =>
    withFixture(async (fixture) => {
      const speak = await fixture.silence();
      for (let n = 0; n < 40; n += 1) await fixture.broker.submit(order(fixture, `s${n}`)).catch(() => undefined);
      await speak();
      const open = await fixture.broker.openOrders(fixture.account);
      const arrived = open.complete ? open.items.length : 0;
      expect(arrived).toBeGreaterThan(8);
      expect(arrived).toBeLessThan(32);
    }));

  it("a resting order trades through the silence, and its report is there afterwards", () =>
    withFixture(async (fixture) => {
      await fixture.broker.submit(order(fixture, "rests"));
      const speak = await fixture.silence();
      await fixture.show("39", "40", "1000");
      await speak();
      expect((await fixture.broker.reports(0, 10)).map(({ status }) => status.state)).toEqual(["WORKING", "FILLED"]);
    }));

  it("a lost report ends an answer, and is there when it is asked for again; the others come in their turn", () =>
    withFixture(async (fixture) => {
      for (let n = 0; n < 20; n += 1) await fixture.broker.submit(order(fixture, `l${n}`));
      fixture.suffer({ report_loss_pct: 0.3 });
      const cursors: number[] = [];
      let asked = 0;
      while (cursors.length < 20) {
        cursors.push(...(await fixture.broker.reports(cursors.length, 20)).map(({ cursor }) => cursor));
        asked += 1;
        expect(asked).toBeLessThan(25);
      }
      expect(cursors).toEqual(Array.from({ length: 20 }, (_unused, n) => n + 1));
      expect(asked).toBeGreaterThan(2);
    }));

  it("a repeated report stands twice in an answer, never beyond what was asked for", () =>
    withFixture(async (fixture) => {
      for (let n = 0; n < 4; n += 1) await fixture.broker.submit(order(fixture, `r${n}`));
      fixture.suffer({ report_repeat_pct: 1 });
      expect((await fixture.broker.reports(0, 100)).map(({ cursor }) => cursor)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
      expect((await fixture.broker.reports(0, 3)).map(({ cursor }) => cursor)).toEqual([1, 1, 2]);
    }));
});

describe("a paper broker that is made to differ", () => {
  it("books a trade that nobody asked for, without a report", () =>
    withFixture(async (fixture) => {
      const [quantity, price] = [parse("-30"), parse("40")];
      await fixture.broker.disturb({
        kind: "OFF_SYSTEM_TRADE",
        account: fixture.account,
        symbol: fixture.symbol,
        quantity,
        price,
      });
      expect(await quantityOf(fixture)).toBe(quantity);
      expect(await fixture.broker.reports(0, 10)).toEqual([]);
    }));

  it("hides a fill: the order and the position know it, the reports never do", () =>
    withFixture(async (fixture) => {
      await fixture.broker.disturb({ kind: "HIDE_FILLS", count: 1 });
      await fixture.broker.submit(order(fixture, "hidden", market));
      await fixture.show("39", "40", "1000");
      expect(await fixture.broker.order(`${fixture.account}-hidden`)).toMatchObject({ state: "FILLED" });
      expect(await quantityOf(fixture)).toBe(parse("100"));
      expect((await fixture.broker.reports(0, 10)).map(({ status }) => status.state)).toEqual(["WORKING"]);
      await fixture.broker.submit(order(fixture, "reported", market));
      await fixture.show("39", "40", "1000");
      expect((await fixture.broker.reports(1, 10)).map(({ status }) => status.state)).toEqual(["WORKING", "FILLED"]);
    }));

  it("lags behind with an account's positions for a while, and answers in part", () =>
    withFixture(async (fixture) => {
      const until = plusMilliseconds(fixture.now(), 5_000);
      await fixture.broker.disturb({ kind: "POSITION_LAG", account: fixture.account, until });
      await fixture.broker.submit(order(fixture, "late", market));
      await fixture.show("39", "40", "1000");
      expect(await quantityOf(fixture)).toBe(0n);
      await fixture.settle?.(6_000);
      expect(await quantityOf(fixture)).toBe(parse("100"));
      await fixture.broker.disturb({ kind: "INCOMPLETE", until: plusMilliseconds(fixture.now(), 1_000) });
      expect(await quantityOf(fixture)).toMatch(/in part/);
    }));

  it("has not begun until somebody puts the first positions in, and does so once", async () => {
    const time = scheduler({ seed: 1 });
    const stop = time.pump();
    const broker = paperBroker({
      ...time,
      log: quietLog,
      books: memoryPaperBooks(),
      faults: () => undefined,
      instruments: () => paperListings,
      sessions: "always",
      latencyMs: 0,
    });
    expect(await broker.positions("alpha")).toMatchObject({ complete: false });
    const first = { account: "alpha", symbol: "AAPL", quantity: parse("1000"), averagePrice: parse("232.5") };
    expect(await broker.begin([first])).toBe(true);
    expect(await broker.begin([])).toBe(false);
    expect(await broker.positions("alpha")).toMatchObject({ complete: true, items: [{ symbol: "AAPL" }] });
    await stop();
  });
});

it("an order is with the broker after its latency and no earlier: a quote before that does not trade it", async () => {
  const time = scheduler({ seed: 5 });
  const stop = time.pump();
  const broker = paperBroker({
    ...time,
    log: quietLog,
    books: memoryPaperBooks(),
    faults: () => undefined,
    instruments: () => paperListings,
    sessions: "always",
    latencyMs: 50,
  });
  await broker.begin([]);
  const fixture = { broker, account: "alpha", symbol: "AAPL" } as unknown as PaperBrokerFixture;
  const show = () => {
    const sizes = { bid_size: "1000", ask_size: "1000" };
    return broker.match([{ symbol: "AAPL", bid: "10", ask: "11", ...sizes, quoted_at: format(time.clock.now()) }]);
  };
  const sent = broker.submit(order(fixture, "late", { limitPrice: parse("100") }));
  await time.timers.sleep(49);
  expect(await show()).toBe(0);
  expect(await broker.order("alpha-late")).toBeUndefined();
  expect((await sent).state).toBe("WORKING");
  expect(await show()).toBeGreaterThan(0);
  expect((await broker.order("alpha-late"))?.state).toBe("FILLED");
  await stop();
});

it("the hall lets orders trade on the market's own quotes, ends days, and begins again after trouble", async () => {
  const time = scheduler({ seed: 3, startAt: fromUnixMs(Date.UTC(2026, 10, 15, 23, 59, 50)) });
  const stop = time.pump();
  const books = memoryPaperBooks();
  let isBroken = false;
  const broker = paperBroker({
    ...time,
    log: quietLog,
    books: { ...books, waiting: async (at) => (isBroken ? Promise.reject(new Error("no books")) : books.waiting(at)) },
    faults: () => undefined,
    instruments: () => paperListings,
    sessions: "always",
    latencyMs: 20,
  });
  await broker.begin([]);
  const matching = await startPaperMatching({
    ...time,
    broker,
    quotes: paperMarket({ ...time, seed: 1, quoteEveryMs: 500, listings: paperListings, beganAt: time.clock.now() }),
    symbols: paperListings.map(({ symbol }) => symbol),
    log: quietLog,
    crash: {
      die: (defect) => {
        throw defect;
      },
    },
  });
  const fixture = { broker, account: "alpha", symbol: "AAPL" } as unknown as PaperBrokerFixture;
  const patience = { settle: (ms: number) => time.timers.sleep(ms) };
  const stateOf = async (id: string) => (await broker.order(`alpha-${id}`))?.state;
  await broker.submit(order(fixture, "now", market));
  await broker.submit(order(fixture, "day", { tif: "DAY", limitPrice: parse("1") }));
  await eventually(patience, "a market order to trade", async () => (await stateOf("now")) === "FILLED");
  isBroken = true;
  await broker.submit(order(fixture, "later", market));
  await time.timers.sleep(3_000);
  expect(await stateOf("later")).toBe("WORKING");
  isBroken = false;
  await eventually(patience, "trading after trouble", async () => (await stateOf("later")) === "FILLED");
  await eventually(patience, "the day's end", async () => (await stateOf("day")) === "EXPIRED");
  expect(format(time.clock.now()) >= "2026-11-16").toBe(true);
  await matching.stop();
  await broker.close();
  await stop();
});

it("a day ends at the close where there are sessions, else at midnight", () => {
  const monday = fromUnixMs(Date.UTC(2026, 10, 16, 15));
  const instruments = [
    { symbol: "AAPL", assetClass: "EQUITY", currency: "USD", lotSize: "1", calendar: "us-equities" },
  ] as const;
  expect(format(paperInstruments(instruments, "real").dayEnd("AAPL", monday))).toBe("2026-11-16T21:00:00.000000Z");
  expect(format(paperInstruments(instruments, "always").dayEnd("AAPL", monday))).toBe("2026-11-17T00:00:00.000000Z");
});

describe("23.8: options that end at the paper broker", () => {
  const quoteOf = (fixture: PaperBrokerFixture, bid: string, ask: string, symbol = "AAPL") => ({
    symbol,
    bid,
    ask,
    bid_size: "100",
    ask_size: "100",
    quoted_at: format(fixture.now()),
  });

  it("are settled once, at the first price after their end; what rests ends, and nothing is traded any more", () =>
    withFixture(async (fixture) => {
      const option = "AAPL-C200";
      const { account, broker } = fixture;
      const trade = { kind: "OFF_SYSTEM_TRADE", account, symbol: option, price: parse("5") } as const;
      await broker.disturb({ ...trade, quantity: parse("-3") });
      const resting = { ...order(fixture, "resting"), symbol: option, tif: "GTC", limitPrice: parse("1") } as const;
      expect((await broker.submit(resting)).state).toBe("WORKING");
      await broker.match([quoteOf(fixture, "219", "221")]);
      expect(await broker.settlement?.(option)).toBeUndefined();
      fixture.step(2 * 365 * 86_400_000);
      await broker.match([quoteOf(fixture, "5", "6", option)]);
      expect(await broker.settlement?.(option)).toBeUndefined();
      await broker.match([quoteOf(fixture, "219", "221")]);
      const settlement = await broker.settlement?.(option);
      expect(settlement).toMatchObject({ price: parse("220") });
      expect(await broker.order(resting.clientOrderId)).toMatchObject({ state: "EXPIRED" });
      expect(await broker.reports((settlement?.cursor ?? 0) - 1, 1)).toMatchObject([{ status: { state: "EXPIRED" } }]);
      const shown = async () => {
        const answer = await broker.positions(account);
        return answer.complete ? answer.items.map(({ symbol, quantity }) => [symbol, quantity]) : answer.why;
      };
      expect(await shown()).toEqual([["AAPL", parse("-300")]]);
      // Another process, another price: it is settled already.
      const next = fixture.another();
      await next.match([quoteOf(fixture, "99", "101")]);
      expect(await next.settlement?.(option)).toEqual(settlement);
      expect(await shown()).toEqual([["AAPL", parse("-300")]]);
      expect((await next.submit({ ...resting, clientOrderId: "late" })).state).toBe("REJECTED");
    }));
});

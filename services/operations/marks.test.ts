// The feed of marks: fresh marks of every instrument soon after the start, nothing made of bad quotes, and an alarm when the market
// falls silent.
import { afterEach, describe, expect, it } from "vitest";
import { format, millisecondsBetween, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Mark, Quote } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Quotes } from "../../ports/quotes.ts";
import { exampleQuote } from "../../testkit/record-examples.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { paperListings, paperReference } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";
import { markOf, startMarks } from "./marks.ts";

const seed = 20_261_115;
const closes: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

const instrument = {
  name: "n",
  asset_class: "EQUITY",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "1",
  sector: "s",
  calendar: "always-open",
};

async function list(
  fixture: ServiceFixture,
  version: number,
  symbols: readonly string[],
  venue?: string,
): Promise<void> {
  const seeded = paperReference("").instruments.filter(({ asset_class }) => asset_class === "OPTION");
  const content = symbols.map(
    (symbol) =>
      seeded.find((option) => option.symbol === symbol) ?? {
        ...instrument,
        symbol,
        ...(venue !== undefined && { venue }),
      },
  );
  const setAt = fixture.time.clock.now();
  await fixture
    .portsOf("treasury")
    .store.transact("list", (unit) =>
      unit.reference.put({ kind: "instruments", version, content, setBy: "t", setAt, reason: "r", hash: "0" }),
    );
}

/** A fixture with a running feed and everything that treasury would hear of it. */
async function feed(differs: Partial<ServicePorts> = {}) {
  const fixture = serviceFixture(seed);
  closes.push(fixture.close);
  const heard: Mark[] = [];
  const ports = fixture.portsOf("treasury");
  await ports.bus.listen(
    { subjects: [subjects.marketMarks.name], queueMax: 1_000, overflow: "keep-newest-per-key" },
    async ({ payload }) => void heard.push(payload as Mark),
  );
  const running = startMarks(fixture.portsOf("operations", differs));
  closes.push(() => running.stop());
  return { fixture, heard, running };
}

/** A market that says what it is told to. */
function puppet() {
  const ears = new Set<(quotes: readonly Quote[]) => void>();
  const asked: (readonly string[])[] = [];
  const quotes: Quotes = {
    name: "puppet",
    subscribe: async (symbols, hear) => {
      asked.push(symbols);
      ears.add(hear);
      return { unknown: symbols.filter((symbol) => symbol === "NOPE"), stop: async () => void ears.delete(hear) };
    },
  };
  const say = (...said: Quote[]): void => {
    for (const hear of ears) hear(said);
  };
  return { quotes, asked, ears, say };
}

describe(`the feed of marks, seed ${seed}`, () => {
  it("has a fresh mark of every instrument within 2 s of its being listed, and keeps them fresh", async () => {
    const { fixture, heard } = await feed();
    const symbols = paperListings.map(({ symbol }) => symbol);
    await fixture.time.timers.sleep(5_000);
    expect(heard).toEqual([]);
    await list(fixture, 1, symbols);
    await fixture.time.timers.sleep(2_000);
    expect(new Set(heard.map(({ symbol }) => symbol))).toEqual(new Set(symbols));
    await fixture.time.timers.sleep(10_000);
    for (const symbol of symbols) {
      const newest = heard.findLast((mark) => mark.symbol === symbol);
      expect(newest).toMatchObject({ source: "paper" });
      expect(millisecondsBetween(parse(newest?.at ?? ""), fixture.time.clock.now())).toBeLessThan(2_000);
    }
    const perSymbol = heard.length / symbols.length;
    expect(perSymbol).toBeGreaterThan(18);
    expect(perSymbol).toBeLessThanOrEqual(25);
  });

  it.each([
    ["everywhere", { feed: "off" as const }],
    ["at its venue", { feedByVenue: { XNAS: "off" as const } }],
  ])("32.2: quotes nothing that is switched off %s, and does not call that silence", async (_where, switched) => {
    const market = { ...testSettings.market, ...switched };
    const { fixture, heard } = await feed({ settings: { ...testSettings, market } });
    await list(fixture, 1, ["AAPL", "MSFT"], "XNAS");
    await fixture.time.timers.sleep(30_000);
    expect(heard).toEqual([]);
    expect(fixture.reported(subjects.alarmRaised)).toEqual([]);
  });

  it("23.8: tells the delta of every option with its mark, and of nothing else", async () => {
    const { fixture, heard } = await feed();
    await list(
      fixture,
      1,
      paperListings.map(({ symbol }) => symbol),
    );
    await fixture.time.timers.sleep(3_000);
    for (const { symbol, option } of paperListings) {
      const newest = heard.findLast((mark) => mark.symbol === symbol);
      expect(newest?.option_risk === undefined, symbol).toBe(option === undefined);
      if (newest?.option_risk === undefined) continue;
      const delta = Number(newest.option_risk.delta) * (option?.right === "CALL" ? 1 : -1);
      expect(delta).toBeGreaterThan(0);
      expect(delta).toBeLessThan(1);
      expect(newest.option_risk.at <= newest.at).toBe(true);
    }
  });

  it("asks again when the instruments change, and only then", async () => {
    const market = puppet();
    const { fixture } = await feed({ quotes: market.quotes });
    await list(fixture, 1, ["AAPL", "XOM"]);
    await fixture.time.timers.sleep(1_000);
    await list(fixture, 2, ["XOM", "AAPL"]);
    await fixture.time.timers.sleep(1_000);
    await list(fixture, 3, ["XOM", "SPY"]);
    await fixture.time.timers.sleep(1_000);
    expect(market.asked.map((symbols) => symbols.join())).toEqual(["", "AAPL,XOM", "XOM,SPY"]);
    expect(market.ears.size).toBe(1);
  });

  it("takes the newest of several quotes, never an older one, none that is crossed and none that nobody asked for", async () => {
    const market = puppet();
    const { fixture, heard } = await feed({ quotes: market.quotes });
    await list(fixture, 1, ["AAPL", "XOM"]);
    await fixture.time.timers.sleep(3_000);
    const quote = (symbol: string, bid: string, ask: string, second: number): Quote => ({
      symbol,
      bid,
      ask,
      quoted_at: `2026-01-02T00:00:0${second}.000000Z`,
    });
    market.say(quote("AAPL", "1", "2", 3), quote("AAPL", "3", "4", 5), quote("AAPL", "9", "9", 4));
    market.say(quote("XOM", "2", "1", 5), quote("SPY", "1", "1", 5));
    market.say(quote("AAPL", "4", "4", 6));
    market.say(quote("AAPL", "5", "5", 7));
    await fixture.time.timers.sleep(1_000);
    expect(heard).toEqual([
      { symbol: "AAPL", price: "3.5", bid: "3", ask: "4", source: "puppet", at: "2026-01-02T00:00:05.000000Z" },
      { symbol: "AAPL", price: "5", bid: "5", ask: "5", source: "puppet", at: "2026-01-02T00:00:07.000000Z" },
    ]);
  });

  it("23.10: a quote from the future is refused and alarmed, and freezes nothing", async () => {
    const market = puppet();
    const { fixture, heard } = await feed({ quotes: market.quotes });
    await list(fixture, 1, ["AAPL", "XOM"]);
    await fixture.time.timers.sleep(1_000);
    const say = async (aheadMs: number, price: string) => {
      const quoted_at = format(plusMilliseconds(fixture.time.clock.now(), aheadMs));
      market.say({ symbol: "AAPL", bid: price, ask: price, quoted_at });
      await fixture.time.timers.sleep(1_000);
    };
    await say(0, "1");
    for (const aheadMs of [5_001, 60_000, 366 * 86_400_000]) await say(aheadMs, "9");
    await say(0, "2");
    await say(5_000, "3");
    expect(heard.map(({ price }) => price)).toEqual(["1", "2", "3"]);
    const reported = () => fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "INPUT_DATED_AHEAD");
    expect(reported()).toMatchObject([{ facts: { about: "quotes puppet", symbol: "AAPL" } }]);
    // Reported again only after a minute of honest ones.
    await fixture.time.timers.sleep(62_000);
    await say(6_000, "9");
    expect(reported()).toHaveLength(2);
  });

  it("23.10: after the clock was set back the market goes on, and somebody is notified", async () => {
    const { fixture, heard } = await feed();
    await list(fixture, 1, ["AAPL"]);
    await fixture.time.timers.sleep(3_000);
    fixture.time.stepClock(-3_600_000);
    const before = heard.length;
    await fixture.time.timers.sleep(3_000);
    expect(heard.length).toBeGreaterThan(before + 3);
    const newest = heard.at(-1)?.at ?? "";
    expect(Math.abs(millisecondsBetween(parse(newest), fixture.time.clock.now()))).toBeLessThan(2_000);
    const stepped = fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "CLOCK_STEPPED");
    expect(stepped).toMatchObject([{ service: "operations", facts: { step_ms: expect.any(Number) } }]);
  });

  it("alarms once when the market is silent for 10 s, and again after it spoke in between", async () => {
    const market = puppet();
    const { fixture } = await feed({ quotes: market.quotes });
    await list(fixture, 1, ["AAPL", "NOPE"]);
    const reported = () => fixture.reported(subjects.alarmRaised);
    await fixture.time.timers.sleep(9_000);
    expect(reported()).toEqual([]);
    await fixture.time.timers.sleep(60_000);
    expect(reported()).toMatchObject([{ code: "QUOTES_SILENT", level: "warning", service: "operations" }]);
    market.say({ symbol: "AAPL", bid: "1", ask: "1", quoted_at: format(fixture.time.clock.now()) });
    await fixture.time.timers.sleep(5_000);
    expect(reported()).toHaveLength(1);
    await fixture.time.timers.sleep(30_000);
    expect(reported()).toHaveLength(2);
  });

  it("expects nothing of a market that knows none of its symbols", async () => {
    const market = puppet();
    const { fixture } = await feed({ quotes: market.quotes });
    await list(fixture, 1, ["NOPE"]);
    await fixture.time.timers.sleep(60_000);
    expect(fixture.reported(subjects.alarmRaised)).toEqual([]);
  });

  it("says nothing after its stop", async () => {
    const { fixture, heard, running } = await feed();
    await list(fixture, 1, ["AAPL"]);
    await fixture.time.timers.sleep(2_000);
    await running.stop();
    await fixture.time.timers.sleep(100);
    const before = heard.length;
    expect(before).toBeGreaterThan(0);
    await fixture.time.timers.sleep(5_000);
    expect(heard).toHaveLength(before);
  });
});

describe("a mark", () => {
  const price = (differs: Partial<Quote>) => markOf({ ...exampleQuote, bid: "10", ask: "11", ...differs }, "s")?.price;

  it("is the last trade between bid and ask, else the middle", () => {
    expect(price({ last: "10.2" })).toBe("10.2");
    expect(price({ last: "11.01" })).toBe("10.5");
    expect(price({})).toBe("10.5");
    expect(price({ bid: "11" })).toBe("11");
  });

  it("is not made of a crossed quote or of what is no number", () => {
    expect(price({ bid: "11.01" })).toBeUndefined();
    expect(price({ ask: "NaN" })).toBeUndefined();
  });
});

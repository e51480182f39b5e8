// Whose prices count, on the whole shell: another's moves nothing and is told, and a source that takes over is an alarm.
import { expect, it } from "vitest";
import type { Blocks } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";
import { testSettings } from "../../../testkit/virtual/memory-platform.ts";
import { followPriceSources } from "../../shared/price-sources.ts";

let seed = 45_400;

/** AAPL names a list of its own, MSFT stands at a venue that does. */
const named = (seeded: ReferenceContents): ReferenceContents => ({
  ...seeded,
  venues: [{ venue: "XNAS", priced_by: ["fixture"] }],
  instruments: seeded.instruments.map((one) => {
    if (one.symbol === "AAPL") return { ...one, priced_by: ["fixture", "second"] };
    return one.symbol === "MSFT" ? { ...one, venue: "XNAS" } : one;
  }),
});

async function begin(settings = {}): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed, reference: named, settings });
  return [fixture, await fixture.start()];
}

async function price(fixture: RiskEngineFixture, source: string, symbol: string, text: string): Promise<void> {
  fixture.outside.bus.broadcast(subjects.marketMarks, {
    symbol,
    price: text,
    source,
    at: format(fixture.time.clock.now()),
  });
  await fixture.pass(200);
}

/** The price that an order is decided on, with who said it. */
async function decidedOn(fixture: RiskEngineFixture, life: EngineLife, symbol: string, limit: string) {
  const order = { symbol, order_type: "LIMIT", limit_price: limit, quantity: "1", dry_run: true };
  const { checks } = await fixture.finish(life.check(order));
  const inputs = checks.flatMap((check) => check.figures);
  const of = (name: string) => inputs.find((figure) => figure.name === name)?.value;
  return [of("price_source"), of("price")];
}

const alarmsOf = (fixture: RiskEngineFixture, wanted: string): readonly string[] =>
  fixture.published(subjects.alarmRaised).flatMap(({ code, sentence }) => (code === wanted ? [sentence] : []));

it("another's price moves nothing, of an instrument that names its sources, of its venue's, and of one that nobody names", async () => {
  const [fixture, life] = await begin();
  for (const [symbol, limit] of [
    ["AAPL", "232.5"],
    ["MSFT", "428"],
    ["SPY", "592.4"],
  ] as const) {
    const before = await decidedOn(fixture, life, symbol, limit);
    await price(fixture, "stranger", symbol, "1");
    expect(await decidedOn(fixture, life, symbol, limit)).toEqual(before);
    expect(before[0]).toBe("fixture");
  }
  await fixture.pass(1_000);
  expect(alarmsOf(fixture, "EVENT_REFUSED")).toEqual([
    expect.stringMatching(
      /^stranger published 1 event of prices \(AAPL\): EVENT_PRICE_NOT_YOURS. .*from fixture, then second/,
    ),
  ]);
  const { blocks } = (await fixture.finish(life.call("ListBlocks", {}))) as Blocks;
  expect(blocks.filter(({ symbol }) => symbol === "AAPL" || symbol === undefined)).toEqual([]);
  await fixture.finish(life.service.stop());
});

it("where nobody is named a restart changes nobody's turn: a stranger who speaks first prices nothing, and every service says so", async () => {
  const [fixture, first] = await begin();
  await price(fixture, "fixture", "SPY", "592.4");
  await fixture.pass(2_000);
  const kept = () => [...fixture.tables.foreign.priceTurns.values()].filter(({ symbol }) => symbol === "SPY");
  expect(kept()).toMatchObject([{ first: "fixture" }]);
  const [{ changed } = { changed: 0 }] = kept();
  for (let times = 0; times < 5; times += 1) await price(fixture, "fixture", "SPY", "592.5");
  await fixture.pass(2_000);
  expect(kept()).toMatchObject([{ changed }]);
  first.process.kill();
  const second = await fixture.start();
  const before = await decidedOn(fixture, second, "SPY", "592.4");
  await price(fixture, "stranger", "SPY", "590");
  expect(await decidedOn(fixture, second, "SPY", "592.4")).toEqual(before);
  await price(fixture, "fixture", "SPY", "592.6");
  expect(await decidedOn(fixture, second, "SPY", "592.4")).toEqual(["fixture", "592.6"]);
  const { clock } = fixture.time;
  const { store, referenceData } = fixture.platform.processOf("treasury");
  const ports = { store, referenceData, clock, log: quietLog, settings: testSettings };
  const sources = await fixture.finish(followPriceSources(ports));
  await fixture.finish(sources.look({ symbol: "SPY", source: "fixture", price: "592.6", at: format(clock.now()) }));
  const of = (source: string) => sources.ask({ symbol: "SPY", source, at: format(clock.now()) }, clock.now()).kind;
  expect([of("stranger"), of("fixture")]).toEqual(["NOT_YOURS", "COUNTS"]);
  await fixture.finish(second.service.stop());
});

it("a source that waits takes over when the first has been stale for a minute, with an alarm, and gives way when it is back", async () => {
  const [fixture, life] = await begin({ markAgeMsMax: 10_000 });
  await price(fixture, "second", "AAPL", "233");
  expect((await decidedOn(fixture, life, "AAPL", "232.5"))[0]).toBe("fixture");
  await fixture.pass(71_000);
  await price(fixture, "second", "AAPL", "233");
  expect((await decidedOn(fixture, life, "AAPL", "232.5"))[0]).toBe("second");
  await fixture.pass(1_000);
  expect(alarmsOf(fixture, "PRICE_SOURCE_REPLACED")).toEqual([
    expect.stringMatching(/^fixture has been silent .*prices of second count/),
  ]);
  await price(fixture, "fixture", "AAPL", "234");
  await price(fixture, "second", "AAPL", "235");
  expect((await decidedOn(fixture, life, "AAPL", "232.5"))[0]).toBe("fixture");
  expect(alarmsOf(fixture, "EVENT_REFUSED")).toEqual([]);
  await fixture.finish(life.service.stop());
});

it("a source whose instrument is gone is replaced in nothing, and the next time it is told anew", async () => {
  const [fixture, life] = await begin({ markAgeMsMax: 10_000 });
  const { store, referenceData } = fixture.platform.processOf("treasury");
  const { instruments } = await fixture.finish(referenceData.read());
  const setAt = fixture.time.clock.now();
  const set = async (version: number, content: readonly object[]): Promise<void> => {
    const next = { kind: "instruments", version, content, setBy: "x", setAt, reason: "", hash: "" } as const;
    await fixture.finish(store.transact("reference", (unit) => unit.reference.put(next)));
    await fixture.pass(15_000);
  };
  const takeOver = async (): Promise<number> => {
    await fixture.pass(71_000);
    await price(fixture, "second", "AAPL", "233");
    await fixture.pass(1_000);
    return alarmsOf(fixture, "PRICE_SOURCE_REPLACED").length;
  };
  await price(fixture, "fixture", "AAPL", "232");
  expect(await takeOver()).toBe(1);
  expect(await takeOver()).toBe(1);
  await set(
    2,
    instruments.filter(({ symbol }) => symbol !== "AAPL"),
  );
  await set(3, instruments);
  expect(await takeOver()).toBe(2);
  await fixture.finish(life.service.stop());
});

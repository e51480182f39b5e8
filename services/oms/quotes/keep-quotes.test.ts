// What the market quoted at the moments of an order, in virtual time: kept with it, owed over a kill, missing where nothing was heard.
import { afterEach, expect, it } from "vitest";
import type { Instant } from "../../../contracts/src/instant.ts";
import {
  format,
  millisecondsBetween,
  minusMilliseconds,
  parse,
  plusMilliseconds,
} from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { KeptQuote } from "../../../ports/quote-records.ts";
import { type OmsFixture, omsFixture, orderOf } from "../../../testkit/oms-fixture.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";
import { createHeardQuotes } from "./heard-quotes.ts";

const seed = 20_261_118;
const fixtures: OmsFixture[] = [];
let undo: () => void = () => undefined;

async function fixtureOf(): Promise<OmsFixture> {
  undo = ignoreEndedIncarnations();
  const fixture = await omsFixture({ seed });
  fixtures.push(fixture);
  return fixture;
}

afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
  undo();
});

const quotesOf = async (fixture: OmsFixture, ...ids: string[]) =>
  Object.fromEntries(
    (await fixture.outside.transact("look", (unit) => unit.quotes.quotesOf(ids))).map((one) => [one.moment, one]),
  ) as Partial<Record<KeptQuote["moment"], KeptQuote>>;

/** Takes an order of ten to the broker and fills it; gives the moment of the fill. */
async function filled(fixture: OmsFixture): Promise<Instant> {
  const oms = await fixture.start();
  await heardBy(fixture, "100", "100.2");
  await oms.call("SubmitOrder", orderOf("o-1"));
  fixture.broker.trade("o-1", "10", "100.2");
  await fixture.until("it is filled", async () => (await fixture.order("o-1"))?.state === "FILLED");
  return parse(fixture.reported(subjects.fillsCreated)[0]?.filled_at ?? "");
}

/** Marks are heard a moment after they are sent. */
async function heardBy(fixture: OmsFixture, bid: string, ask: string): Promise<void> {
  fixture.mark("AAPL", bid, { bid, ask });
  await fixture.time.timers.sleep(100);
}

const nothingIsOwed = (fixture: OmsFixture) => (): boolean => fixture.tables.quotes.due.size === 0;

it("keeps the quote at creation, at sending and at the fill, and shows them with the order", async () => {
  const fixture = await fixtureOf();
  const at = await filled(fixture);
  const kept = await quotesOf(fixture, "o-1", "paper:e-1");
  expect(kept.CREATED).toMatchObject({ fundId: "alpha", symbol: "AAPL", quote: { bid: "100", ask: "100.2" } });
  expect(kept.ROUTED?.quote).toEqual(kept.CREATED?.quote);
  expect(kept.FILLED).toMatchObject({ wantedAt: at, quote: { bid: "100", ask: "100.2" } });
  expect(kept.AFTER_300S).toBeUndefined();
  const again = await fixture.start();
  const status = await again.call<{ quotes?: object }>("GetOrder", { order_id: "o-1" });
  expect(status.quotes).toMatchObject({ created: { bid: "100", ask: "100.2" }, routed: { bid: "100" } });
});

it("keeps the quote in force 300 seconds after the fill, also when it was killed in between", async () => {
  const fixture = await fixtureOf();
  const at = await filled(fixture);
  await fixture.time.timers.sleep(290_000);
  for (const life of fixture.lives) life.kill();
  await fixture.time.timers.sleep(8_000);
  await fixture.start();
  await heardBy(fixture, "101", "101.4");
  await fixture.until("nothing is owed", nothingIsOwed(fixture), 60_000);
  const { AFTER_300S: later } = await quotesOf(fixture, "paper:e-1");
  expect(later).toMatchObject({ wantedAt: plusMilliseconds(at, 300_000), quote: { bid: "101", ask: "101.4" } });
});

it("keeps a quote after the fill as missing when none was heard near its moment, and never a later one", async () => {
  const fixture = await fixtureOf();
  const due = plusMilliseconds(await filled(fixture), 300_000);
  const sleepUntil = (at: Instant) => fixture.time.timers.sleep(millisecondsBetween(fixture.time.clock.now(), at));
  await sleepUntil(plusMilliseconds(due, 9_500));
  expect(await quotesOf(fixture, "paper:e-1")).not.toHaveProperty("AFTER_300S");
  await sleepUntil(plusMilliseconds(due, 10_001));
  await heardBy(fixture, "150", "151");
  await fixture.until("nothing is owed", nothingIsOwed(fixture), 60_000);
  const { AFTER_300S: later } = await quotesOf(fixture, "paper:e-1");
  expect(later).toMatchObject({ moment: "AFTER_300S" });
  expect(later?.quote).toBeUndefined();
});

it("knows no quote of an order that came before the market, and none that is too old", async () => {
  const fixture = await fixtureOf();
  const oms = await fixture.start();
  await oms.call("SubmitOrder", orderOf("early"));
  await heardBy(fixture, "100", "100.2");
  await fixture.time.timers.sleep(60_000);
  await oms.call("SubmitOrder", orderOf("late"));
  for (const id of ["early", "late"]) {
    const kept = await quotesOf(fixture, id);
    expect([id, kept.CREATED?.quote, kept.ROUTED?.quote]).toEqual([id, undefined, undefined]);
    expect(kept.ROUTED).toBeDefined();
  }
});

it("hears quotes in the order of their dates, tells the one of a moment that has passed, and begins anew when the clock was set back", () => {
  const heard = createHeardQuotes();
  const now = parse("2026-11-18T10:00:00Z");
  const markOf = (at: Instant, bid: string) => ({
    symbol: "X",
    price: bid,
    bid,
    ask: bid,
    source: "t",
    at: format(at),
  });
  for (const second of [3, 2, 1, 0]) {
    const at = minusMilliseconds(now, second * 1_000);
    heard.hear(markOf(at, String(100 - second)), now);
  }
  heard.hear(markOf(minusMilliseconds(now, 2_500), "1"), now);
  expect(heard.inForce("X", minusMilliseconds(now, 1_500), 1_000)?.bid).toBe("98");
  expect(heard.inForce("X", minusMilliseconds(now, 3_500), 1_000)).toBeUndefined();
  expect(heard.inForce("X", plusMilliseconds(now, 1_001), 1_000)).toBeUndefined();
  expect(heard.next("X", minusMilliseconds(now, 1_500), 1_000)?.bid).toBe("99");
  expect(heard.next("X", now, 1_000)).toBeUndefined();
  const back = minusMilliseconds(now, 3_600_000);
  heard.hear(markOf(back, "50"), back);
  expect(heard.inForce("X", now, 10_000)).toBeUndefined();
  expect(heard.inForce("X", back, 0)?.bid).toBe("50");
});

// Options that end, in order management's books: warned of, settled once by the broker's word, also when it dies in between.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { endOfDate } from "../../core/options/option-expiry.ts";
import { omsFixture } from "../../testkit/oms-fixture.ts";
import { paperReference } from "../shared/paper-seeds.ts";

const dayMs = 86_400_000;
const symbol = "SPY 281215C00650000";
const closes: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

/** The call ends so many days from now; the fund is short three of them, in two strategies' names. */
async function fixtureOf(days: number, held: Readonly<Record<string, string>> = { "gamma-income": "-3" }) {
  const fixture = await omsFixture({ seed: 23 });
  closes.push(fixture.close);
  const now = fixture.time.clock.now();
  const expiry = format(plusMilliseconds(now, days * dayMs)).slice(0, 10);
  const before = paperReference(format(now));
  const instruments = before.instruments.map((one) => (one.symbol === symbol ? { ...one, expiry } : one));
  const funds = before.funds.map((one) =>
    one.fund_id === "gamma" ? { ...one, strategies: [...one.strategies, "other"] } : one,
  );
  const set = { version: 2, setBy: "x", setAt: now, reason: "", hash: "" };
  await fixture.outside.transact("reference", async (unit) => {
    await unit.reference.put({ ...set, kind: "instruments", content: instruments });
    await unit.reference.put({ ...set, kind: "funds", content: funds });
  });
  const settled = { price: decimal.parse("670"), at: endOfDate(expiry) as Instant, cursor: 0 };
  const said: { settlement: typeof settled | undefined } = { settlement: undefined };
  fixture.broker.settlement = async () => said.settlement;
  const oms = await fixture.start();
  for (const [strategy_id, to_quantity] of Object.entries(held)) {
    await oms.call("AdjustPosition", {
      adjustment_id: `first-${strategy_id}`,
      fund_id: "gamma",
      strategy_id,
      symbol,
      from_quantity: "0",
      to_quantity,
      price: "68.5",
      broker: "paper",
      reason: "a test",
    });
  }
  const fills = () => fixture.reported(subjects.fillsCreated).filter(({ kind }) => kind === "SETTLEMENT");
  const alarms = (code: string) => fixture.reported(subjects.alarmRaised).filter((one) => one.code === code);
  return { fixture, oms, said, settled, fills, alarms, endsAt: settled.at };
}

describe("23.8: options that end", () => {
  it("are warned of from five days before on, once a day, while the fund is short", async () => {
    const far = await fixtureOf(6);
    await far.fixture.time.timers.sleep(20_000);
    expect(far.alarms("OPTION_EXPIRING")).toEqual([]);
    const { fixture, alarms, fills } = await fixtureOf(3);
    await fixture.time.timers.sleep(20_000);
    expect(alarms("OPTION_EXPIRING")).toMatchObject([{ sentence: expect.stringContaining(`short 3 ${symbol}`) }]);
    fixture.time.stepClock(dayMs);
    await fixture.time.timers.sleep(20_000);
    expect(alarms("OPTION_EXPIRING").length).toBe(2);
    expect(fills()).toEqual([]);
    const long = await fixtureOf(2, { "gamma-income": "3" });
    await long.fixture.time.timers.sleep(20_000);
    expect(long.alarms("OPTION_EXPIRING")).toEqual([]);
  });

  it("are settled by delivery at the broker's price, as trades with ids of their own, once, whatever dies", async () => {
    const { fixture, oms, said, settled, fills, alarms } = await fixtureOf(-1, { "gamma-income": "-3", other: "1" });
    await fixture.time.timers.sleep(20_000);
    expect(fills()).toEqual([]);
    fixture.time.stepClock(120_000);
    await fixture.time.timers.sleep(20_000);
    expect(alarms("OPTION_UNSETTLED").length).toBe(2);
    said.settlement = settled;
    await fixture.until("the first is settled", () => fills().length > 0);
    oms.kill();
    await fixture.start();
    await fixture.time.timers.sleep(30_000);
    const shown = fills().map((fill) =>
      [fill.strategy_id, fill.symbol, fill.side, fill.quantity, fill.price].join(" "),
    );
    expect(shown.sort()).toEqual(
      [
        `gamma-income ${symbol} BUY 3 0`,
        "gamma-income SPY SELL 300 650",
        `other ${symbol} SELL 1 0`,
        "other SPY BUY 100 650",
      ].sort(),
    );
    expect(new Set(fills().map(({ fill_id }) => fill_id)).size).toBe(4);
    const positions = (await fixture.positions()).filter(({ quantity }) => quantity !== 0n);
    expect(positions.map((one) => [one.strategyId, one.symbol, decimal.format(one.quantity)])).toEqual([
      ["gamma-income", "SPY", "-300"],
      ["other", "SPY", "100"],
    ]);
  });

  it("wait for reports that the broker made before", async () => {
    const { fixture, said, settled, fills } = await fixtureOf(-1);
    said.settlement = { ...settled, cursor: 1 };
    await fixture.time.timers.sleep(20_000);
    expect(fills()).toEqual([]);
    said.settlement = settled;
    await fixture.until("it is settled", () => fills().length === 2);
  });
});

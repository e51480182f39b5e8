// Stops against other strategies of their fund: what the fund's net position cannot prove is crossed, once, and a stop that cannot be says why.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse as d, zero } from "../../../contracts/src/decimal.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";
import { type WorkerFixture, workerFixture } from "../../../testkit/worker-fixture.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { startStops } from "./stops.ts";

const seed = 20_261_117;
const fixtures: WorkerFixture[] = [];
let restore: () => void = () => undefined;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

const place = { fundId: "beta", symbol: "BTC-USD" };

/** What the strategies hold; those that are long were opened far above today's price, so that their stops fire, and those that are short at it. */
async function open(quantities: Readonly<Record<string, string>>): Promise<WorkerFixture> {
  const fixture = await workerFixture(seed);
  fixtures.push(fixture);
  for (const [strategyId, quantity] of Object.entries(quantities)) {
    const price = quantity.startsWith("-") ? "50000" : "100000";
    await fixture.oms.trade(`open-${strategyId}`, { ...place, strategyId, quantity, price });
  }
  return fixture;
}

function start(fixture: WorkerFixture) {
  const life = fixture.life();
  const alarms = createWorkerAlarms(life.ports);
  const stops = startStops({
    ports: life.ports,
    quotes: { simulated: fixture.newest, live: fixture.live },
    orderManagement: fixture.oms.orderManagement,
    broker: "paper",
    alarms,
  });
  return { life, stops };
}

async function pass(fixture: WorkerFixture, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    fixture.quote("BTC-USD", "50000", "50010");
    await fixture.time.timers.sleep(500);
  }
}
const held = (fixture: WorkerFixture, strategyId: string) => fixture.oms.position("beta", strategyId, "BTC-USD");
const ended = (fixture: WorkerFixture) =>
  fixture.reported(subjects.stopEnded).map((one) => [one.strategy_id, one.outcome, one.exited_quantity]);

describe("23.3: a stop whose fund holds the other side in another strategy", () => {
  it("is crossed with it where the fund's net position proves nothing, without an order", async () => {
    const fixture = await open({ "beta-trend": "2", "beta-other": "-2" });
    const { stops } = start(fixture);
    await pass(fixture, 10_000);
    expect(fixture.oms.orders()).toEqual([]);
    expect(fixture.oms.crossed).toMatchObject([
      {
        strategyId: "beta-trend",
        otherStrategyId: "beta-other",
        quantity: "2",
        fromQuantity: "2",
        otherFromQuantity: "-2",
      },
    ]);
    expect([held(fixture, "beta-trend"), held(fixture, "beta-other")]).toEqual([zero, zero]);
    expect(ended(fixture)).toEqual([["beta-trend", "EXITED", "2"]]);
    await stops.stop();
  });

  it("sells what the net position proves and crosses the rest, with the strategy that has the most first", async () => {
    const fixture = await open({ "beta-trend": "5", "beta-a": "-1", "beta-b": "-3" });
    const { stops } = start(fixture);
    await pass(fixture, 10_000);
    expect(fixture.oms.crossed.map(({ otherStrategyId, quantity }) => [otherStrategyId, quantity])).toEqual([
      ["beta-b", "3"],
    ]);
    const [first] = fixture.oms.orders();
    expect(first?.order).toMatchObject({ strategy_id: "beta-trend", side: "SELL", quantity: "1" });
    await fixture.oms.fill(first?.order.order_id ?? "", "50000");
    await pass(fixture, 5_000);
    expect(fixture.oms.crossed.map(({ otherStrategyId, quantity }) => [otherStrategyId, quantity])).toEqual([
      ["beta-b", "3"],
      ["beta-a", "1"],
    ]);
    expect(["beta-trend", "beta-a", "beta-b"].map((one) => held(fixture, one))).toEqual([zero, zero, zero]);
    expect(ended(fixture)).toEqual([["beta-trend", "EXITED", "5"]]);
    await stops.stop();
  });

  it("crosses nothing that the net position can prove, and nothing that the other strategy's own exits close", async () => {
    const fixture = await open({ "beta-trend": "2", "beta-more": "3", "beta-other": "-3" });
    const { stops } = start(fixture);
    await pass(fixture, 5_000);
    // Two longs of 5 against a short of 3: of the first stop nothing has to be crossed, of the second what is left.
    expect(fixture.oms.orders().length).toBeGreaterThan(0);
    await stops.stop();
    const taken = await open({ "beta-trend": "2", "beta-other": "-2", "beta-third": "-2" });
    await taken.oms.place(
      {
        idempotency_key: "x",
        order_id: "x",
        fund_id: "beta",
        strategy_id: "beta-other",
        symbol: "BTC-USD",
        side: "BUY_TO_COVER",
        quantity: "2",
        order_type: "MARKET",
        tif: "GTC",
        broker: "paper",
        asset_class: "CRYPTO",
        actor: "t",
        reduce_only: true,
      },
      "WORKING",
    );
    const second = start(taken);
    await pass(taken, 5_000);
    expect(taken.oms.crossed.map(({ otherStrategyId }) => otherStrategyId)).toEqual(["beta-third"]);
    await second.stops.stop();
  });

  it.each(["answer lost", "out of reach"] as const)(
    "is crossed once while order management is %s and everybody is killed",
    async (mood) => {
      const fixture = await open({ "beta-trend": "2", "beta-other": "-2" });
      fixture.oms.mood = mood;
      for (let life = 0; life < 4; life += 1) {
        const running = start(fixture);
        await pass(fixture, 4_000 + life * 500);
        running.life.kill();
      }
      fixture.oms.mood = "well";
      const { stops } = start(fixture);
      await pass(fixture, 90_000);
      expect(fixture.oms.crossed).toHaveLength(1);
      expect(fixture.oms.orders()).toEqual([]);
      expect([held(fixture, "beta-trend"), held(fixture, "beta-other")]).toEqual([zero, zero]);
      expect(ended(fixture)).toEqual([["beta-trend", "EXITED", "2"]]);
      await stops.stop();
    },
  );

  it("stays owed and alarms with the reason while there is no fresh mark, and is crossed when there is one", async () => {
    const fixture = await open({ "beta-trend": "2", "beta-other": "-2" });
    fixture.oms.mood = "refuses";
    const { stops } = start(fixture);
    await pass(fixture, 8_000);
    expect(held(fixture, "beta-trend")).toEqual(d("2"));
    const waiting = fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "STOP_EXIT_WAITING");
    expect(waiting[0]?.sentence).toContain(
      "hold the other side, and crossing 2 with beta-other was refused (CROSS_UNPRICED",
    );
    fixture.oms.mood = "well";
    await pass(fixture, 3_000);
    expect(ended(fixture)).toEqual([["beta-trend", "EXITED", "2"]]);
    await stops.stop();
  });
});

// Stops against other strategies of their fund: what the fund's net position cannot prove is crossed, once, and a stop that cannot be says why.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse as d, zero } from "../../../contracts/src/decimal.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";
import { type WorkerRig, workerRig } from "../../../testkit/worker-rig.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { startStops } from "./stops.ts";

const seed = 20_261_117;
const rigs: WorkerRig[] = [];
let restore: () => void = () => undefined;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

const place = { fundId: "beta", symbol: "BTC-USD" };

/** What the strategies hold; those that are long were opened far above today's price, so that their stops fire, and those that are short at it. */
async function open(quantities: Readonly<Record<string, string>>): Promise<WorkerRig> {
  const rig = await workerRig(seed);
  rigs.push(rig);
  for (const [strategyId, quantity] of Object.entries(quantities)) {
    const price = quantity.startsWith("-") ? "50000" : "100000";
    await rig.oms.trade(`open-${strategyId}`, { ...place, strategyId, quantity, price });
  }
  return rig;
}

function start(rig: WorkerRig) {
  const life = rig.life();
  const alarms = createWorkerAlarms(life.ports);
  const stops = startStops({ ports: life.ports, newest: rig.newest, desk: rig.oms.desk, broker: "paper", alarms });
  return { life, stops };
}

async function pass(rig: WorkerRig, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    rig.quote("BTC-USD", "50000", "50010");
    await rig.time.timers.sleep(500);
  }
}
const held = (rig: WorkerRig, strategyId: string) => rig.oms.position("beta", strategyId, "BTC-USD");
const ended = (rig: WorkerRig) =>
  rig.told(subjects.stopEnded).map((one) => [one.strategy_id, one.outcome, one.exited_quantity]);

describe("23.3: a stop whose fund holds the other side in another strategy", () => {
  it("is crossed with it where the fund's net position proves nothing, without an order", async () => {
    const rig = await open({ "beta-trend": "2", "beta-other": "-2" });
    const { stops } = start(rig);
    await pass(rig, 10_000);
    expect(rig.oms.orders()).toEqual([]);
    expect(rig.oms.crossed).toMatchObject([
      {
        strategyId: "beta-trend",
        otherStrategyId: "beta-other",
        quantity: "2",
        fromQuantity: "2",
        otherFromQuantity: "-2",
      },
    ]);
    expect([held(rig, "beta-trend"), held(rig, "beta-other")]).toEqual([zero, zero]);
    expect(ended(rig)).toEqual([["beta-trend", "EXITED", "2"]]);
    await stops.stop();
  });

  it("sells what the net position proves and crosses the rest, with the strategy that has the most first", async () => {
    const rig = await open({ "beta-trend": "5", "beta-a": "-1", "beta-b": "-3" });
    const { stops } = start(rig);
    await pass(rig, 10_000);
    expect(rig.oms.crossed.map(({ otherStrategyId, quantity }) => [otherStrategyId, quantity])).toEqual([
      ["beta-b", "3"],
    ]);
    const [first] = rig.oms.orders();
    expect(first?.order).toMatchObject({ strategy_id: "beta-trend", side: "SELL", quantity: "1" });
    await rig.oms.fill(first?.order.order_id ?? "", "50000");
    await pass(rig, 5_000);
    expect(rig.oms.crossed.map(({ otherStrategyId, quantity }) => [otherStrategyId, quantity])).toEqual([
      ["beta-b", "3"],
      ["beta-a", "1"],
    ]);
    expect(["beta-trend", "beta-a", "beta-b"].map((one) => held(rig, one))).toEqual([zero, zero, zero]);
    expect(ended(rig)).toEqual([["beta-trend", "EXITED", "5"]]);
    await stops.stop();
  });

  it("crosses nothing that the net position can prove, and nothing that the other strategy's own exits close", async () => {
    const rig = await open({ "beta-trend": "2", "beta-more": "3", "beta-other": "-3" });
    const { stops } = start(rig);
    await pass(rig, 5_000);
    // Two longs of 5 against a short of 3: of the first stop nothing has to be crossed, of the second what is left.
    expect(rig.oms.orders().length).toBeGreaterThan(0);
    await stops.stop();
    const taken = await open({ "beta-trend": "2", "beta-other": "-2", "beta-third": "-2" });
    await taken.oms.place(
      {
        ...{ idempotency_key: "x", order_id: "x", fund_id: "beta", strategy_id: "beta-other", symbol: "BTC-USD" },
        ...{ side: "BUY_TO_COVER", quantity: "2", order_type: "MARKET", tif: "GTC", broker: "paper" },
        ...{ asset_class: "CRYPTO", actor: "t", reduce_only: true },
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
      const rig = await open({ "beta-trend": "2", "beta-other": "-2" });
      rig.oms.mood = mood;
      for (let life = 0; life < 4; life += 1) {
        const running = start(rig);
        await pass(rig, 4_000 + life * 500);
        running.life.kill();
      }
      rig.oms.mood = "well";
      const { stops } = start(rig);
      await pass(rig, 90_000);
      expect(rig.oms.crossed).toHaveLength(1);
      expect(rig.oms.orders()).toEqual([]);
      expect([held(rig, "beta-trend"), held(rig, "beta-other")]).toEqual([zero, zero]);
      expect(ended(rig)).toEqual([["beta-trend", "EXITED", "2"]]);
      await stops.stop();
    },
  );

  it("stays owed and alarms with the reason while there is no fresh mark, and is crossed when there is one", async () => {
    const rig = await open({ "beta-trend": "2", "beta-other": "-2" });
    rig.oms.mood = "refuses";
    const { stops } = start(rig);
    await pass(rig, 8_000);
    expect(held(rig, "beta-trend")).toEqual(d("2"));
    const waiting = rig.told(subjects.alarmRaised).filter(({ code }) => code === "STOP_EXIT_WAITING");
    expect(waiting[0]?.sentence).toContain(
      "hold the other side, and crossing 2 with beta-other was refused (CROSS_UNPRICED",
    );
    rig.oms.mood = "well";
    await pass(rig, 3_000);
    expect(ended(rig)).toEqual([["beta-trend", "EXITED", "2"]]);
    await stops.stop();
  });
});

// Stops of LIVE funds while the price from outside is not believed yet: they wait for its confirmation, and no longer.
import { expect, it } from "vitest";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { testSettings } from "../../../testkit/virtual/memory-platform.ts";
import { workerFixture } from "../../../testkit/worker-fixture.ts";
import { paperReference } from "../../shared/paper-seeds.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { hearOutsideQuotes } from "../outside-quotes.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { startStops } from "./stops.ts";

it("a stop whose price jumped waits for 5 s, and fires then; one whose price came back does not", async () => {
  const fixture = await workerFixture(91);
  await fixture.oms.trade("open-1", {
    fundId: "beta",
    strategyId: "beta-trend",
    symbol: "BTC-USD",
    quantity: "2",
    price: "100000",
  });
  await fixture.store.transact("test.live", async (unit) => {
    const at = fixture.time.clock.now();
    const content = paperReference(format(at)).funds.map((fund) => ({ ...fund, mode: "LIVE", valued_by: "desk" }));
    await unit.reference.put({ kind: "funds", version: 2, content, setBy: "t", setAt: at, reason: "r", hash: "0" });
  });
  let hear: (mark: object) => Promise<void> = async () => undefined;
  const bus = {
    listen: async (_subjects: unknown, heard: (event: { payload: object }) => Promise<void>) => {
      hear = (payload) => heard({ payload });
      return { close: async () => undefined };
    },
  } as unknown as ServicePorts["bus"];
  const life = fixture.life({});
  const outside = await hearOutsideQuotes({ ...life.ports, bus, settings: testSettings });
  const stops = startStops({
    ports: life.ports,
    quotes: { simulated: new Map(), live: outside.newest, isBelieved: outside.isBelieved },
    orderManagement: fixture.oms.orderManagement,
    broker: "paper",
    alarms: createWorkerAlarms(life.ports),
  });
  const say = async (price: string, seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await hear({ symbol: "BTC-USD", price, source: "feed", at: format(fixture.time.clock.now()) });
      await fixture.time.timers.sleep(1_000);
    }
  };
  const fired = () => fixture.reported(subjects.stopTriggered).length;
  await say("100000", 10);
  await say("50000", 4);
  await say("100000", 20);
  expect(fired()).toBe(0);
  await say("50000", 4);
  expect(fired()).toBe(0);
  await say("50000", 8);
  expect(fired()).toBe(1);
  await stops.stop();
  await fixture.close();
});

// One process's store when everybody wants it: what a halt depends on has a connection of its own.
import { afterAll, beforeAll, expect, it } from "vitest";
import { noMetrics, noTracer } from "../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openRiskStore } from "./open-risk-store.ts";
import { openStore } from "./open-store.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  await database.drop();
});

it.each(["riskengine", "oms"])(
  "24: %s reads halts, halts, and renews its lease while every connection is taken and many wait",
  async (service) => {
    const options = {
      clock: systemClock(),
      timers: systemTimers(),
      random: systemRandom(),
      log: quietLog,
      metrics: noMetrics,
      tracer: noTracer,
      database: database.address.app,
      source: service,
      services: [service],
    };
    const opened = openStore(options);
    const { riskStore, close } = openRiskStore(options, opened);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const holding = Array.from({ length: 100 }, (_, number) =>
      opened.store.transact("test.hold", async (unit) => {
        await unit.handled.firstTime("test.hold", `${service} ${number}`);
        await held;
      }),
    );
    try {
      const renewed = opened.leaseStore.transact("lease.renew", (unit) =>
        unit.instances.renew("nobody's", options.clock.now()),
      );
      expect(await renewed).toBe(false);
      const look = opened.store.transact("halts.look", (unit) => unit.instances.alive(options.clock.now()));
      expect(await look).toEqual([]);
      expect(await riskStore.haltEpoch()).toBe(0);
      expect(await riskStore.halts()).toEqual({ epoch: 0, active: [] });
      expect(opened.pool.waitingCount).toBeGreaterThan(50);
    } finally {
      letGo();
      await Promise.all(holding);
      await close();
      await opened.close();
    }
  },
);

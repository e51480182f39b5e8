// Services that stay away: an alarm after ten seconds, once, and anew after they were back.
import { expect, it } from "vitest";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Log } from "../../ports/log.ts";
import { noFaults } from "../../testkit/memory/faults.ts";
import { memoryStore } from "../../testkit/memory/store.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { watchLeases } from "./watch-leases.ts";

const silence = (): undefined => undefined;
const log: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log };

it("S4: raises SERVICE_LOST for a service that does not come back, and clears it when it does", async () => {
  const time = scheduler({ seed: 4 });
  const { clock, timers } = time;
  const tables = memoryTables(noFaults);
  const store = memoryStore({ process: tables.process("operations"), clock, timers, random: time.prng.fork("leases") });
  const reported: string[] = [];
  const alarms = {
    raise: async (_code: string, about: string, sentence: string) => void reported.push(`${about}: ${sentence}`),
    clear: (_code: string, about: string) => void reported.push(`${about} is there`),
  };
  const die = (defect: Error): never => {
    throw defect;
  };
  let lives = 0;
  const register = () => {
    lives += 1;
    const instance = { service: "treasury", incarnation: `t-${lives}`, host: "h", pid: 7, startedAt: clock.now() };
    const leaseUntil = plusMilliseconds(clock.now(), 3_000);
    return store.transact("leases.test", (unit) => unit.instances.register({ ...instance, leaseUntil }));
  };
  const finish = <Value>(promise: Promise<Value>) => time.finish("leases", promise, 100_000);
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  await finish(register());
  const watch = watchLeases({ store, clock, timers, log, crash: { die } }, alarms as never);
  await pass(12_000);
  expect(reported.filter((line) => line.includes("is down since"))).toEqual([]);
  await pass(5_000);
  expect(reported.some((line) => line.startsWith("treasury: The service treasury is down since "))).toBe(true);
  reported.length = 0;
  await finish(register());
  await pass(2_000);
  expect(reported).toContain("treasury is there");
  expect(reported.filter((line) => line.includes("is down since"))).toEqual([]);
  await finish(watch.stop());
});

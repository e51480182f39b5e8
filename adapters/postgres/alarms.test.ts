// Alarms are published once per onset, and again after the condition ended; what cannot be published is not forgotten.
import { expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { AlarmRaised } from "../../contracts/src/records/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { pass } from "../../testkit/conformance/waiting.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { systemClock } from "../system/clock.ts";
import { createAlarms } from "./alarms.ts";

it("an alarm is reported once while its condition lasts", async () => {
  const reported: AlarmRaised[] = [];
  let refuse = false;
  const events = {
    publish: async (subject: { readonly schema: { parse(value: unknown): unknown } }, payload: unknown) => {
      reported.push(subject.schema.parse(payload) as AlarmRaised);
      return "id";
    },
  };
  const store = {
    transact: async <T>(_name: string, work: (unit: UnitOfWork) => Promise<T>): Promise<T> => {
      if (refuse) throw new Fault("STORE_UNAVAILABLE", "planned", { retry: "later" });
      return work({ events } as unknown as UnitOfWork);
    },
  } as unknown as Store;
  const alarms = createAlarms({
    store,
    subject: subjects.alarmRaised,
    clock: systemClock(),
    log: quietLog,
    source: "operations",
  });
  const raise = async (about: string): Promise<void> => {
    alarms.raise("SUBSCRIPTION_LAG", about, `${about} is\nbehind`);
    await pass({}, 1);
  };
  await raise("one");
  await raise("one");
  await raise("other");
  expect(reported.map((alarm) => alarm.facts?.["about"])).toEqual(["one", "other"]);
  expect(reported[0]).toMatchObject({ code: "SUBSCRIPTION_LAG", level: "warning", service: "operations" });
  alarms.clear("SUBSCRIPTION_LAG", "one");
  await raise("one");
  expect(reported.length).toBe(3);
  alarms.clear("SUBSCRIPTION_LAG", "one");
  refuse = true;
  await raise("one");
  refuse = false;
  await raise("one");
  await raise("one");
  expect(reported.length).toBe(4);
});

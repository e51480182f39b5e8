// Entries that nobody signs are complained about after thirty times the usual wait, over restarts, and no longer once they are signed.
import { expect, it } from "vitest";
import { subjects } from "../../../../contracts/src/subjects.ts";
import { serviceFixture } from "../../../../testkit/virtual/service-fixture.ts";
import { createWorkerAlarms } from "../../worker-alarms.ts";
import { unsignedMsMax, watchCheckpointAge } from "./checkpoint-age.ts";

it("22.7: alarms when no checkpoint covers the newest entries, also when the wait began before a restart", async () => {
  const fixture = serviceFixture(20_261_117);
  const status = { origin: "log", size: 5, signedSize: 5, complaint: undefined as string | undefined };
  const begin = () => {
    const ports = fixture.portsOf("operations");
    return watchCheckpointAge({ ports, alarms: createWorkerAlarms(ports), status: () => status });
  };
  const reported = () =>
    fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "AUDIT_CHECKPOINT_OLD").length;
  const sleep = (ms: number) => fixture.time.timers.sleep(ms);
  let running = begin();
  // A log that grows and is signed is never old.
  for (let second = 0; second < 60; second += 1) {
    status.size += 2;
    status.signedSize = status.size - 1;
    await sleep(1_000);
  }
  expect(reported()).toBe(0);
  expect(running.health()).toEqual({ status: "ok" });
  status.complaint = "There is no key to sign with.";
  await sleep(unsignedMsMax - 8_000);
  expect(reported()).toBe(0);
  await running.stop();
  running = begin();
  await sleep(22_000);
  expect(reported()).toBe(1);
  expect(running.health()).toMatchObject({ status: "ok", complaint: expect.stringContaining("no key to sign with") });
  await sleep(60_000);
  expect(reported()).toBe(1);
  status.signedSize = status.size;
  await sleep(6_000);
  expect(running.health()).toEqual({ status: "ok" });
  await running.stop();
  await fixture.close();
});

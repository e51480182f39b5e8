// What the engine makes of the room on the disk: limits, what cannot be measured, and that both end by themselves.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { StandingCondition } from "../../core/state/standing-condition.ts";
import { type MemoryDisk, memoryDisk } from "../../testkit/memory/disk-space.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { createAlarms } from "./alarms.ts";
import { type DiskWatch, watchDisk } from "./disk-watch.ts";

const settings = { ...testSettings, disk: { warnMb: 2_000, newRiskMb: 1_000 } };
const megabytes = (count: number): number => count * 1_000_000;
let fixture: ServiceFixture;
let watch: DiskWatch;
let disk: MemoryDisk;
let low: StandingCondition | undefined;

async function start(diskSpace = disk as Pick<MemoryDisk, "measure">): Promise<void> {
  const ports = { ...fixture.portsOf("riskengine", { settings }), diskSpace };
  const setConditions: Engine["setConditions"] = (_source, [standing]) => {
    low = standing;
  };
  const engine = { setConditions } as unknown as Engine;
  watch = await watchDisk(ports, engine, createAlarms(ports));
}
const pass = (ms: number) => fixture.time.timers.sleep(ms);
const alarms = (code: string): readonly string[] =>
  fixture
    .reported(subjects.alarmRaised)
    .filter((alarm) => alarm.code === code)
    .map(({ sentence }) => sentence);

beforeEach(() => {
  fixture = serviceFixture(2_813);
  disk = memoryDisk("/data");
  low = undefined;
});
afterEach(async () => {
  await watch.stop();
  await fixture.close();
});

describe("28.13: a disk that fills", () => {
  test("warns below the first limit and denies nothing", async () => {
    disk.freeBytes = megabytes(2_000);
    await start();
    expect([low, alarms("DISK_SPACE_LOW")]).toEqual([undefined, []]);
    disk.freeBytes = megabytes(2_000) - 1;
    await pass(3_000);
    expect(low).toBeUndefined();
    const sentence = "The disk of /data has 1999 MB free, and disk.warn_mb asks for 2000 MB: make room.";
    expect(alarms("DISK_SPACE_LOW")).toEqual([sentence]);
    expect(watch.health()).toEqual({ status: "ok" });
  });

  test("denies new risk below the second, says since when, alarms once, and ends by itself a twentieth above", async () => {
    await start();
    disk.freeBytes = megabytes(1_000);
    await pass(1_100);
    expect(low).toBeUndefined();
    disk.freeBytes = megabytes(999);
    await pass(1_100);
    const since = low?.since;
    expect(low?.reason).toBe("The disk of /data has 999 MB free, and disk.new_risk_mb asks for 1000 MB");
    expect(watch.health()).toEqual({ status: "ok", complaint: `${low?.reason}.` });
    disk.freeBytes = megabytes(1_049);
    await pass(5_000);
    expect(low).toMatchObject({ since });
    expect(alarms("DISK_STOPS_NEW_RISK")).toHaveLength(1);
    disk.freeBytes = megabytes(1_050);
    await pass(1_100);
    expect(low).toBeUndefined();
    disk.freeBytes = 0;
    await pass(1_100);
    expect(low?.reason).toContain(" 0 MB free");
    expect(alarms("DISK_STOPS_NEW_RISK")).toHaveLength(2);
  });

  test("denies before anything is served, and when nothing can be measured", async () => {
    disk.freeBytes = undefined;
    await start();
    expect(low?.reason).toBe("How much of the disk of /data is free cannot be measured: it is not there");
    await pass(1);
    expect(alarms("DISK_STOPS_NEW_RISK")[0]).toContain("new risk is denied until the disk can be measured again");
    disk.freeBytes = megabytes(1_001);
    await pass(1_100);
    expect(low).toBeUndefined();
  });

  test("a failed measurement between two neither begins nor ends that the disk is full", async () => {
    await start();
    disk.freeBytes = megabytes(999);
    await pass(1_100);
    disk.freeBytes = undefined;
    await pass(1_100);
    expect(low?.reason).toContain("cannot be measured");
    disk.freeBytes = megabytes(1_049);
    await pass(1_100);
    expect(low?.reason).toContain(" 1049 MB free");
    disk.freeBytes = megabytes(1_050);
    await pass(1_100);
    expect(low).toBeUndefined();
  });

  test("denies while a measurement does not answer, asks no second time beside it, and lifts when it does", async () => {
    let asked = 0;
    let answer: (() => void) | undefined;
    await start({
      measure: () => {
        asked += 1;
        if (asked === 1) return disk.measure();
        return new Promise((resolve) => {
          answer = () => resolve({ folder: "/data", freeBytes: megabytes(5_000) });
        });
      },
    });
    expect(low).toBeUndefined();
    await pass(30_000);
    expect(low?.reason).toBe("How much of the disk is free was not measured within 2 s");
    expect(asked).toBe(2);
    answer?.();
    await pass(1);
    expect(low).toBeUndefined();
  });
});

// The reserve on the disk: given up when it is nearly full, made again when there is room, with real blocks, and never at the price of new risk.
import { existsSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type DiskReserve, diskReserve } from "../adapters/system/disk-reserve.ts";
import { memoryDisk } from "../testkit/memory/disk-space.ts";
import { temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { type DiskRoom, keepRoom } from "./disk-room.ts";

const reserveBytes = 3_500_000;
const newRiskBytes = 100_000_000;
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A reserve of which only the state is kept. */
function reserveInMemory(isHeld: boolean) {
  const reserve = { held: isHeld, fails: false };
  const port: DiskReserve = {
    isHeld: async () => reserve.held,
    make: async () => {
      if (reserve.fails) throw new Error("no space left on device");
      reserve.held = true;
    },
    giveUp: async () => {
      const had = reserve.held;
      reserve.held = false;
      return had;
    },
  };
  return { reserve, port };
}

interface Given {
  readonly freeBytes: number;
  readonly held: boolean;
  readonly bytes?: number;
  readonly fails?: boolean;
}

async function roomWith(options: Given) {
  const time = scheduler({ seed: 28 });
  const disk = memoryDisk("/data", options.freeBytes);
  const { reserve, port } = reserveInMemory(options.held);
  reserve.fails = options.fails === true;
  const tools = { timers: time.timers, log: quietLog, diskSpace: disk, reserve: port };
  const room: DiskRoom = await keepRoom({ ...tools, reserveBytes: options.bytes ?? reserveBytes, newRiskBytes });
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  const stop = () => time.finish("the room", room.stop(), 10_000);
  return { disk, reserve, room, pass, stop };
}

describe("room on the disk", () => {
  test("invariant 1: the reserve is given up below its size, before the first server starts and later", async () => {
    const early = await roomWith({ freeBytes: reserveBytes - 1, held: true });
    expect(early.reserve.held).toBe(false);
    await early.stop();
    const late = await roomWith({ freeBytes: 1e12, held: true });
    late.disk.freeBytes = reserveBytes;
    await late.pass(3_000);
    expect(late.reserve.held).toBe(true);
    late.disk.freeBytes = reserveBytes - 1;
    await late.pass(1_100);
    expect(late.reserve.held).toBe(false);
    await late.stop();
  });

  test("invariant 2: it is made again only where enough for new risk stays free", async () => {
    const { disk, reserve, pass, stop } = await roomWith({ freeBytes: newRiskBytes + reserveBytes - 1, held: false });
    await pass(3_000);
    expect(reserve.held).toBe(false);
    disk.freeBytes = newRiskBytes + reserveBytes;
    await pass(1_100);
    expect(reserve.held).toBe(true);
    await stop();
  });

  test("invariant 3: what cannot be measured or made is tried again, and is not called full", async () => {
    const { disk, reserve, room, pass, stop } = await roomWith({ freeBytes: 1e12, held: false, fails: true });
    await pass(3_000);
    disk.freeBytes = undefined;
    await pass(3_000);
    expect([reserve.held, room.isFull()]).toEqual([false, false]);
    disk.freeBytes = 1e12;
    reserve.fails = false;
    await pass(1_100);
    expect(reserve.held).toBe(true);
    await stop();
  });

  test("it is full when a server could not start, and not when giving up the reserve made room", async () => {
    const { disk, room, pass, stop } = await roomWith({ freeBytes: 39_999_999, held: false });
    expect(room.isFull()).toBe(true);
    disk.freeBytes = 40_000_000;
    await pass(1_100);
    expect(room.isFull()).toBe(false);
    await stop();
  });

  test("without one, the one of another configuration is given up", async () => {
    const { reserve, stop } = await roomWith({ freeBytes: 1e12, held: true, bytes: 0 });
    expect(reserve.held).toBe(false);
    await stop();
  });
});

describe("the reserve as a file", () => {
  const signal = new AbortController().signal;
  const open = () => {
    const folder = temporaryFolder("reserve");
    folders.push(folder);
    const path = join(folder, "disk-reserve");
    return { path, reserve: diskReserve(path, reserveBytes) };
  };

  test("has real blocks, is its owner's alone, and gives them back", async () => {
    const { path, reserve } = open();
    expect([await reserve.isHeld(), await reserve.giveUp()]).toEqual([false, false]);
    await reserve.make(signal);
    const { size, blocks, mode } = statSync(path);
    expect([size, blocks * 512 >= reserveBytes, mode & 0o777]).toEqual([reserveBytes, true, 0o600]);
    expect([await reserve.isHeld(), await reserve.giveUp(), existsSync(path)]).toEqual([true, true, false]);
  });

  test("does not count when it is sparse or was cut off, and is then made whole", async () => {
    const { path, reserve } = open();
    writeFileSync(path, "");
    truncateSync(path, reserveBytes);
    expect(await reserve.isHeld()).toBe(false);
    writeFileSync(path, "half");
    expect(await reserve.isHeld()).toBe(false);
    await reserve.make(signal);
    expect(await reserve.isHeld()).toBe(true);
  });

  test("that cannot be made whole, because it is stopped, leaves nothing behind", async () => {
    const { path, reserve } = open();
    await expect(reserve.make(AbortSignal.abort())).rejects.toThrow();
    expect(existsSync(path)).toBe(false);
  });
});

// How much room the disk has, as the engine knows it: below `disk.new_risk_mb` new risk is denied, so that what is left is there for exits and halts.
//
//  1. It is measured before anything is served, and about every second after that.
//  2. A measurement that fails, or that does not answer in time, denies like a full disk: nothing says that there is room.
//  3. A disk that was too full has room again when a twentieth more than the limit is free, so that a disk at its limit does not raise an alarm a second. A
//     measurement that failed ends with the next one that succeeds.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { DiskSpace, FreeSpace } from "../../ports/disk-space.ts";
import type { Health } from "../../ports/health.ts";
import type { DiskSettings } from "../../ports/settings.ts";
import { startLoop } from "../shared/loop.ts";
import type { ServicePorts } from "../shared/service.ts";
import { within } from "../shared/waiting.ts";
import type { Alarms } from "./alarms.ts";

const measureEveryMs = 1_000;
/** A file system that takes longer is not one to write to. */
const measureMsMax = 2_000;
const bytesPerMegabyte = 1_000_000;
const endsAbove = 1.05;

export interface DiskWatch {
  health(): Health;
  stop(): Promise<void>;
}

/** What a measurement says: undefined where there is room, else the sentence without its full stop. */
interface JudgedDisk {
  readonly warning: string | undefined;
  readonly block: string | undefined;
  /** Whether the last measurement that succeeded was below what new risk needs. */
  readonly full: boolean;
  /** When a block ends, for the alarm. */
  readonly until: string;
}

const nothingMeasured: JudgedDisk = { warning: undefined, block: undefined, full: false, until: "" };

type Ports = Pick<ServicePorts, "clock" | "timers" | "log" | "crash" | "settings"> & { readonly diskSpace: DiskSpace };

/** `before` is what the measurement before said. */
function judgeDisk(measured: FreeSpace | string, before: JudgedDisk, disk: DiskSettings): JudgedDisk {
  if (typeof measured === "string") {
    return { ...before, block: measured.replace(/\.$/, ""), until: "until the disk can be measured again" };
  }
  const { folder, freeBytes } = measured;
  const below = (limitMb: number, setting: string, was: boolean): string | undefined => {
    const limitBytes = limitMb * bytesPerMegabyte;
    if (freeBytes >= (was ? limitBytes * endsAbove : limitBytes)) return undefined;
    const freeMb = Math.floor(freeBytes / bytesPerMegabyte);
    return `The disk of ${folder} has ${freeMb} MB free, and ${setting} asks for ${limitMb} MB`;
  };
  const warning = below(disk.warnMb, "disk.warn_mb", before.warning !== undefined);
  const block = below(disk.newRiskMb, "disk.new_risk_mb", before.full);
  return { warning, block, full: block !== undefined, until: "until there is room again" };
}

/** Resolves when the engine has the first measurement. */
export async function watchDisk(ports: Ports, engine: Engine, alarms: Alarms): Promise<DiskWatch> {
  const { diskSpace, clock, timers, log, settings } = ports;
  const measure = oneAtATime(diskSpace);
  let judged = nothingMeasured;
  let since: Instant | undefined;

  async function look(): Promise<number> {
    const before = judged;
    const late = `How much of the disk is free was not measured within ${measureMsMax / 1_000} s.`;
    judged = judgeDisk(await within(timers, measureMsMax, measure(), late), before, settings.disk);
    const { warning, block, until } = judged;
    since = block === undefined ? undefined : (since ?? clock.now());
    engine.setConditions("disk", block === undefined ? [] : [{ code: "DISK_LOW", reason: block, since }]);
    if (block !== undefined) {
      alarms.raise("DISK_STOPS_NEW_RISK", "disk", `${block}: new risk is denied ${until}.`);
    } else if (before.block !== undefined) {
      alarms.clear("DISK_STOPS_NEW_RISK", "disk");
      log.info("the disk was measured and has room, and new risk is no longer denied for want of it");
    }
    if (warning !== undefined) alarms.raise("DISK_SPACE_LOW", "disk", `${warning}: make room.`);
    else if (before.warning !== undefined) alarms.clear("DISK_SPACE_LOW", "disk");
    return measureEveryMs;
  }

  await look();
  const what = "the watch over the disk";
  const loop = startLoop({ ports, what, firstAfterMs: measureEveryMs, run: look, troubleMsMax: measureEveryMs });
  return {
    health: () => (judged.block === undefined ? { status: "ok" } : { status: "ok", complaint: `${judged.block}.` }),
    stop: loop.stop,
  };
}

/** A measurement that hangs is waited for again, not started again beside it; one that fails is the sentence that says why. */
function oneAtATime(diskSpace: DiskSpace): () => Promise<FreeSpace | string> {
  let pending: Promise<FreeSpace | string> | undefined;
  return () => {
    pending ??= diskSpace
      .measure()
      .catch((thrown: unknown) => messageOf(thrown))
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
}

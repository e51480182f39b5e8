// Keeps room for exits and halts on the disk of the embedded database: a reserve file that is given up when the disk is nearly full, and made again when
// there is room. Invariants, each with a test of its number:
//
//  1. Below `disk.reserve_mb` of free space the reserve is given up, within a second or so.
//  2. It is made only where `disk.new_risk_mb` stay free beside it: keeping it must not be what denies new risk.
//  3. Nothing here ends anything: a disk that cannot be measured or written is reported, and tried again.
import type { DiskReserve } from "../adapters/system/disk-reserve.ts";
import { messageOf } from "../contracts/src/fault.ts";
import type { DiskSpace } from "../ports/disk-space.ts";
import type { Log } from "../ports/log.ts";
import type { Timers } from "../ports/timers.ts";

interface DiskRoomOptions {
  readonly diskSpace: DiskSpace;
  readonly reserve: DiskReserve;
  readonly reserveBytes: number;
  readonly newRiskBytes: number;
  readonly timers: Timers;
  readonly log: Log;
}

export interface DiskRoom {
  /** Whether so little is left that a database server cannot start; a disk that cannot be measured is not called full. */
  isFull(): boolean;
  stop(): Promise<void>;
}

const lookEveryMs = 1_000;
/** A server that recovers writes a file or two of its journal, of 16 MB each. */
const fullBytes = 40_000_000;

/** Resolves when it has looked once, so that a server that starts next has the room; the reserve is made later, beside the start. */
export async function keepRoom(options: DiskRoomOptions): Promise<DiskRoom> {
  const { timers, log } = options;
  const stopping = new AbortController();
  let isFull = false;
  /** What was last said, so that it is not said every second. */
  let said = "";

  function sayOnce(sentence: string, fields: Record<string, unknown> = {}): void {
    if (said !== sentence) log.warn(sentence, fields);
    said = sentence;
  }

  async function look(mayMake: boolean): Promise<void> {
    try {
      const freeBytes = await settle(options, stopping.signal, mayMake, sayOnce);
      isFull = freeBytes < fullBytes;
    } catch (error) {
      isFull = false;
      if (!stopping.signal.aborted) sayOnce("the room on the disk cannot be kept", { error: messageOf(error) });
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look(true);
      await timers.sleep(lookEveryMs, stopping.signal);
    }
  }

  await look(false);
  const watching = watch();
  return {
    isFull: () => isFull,
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
}

/** One look and what follows from it; answers with what is free afterwards. */
async function settle(
  { diskSpace, reserve, reserveBytes, newRiskBytes, log }: DiskRoomOptions,
  signal: AbortSignal,
  mayMake: boolean,
  sayOnce: (sentence: string) => void,
): Promise<number> {
  const { freeBytes } = await diskSpace.measure();
  if (freeBytes < reserveBytes || reserveBytes === 0) {
    if (!(await reserve.giveUp())) return freeBytes;
    log.error("the disk is nearly full: the reserve for exits and halts is given up; make room", { freeBytes });
    return (await diskSpace.measure()).freeBytes;
  }
  if (!mayMake || (await reserve.isHeld())) return freeBytes;
  if (freeBytes < newRiskBytes + reserveBytes) {
    sayOnce(
      "the disk has no room for the reserve of disk.reserve_mb beside disk.new_risk_mb; it is made when there is",
    );
    return freeBytes;
  }
  await reserve.make(signal);
  log.info("a reserve for exits and halts is kept on the disk", { bytes: reserveBytes });
  return freeBytes - reserveBytes;
}

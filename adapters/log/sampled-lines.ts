// Log lines that strangers can cause as often as they like. The first of every second are written in full, the others are counted
// and summed up in one line when the second is over, so that a flood fills neither the disk nor the time of the process.
import type { Log, LogFields } from "../../ports/log.ts";
import type { Timers } from "../../ports/timers.ts";

export type WriteSampled = (level: "info" | "warn" | "error", message: string, fields: LogFields) => void;

const secondMs = 1_000;
const inFullMax = 10;

export function sampledLines(log: Log, timers: Timers, summary: string): WriteSampled {
  let writtenCount = 0;
  let heldBackCount = 0;
  const endSecond = (): void => {
    if (heldBackCount > 0) log.warn(summary, { count: heldBackCount });
    writtenCount = 0;
    heldBackCount = 0;
  };
  return (level, message, fields) => {
    if (writtenCount === 0) timers.after(secondMs, endSecond);
    if (writtenCount >= inFullMax) {
      heldBackCount += 1;
      return;
    }
    writtenCount += 1;
    log[level](message, fields);
  };
}

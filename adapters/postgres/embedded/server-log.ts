// The private server's log file. The server writes to it directly, so that it never waits for us and its last words are
// kept when we die; we keep the file bounded by moving its content aside when it has grown too large.
import { closeSync, openSync } from "node:fs";
import { copyFile, open, rename, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Log } from "../../../ports/log.ts";
import type { CancelTimer, Timers } from "../../../ports/timers.ts";

export interface ServerLog {
  readonly path: string;
  /** Opened for appending; hand it to the server. */
  readonly descriptor: number;
  sizeBytes(): Promise<number>;
  /** What was written after this many bytes, at most the last 16 KiB of it. */
  since(offsetBytes: number): Promise<string>;
  close(): void;
}

const bytesMax = 8_388_608;
const checkMs = 30_000;
const tailBytesMax = 16_384;

export async function openServerLog(dataFolder: string, timers: Timers, log: Log): Promise<ServerLog> {
  const path = join(dataFolder, "postgres.log");
  const descriptor = openSync(path, "a", 0o600);
  await keepBounded(path);
  let cancel: CancelTimer | undefined;
  let open_ = true;

  function checkLater(): void {
    cancel = timers.after(checkMs, () => {
      keepBounded(path)
        .catch((error: unknown) => log.warn("the database's log could not be rotated", { reason: messageOf(error) }))
        .finally(() => {
          if (open_) checkLater();
        });
    });
  }

  checkLater();
  return {
    path,
    descriptor,
    sizeBytes: async () => (await stat(path)).size,
    since: (offsetBytes) => readSince(path, offsetBytes),
    close(): void {
      if (!open_) return;
      open_ = false;
      cancel?.();
      closeSync(descriptor);
    },
  };
}

/** The server holds the file open for appending, so it is emptied in place: what it writes next begins at the new end. */
async function keepBounded(path: string): Promise<void> {
  if ((await stat(path)).size <= bytesMax) return;
  await copyFile(path, `${path}.1.new`);
  await rename(`${path}.1.new`, `${path}.1`);
  await truncate(path, 0);
}

async function readSince(path: string, offsetBytes: number): Promise<string> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    const start = Math.max(Math.min(offsetBytes, size), size - tailBytesMax);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await handle.close();
  }
}

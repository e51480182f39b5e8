// A file that holds room on the disk until it is needed. Its blocks are real: it is written with bytes that no file system can leave out or compress,
// and a file that does not have them does not count.
import { randomBytes } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";

export interface DiskReserve {
  /** Whether the whole room is held. */
  isHeld(): Promise<boolean>;
  /** Writes it; rejects, and holds nothing, when there is no room or when it is stopped. */
  make(signal: AbortSignal): Promise<void>;
  /** Whether there was anything to give up. */
  giveUp(): Promise<boolean>;
}

const chunkBytes = 1_000_000;
/** What `stat` counts blocks in. */
const blockBytes = 512;

export function diskReserve(path: string, bytes: number): DiskReserve {
  const sizeOf = async () => {
    try {
      return await stat(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  };

  async function write(signal: AbortSignal): Promise<void> {
    const file = await open(path, "w", 0o600);
    try {
      for (let written = 0; written < bytes; ) {
        signal.throwIfAborted();
        const chunk = randomBytes(Math.min(chunkBytes, bytes - written));
        for (let from = 0; from < chunk.length; ) from += (await file.write(chunk, from)).bytesWritten;
        written += chunk.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  return {
    async isHeld() {
      const found = await sizeOf();
      return found?.size === bytes && found.blocks * blockBytes >= bytes;
    },
    async make(signal) {
      try {
        await write(signal);
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
    },
    async giveUp() {
      if ((await sizeOf()) === undefined) return false;
      await rm(path, { force: true });
      return true;
    },
  };
}

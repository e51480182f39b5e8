// An anchor as a file: one line of JSON for each checkpoint, appended and brought to the disk before it counts. It belongs on another disk, better
// on another machine's, and best where the system lets nobody do anything but append (chattr +a).
//
//  1. The file is opened for appending only. Nothing is ever rewritten.
//  2. A line that a crash cut off has no end; the next one begins on a line of its own, and what cannot be read is passed over.
//  3. The whole file is read once; after that only what was added. A file that became shorter is read anew, and what was seen is not forgotten.

import { type FileHandle, open } from "node:fs/promises";
import { Fault } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Anchor, AnchoredCheckpoint } from "../../ports/anchors.ts";
import { otherNote, unusable } from "./anchor-faults.ts";

const chunkBytes = 1_048_576;
/** Longer than any note may be with its frame; what is longer is no line of ours. */
const lineBytesMax = 2_097_152;
const lineFeed = 0x0a;

export function fileAnchor(path: string): Anchor {
  const name = `file ${path}`;
  const largest = new Map<string, AnchoredCheckpoint>();
  /** How far the file was read, always at the beginning of a line. */
  let readTo = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: a line is looked for where the last one ended. */
  function inTurn<Value>(work: (file: FileHandle) => Promise<Value>): Promise<Value> {
    const turn = last.then(() => withFile(work));
    last = turn.catch(() => undefined);
    return turn;
  }

  async function withFile<Value>(work: (file: FileHandle) => Promise<Value>): Promise<Value> {
    try {
      const file = await open(path, "a+", 0o600);
      try {
        return await work(file);
      } finally {
        await file.close();
      }
    } catch (thrown) {
      throw thrown instanceof Fault ? thrown : unusable(name, thrown);
    }
  }

  /** Reads what was added; gives whether the file ends in the middle of a line. */
  async function catchUp(file: FileHandle): Promise<boolean> {
    const { size } = await file.stat();
    if (size < readTo) readTo = 0;
    let rest = Buffer.alloc(0);
    for (let at = readTo; at < size; ) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, size - at));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed)) {
        take(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
      }
      if (rest.length > lineBytesMax) rest = Buffer.alloc(0);
      readTo = at - rest.length;
    }
    return rest.length > 0;
  }

  function take(line: Uint8Array): void {
    const read = readLine(line);
    if (read !== undefined && read.size > (largest.get(read.origin)?.size ?? -1)) largest.set(read.origin, read);
  }

  return {
    name,
    keep: (checkpoint) =>
      inTurn(async (file) => {
        const { origin, size, note } = checkpoint;
        const isTorn = await catchUp(file);
        const there = largest.get(origin);
        if (there !== undefined && there.size === size) {
          if (there.note !== note) throw otherNote(name, size);
          // It may be there and not on the disk yet: whoever wrote it may have died before that.
          await file.sync();
          return;
        }
        await file.appendFile(`${isTorn ? "\n" : ""}${JSON.stringify({ origin, size, note })}\n`);
        await file.sync();
        await catchUp(file);
      }),
    newest: (origin) =>
      inTurn(async (file) => {
        await catchUp(file);
        return largest.get(origin);
      }),
    close: async () => void (await last),
  };
}

function readLine(line: Uint8Array): AnchoredCheckpoint | undefined {
  let value: unknown;
  try {
    value = parseJson(Buffer.from(line).toString("utf8"));
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
  const { origin, size, note } = (value ?? {}) as Partial<Record<keyof AnchoredCheckpoint, unknown>>;
  if (typeof origin !== "string" || typeof note !== "string") return undefined;
  return typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? { origin, size, note } : undefined;
}

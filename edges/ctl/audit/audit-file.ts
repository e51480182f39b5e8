// A file that is there whole or not at all: written beside its place, made durable, then put there at once.
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../../contracts/src/fault.ts";
import { usageRefusal } from "../failure.ts";

export type WriteText = (content: string | Uint8Array) => Promise<void>;

/** What `fill` returns is returned; when it throws, nothing of the file remains and what stood there before still does. */
export async function writeWhole<Result>(path: string, fill: (write: WriteText) => Promise<Result>): Promise<Result> {
  const beside = `${path}.${process.pid}.part`;
  const file = await open(beside, "wx", 0o600).catch((thrown: unknown) => {
    throw usageRefusal(`${path} cannot be written: ${messageOf(thrown)}.`);
  });
  try {
    let result: Result;
    try {
      result = await fill(async (content) => void (await file.writeFile(content, "utf8")));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    await syncFolder(dirname(path));
    return result;
  } catch (thrown) {
    await rm(beside, { force: true });
    throw thrown;
  }
}

/** So that the name survives a power cut as the content does. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

// Submission files in a folder of this machine. The folder is made with the first line that is written.
//
//  1. A line is durable when `append` resolves: the file is synced, and so is the folder of a file that is new.
//  2. What a name can hold is checked here once more: no name leads out of the folder.
import { constants } from "node:fs";
import { link, mkdir, open, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Defect } from "../../contracts/src/fault.ts";
import type { FilingFiles, FilingPath } from "../../ports/filing-files.ts";

const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const folderMode = 0o700;
const fileMode = 0o600;

export function filingFolder(root: string): FilingFiles {
  return {
    async size(path) {
      const found = await stat(place(root, path)).catch(absent);
      return found?.size;
    },
    async read(path, from, length) {
      const file = await open(place(root, path), constants.O_RDONLY);
      try {
        const bytes = new Uint8Array(length);
        const { bytesRead } = await file.read(bytes, 0, length, from);
        return bytes.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
    async setAside(path, name) {
      const [from, to] = [place(root, path), place(root, [...path.slice(0, -1), name])];
      // A link is made only where there is no such name; a rename would replace it.
      const isNew = await link(from, to).then(() => true, notTaken);
      if (!isNew) return false;
      await syncFolder(dirname(from));
      await unlink(from);
      await syncFolder(dirname(from));
      return true;
    },
    async append(path, at, bytes) {
      const target = place(root, path);
      await mkdir(dirname(target), { recursive: true, mode: folderMode });
      const file = await open(target, constants.O_WRONLY | constants.O_CREAT, fileMode);
      try {
        const { size } = await file.stat();
        if (size !== at) return false;
        for (let done = 0; done < bytes.length; ) {
          const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
          done += bytesWritten;
        }
        await file.sync();
      } finally {
        await file.close();
      }
      if (at === 0) await syncFolder(dirname(target));
      return true;
    },
  };
}

function place(root: string, path: FilingPath): string {
  const wrong = path.find((name) => !namePattern.test(name) || name.includes(".."));
  if (wrong !== undefined || path.length === 0) throw new Defect(`${path.join("/")} is no path of a submission file`);
  return join(root, ...path);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function notTaken(thrown: unknown): false {
  if (thrown instanceof Error && "code" in thrown && (thrown.code === "EEXIST" || thrown.code === "ENOENT")) {
    return false;
  }
  throw thrown;
}

function absent(thrown: unknown): undefined {
  if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
  throw thrown;
}

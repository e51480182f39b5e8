// Submission files in memory: the same promises as a folder's (ports/filing-files.ts). Its content can be taken away or changed as a disk's can.
import type { FilingFiles, FilingPath } from "../../ports/filing-files.ts";

export interface MemoryFilingFiles extends FilingFiles {
  /** By their paths, with slashes. */
  readonly contents: Map<string, string>;
  /** While it is true nothing can be written. */
  isFull: boolean;
}

export function memoryFilingFiles(): MemoryFilingFiles {
  const contents = new Map<string, string>();
  const bytesOf = (path: FilingPath): Buffer | undefined => {
    const text = contents.get(path.join("/"));
    return text === undefined ? undefined : Buffer.from(text, "latin1");
  };
  const files: MemoryFilingFiles = {
    contents,
    isFull: false,
    size: async (path) => bytesOf(path)?.length,
    read: async (path, from, length) => bytesOf(path)?.subarray(from, from + length) ?? new Uint8Array(),
    async setAside(path, name) {
      const [from, to] = [path.join("/"), [...path.slice(0, -1), name].join("/")];
      const text = contents.get(from);
      if (text === undefined || contents.has(to)) return false;
      contents.set(to, text);
      contents.delete(from);
      return true;
    },
    async append(path, at, bytes) {
      if (files.isFull) throw new Error("no space is left");
      const before = bytesOf(path) ?? Buffer.alloc(0);
      if (before.length !== at) return false;
      contents.set(path.join("/"), Buffer.concat([before, bytes]).toString("latin1"));
      return true;
    },
  };
  return files;
}

// Keeps submission files what they are: images of the records. A file is read whole when this process first touches it, and then only grown.
//
//  1. A line is in the file when `bring` resolves.
//  2. A torn or missing end, or a file that is not there, is made again byte for byte; what differs otherwise is told and never written to.
//  3. One file is brought on by one at a time.
import type { FilingFiles } from "../../../ports/filing-files.ts";
import type { FilingFile } from "../../../ports/filing-records.ts";
import type { Store } from "../../../ports/store.ts";
import { type OneAtATime, oneAtATime } from "../../reference/one-at-a-time.ts";

/** What became of it: the file is its records' image, or it holds something else. */
export type Brought = "IMAGE" | "CHANGED";

export interface FileImages {
  /** Brings a file up to its records. Rejects when it cannot be written or read. */
  bring(file: FilingFile, path: readonly string[]): Promise<Brought>;
}

interface Known {
  readonly bytes: number;
  readonly lines: number;
}

/** Lines of one read; each has at most some thousand bytes. */
const portion = 500;
/** Files that are grown without being read again; the oldest gives way. */
const knownMax = 512;
const encoder = new TextEncoder();

export function createFileImages(store: Store, files: FilingFiles): FileImages {
  const known = new Map<string, Known>();
  const inTurn: OneAtATime = oneAtATime();

  const linesOf = (file: FilingFile, from: number): Promise<readonly string[]> =>
    store.transact("filings.look", (unit) => unit.filings.lines(file, from, portion), { isOneStatement: true });

  async function bring(file: FilingFile, path: readonly string[]): Promise<Brought> {
    const name = path.join("/");
    const size = (await files.size(path)) ?? 0;
    const before = known.get(name);
    let at: Known = before !== undefined && before.bytes === size ? before : { bytes: 0, lines: 0 };
    for (;;) {
      const lines = await linesOf(file, at.lines);
      if (lines.length === 0) break;
      const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(""));
      const there = at.bytes >= size ? new Uint8Array() : await files.read(path, at.bytes, bytes.length);
      if (there.some((byte, index) => byte !== bytes[index])) return "CHANGED";
      if (there.length < bytes.length) {
        const wasAppended = await files.append(path, at.bytes + there.length, bytes.subarray(there.length));
        if (!wasAppended) return "CHANGED";
      }
      at = { bytes: at.bytes + bytes.length, lines: at.lines + lines.length };
      remember(name, at);
    }
    return at.bytes < size ? "CHANGED" : "IMAGE";
  }

  function remember(name: string, at: Known): void {
    known.delete(name);
    known.set(name, at);
    const [oldest] = known.keys();
    if (known.size > knownMax && oldest !== undefined) known.delete(oldest);
  }

  return { bring: (file, path) => inTurn(() => bring(file, path)) };
}
